// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Threads below one another along one time axis: which call was on top when. Drag to select.

const TRACK_ROW = 18;
const AXIS = 24;
const GAP = 14; // between threads
const STRIP = 4; // of running and waiting, above a thread

class Timeline extends Sheet {
	constructor(host) {
		super(host, make('canvas', {tabindex: 0, role: 'application',
			'aria-label': 'Timeline of the threads'}));
		this.map = make('canvas.minimap', {'aria-hidden': true});
		host.prepend(this.map);
		this.scroller.classList.add('tracks');
		this.open = new Set();
		const {canvas, map} = this;
		const on = (name, action) => canvas.addEventListener(name, action.bind(this));
		on('pointerdown', this.press);
		on('pointermove', this.move);
		on('pointerup', this.release);
		on('pointercancel', () => this.drag = null);
		on('pointerleave', hideTip);
		on('dblclick', () => this.setView(0, this.span));
		on('keydown', this.key);
		on('focus', () => this.draw());
		on('blur', () => this.draw());
		on('wheel', this.wheel);
		for (const name of ['pointerdown', 'pointermove'])
			map.addEventListener(name, event => this.moveWindow(event));
		map.addEventListener('mousedown', event => {
			canvas.focus({preventScroll: true});
			event.preventDefault();
		});
	}

	show() {
		const {span, threads} = data.facts;
		const [from, to] = numberList(state.view);
		// While the mouse zooms, the address comes later.
		if (!this.later)
			[this.from, this.to] = from < to && to <= span ? [from, to] : [0, span];
		this.span = span;
		this.bucket = span / data.time.buckets;
		this.cell = span / data.time.cells;
		for (const thread of threads)
			thread.trunk ??= trunkRows(thread);
		this.draw();
	}

	// The part of all time that is in sight, not less than 50 ns.
	setView(from, to) {
		const {span} = this;
		const wide = Math.min(Math.max(to - from, 50), span);
		this.from = Math.min(Math.max(0, (from + to - wide) / 2), span - wide);
		this.to = this.from + wide;
		clearTimeout(this.later);
		this.later = setTimeout(() => {
			this.later = 0;
			change({view: wide < span ? Math.round(this.from) + '.' +
				Math.round(this.to) : ''});
		}, 150);
		this.draw();
	}

	zoomAt(factor, time) {
		this.setView(time - (time - this.from) * factor, time + (this.to - time) * factor);
	}

	get gutter() {
		return this.width < 600 ? 76 : 128;
	}

	x(time) {
		return this.gutter +
			(time - this.from) / (this.to - this.from) * (this.width - this.gutter);
	}

	time(x) {
		return this.from + (Math.max(x, this.gutter) - this.gutter) /
			(this.width - this.gutter) * (this.to - this.from);
	}

	// Where the threads are: top and rows of each. All are in sight if they can be; those that
	// were opened have all of their rows.
	tracks() {
		let top = AXIS + 7;
		const {threads} = data.facts;
		const rowsOf = thread => Math.max(1, thread.rows.length - thread.trunk);
		const fit = fitTracks(threads.map(thread => ({rows: rowsOf(thread),
			lanes: shownLanes(thread).length})), this.height - top,
			{row: TRACK_ROW, lane: LANE, thin: LANE_THIN, gap: GAP, top: LANES_TOP});
		return threads.map((thread, i) => {
			const all = rowsOf(thread);
			const open = this.open.has(i);
			const rows = open ? all : Math.min(all, fit.rows);
			const lane = open ? LANE : fit.lane;
			const lanes = shownLanes(thread);
			const base = top + rows * TRACK_ROW + (lanes.length && LANES_TOP);
			const track = {top, rows, all, thread, open, lanes, lane, base,
				bottom: base + lanes.length * lane};
			top = track.bottom + GAP;
			return track;
		});
	}

