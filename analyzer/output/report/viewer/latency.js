// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Latency over time: when the calls of a function began, and how long they took; and the slowest of
// them.

const HEAT_SIDE = 74; // for durations
const HEAT_FOOT = 24; // for times
const HEAT_ROW_MOST = 34;
const HEAT_LINES = [['p50', 0.5, []], ['p99', 0.99, [5, 3]]];

// The row that `part` of a column's calls do not exceed, by nearest rank; -1: there are no calls.
function heatRank({rows, calls}, column, part) {
	let all = 0, below = 0;
	for (let row = 0; row < rows; row++)
		all += calls[column * rows + row];
	if (!all)
		return -1;
	for (let row = 0; ; row++)
		if ((below += calls[column * rows + row]) >= Math.ceil(part * all))
			return row;
}

class HeatMap extends Sheet {
	constructor(host, picked) {
		super(host, make('canvas',
			{tabindex: 0, role: 'application', 'aria-label': 'Latency over time'}));
		this.picked = picked;
		const on = (name, action) => this.canvas.addEventListener(name, action.bind(this));
		on('pointermove', this.move);
		on('pointerleave', hideTip);
		on('click', event => {
			const at = this.hit(...this.place(event));
			if (at)
				this.pick(at);
		});
		on('dblclick', () => this.at && showColumn(this.at.column));
		on('keydown', this.key);
	}

	show(map) {
		if (map !== this.map)
			this.at = null;
		this.map = map;
		this.draw();
	}

	get columnWidth() {
		return (this.width - HEAT_SIDE - 12) / data.heat.columns;
	}

	get rowHeight() {
		return Math.min((this.height - HEAT_FOOT - 10) / this.map.rows, HEAT_ROW_MOST);
	}

	x(column) {
		return HEAT_SIDE + column * this.columnWidth;
	}

	// The lower edge of a row.
	y(row) {
		return this.height - HEAT_FOOT - row * this.rowHeight;
	}

	hit(x, y) {
		const column = Math.floor((x - HEAT_SIDE) / this.columnWidth),
			row = Math.floor((this.height - HEAT_FOOT - y) / this.rowHeight);
		return column >= 0 && column < data.heat.columns && row >= 0 &&
			row < this.map.rows ? {column, row} : null;
	}

	paint(pen) {
		const {width, height, map} = this;
		fillBox(pen, theme.panel, 0, 0, width, height);
		if (!map)
			return;
		const {rows, calls, bounds, most} = map;
		const wide = this.columnWidth, high = this.rowHeight, low = this.y(0);
		pen.font = theme.font.replace('12', '11');
		const each = Math.ceil(20 / high);
		for (let row = 0; row <= rows; row += each) {
			fillBox(pen, theme.faint, HEAT_SIDE, Math.round(this.y(row)), width, 1);
			pen.fillStyle = theme.dim;
			pen.fillText(formatTime(Math.round(bounds[row])), 10,
				Math.max(this.y(row), 8));
		}
		pen.fillStyle = theme.accent;
		// Few calls are seen beside many.
		const scale = Math.log(most + 1) || 1;
		for (let at = 0; at < calls.length; at++) {
			if (!calls[at])
				continue;
			pen.globalAlpha = 0.18 + 0.82 * Math.log(calls[at] + 1) / scale;
			pen.fillRect(this.x(Math.floor(at / rows)), this.y(at % rows + 1),
				Math.max(wide - 0.5, 0.5), Math.max(high - 0.5, 0.5));
		}
		pen.globalAlpha = 1;
		for (const [, part, dash] of HEAT_LINES)
			this.paintLine(pen, part, dash);
		this.paintTimes(pen, low);
		if (this.at && wide) {
			pen.strokeStyle = theme.found;
			pen.lineWidth = 2;
			pen.strokeRect(this.x(this.at.column), this.y(this.at.row + 1),
				Math.max(wide, 4), Math.max(high, 4));
		}
	}

