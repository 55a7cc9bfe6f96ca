// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What flame graphs and timelines share: a canvas that fits its place, its labels, the search.

const ROW = 21;
const FRAME_INK = '#14171c';
const BORDER = 2; // of a mark where a call goes over the border of a TEE

/*
 * A canvas that stays where it is while `space`, as high as all rows, is scrolled behind it. draw()
 * is called once a picture, however often draw() is asked for.
 */
class Sheet {
	constructor(host, canvas) {
		this.canvas = canvas;
		this.space = make('div.space');
		this.scroller = make('div.scroller', {tabindex: -1}, this.canvas, this.space);
		host.append(this.scroller);
		this.pen = canvas.getContext('2d', {alpha: false});
		this.width = this.height = 0;
		this.waiting = false;
		this.scroller.addEventListener('scroll', () => this.draw(), {passive: true});
		new ResizeObserver(() => this.fit()).observe(this.scroller);
	}

	fit() {
		const width = this.scroller.clientWidth, height = this.scroller.clientHeight;
		const ratio = devicePixelRatio || 1;
		if (!width || (width === this.width && height === this.height &&
				ratio === this.ratio))
			return;
		this.width = width;
		this.height = height;
		this.ratio = ratio;
		this.canvas.width = Math.round(width * ratio);
		this.canvas.height = Math.round(height * ratio);
		this.canvas.style.width = width + 'px';
		this.canvas.style.height = height + 'px';
		this.paintNow();
	}

	// Set how high everything is.
	setHeight(height) {
		this.space.style.height = Math.max(0, height - this.height) + 'px';
	}

	draw() {
		if (this.waiting)
			return;
		this.waiting = true;
		requestAnimationFrame(() => {
			this.waiting = false;
			this.fit();
			this.paintNow();
		});
	}

	paintNow() {
		if (!this.width || !this.canvas.isConnected)
			return;
		this.pen.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
		this.pen.font = theme.font;
		this.pen.textBaseline = 'middle';
		this.paint(this.pen, this.scroller.scrollTop);
	}

	// Where in the canvas a mouse is.
	place(event) {
		const box = this.canvas.getBoundingClientRect();
		return [event.clientX - box.left, event.clientY - box.top];
	}
}

function fillBox(pen, colour, ...box) {
	pen.fillStyle = colour;
	pen.fillRect(...box);
}

const labels = new Map();

// A function's name without what may be most of a C++ name: parameters, arguments of templates
// (common/short_name.h).
const shortName = name => data.shortNames.get(name) ?? name;

// Write a name into a frame, cut to what fits.
function drawLabel(pen, name, x, y, room) {
	if (room < 22)
		return;
	const key = pen.font + name;
	let label = labels.get(key);
	if (!label) {
		const short = shortName(name);
		const measure = text => pen.measureText(text.slice(0, 1000)).width;
		label = {short, full: measure(name), width: measure(short)};
		labels.set(key, label);
	}
	let text = name;
	if (label.full > room) {
		text = label.short;
		if (label.width > room) {
			const letters = Math.floor(text.length * (room - 9) / label.width);
			if (letters < 2)
				return;
			text = text.slice(0, letters) + '…';
		}
	}
	pen.fillText(text, x, y);
}

// Which functions the search finds: a byte for each function, null without a search.
const searchHits = remember(() => state.search, () => {
	if (!state.search)
		return null;
	let expression;
	try {
		expression = new RegExp(state.search, 'i');
	} catch {
		// No expression: searched as it is.
		expression = new RegExp(state.search.replace(/\W/g, '\\$&'), 'i');
	}
	const hits = new Uint8Array(data.functions.all);
	for (let i = 0; i < hits.length; i++)
		hits[i] = !isSmaller(i) && expression.test(functionName(i)) ? 1 : 0;
	return hits;
});

// The part of all time that is spent in what the search finds, and in what that calls.
const searchShare = remember(() => [state.search, state.thread, state.range, state.weight,
	loadedPart()], () => {
		const hits = searchHits();
		const {parent, fn, count} = data.paths;
		const sums = currentSums();
		const inside = new Uint8Array(count);
		let found = 0;
		for (let i = 1; i < count; i++) {
			inside[i] = inside[parent[i]] | hits[fn[i]];
			if (inside[i])
				found += sums.weight[i];
		}
		return found / (sums.total[0] || 1);
	});