	paint(pen, scroll) {
		const {width, height, gutter} = this;
		const tracks = this.tracks();
		const {at, step} = this.marks();
		const meters = shownMeters(), low = tracks[tracks.length - 1].bottom + GAP;
		this.setHeight(low + (meters.length && meters.length * METER + GAP));
		const fill = (...box) => fillBox(pen, ...box);
		fill(theme.panel, 0, 0, width, height);
		for (const mark of at)
			fill(theme.faint, Math.round(this.x(mark)), AXIS, 1, height);
		for (const {thread, top} of tracks)
			this.paintStrip(pen, thread, top - STRIP - 2 - scroll);
		for (const {thread, top, rows} of tracks)
			for (let row = 0; row < rows; row++) {
				const y = top + row * TRACK_ROW - scroll;
				if (y > 0 && y < height)
					this.paintRow(pen, thread, row + thread.trunk, y);
			}
		const eachLane = paint =>
			tracks.forEach(({base, lanes, lane: high}) => lanes.forEach((lane, i) => {
				const y = base + i * high - scroll;
				if (y > 0 && y < height)
					paint(lane, y, high);
			}));
		eachLane((lane, y, high) => paintLane(this, pen, lane, y, high));
		meters.forEach((meter, i) => paintMeter(this, pen, meter,
			low + i * METER - scroll));
		this.paintSelection(pen, tracks, scroll);
		fill(theme.panel, 0, 0, gutter, height);
		pen.font = theme.font.replace('12', '10');
		eachLane((lane, y, high) => {
			pen.fillStyle = theme.dim;
			if (high === LANE)
				pen.fillText(lane.kind.title, 12, y + LANE / 2 - 0.5);
		});
		meters.forEach(({name, unit, most}, i) => {
			const y = low + i * METER - scroll;
			fill(theme.line, 0, Math.round(y), width, 1);
			pen.fillStyle = theme.dim;
			drawLabel(pen, name, 12, y + 8, gutter - 16);
			drawLabel(pen, 'to ' + formatMeter(most, unit), 12, y + 19, gutter - 16);
		});
		pen.font = theme.font;
		tracks.forEach(({thread, top, rows, all, open, lane, bottom}, i) => {
			const y = top - scroll + TRACK_ROW / 2;
			const line = bottom - top >= 2 * TRACK_ROW;
			const more = rows < all || lane < LANE && bottom > top + rows * TRACK_ROW;
			pen.fillStyle = theme.ink;
			drawLabel(pen, (line || !more ? '' : '▸ ') + thread.title, 12, y,
				gutter - 18);
			pen.fillStyle = theme.dim;
			if (line && (more || open))
				drawLabel(pen, open ? '▾ fewer' : rows < all ? '▸ ' + (all - rows) +
					' more' : '▸ lanes', 12, y + TRACK_ROW, gutter - 18);
			if (rows > 2 && thread.trunk)
				drawLabel(pen, 'from depth ' + (thread.trunk + 1), 12,
					y + 2 * TRACK_ROW, gutter - 18);
			if (i)
				fill(theme.line, 0, Math.round(top - scroll - GAP / 2), width, 1);
		});
		this.paintCursor(pen, scroll);
		fill(theme.panel, 0, 0, width, AXIS);
		fill(theme.line, 0, AXIS - 1, width, 1);
		fill(theme.line, gutter - 1, 0, 1, height);
		pen.fillStyle = theme.dim;
		for (const mark of at) {
			const text = formatMark(mark + data.facts.start, step);
			const x = Math.round(this.x(mark));
			if (x + pen.measureText(text).width + 5 < width)
				pen.fillText(text, x + 5, AXIS / 2);
			pen.fillRect(x, AXIS - 7, 1, 6);
		}
		paintMarks(this, pen);
		this.paintMap();
	}

	// When a thread ran, waited and was preempted. Stretches narrower than a pixel are visible
	// if there are many.
	paintStrip(pen, {waits, rows}, y) {
		const {gutter, width, height, bucket} = this;
		if (!waits || y < AXIS - STRIP || y > height || !rows.length)
			return;
		const box = (colour, from, to) => {
			const x0 = Math.max(this.x(from), gutter), x1 = Math.min(this.x(to), width);
			if (x1 > x0)
				fillBox(pen, colour, x0, y, x1 - x0, STRIP);
		};
		const {to, fill} = rows[0];
		const first = fill.findIndex(n => n);
		box(rgb(RUNNING), (first > 0 ? to[first - 1] : 0) * bucket,
			to[fill.findLastIndex(n => n)] * bucket);
		for (let i = firstAfter(waits.end, this.from);
				i < waits.start.length && waits.start[i] < this.to; i++)
			box(rgb(waits.preempted[i] ? PREEMPTED : WAITING), waits.start[i],
				waits.end[i]);
	}