	// From the middle of a column's row to that of the next; interrupted where there are no
	// calls.
	paintLine(pen, part, dash) {
		pen.strokeStyle = part > 0.5 ? theme.found : theme.ink;
		pen.lineWidth = 1.8;
		pen.setLineDash(dash);
		pen.beginPath();
		for (let column = 0, drawn = false; column < data.heat.columns; column++) {
			const row = heatRank(this.map, column, part);
			const y = this.y(row + 0.5);
			if (row >= 0) {
				pen[drawn ? 'lineTo' : 'moveTo'](this.x(column), y);
				pen.lineTo(this.x(column + 1), y);
			}
			drawn = row >= 0;
		}
		pen.stroke();
		pen.setLineDash([]);
	}

	paintTimes(pen, low) {
		const whole = heatColumn(data.heat.columns), room = this.width - HEAT_SIDE - 12;
		const {at, step} = axisMarks(0, whole, room);
		fillBox(pen, theme.line, HEAT_SIDE, low, room, 1);
		pen.fillStyle = theme.dim;
		for (const mark of at) {
			const x = Math.round(HEAT_SIDE + mark / whole * room),
				text = formatMark(mark + data.facts.start, step);
			pen.fillRect(x, low, 1, 5);
			if (x + pen.measureText(text).width < this.width)
				pen.fillText(text, x + 3, low + 13);
		}
	}

	facts({column, row}) {
		const {map} = this;
		const rank = part => heatRank(map, column, part);
		const atMost = row => row < 0 ? '–' :
			'up to ' + formatTime(Math.round(map.bounds[row + 1]));
		return [['Calls', formatCount(map.calls[column * map.rows + row])],
			['Took', formatTime(Math.round(map.bounds[row])) + ' – ' +
				formatTime(Math.round(map.bounds[row + 1]))],
			['Began', formatTime(heatColumn(column) + data.facts.start) + ' – ' +
				formatTime(heatColumn(column + 1) + data.facts.start)],
			...HEAT_LINES.map(([title, part]) => [title + ' then',
				atMost(rank(part))])];
	}

	move(event) {
		const at = event.pointerType !== 'touch' && this.map &&
			this.hit(...this.place(event));
		if (at)
			showTip(event, this.map.fn, this.facts(at));
		else
			hideTip();
	}

	pick(at) {
		this.at = at;
		this.draw();
		this.picked(at);
		announce(this.facts(at).map(pair => pair.join(' ')).join(', '));
	}

	key(event) {
		const {map} = this;
		if (!map || hasModifier(event))
			return;
		const at = this.at || {column: -1, row: heatRank(map, 0, 0.5)};
		const most = data.heat.columns - 1;
		const to = (column, row) => this.pick({column: Math.min(Math.max(column, 0), most),
			row: Math.min(Math.max(row, 0), map.rows - 1)});
		const keys = {
			ArrowLeft: () => to(at.column - 1, at.row),
			ArrowRight: () => to(at.column + 1, at.row),
			ArrowUp: () => to(at.column, at.row + 1),
			ArrowDown: () => to(at.column, at.row - 1),
			Home: () => to(0, at.row),
			End: () => to(most, at.row),
			Enter: () => this.at && showColumn(at.column),
		};
		if (!keys[event.key])
			return;
		keys[event.key]();
		consume(event);
	}
}

// Where a column begins, since the timeline does.
const heatColumn = column => column * data.heat.cells * data.facts.span / data.time.cells;

// A column's part of the timeline.
function showColumn(column) {
	const to = Math.min(Math.ceil(heatColumn(column + 1)), data.facts.span);
	change({tab: 'timeline', range: '', view: Math.floor(heatColumn(column)) + '.' + to});
}

