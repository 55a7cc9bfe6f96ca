// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Single calls: how many began where, how long they took over time, the slowest of each function,
// and the way to one of them.

// Of each thread, by depth, how many calls began in each cell.
function readBegun(bytes) {
	const numbers = new Numbers(bytes);
	for (const thread of data.facts.threads)
		thread.begun = Array.from({length: numbers.next()}, () => {
			const cells = new Float64Array(data.time.cells);
			const at = numbers.column(new Float64Array(numbers.next()));
			for (let i = 1; i < at.length; i++)
				at[i] += at[i - 1];
			for (const cell of at)
				cells[cell] = numbers.next();
			return cells;
		});
}

// Maps by function: rows of durations, the shortest first, in columns of time. `bounds` of rows,
// one more than there are.
function readHeat(bytes) {
	const numbers = new Numbers(bytes);
	const heat = {columns: numbers.next(), cells: numbers.next(), left: numbers.next(),
		maps: new Map()};
	const {bounds} = data.facts;
	for (let maps = numbers.next(); maps > 0; maps--) {
		const fn = numbers.next(), first = numbers.next(), step = numbers.next(),
			rows = numbers.next();
		const map = {fn, rows, calls: new Float64Array(heat.columns * rows), most: 0,
			bounds: Array.from({length: rows + 1}, (_, row) =>
				bounds[Math.min((first + row) * step, bounds.length - 1)])};
		const at = numbers.column(new Float64Array(numbers.next()));
		for (let i = 1; i < at.length; i++)
			at[i] += at[i - 1];
		for (const cell of at)
			map.most = Math.max(map.most, map.calls[cell] = numbers.next());
		heat.maps.set(fn, map);
	}
	data.heat = heat;
}

// By function: {thread, start, duration, inside, full, cpu}, the slowest first, by processor time
// if that is known (byCpu); thread -1: it is not shown.
function readSlowest(bytes) {
	const numbers = new Numbers(bytes);
	data.slowest = {most: numbers.next(), left: numbers.next(),
		byCpu: numbers.next() > 0, of: new Map()};
	for (let functions = numbers.next(); functions > 0; functions--) {
		const fn = numbers.next(), count = numbers.next();
		const column = () => numbers.column(new Float64Array(count));
		const thread = column(), start = column(), duration = column(), inside = column(),
			full = column(), cpu = column();
		data.slowest.of.set(fn, Array.from(thread, (at, i) =>
			({thread: at - 1, start: start[i], duration: duration[i], inside: inside[i],
				full: full[i] > 0, cpu: cpu[i]})));
	}
}

// How many of the calls that began at a depth, in each cell, are drawn one by one.
function drawnAt(thread, depth) {
	const drawn = (thread.drawn ||= [])[depth] ||= new Float64Array(data.time.cells);
	if (!drawn.counted) {
		drawn.counted = true;
		const cell = data.facts.span / data.time.cells;
		for (const i of callsAt(thread, depth))
			drawn[Math.min(Math.floor(thread.longest.start[i] / cell),
				drawn.length - 1)]++;
	}
	return drawn;
}

// The known facts of the calls of a band at a time.
function bandFacts(thread, depth, time, cell) {
	const at = Math.floor(time / cell), begun = thread.begun?.[depth]?.[at];
	return begun === undefined ? [] :
		[['Calls that began in this ' + formatTime(cell), formatCount(begun)],
			['Drawn one by one',
				formatCount(Math.min(drawnAt(thread, depth)[at], begun))]];
}

// Upon bands that are wide: how many calls are in them that are not drawn one by one.
function paintCounts(timeline, pen, thread, depth, y) {
	const {from, to, cell, gutter, width} = timeline;
	const begun = thread.begun?.[depth];
	if (!begun || cell / (to - from) * (width - gutter) < 70)
		return;
	const drawn = drawnAt(thread, depth);
	pen.fillStyle = theme.dim;
	for (let i = Math.max(0, Math.floor(from / cell)); i * cell < to && i < begun.length; i++) {
		const left = begun[i] - drawn[i], x = Math.max(timeline.x(i * cell), gutter);
		if (left > 0)
			drawLabel(pen, plural(left, 'more call'), x + 4, y + TRACK_ROW / 2,
				timeline.x((i + 1) * cell) - x - 8);
	}
}

// Number `i` of the slowest calls of a function, in the timeline, with all that was inside of it.
function showSlowest(fn, i) {
	const call = data.slowest?.of.get(fn)?.[i];
	if (!call || call.thread < 0)
		return;
	const margin = Math.max(call.duration * 0.04, 10);
	const from = Math.max(0, Math.floor(call.start - margin)),
		to = Math.min(data.facts.span, Math.ceil(call.start + call.duration + margin));
	const facts = [...data.slowest.byCpu ? [['Had a processor for', formatTime(call.cpu)]] : [],
		['Takes', formatTime(call.duration)], ['Begins at', formatTime(call.start +
		data.facts.start)], ['Thread', data.facts.threads[call.thread].title],
		['Calls inside',
			formatCount(call.inside) + (call.full ? '' : ', the longest are drawn')]];
	const what = i ? 'Slowest call, number ' + (i + 1) : 'The slowest call';
	change({tab: 'timeline', view: from + '.' + to, range: '', fn: String(fn)});
	views.timeline.reveal(call.thread, call.start, call.duration, fn);
	choose({what, fn, facts: () => facts, isThere: () => true}, {});
	announce([what + ' of ' + functionName(fn),
		...facts.map(pair => pair.join(' '))].join(', '));
	lastSlowest = {fn, i};
}

let lastSlowest = null;

// The slowest call of the selected function; once more: the next one.
function nextSlowest() {
	const fn = selectedFunction();
	const calls = data.slowest?.of.get(fn)?.filter(call => call.thread >= 0) || [];
	if (!calls.length)
		return announce('no calls of this function can be shown');
	const again = state.tab === 'timeline' && lastSlowest?.fn === fn;
	const all = data.slowest.of.get(fn);
	let i = again ? lastSlowest.i + 1 : 0;
	while (all[i % all.length].thread < 0)
		i++;
	showSlowest(fn, i % all.length);
}
