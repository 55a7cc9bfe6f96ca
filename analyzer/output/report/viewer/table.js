// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions: their numbers, the table of them, and how long their calls took.

const ROWS_AT_ONCE = 150;

// What self and inclusive times are made up of.
const timeColumns = ['self', 'inclusive'].flatMap(of => TIMES.map(time => of + '_' + time));

// Of functions that a budget had switched off for a part of the time.
const ESTIMATES = ['calls_estimated', 'calls_estimated_pm', 'inclusive_estimated_ns',
	'inclusive_estimated_pm_ns'];

// Whether there is such an estimate.
const isEstimated = value => typeof value === 'number' && value >= 0;

/*
 * The numbers of each function: of everything as the analysis has them, of a thread or of a
 * selection from the paths of the report.
 */
const functionRows = remember(() => [state.thread, state.range, state.weight, loadedPart()], () => {
	const table = data.functions;
	const sums = currentSums();
	const rows = [];
	for (let fn = 0; fn < table.all; fn++) {
		const row = {fn, self: 0, inclusive: 0, calls: sums.range ? null : 0, mean: null};
		for (const name of timeColumns)
			row[name] = sums.part ? data.facts.times && !sums.range ? 0 : null :
				table[name + '_ns']?.[fn] ?? null;
		if (!sums.part && fn < table.count) {
			row.calls = table.calls[fn];
			for (const name of ['self', 'inclusive'])
				row[name] = table[name + '_ns'][fn];
			if (table.timed_calls[fn]) {
				row.mean = table.total_ns[fn] / table.timed_calls[fn];
				for (const name of ['self_uncertainty', 'min', 'p50', 'p90', 'p99',
						'max'])
					row[name] = table[name + '_ns']?.[fn];
			}
			for (const name of ESTIMATES)
				row[name] = table[name]?.[fn] ?? null;
			if (data.baseline)
				Object.assign(row, {before: table.base_self_ns[fn],
					change: row.self - table.base_self_ns[fn],
					callsBefore: table.base_calls[fn]});
		}
		rows.push(row);
	}
	const {count, fn, level, parent} = data.paths;
	const add = (time, self, inclusive) => {
		const own = sumPaths(sums.range, threadIndex(), time).self,
			all = addBelow(own, parent);
		for (let i = 1; i < count; i++) {
			rows[fn[i]][self] += own[i];
			rows[fn[i]][inclusive] += level[i] ? 0 : all[i];
		}
	};
	if (sums.part)
		add('self', 'self', 'inclusive');
	for (const time of sums.part && data.facts.times && !sums.range ? TIMES : [])
		add(time, 'self_' + time, 'inclusive_' + time);
	for (let i = 1; sums.part && !sums.range && i < count; i++)
		rows[fn[i]].calls += sums.calls[i];
	return rows;
});

const timeOrDash = value => value >= 0 && value !== null ? formatTime(value) : '–';

// What stands in a column of a row, as text.
const cells = {
	name: row => functionName(row.fn),
	share: (row, all) => formatShare(row.self, all),
	change: row => formatChange(row.self, row.before),
	calls: row => row.calls === null ? '–' : formatCount(row.calls) +
		(isEstimated(row.calls_estimated) ? ' (≈' + formatCount(row.calls_estimated) + ')' :
			''),
	callsBefore: row => formatCount(row.callsBefore),
	place: row => functionPlace(row.fn),
};

function isShown(column) {
	const {part} = currentSums();
	const calls = data.facts.unit === 'calls';
	if (timeColumns.includes(column))
		return data.functions[column + '_ns'] && !data.baseline &&
			(!part || data.facts.times && !selectedRange());
	if (['before', 'change', 'callsBefore'].includes(column))
		return data.baseline && !part && !(calls && column !== 'callsBefore');
	if (['p50', 'p90', 'max', 'histogram'].includes(column))
		return !part && !calls && !data.baseline;
	return !(calls && ['self', 'share', 'inclusive', 'mean', 'p99'].includes(column)) &&
		!(part && ['mean', 'p99'].includes(column));
}