class Latency {
	constructor(host) {
		this.title = make('strong');
		this.about = make('span.dim');
		this.why = make('p.empty');
		this.place = make('div.part.heat');
		this.said = make('span', {role: 'status'});
		this.go = make('button.link', {type: 'button', hidden: '', onclick: () =>
			showColumn(this.map.at.column)}, 'Show this time in the timeline');
		this.foot = make('p.note', null, this.said, ' ', this.go);
		this.body = make('tbody');
		this.note = make('p.note');
		host.replaceChildren(
			make('div.halves', null, make('h2', null, this.title, ' ', this.about),
				this.why, this.place, this.foot),
			make('div.edges',
				{tabindex: 0, role: 'group', 'aria-label': 'Slowest calls'},
				make('table.edges.slowest', null,
					make('caption', null, 'Slowest calls, ' +
						(data.slowest.byCpu ? 'by processor time, ' : '') +
						'as recorded'),
					make('thead', null, make('tr', null, ['Takes',
						...data.slowest.byCpu ? ['Cpu'] : [], 'Begins at',
						'Thread', 'Calls inside'].map(text => make('th',
							{scope: 'col'}, text)))), this.body),
					this.note));
		this.map = new HeatMap(this.place, at => this.say(at));
	}

	show() {
		let fn = selectedFunction();
		if (fn < 0)
			fn = data.heat.maps.keys().next().value ?? -1;
		const map = data.heat.maps.get(fn);
		const timed = fn >= 0 && data.functions.timed_calls[fn];
		this.title.textContent = fn < 0 ? 'No function was called' : functionName(fn);
		this.about.textContent = map ? plural(timed, 'call') + ' of all threads, ' +
			'by start and duration, with p50 (line) and p99 (dashes) of each ' +
			formatTime(heatColumn(1)) + '. Times are as in the table.' : '';
		this.why.hidden = map;
		this.why.textContent = fn < 0 ? '' : timed ? 'This report has latency ' +
			'over time for the ' + plural(data.heat.maps.size, 'function') +
			' with the most inclusive time, and this is not one of them. ' +
			'‘teeperf report --heat-maps N’ makes more.' :
			'No durations of its calls are known' +
			(data.functions.calls[fn] ? ': they were only counted.' : '.');
		this.place.hidden = this.foot.hidden = !map;
		this.map.show(map);
		this.say(this.map.at);
		this.list(fn);
	}

	say(at) {
		this.go.hidden = !at;
		this.said.textContent = at ? this.map.facts(at).slice(0,
			3).map(([title, text]) => title + ' ' + text).join(' · ') :
			'Click a cell, or use the arrow keys, to see its numbers.';
	}

	list(fn) {
		const {most, left, of} = data.slowest;
		const calls = of.get(fn) || [];
		this.body.replaceChildren(...calls.map((call, i) => {
			const thread = data.facts.threads[call.thread];
			return make('tr', null, make('td', null, thread ? make('button.link',
				{type: 'button', title: 'Show it in the timeline',
					onclick: () => showSlowest(fn, i)},
				formatTime(call.duration)) : formatTime(call.duration)),
				...data.slowest.byCpu ?
					[make('td', null, formatTime(call.cpu))] : [],
				make('td', null, formatTime(call.start + data.facts.start)),
				make('td', null, thread ? thread.title : 'not shown'),
				make('td', {title: call.full ? 'All of them are drawn' :
					'Only the longest of them are drawn'},
					formatCount(call.inside) + (call.full ? '' : ' *')));
		}));
		const part = calls.some(call => !call.full && call.thread >= 0);
		this.note.textContent = !most ?
			'This report was made without slowest calls (--slowest 0).' :
			!calls.length ? (left ? 'The report has them for the ' +
				plural(of.size, 'function') + ' with the most inclusive time.' :
				'There are none.') :
				part ? '* Only the longest of the calls inside are drawn: ' +
				'‘teeperf report --slowest-calls N’ sets their number ' +
				'for all functions together.' :
				'The timeline draws them with all calls inside.';
	}
}