	// One depth of a thread: what the buckets say, and upon it the longest calls as they were.
	paintRow(pen, thread, depth, y) {
		const {from, to, bucket, gutter, width} = this;
		const {fn} = data.paths;
		const hits = searchHits();
		const row = thread.rows[depth] || {to: []};
		// Wide buckets are a hint behind the calls.
		const coarse = bucket / (to - from) * (width - gutter) > 6 ? 0.4 : 1;
		const shine = path => hits && !hits[fn[path]] ? 0.25 : 1;
		const labels = [];
		const write = ([path, x0, x1, alpha]) => {
			pen.fillStyle = alpha < 0.7 ? theme.ink : FRAME_INK;
			drawLabel(pen, functionName(fn[path]), x0 + 4, y + TRACK_ROW / 2,
				x1 - x0 - 8);
		};
		const paint = (path, x0, x1, gap) => {
			pen.fillStyle = functionColour(fn[path]);
			pen.fillRect(x0, y, Math.max(x1 - x0 - gap, 0.5), TRACK_ROW - 1);
			if (data.joined && crosses(fn[data.paths.parent[path]], fn[path]))
				fillBox(pen, theme.ink, x0, y, Math.max(x1 - x0 - gap, 0.5),
					BORDER);
			// Neighbours of the same path have one label.
			const last = labels[labels.length - 1];
			if (last && last[0] === path && x0 < last[2] + 1 && !gap)
				last[2] = x1;
			else
				labels.push([path, x0, x1, pen.globalAlpha]);
		};
		let painted = gutter;
		for (let i = firstAfter(row.to, from / bucket);
				i < row.to.length && painted < width; i++) {
			const x0 = Math.max(this.x(i ? row.to[i - 1] * bucket : 0), painted),
				x1 = Math.min(this.x(row.to[i] * bucket), width);
			if (!row.fill[i] || x1 <= x0)
				continue;
			pen.globalAlpha = (0.3 +
				0.7 * row.fill[i] / 15) * shine(row.path[i]) * coarse;
			paint(row.path[i], x0, x1, 0);
			painted = Math.max(x1, x0 + 0.5);
		}
		if (coarse < 1) {
			labels.length = 0;
			pen.globalAlpha = 1;
			paintCounts(this, pen, thread, depth, y);
		}
		const runs = labels.length;
		const {start, duration, path} = thread.longest;
		for (const i of callsAt(thread, depth)) {
			const x0 = Math.max(this.x(start[i]), gutter),
				x1 = Math.min(this.x(start[i] + duration[i]), width);
			if (x1 - x0 < 2)
				continue;
			pen.globalAlpha = shine(path[i]);
			paint(path[i], x0, x1, 1);
		}
		pen.globalAlpha = 1;
		// From afar calls of one function are many: their buckets have the label.
		if (coarse === 1)
			labels.length = runs;
		labels.forEach(write);
	}

	paintSelection(pen, tracks, scroll) {
		const range = this.drag?.range || selectedRange();
		if (!range)
			return;
		const x0 = this.x(range.from * this.cell), x1 = this.x(range.to * this.cell);
		tracks.forEach(({top, bottom}, i) => {
			const inside = range.threads.includes(i);
			pen.fillStyle = inside ? theme.accent : theme.panel;
			pen.globalAlpha = inside ? 0.16 : 0.5;
			pen.fillRect(x0, top - 5 - scroll, x1 - x0, bottom - top + 10);
		});
		pen.globalAlpha = 1;
		pen.fillStyle = theme.accent;
		for (const x of [x0, x1])
			pen.fillRect(Math.round(x) - 1, AXIS, 2, this.height);
	}

	marks() {
		return axisMarks(this.from, this.to, this.width - this.gutter);
	}

	// Open a thread, and have a call of it in sight.
	reveal(index, start, duration, fn) {
		const thread = data.facts.threads[index];
		const i = thread.longest.path.findIndex((path, at) => data.paths.fn[path] === fn &&
			thread.longest.start[at] === start &&
			Math.abs(thread.longest.duration[at] - duration) < 2);
		const depth = i < 0 ? 0 : pathStack(thread.longest.path[i]).length - 1;
		this.open.add(index);
		// Its height has to be known before it can be scrolled.
		this.fit();
		this.paintNow();
		this.line = this.lines().findIndex(line => line.index === index &&
			line.depth === Math.max(depth, thread.trunk));
		this.thing = i < 0 ? null : {line: this.line, start, end: start + duration};
		if (this.line >= 0)
			this.scroller.scrollTop = this.lines()[this.line].y - this.height / 3;
		this.canvas.focus({preventScroll: true});
		this.draw();
	}

