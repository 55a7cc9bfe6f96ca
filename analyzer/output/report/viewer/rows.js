// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tables whose rows are those of a view of the command line: transitions and contention.

// How a column writes its values.
const rowFormats = {
	name: value => value,
	text: value => value ?? '',
	count: value => value === null ? '–' : formatCount(value),
	time: value => value === null ? '–' : formatTime(value),
	share: value => value === null ? '–' : formatShare(value, 1),
	ratio: value => value === null ? '–' : value.toFixed(2) + ' ×',
	// Times during which 1, 2, ... threads were inside.
	inside: value => {
		const times = String(value ?? '').split(';').map(Number);
		const all = times.reduce((a, b) => a + b, 0);
		return all ? times.map((time, i) => time ? i + 1 + ': ' + formatShare(time, all) :
			'').filter(Boolean).join('  ') : '–';
	},
};

// Of each column its key in the view, how it is written, its heading and what that means.
const rowTables = {
	transitions: {title: 'Calls over the border of the TEE', sort: 'calls', columns: [
		['function', 'name', 'Function', 'Function called on the other side'],
		['calls', 'count', 'Calls', 'Exact count'],
		['total_ns', 'time', 'Time', 'Time of all calls together, as recorded'],
		['mean_ns', 'time', 'Mean', 'Mean duration of a call'],
		['p50_ns', 'time', 'p50', 'Half of the calls took no longer'],
		['p99_ns', 'time', 'p99', '99 of 100 calls took no longer'],
		['max_ns', 'time', 'Max', 'The longest call'],
		['below_1us', 'share', '< 1 µs',
			'Calls below a microsecond: the crossing itself takes longer'],
		['below_10us', 'share', '< 10 µs', 'Calls below ten microseconds'],
		['successive', 'share', 'In a row',
			'Calls that began within 10 µs of the end of the one before'],
		['module', 'text', 'Module', 'Module of the function'],
		['advice', 'text', 'Advice', 'What these numbers suggest'],
	]},
	contention: {title: 'Functions that ran in several threads at once', sort: 'overlap_ns',
		columns: [
			['function', 'name', 'Function', 'Its outermost calls'],
			['overlap_ns', 'time', 'Overlap',
				'Time during which two threads or more were inside'],
			['overlap_share', 'share', 'Share',
				'Share of the time during which any thread was inside'],
			['busy_ns', 'time', 'Busy', 'Time during which any thread was inside'],
			['most', 'count', 'Most', 'Threads that were inside at once'],
			['threads', 'count', 'Threads', 'Threads that called it'],
			['calls', 'count', 'Calls', 'Outermost calls'],
			['shared_calls', 'count', 'Shared',
				'Calls during which another thread was inside'],
			['alone_p50_ns', 'time', 'Alone', 'Median of calls that were alone in it'],
			['shared_p50_ns', 'time', 'Shared', 'Median of the other calls'],
			['ratio', 'ratio', 'Ratio', 'Ratio of these medians: ' +
				'how much longer a call takes when it is not alone'],
			['waits', 'count', 'Waits',
				'Waits in the function itself that another thread ended'],
			['waker', 'text', 'Ended by', 'Function that ended the most waiting time'],
			['inside_ns', 'inside', 'Threads inside',
				'Shares of the time during which any thread was inside'],
			['hint', 'text', '', ''],
		]},
};

class RowTable {
	constructor(host, name) {
		const {rows, left} = data[name];
		const {title, columns, sort} = rowTables[name];
		// A column in which nothing is known is not there.
		this.columns = columns.filter(([key]) => rows.some(row => row[key] !== null &&
			row[key] !== ''));
		Object.assign(this, {rows, sort, up: false});
		this.heads = this.columns.map(([key, , text, means]) => make('th', {scope: 'col'},
			make('button',
				{type: 'button', title: means, onclick: () => this.sortBy(key)},
				text, make('span.arrow', {'aria-hidden': true}))));
		this.body = make('tbody', {onclick: event => this.choose(
			event.target.closest('tr')), onkeydown: event => this.key(event)});
		host.replaceChildren(make('div.tableplace', {tabindex: -1},
			make('p.note', null, title + ', as recorded.' +
				(left ? ' ' + plural(left, 'row') + ' are left out.' : '')),
			make('table.rows', {role: 'grid', 'aria-label': title},
				make('thead', null, make('tr', null, this.heads)), this.body)));
	}

	sortBy(key) {
		this.up = key === this.sort && !this.up;
		this.sort = key;
		this.show();
	}

	show() {
		const kind = this.columns.find(([key]) => key === this.sort)?.[1];
		const isText = kind === 'name' || kind === 'text';
		const value = row => row[this.sort] ?? (isText ? '' : -1);
		const order = (a, b) => isText ? String(value(a)).localeCompare(String(value(b))) :
			value(b) - value(a);
		const rows = [...this.rows].sort((a, b) => this.up ? order(b, a) : order(a, b));
		this.columns.forEach(([key], i) => {
			const chosen = key === this.sort;
			this.heads[i].ariaSort = chosen ?
				(this.up !== isText ? 'ascending' : 'descending') : null;
			this.heads[i].firstChild.lastChild.textContent = chosen ?
				(this.up ? '▲' : '▼') : '';
		});
		this.body.replaceChildren(...rows.map(row => {
			const fn = data.functions.name.indexOf(row.function);
			return make('tr', {tabindex: 0, 'data-fn': fn,
				'aria-selected': String(fn) === state.fn},
				this.columns.map(([key, format]) =>
					make('td.' + format,
						{title: format === 'name' ? row[key] : null},
						format === 'name' && makeDot(functionColour(fn)),
						rowFormats[format](row[key]))));
		}));
	}

	choose(row) {
		if (row?.dataset.fn >= 0)
			change({fn: row.dataset.fn});
	}

	key(event) {
		const row = event.target.closest('tr');
		const next = {ArrowDown: row?.nextElementSibling,
			ArrowUp: row?.previousElementSibling,
			Home: this.body.firstElementChild,
			End: this.body.lastElementChild}[event.key];
		if (event.key === 'Enter' && row?.dataset.fn >= 0)
			change({fn: row.dataset.fn, tab: 'sandwich'});
		else if (next) {
			const at = [...this.body.rows].indexOf(next);
			this.choose(next);
			this.body.rows[at].focus();
		} else
			return;
		consume(event);
	}
}
