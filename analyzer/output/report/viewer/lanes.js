// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Beneath each thread of the timeline what the kernel did for it, as readLanes() has it; beneath
// all counters and energy.

const LANE = 14;
const LANES_TOP = 4; // from the rows of calls
const laneKinds = [
	{title: 'system calls', colour: [119, 170, 221]},
	{title: 'waits', colour: [205, 180, 232]},
	{title: 'block I/O', colour: [238, 221, 136]},
	{title: 'page faults', colour: [255, 170, 187]},
];

const METER = 26;
const METER_COLOUR = [187, 204, 51];

const shownMeters = () => state.lanes && data.meters || [];

function formatMeter(value, unit) {
	if (unit === 'uW')
		return (value / 1e6).toPrecision(3) + ' W';
	return unit === 'ns/s' ? (value / 1e9).toFixed(2) + ' s/s' :
		formatCount(value) + ' ' + unit;
}

// A counter of the whole run: the higher, the more of it in that time.
function paintMeter(timeline, pen, {at, value, most}, y) {
	const {gutter, width, from, to} = timeline;
	pen.fillStyle = rgb(METER_COLOUR);
	for (let i = Math.max(0, firstAfter(at, from) - 1); i + 1 < at.length && at[i] < to; i++) {
		const x0 = Math.max(timeline.x(at[i]), gutter),
			x1 = Math.min(timeline.x(at[i + 1]), width);
		const high = Math.max(value[i] / most * (METER - 4), value[i] ? 1 : 0);
		if (x1 > x0)
			pen.fillRect(x0, y + METER - 2 - high, x1 - x0, high);
	}
}

function meterHit({name, unit, note, at, value}, time) {
	const i = firstAfter(at, time) - 1;
	return i < 0 || i + 1 >= at.length ? {} :
		{title: name, place: note || 'of the whole program', facts: [
			['Here', formatMeter(value[i], unit)],
			['From', formatTime(Math.max(0, at[i] + data.facts.start))],
			['For', formatTime(at[i + 1] - at[i])]]};
}

const shownLanes = thread => state.lanes && thread.lanes || [];

// What ended a wait; nothing if no thread did.
const wakerName = ({woken, waker}, i) => woken?.[i] >= 0 ? waker[i] < 0 ? '(no recorded call)' :
	functionName(waker[i]) : '';

function paintLane(timeline, pen, lane, y, high) {
	const {from, to, gutter, width, cell} = timeline;
	const {start, duration, name, short} = lane;
	const tall = high - (high === LANE ? 2 : 1);
	pen.fillStyle = rgb(lane.kind.colour);
	const box = (begin, end) => {
		const x0 = Math.max(timeline.x(begin), gutter),
			x1 = Math.min(Math.max(timeline.x(end), x0 + 1), width);
		if (x1 > x0)
			pen.fillRect(x0, y, x1 - x0 - (x1 - x0 > 4), tall);
		return [x0, x1];
	};
	// The more time events take that are too short to be drawn, the darker is the part of time
	// in which they are.
	for (let i = short ? Math.floor(from / cell) : Infinity;
			i * cell < to && i < short.count.length; i++)
		if (short.count[i]) {
			pen.globalAlpha = 0.2 + 0.5 * Math.min(1, short.ns[i] / cell);
			pen.fillRect(Math.max(timeline.x(i * cell), gutter), y, timeline.x((i +
				1) * cell) - Math.max(timeline.x(i * cell), gutter), tall);
		}
	pen.globalAlpha = 1;
	const wide = [];
	for (let i = 0, painted = 0; i < start.length && start[i] < to; i++) {
		// Of many in one pixel the first is enough.
		if (start[i] + duration[i] < from || timeline.x(start[i] + duration[i]) <= painted)
			continue;
		const [x0, x1] = box(start[i], start[i] + duration[i]);
		painted = x1;
		// A request that begins during another one is drawn upon it.
		const last = wide[wide.length - 1];
		if (last && last[2] > x0)
			last[2] = x0;
		if (x1 - x0 > 28 && high === LANE)
			wide.push([i, x0, x1]);
	}
	pen.fillStyle = FRAME_INK;
	pen.font = theme.font.replace('12', '10');
	for (const [i, x0, x1] of wide) {
		const text = lane.waker?.[i] >= 0 ? 'until ' +
			shortName(functionName(lane.waker[i])) : data.eventNames[name[i]];
		drawLabel(pen, text, x0 + 4, y + LANE / 2 - 0.5, x1 - x0 - 8);
	}
	pen.font = theme.font;
}

// What a lane has at a place: of several the shortest, as it may be drawn upon the others.
function laneHit(timeline, lane, time) {
	const {start, duration, name, fn, bytes, short} = lane;
	const slack = (timeline.to - timeline.from) / timeline.width;
	let best = -1;
	for (let i = 0; i < start.length && start[i] <= time; i++)
		if (time <= start[i] + Math.max(duration[i], slack) &&
				(best < 0 || duration[i] <= duration[best]))
			best = i;
	if (best >= 0) {
		const waker = wakerName(lane, best);
		const thread = waker && data.facts.threads[lane.wakerThread[best]];
		return {what: 'This event', fn: fn[best], title: data.eventNames[name[best]],
			place: lane.kind.title, facts: [
				['Takes', formatTime(duration[best])],
				['Begins at', formatTime(start[best] + data.facts.start)],
				bytes[best] >= 0 && ['Bytes', formatCount(bytes[best])],
				['Made by', fn[best] < 0 ? '(no recorded call)' :
					functionName(fn[best])],
				waker && ['Ended by', waker + ', ' +
					(thread ? thread.title : 'a thread that is not shown')],
				waker && ['Ended after', formatTime(lane.woken[best])],
			].filter(Boolean)};
	}
	const i = Math.floor(time / timeline.cell);
	return short?.count[i] ? {title: lane.kind.title, place: 'too short to be drawn one by one',
		facts: [
			['Began here', formatCount(short.count[i])],
			['Time together', formatTime(short.ns[i])],
			['In', formatTime(timeline.cell)]]} : {};
}