	// The whole run: how many threads were busy, and which part of it is in sight.
	paintMap() {
		const {map, width, ratio, gutter, span} = this;
		const height = map.clientHeight;
		map.width = Math.round(width * ratio);
		map.height = Math.round(height * ratio);
		const pen = map.getContext('2d', {alpha: false});
		const x = time => gutter + time / span * (width - gutter);
		const fill = (colour, alpha, ...box) => {
			pen.globalAlpha = alpha;
			fillBox(pen, colour, ...box);
		};
		pen.setTransform(ratio, 0, 0, ratio, 0, 0);
		fill(theme.panel, 1, 0, 0, width, height);
		const busy = busyThreads();
		const most = busy.reduce((a, b) => Math.max(a, b), 1);
		pen.fillStyle = theme.dim;
		pen.globalAlpha = 0.4;
		pen.beginPath();
		pen.moveTo(gutter, height);
		busy.forEach((n, i) => {
			pen.lineTo(x(i * this.bucket), height - n / most * (height - 9));
			pen.lineTo(x((i + 1) * this.bucket), height - n / most * (height - 9));
		});
		pen.lineTo(width, height);
		pen.fill();
		const range = selectedRange();
		if (range)
			fill(theme.accent, 0.3, x(range.from * this.cell), 0, Math.max(2,
				x(range.to * this.cell) - x(range.from * this.cell)), height);
		fill(theme.panel, 0.7, gutter, 0, x(this.from) - gutter, height);
		fill(theme.panel, 0.7, x(this.to), 0, width, height);
		pen.globalAlpha = 1;
		pen.strokeStyle = theme.accent;
		pen.lineWidth = 1.5;
		pen.strokeRect(x(this.from) + 0.75, 1.75,
			Math.max(x(this.to) - x(this.from) - 1.5, 2), height - 3);
		pen.font = theme.font;
		pen.textBaseline = 'middle';
		pen.fillStyle = theme.dim;
		drawLabel(pen, 'busy threads', 12, height / 2, gutter - 16);
	}

	/*
	 * The thread at a place, and the function and the facts of what was on top there, if
	 * anything was. With a title it is no call, and may have no function.
	 */
	hit(x, y, time = this.time(x)) {
		const mark = markHit(this, x, y);
		if (mark)
			return mark;
		const at = y + this.scroller.scrollTop;
		const tracks = this.tracks();
		const index = tracks.findIndex(({top, bottom}) => at >= top - 5 && at < bottom + 5);
		if (index < 0 || y < AXIS) {
			const meter = shownMeters()[
				Math.floor((at - tracks[tracks.length - 1].bottom - GAP) / METER)];
			return meter && y >= AXIS && x >= this.gutter ? meterHit(meter,
				this.time(x)) : {};
		}
		const {thread, top, rows, lanes, lane: high, base} = tracks[index];
		if (thread.waits && at >= top - STRIP - 4 && at < top - 1 && x >= this.gutter)
			return {index, ...this.waitAt(thread.waits, time)};
		const lane = lanes[Math.floor((at - base) / high)];
		if (lane && x >= this.gutter)
			return {index, ...laneHit(this, lane, time)};
		const row = Math.floor((at - top) / TRACK_ROW), depth = row + thread.trunk;
		if (x < this.gutter || row < 0 || row >= rows)
			return {index};
		const slack = (this.to - this.from) / this.width;
		const {start, duration, path} = thread.longest;
		const call = callsAt(thread, depth).findLast(i => start[i] <= time &&
			time <= start[i] + Math.max(duration[i], slack));
		if (call !== undefined)
			return {index, what: 'This call', stack: pathStack(path[call]),
				fn: data.paths.fn[path[call]],
				facts: [['Takes', formatTime(duration[call])],
					['Begins at', formatTime(start[call] + data.facts.start)]]};
		const runs = thread.rows[depth];
		const run = runs ? firstAfter(runs.to, Math.floor(time / this.bucket)) : 0;
		return runs?.fill[run] ? {index, what: 'Here', stack: pathStack(runs.path[run]),
			fn: data.paths.fn[runs.path[run]], facts: [['Busy',
				formatShare(runs.fill[run], 15) + ' of ' + formatTime(this.bucket)],
				...bandFacts(thread, depth, time, this.cell)]} : {index};
	}