function sortRows(rows) {
	const up = state.sort.startsWith('-');
	const key = state.sort.replace('-', '');
	const value = {
		name: row => functionName(row.fn).toLowerCase(),
		share: row => row.self,
		place: row => functionPlace(row.fn).toLowerCase(),
		histogram: row => row.p99 ?? -1,
		change: row => Math.abs(row.change),
	}[key] || (row => row[key] ?? -1);
	const text = key === 'name' || key === 'place';
	const sorted = rows.map(row => [value(row), row]);
	sorted.sort(([a, x], [b, y]) => (text ? (a < b ? -1 : a > b ? 1 : 0) : b - a) * (up ? -1 :
		1) || x.fn - y.fn);
	return sorted.map(([, row]) => row);
}

const SVG = 'http://www.w3.org/2000/svg';

// Bars of a histogram between `from` and `to` bins, as one shape.
function drawBars(histogram, from, to, width, height) {
	const svg = document.createElementNS(SVG, 'svg');
	const shape = document.createElementNS(SVG, 'path');
	const counts = [];
	for (let i = 0; i < histogram.length; i += 2)
		counts.push(histogram[i + 1]);
	const most = Math.max(...counts);
	const step = width / (to - from + 1);
	let path = '';
	for (let i = 0; i < histogram.length; i += 2) {
		const high = Math.max(1.5, Math.sqrt(histogram[i + 1] / most) * height);
		path += 'M' + ((histogram[i] - from) * step).toFixed(2) + ' ' + height + 'v' +
			(-high).toFixed(2) + 'h' +
			Math.max(step * 0.86, 0.8).toFixed(2) + 'v' + high.toFixed(2) + 'z';
	}
	shape.setAttribute('d', path);
	svg.setAttribute('viewBox', '0 0 ' + width + ' ' + height);
	svg.setAttribute('width', width);
	svg.setAttribute('height', height);
	svg.setAttribute('aria-hidden', 'true');
	svg.append(shape);
	return svg;
}

// The bins that any function's calls fall into: all small histograms have this axis.
const binRange = remember(() => 1, () => {
	let from = Infinity, to = 0;
	for (const histogram of data.functions.histogram)
		if (histogram.length) {
			from = Math.min(from, histogram[0]);
			to = Math.max(to, histogram[histogram.length - 2]);
		}
	return from <= to ? [from, to] : [0, 1];
});

class FunctionTable {
	constructor() {
		this.body = byId('table-body');
		this.more = byId('table-more');
		this.more.onclick = () => this.add();
		byId('table-head').onclick = event => {
			const name = event.target.closest('button')?.value;
			if (name)
				change({sort: name === state.sort ? '-' + name : name});
		};
		this.body.onclick = event => {
			const row = event.target.closest('[data-fn]');
			if (row)
				change({fn: row.dataset.fn});
		};
		this.body.onkeydown = event => this.key(event);
	}

	show() {
		const sums = currentSums();
		const hits = searchHits();
		const up = state.sort.startsWith('-');
		const key = state.sort.replace('-', '');
		this.columns = [];
		for (const head of byId('table-head').cells) {
			const name = head.className;
			const chosen = name === key;
			head.hidden = !isShown(name);
			if (!head.hidden)
				this.columns.push(name);
			head.firstChild.lastChild.textContent = chosen ? (up ? '▲' : '▼') : '';
			// Texts begin with the smallest, numbers with the greatest.
			head.ariaSort = chosen ? (up !== (name === 'name' ||
				name === 'place') ? 'ascending' : 'descending') : null;
		}
		this.rows = sortRows(functionRows().filter(row => (!hits || hits[row.fn]) &&
			(row.self || row.calls || row.before || row.callsBefore || row.inclusive)));
		this.all = functionRows().reduce((sum, row) => sum + row.self, 0);
		this.most = this.rows.reduce((most, row) => Math.max(most, row.self), 1);
		byId('of-selection').hidden = !sums.range;
		byId('of-thread').hidden = !sums.part || sums.range;
		this.body.replaceChildren();
		this.shown = 0;
		this.add();
		this.showSide();
	}

