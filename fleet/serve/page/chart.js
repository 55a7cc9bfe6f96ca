// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A chart of runs: a point for each, over the time at which it began. Arrows go from one to the
// next.

const SVG = 'http://www.w3.org/2000/svg';

function svg(name, attributes, ...children) {
	const node = document.createElementNS(SVG, name);
	for (const [key, value] of Object.entries(attributes))
		node.setAttribute(key, value);
	node.append(...children);
	return node;
}

const MINUTE = 60e3, HOUR = 60 * MINUTE, DAY = 24 * HOUR;
const STEPS = [1e3, 10e3, MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR, 6 * HOUR, DAY, 7 * DAY, 30 * DAY,
	365 * DAY];

function timeTicks(from, to, count) {
	const step = STEPS.find(it => (to - from) / it <= count) ??
		STEPS[STEPS.length - 1] * Math.ceil((to - from) / STEPS[STEPS.length - 1] / count);
	const ticks = [];
	for (let at = Math.ceil(from / step) * step; at <= to; at += step)
		ticks.push(at);
	return {ticks, text: at => new Date(at).toISOString().slice(...step >= DAY ? [0, 10] :
		step >= MINUTE ? [5, 16] : [11, 19]).replace('T', ' ')};
}

class Chart {
	// `format` makes text of a value, `enter` is called with the run when it is clicked or
	// Enter pressed.
	constructor(host, label, format, enter) {
		Object.assign(this, {host, label, format, enter, points: [], at: -1});
		this.svg = svg('svg', {tabindex: 0, role: 'application', 'aria-label': label});
		this.readout = make('p', {'aria-live': 'polite'});
		host.append(this.svg, this.readout);
		this.svg.addEventListener('pointermove', event => this.select(this.near(event)));
		this.svg.addEventListener('click', event => {
			this.select(this.near(event));
			if (this.at >= 0)
				this.enter(this.points[this.at].run);
		});
		this.svg.addEventListener('keydown', event => this.key(event));
		new ResizeObserver(() => this.draw()).observe(host);
	}

	// Points of {run, value}; those without a value are left out.
	show(points) {
		const run = this.points[this.at]?.run;
		this.points = points.filter(({value, run}) => value !== null &&
			value !== undefined && run.start !== null)
			.sort((a, b) => a.run.start - b.run.start);
		this.at = this.points.findIndex(point => point.run === run);
		this.drawn = '';
		this.draw();
	}

	draw() {
		const width = this.host.clientWidth, height = 200;
		const left = 66, right = 12, top = 8, bottom = 24;
		if (!width || this.drawn === width)
			return;
		this.drawn = width;
		const {points} = this;
		const times = points.map(({run}) => run.start);
		let from = Math.min(...times.slice(0, 1)), to = Math.max(...times.slice(-1));
		if (!(to > from)) {
			from -= HOUR;
			to += HOUR;
		}
		const most = points.reduce((sum, {value}) => Math.max(sum, value), 0) || 1;
		const x = at => left + (at - from) / (to - from) * (width - left - right);
		const y = value => height - bottom - value / most * (height - top - bottom);
		const parts = [];
		for (const value of ticksOf(0, most, 4))
			parts.push(svg('line',
				{x1: left, x2: width - right, y1: y(value), y2: y(value)}),
				svg('text', {x: left - 6, y: y(value) + 4, 'text-anchor': 'end'},
					this.format(value)));
		const {ticks, text} = timeTicks(from, to,
			Math.max(1, Math.floor((width - left) / 130)));
		for (const at of points.length ? ticks : [])
			parts.push(svg('text', {x: Math.min(Math.max(x(at), left + 24), width - 44),
				y: height - 6, 'text-anchor': 'middle'}, text(at)));
		// One shape for each kind: there may be thousands.
		const shapes = {none: '', a: '', b: ''};
		for (const point of points) {
			point.x = x(point.run.start);
			point.y = y(point.value);
			const place = 'M' + point.x.toFixed(1) + ' ' + point.y.toFixed(1) + 'h.01';
			const kinds = letters.filter(letter => point.run[letter]);
			for (const kind of kinds.length ? kinds : ['none'])
				shapes[kind] += place;
		}
		for (const kind in shapes)
			if (shapes[kind])
				parts.push(svg('path', {class: 'in-' + kind, d: shapes[kind]}));
		if (!points.length)
			parts.push(svg('text', {x: left, y: height / 2}, 'No run has this.'));
		this.mark = svg('circle', {class: 'at', r: 6});
		parts.push(this.mark);
		this.svg.setAttribute('viewBox', '0 0 ' + width + ' ' + height);
		this.svg.setAttribute('height', height);
		this.svg.replaceChildren(...parts);
		this.select(this.at);
	}

	near(event) {
		const box = this.svg.getBoundingClientRect();
		const [x, y] = [event.clientX - box.left, event.clientY - box.top];
		let best = -1, least = 30 * 30;
		this.points.forEach((point, i) => {
			const far = (point.x - x) ** 2 + (point.y - y) ** 2;
			if (far < least)
				[best, least] = [i, far];
		});
		return best;
	}

	select(i) {
		const point = this.points[i];
		this.at = point ? i : -1;
		this.mark.setAttribute('visibility', point ? 'visible' : 'hidden');
		if (point) {
			this.mark.setAttribute('cx', point.x);
			this.mark.setAttribute('cy', point.y);
		}
		const text = point ? this.format(point.value) + ' · ' + describeRun(point.run) :
			plural(this.points.length, 'run') +
			'. Click one, or use the arrow keys, to see which it is.';
		if (this.readout.textContent !== text)
			this.readout.textContent = text;
	}

	key(event) {
		const last = this.points.length - 1;
		const to = {ArrowLeft: Math.max(0, this.at - 1),
			ArrowRight: Math.min(last, this.at + 1), Home: 0, End: last}[event.key];
		if (hasModifier(event) || last < 0)
			return;
		if (to !== undefined)
			this.select(to);
		else if (event.key === 'Enter' && this.at >= 0)
			this.enter(this.points[this.at].run);
		else
			return;
		consume(event);
	}
}