	// What the strip shows at a time; nothing: the thread ran, for all that is known.
	waitAt({start, end, preempted}, time) {
		const i = firstAfter(end, time);
		return i < start.length && start[i] <= time ? {
			title: preempted[i] ? 'Preempted' : 'Waiting',
			place: preempted[i] ? 'it could run, but others had the processors' :
				'for something; it could not run',
			facts: [['For', formatTime(end[i] - start[i])],
				['From', formatTime(start[i] + data.facts.start)]],
		} : {};
	}

	// A selection from one corner to another, snapped to cells.
	rangeOf(a, b) {
		const {cells} = data.time;
		const cell = time => Math.min(Math.max(time / this.cell, 0), cells);
		const [top, bottom] = [Math.min(a.y, b.y), Math.max(a.y, b.y)];
		const tracks = this.tracks();
		const from = Math.min(Math.floor(cell(Math.min(a.time, b.time))), cells - 1);
		return {from, to: Math.max(Math.ceil(cell(Math.max(a.time, b.time))), from + 1),
			threads: tracks.map((_, i) => i)
				.filter(i => tracks[i].bottom > top && tracks[i].top < bottom)};
	}

	press(event) {
		const [x, y] = this.place(event);
		if (event.button || event.pointerType === 'touch' || x < this.gutter)
			return;
		this.drag = {x, time: this.time(x), y: y + this.scroller.scrollTop};
		this.canvas.setPointerCapture(event.pointerId);
	}

	move(event) {
		const [x, y] = this.place(event);
		const {drag} = this;
		if (drag && (drag.range || Math.abs(x - drag.x) > 4)) {
			hideTip();
			drag.range = this.rangeOf(drag,
				{time: this.time(x), y: y + this.scroller.scrollTop});
			this.draw();
			return;
		}
		const {index, fn, facts, title, place} = this.hit(x, y);
		this.canvas.style.cursor = fn >= 0 || x < this.gutter ? 'pointer' : 'crosshair';
		if (!facts || event.pointerType === 'touch')
			return hideTip();
		const all = index === undefined ? facts :
			[...facts, ['Thread', data.facts.threads[index].title]];
		if (title)
			showTipOf(event, title, place, all);
		else
			showTip(event, fn, all);
	}

	release(event) {
		const range = this.drag?.range;
		const [x, y] = this.place(event);
		const {index, fn, facts, what, stack} = this.hit(x, y);
		this.drag = null;
		if (range)
			change({range: [range.from, range.to, ...range.threads].join('.'), zoom: '',
				weight: 'time'});
		else if (x < this.gutter && index >= 0 && !this.open.delete(index))
			this.open.add(index);
		else if (fn >= 0)
			choose({what, fn, stack: () => stack, facts: () => facts,
				isThere: () => true}, {fn: String(fn)});
		this.draw();
	}

	// What the keys go through from top to bottom: the strip, the rows and the lanes of each
	// thread, with the middle of each.
	lines() {
		return this.tracks()
			.flatMap(({thread, top, rows, lanes, lane: high, base}, index) => [
				...thread.waits ?
					[{index, thread, y: top - STRIP, waits: thread.waits}] : [],
				...Array.from({length: rows}, (_, row) => ({index, thread, y: top +
					(row + 0.5) * TRACK_ROW, depth: row + thread.trunk})),
				...lanes.map((lane, i) =>
					({index, thread, y: base + (i + 0.5) * high, lane})),
			]);
	}

	// To another line; what it is is read aloud.
	moveLine(step) {
		const lines = this.lines();
		this.line = Math.min(Math.max((this.line ?? -1) + step, 0), lines.length - 1);
		const line = lines[this.line];
		if (!line)
			return;
		const {scroller} = this;
		if (line.y - scroller.scrollTop < AXIS + TRACK_ROW ||
				line.y - scroller.scrollTop > this.height - TRACK_ROW)
			scroller.scrollTop = line.y - this.height / 2;
		this.draw();
		announce(line.thread.title + ', ' + (line.waits ? 'strip' :
			line.lane ? line.lane.kind.title : 'depth ' + (line.depth + 1)));
	}