	add() {
		const to = Math.min(this.rows.length, this.shown + ROWS_AT_ONCE);
		this.body.append(...this.rows.slice(this.shown,
			to).map(row => make('tr', {'data-fn': row.fn, tabindex: 0,
				'aria-selected': String(row.fn) === state.fn},
				this.columns.map(name => this.makeCell(name, row)))));
		if (!to)
			this.body.append(make('tr', null, make('td.empty',
				{colspan: this.columns.length}, state.search ?
				'No function of that name.' : 'No functions were recorded here.')));
		this.shown = to;
		this.more.hidden = to >= this.rows.length;
		this.more.textContent = 'Show more: ' + formatCount(this.rows.length - to) +
			' are left';
	}

	makeCell(name, row) {
		const histogram = name === 'histogram' && data.functions.histogram[row.fn];
		if (name === 'histogram')
			return make('td.histogram', null,
				histogram?.length && drawBars(histogram, ...binRange(), 120, 18));
		const text = (cells[name] || (it => timeOrDash(it[name])))(row, this.all);
		const cell = make('td.' + name, {title: name === 'place' ? functionPlace(row.fn,
			true) : name === 'name' ? text : null},
			name === 'name' ? shortName(text) : text);
		if (name === 'name')
			cell.prepend(makeDot(functionColour(row.fn)));
		if (name === 'share') {
			cell.append(this.makeBar(row));
		}
		if (name === 'change' && row.change)
			cell.classList.add(row.change > 0 ? 'worse' : 'better');
		return cell;
	}

	// As long as the self time; of running, waiting and preempted where that is known.
	makeBar(row) {
		const bar = make('i.bar');
		bar.style.width = row.self / this.most * 52 + 'px';
		const parts = TIMES.map(name => [row['self_' + name]]);
		if (data.facts.times && parts.every(([part]) => part !== null))
			bar.append(...sharesOf(parts, 0).map((share, i) => {
				const piece = make('i');
				piece.style.width = share * 100 + '%';
				piece.style.background = rgb(timeColours[i]);
				return piece;
			}));
		return bar;
	}

	// Mark the row of the selected function, without writing the table anew.
	mark() {
		for (const row of this.body.rows)
			row.setAttribute('aria-selected', row.dataset.fn === state.fn);
		this.showSide();
	}

	key(event) {
		const row = event.target.closest('tr');
		const next = {ArrowDown: row?.nextElementSibling,
			ArrowUp: row?.previousElementSibling,
			Home: this.body.firstElementChild,
			End: this.body.lastElementChild}[event.key];
		if (event.key === 'Enter' && row)
			change({fn: row.dataset.fn, tab: 'sandwich'});
		else if (next?.dataset.fn) {
			next.focus();
			change({fn: next.dataset.fn});
		} else
			return;
		consume(event);
	}

	// How long the calls of the selected function took.
	showSide() {
		const fn = selectedFunction();
		const table = data.functions;
		const histogram = table.histogram[fn] || [];
		byId('durations').hidden = !histogram.length;
		if (!histogram.length)
			return;
		const {bounds} = data.facts;
		const from = histogram[0], to = Math.max(histogram[histogram.length - 2], from + 7);
		byId('durations-name').textContent = functionName(fn);
		byId('durations-bars').replaceChildren(drawBars(histogram, from, to, 288, 110));
		byId('durations-scale').replaceChildren(...[from,
			(from + to) >> 1, to + 1].map(bin => make('span', null,
				formatTime(Math.round(bounds[Math.min(bin, bounds.length - 1)])))));
		byId('durations-facts').replaceChildren(
			definitions([['Timed calls', formatCount(table.timed_calls[fn])],
				...[['Shortest', 'min'], ['p50', 'p50'], ['p90', 'p90'],
					['p99', 'p99'], ['Longest', 'max']].map(([title, name]) =>
						[title, formatTime(table[name + '_ns'][fn])])]));
	}
}
