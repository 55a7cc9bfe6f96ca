// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Moments and phases that the program has named, or 'teeperf ctl mark': lines across the timeline.

const MARK_COLOUR = [204, 51, 68];

// By time; `duration` -1: a moment, -2: a phase that has not ended. `thread` -1: from outside, or
// not among those here.
function readMarks(bytes) {
	const numbers = new Numbers(bytes);
	data.marks = [];
	for (let name, last = -data.facts.start; (name = numbers.text());) {
		const time = last += numbers.next();
		const kind = numbers.next();
		data.marks.push({name, time, duration: kind < 2 ? -1 - kind : kind - 2,
			thread: numbers.next() - 1});
	}
}

// A line where it begins, a bar over a phase, and the name where there is room.
function paintMarks(timeline, pen) {
	const {gutter, width, height, from, to} = timeline;
	let free = gutter;
	pen.font = theme.font.replace('12', '10');
	for (const {name, time, duration} of data.marks || []) {
		const end = duration === -2 ? to : time + Math.max(duration, 0);
		if (time > to || end < from)
			continue;
		const x = Math.round(timeline.x(time)), x1 = Math.min(timeline.x(end), width);
		pen.fillStyle = rgb(MARK_COLOUR);
		if (x >= gutter) {
			pen.globalAlpha = 0.6;
			pen.fillRect(x, AXIS, 1, height - AXIS);
		}
		pen.globalAlpha = 1;
		if (duration !== -1)
			pen.fillRect(Math.max(x, gutter), AXIS - 3,
				Math.max(x1 - Math.max(x, gutter), 1), 3);
		const left = Math.max(x, gutter) + 3;
		if (left < free)
			continue;
		drawLabel(pen, name, left, AXIS + 6, 140);
		free = left + Math.min(pen.measureText(name).width, 140) + 6;
	}
	pen.font = theme.font;
}

// The mark at a place of the axis or of its names, or nothing.
function markHit(timeline, x, y) {
	if (x < timeline.gutter || y > AXIS + 12)
		return null;
	const near = (data.marks || []).filter(({time}) => Math.abs(timeline.x(time) - x) < 6);
	const mark = near.pop();
	if (!mark)
		return null;
	const facts = [['At', formatTime(Math.max(0, mark.time + data.facts.start))]];
	if (mark.duration >= 0)
		facts.push(['Takes', formatTime(mark.duration)]);
	return {index: mark.thread < 0 ? undefined : mark.thread, title: mark.name,
		place: mark.duration === -1 ? 'mark' : 'phase', facts};
}