	// To the next thing of the line, or the one before, and choose it.
	moveAlong(direction) {
		if (this.line === undefined)
			this.moveLine(1);
		const line = this.lines()[this.line];
		if (!line)
			return;
		const things = thingsOf(line, this.bucket);
		// The last one's start, or the edge of the visible part.
		const at = this.thing?.line === this.line ? this.thing.start :
			direction > 0 ? this.from - 1 : this.to + 1;
		const next = direction > 0 ? things.find(([start]) => start > at) :
			things.findLast(([start]) => start < at);
		if (!next)
			return announce('nothing more here');
		const [start, end] = next;
		this.thing = {line: this.line, start, end};
		if (end < this.from || start > this.to) {
			const half = (this.to - this.from) / 2;
			this.setView((start + end) / 2 - half, (start + end) / 2 + half);
		}
		const hit = this.hit(this.x(start + Math.min((end - start) / 2, 1e15)),
			line.y - this.scroller.scrollTop, start + (end - start) / 2);
		if (hit.facts) {
			const {fn = -1, what, facts, title, stack} = hit;
			choose({what: what || title, fn, stack: () => stack, facts: () => facts,
				isThere: () => true}, fn >= 0 ? {fn: String(fn)} : {fn: ''});
			announce([title || functionName(fn),
				...facts.map(pair => pair.join(' '))].join(', '));
		}
		this.draw();
	}

	toggleThread() {
		const line = this.lines()[this.line];
		if (!line)
			return;
		if (!this.open.delete(line.index))
			this.open.add(line.index);
		this.line = this.lines().findIndex(other => other.index === line.index);
		this.moveLine(0);
	}

	// The line that the keys are on, and what they have chosen there.
	paintCursor(pen, scroll) {
		const line = document.activeElement === this.canvas && this.line !== undefined &&
			this.lines()[this.line];
		if (!line)
			return;
		const y = line.y - scroll;
		fillBox(pen, theme.accent, 3, y - 6, 4, 12);
		if (this.thing?.line !== this.line)
			return;
		const x0 = Math.max(this.x(this.thing.start), this.gutter),
			x1 = Math.min(this.x(this.thing.end), this.width);
		pen.strokeStyle = theme.ink;
		pen.lineWidth = 2;
		pen.strokeRect(x0, y - 8, Math.max(x1 - x0, 3), 16);
	}

	wheel(event) {
		const {from, to} = this;
		const step = event.deltaX * (to - from) / this.width;
		if (event.ctrlKey || event.metaKey)
			this.zoomAt(Math.exp(event.deltaY * 0.004),
				this.time(this.place(event)[0]));
		else if (step)
			this.setView(from + step, to + step);
		else
			return;
		// The keys are for what the mouse is used on.
		this.canvas.focus({preventScroll: true});
		event.preventDefault();
	}

	moveWindow(event) {
		if (!(event.buttons & 1))
			return;
		this.map.setPointerCapture(event.pointerId);
		const {span, gutter, width} = this;
		const at = (event.clientX - this.map.getBoundingClientRect().left - gutter) /
			(width - gutter) * span;
		const half = Math.min(this.to - this.from, span / 5) / 2;
		this.setView(at - half, at + half);
	}

	selectView() {
		const {from, to} = this.rangeOf({time: this.from, y: 0}, {time: this.to, y: 0});
		change({range: from + '.' + to, zoom: '', weight: 'time'});
	}

	key(event) {
		const {from, to} = this;
		const quarter = (to - from) / 4;
		const keys = {
			'+': () => this.zoomAt(0.5, (from + to) / 2),
			'-': () => this.zoomAt(2, (from + to) / 2),
			0: () => this.setView(0, this.span),
			ArrowLeft: () => this.setView(from - quarter, to - quarter),
			ArrowRight: () => this.setView(from + quarter, to + quarter),
			ArrowUp: () => this.moveLine(-1),
			ArrowDown: () => this.moveLine(1),
			PageUp: () => this.scroller.scrollBy(0, -this.height * 0.8),
			PageDown: () => this.scroller.scrollBy(0, this.height * 0.8),
			'.': () => this.moveAlong(1),
			',': () => this.moveAlong(-1),
			Enter: () => this.toggleThread(),
			v: () => this.selectView(),
			Escape: () => state.range ? change({range: ''}) :
				this.setView(0, this.span),
		};
		if (!keys[event.key] || hasModifier(event))
			return;
		if (event.key === 'Escape' && !state.range && to - from >= this.span)
			return;
		keys[event.key]();
		if ((from !== this.from || to !== this.to) && !/^[.,]$/.test(event.key))
			announce('Showing ' + formatTime(this.from) + ' to ' + formatTime(this.to));
		consume(event);
	}
}

// Marks between two times at 1, 2 or 5 of a power of ten, some 110 pixels from one another.
function axisMarks(from, to, room) {
	const wanted = Math.max(1, (to - from) / Math.max(1, room / 110));
	const power = 10 ** Math.floor(Math.log10(wanted));
	const step = [1, 2, 5, 10].find(n => n * power >= wanted) * power;
	const at = [];
	for (let mark = Math.ceil(from / step) * step; mark <= to; mark += step)
		at.push(mark);
	return {at, step};
}

// The functions of a path, the innermost first.
function pathStack(path) {
	const fns = [];
	for (let at = path; at > 0; at = data.paths.parent[at])
		fns.push(data.paths.fn[at]);
	return fns;
}

// The things on a line, by their start: [start, end] of the stretches, events or calls that are
// drawn there.
function thingsOf({thread, waits, lane, depth}, bucket) {
	if (waits)
		return Array.from(waits.start, (start, i) => [start, waits.end[i]]);
	if (lane)
		return Array.from(lane.start, (start, i) => [start, start + lane.duration[i]]);
	const {start, duration} = thread.longest;
	const calls = callsAt(thread, depth).map(i => [start[i], start[i] + duration[i]]);
	if (calls.length)
		return calls;
	const {to, fill} = thread.rows[depth] || {to: [], fill: []};
	return to.map((end, i) => [(i ? to[i - 1] : 0) * bucket, end * bucket, fill[i]])
		.filter(thing => thing[2]);
}

// The first of ascending numbers that is above `value`.
function firstAfter(numbers, value) {
	let low = 0;
	for (let high = numbers.length; low < high;) {
		const middle = (low + high) >> 1;
		if (numbers[middle] <= value)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

// Rows at the top that are one call for nearly all of the time, when there are many: they say
// nothing.
function trunkRows(thread) {
	const same = ({to, path}) => {
		const times = new Map();
		to.forEach((end, i) => times.set(path[i],
			(times.get(path[i]) || 0) + end - (to[i - 1] || 0)));
		return times.size < 50 && Math.max(...times.values()) > to[to.length - 1] * 0.97;
	};
	const trunk = thread.rows.findIndex(row => !same(row));
	return trunk > 4 ? trunk - 1 : 0;
}

// The longest calls of a thread at one depth, in order of time.
function callsAt(thread, depth) {
	if (!thread.byDepth) {
		const {count, parent} = data.paths;
		const depths = new Int32Array(count);
		for (let i = 1; i < count; i++)
			depths[i] = depths[parent[i]] + 1;
		thread.byDepth = [];
		thread.longest.path.forEach((path, i) => (thread.byDepth[depths[path] - 1] ||= [])
			.push(i));
	}
	return thread.byDepth[depth] || [];
}

// How many threads were busy, in each bucket.
const busyThreads = remember(() => 1, () => {
	const busy = new Float64Array(data.time.buckets);
	for (const {rows} of data.facts.threads)
		for (let i = 0, at = 0; rows.length && i < rows[0].to.length; i++)
			for (; at < rows[0].to[i]; at++)
				busy[at] += rows[0].fill[i] / 15;
	return busy;
});

// "12.3 ms – 15.6 ms in 2 threads"
function describeRange(range) {
	const {span, start, threads} = data.facts;
	const cell = span / data.time.cells;
	const some = range.threads.length;
	return formatTime(start + range.from * cell) + ' – ' + formatTime(start + range.to * cell) +
		(threads.length > 1 ? ' in ' + (some === threads.length ? 'all threads' : some ===
			1 ? threads[range.threads[0]].title : plural(some, 'thread')) : '');
}
