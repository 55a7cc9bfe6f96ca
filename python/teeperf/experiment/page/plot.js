// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One plot: medians with their intervals over a factor, a series for each variant, as SVG.

const MARKS = ['circle', 'square', 'triangle', 'diamond', 'cross', 'ring'];
const DASHES = ['', '7 4', '2 3', '9 3 2 3', '12 4', '4 2'];

function svg(name, attributes, ...children) {
	const node = document.createElementNS('http://www.w3.org/2000/svg', name);
	for (const [key, value] of Object.entries(attributes))
		node.setAttribute(key, value);
	node.append(...children);
	return node;
}

function mark(series, x, y, size) {
	const look = 's' + series % 6;
	const r = size || 4.5;
	switch (MARKS[series % 6]) {
	case 'square':
		return svg('rect', {class: look, x: x - r + 0.5, y: y - r + 0.5, width: 2 * r - 1,
			height: 2 * r - 1});
	case 'triangle':
		return svg('path', {class: look,
			d: `M${x} ${y - r - 0.5}l${r + 0.5} ${2 * r}h${-2 * r - 1}z`});
	case 'diamond':
		return svg('path', {class: look,
			d: `M${x} ${y - r - 1}l${r + 1} ${r + 1}` +
				`l${-r - 1} ${r + 1}l${-r - 1} ${-r - 1}z`});
	case 'cross':
		return svg('path', {class: look + ' path',
			d: `M${x - r} ${y - r}l${2 * r} ${2 * r}m0 ${-2 * r}l${-2 * r} ${2 * r}`});
	case 'ring':
		return svg('circle', {class: look + ' open', cx: x, cy: y, r: r});
	}
	return svg('circle', {class: look, cx: x, cy: y, r: r});
}

function legendEntry(series, name) {
	const span = document.createElement('span');
	const line = svg('line', {class: 'path s' + series % 6, x1: 0, x2: 34, y1: 7, y2: 7,
		'stroke-dasharray': DASHES[series % 6]});
	span.append(svg('svg', {viewBox: '0 0 34 14', 'aria-hidden': 'true'}, line,
		mark(series, 17, 7)), name);
	return span;
}

// Places of the factor's VALUES between 0 and 1: by their size where they are numbers that have
// room, else side by side.
function placesOf(values) {
	const numbers = values.map(numberOf);
	const side = values.map((_, i) => (i + 0.5) / values.length);
	if (values.length < 2 || numbers.some(Number.isNaN) ||
			new Set(numbers).size < numbers.length)
		return {places: side, how: ''};
	const low = Math.min(...numbers), high = Math.max(...numbers);
	const log = low > 0 && high / low >= 8;
	const at = number => log ? Math.log(number / low) / Math.log(high / low) :
		(number - low) / (high - low);
	const places = numbers.map(number => 0.08 + 0.84 * at(number));
	const sorted = [...places].sort((a, b) => a - b);
	const close = sorted.some((place, i) => i && place - sorted[i - 1] < 0.07);
	return close ? {places: side, how: ''} : {places: places, how: log ? ', logarithmic' : ''};
}

// OPTIONS: title, factor, values, series (of {name, index, points: [{x, summary}]}), figure, low,
// high (of all panels), single.
function plot(options) {
	const width = 460, height = 290, left = 58, right = 14, top = 10, bottom = 46;
	const unit = shownUnit(options.figure.unit,
		Math.max(Math.abs(options.low), Math.abs(options.high)));
	const span = options.high - options.low || Math.abs(options.high) || 1;
	const low = options.low === 0 ? 0 : options.low - span * 0.06;
	const high = options.high + span * 0.06;
	const y = value => top + (height - top - bottom) * (1 - (value - low) / (high - low));
	const {places, how} = placesOf(options.values);
	const x = place => left + (width - left - right) * place;
	const root = svg('svg', {viewBox: `0 0 ${width} ${height}`, role: 'img',
		'aria-label': `${options.figure.name} by ${options.factor}; ` +
			'the table has the numbers'});
	const ticks = ticksOf(low / unit.size, high / unit.size, 5);
	const step = ticks.length > 1 ? ticks[1] - ticks[0] : 1;
	for (const tick of ticks) {
		const at = y(tick * unit.size);
		root.append(svg('line',
			{class: 'grid', x1: left, x2: width - right, y1: at, y2: at}),
			svg('text', {x: left - 7, y: at + 4, 'text-anchor': 'end'},
				tickText(tick, step)));
	}
	root.append(svg('line', {class: 'axis', x1: left, x2: width - right, y1: height - bottom,
		y2: height - bottom}));
	options.values.forEach((value, i) => {
		const long = value.length > 14 ? value.slice(0, 13) + '…' : value;
		root.append(svg('line', {class: 'axis', x1: x(places[i]), x2: x(places[i]),
			y1: height - bottom, y2: height - bottom + 4}),
			svg('text', {x: x(places[i]), y: height - bottom + 17,
				'text-anchor': 'middle'}, long));
		if (!options.series.some(series => series.points.some(point => point.x === i)))
			root.append(svg('text', {x: x(places[i]), y: height - bottom - 8,
				'text-anchor': 'middle'}, 'no figure'));
	});
	root.append(svg('text', {class: 'label', x: (left + width - right) / 2, y: height - 8,
		'text-anchor': 'middle'},
		options.factor + how));
	root.append(svg('text',
		{class: 'label', x: 14, y: (top + height - bottom) / 2, 'text-anchor': 'middle',
			transform: `rotate(-90 14 ${(top + height - bottom) / 2})`},
		options.figure.name.replaceAll('_', ' ') + (unit.name ? ` (${unit.name})` : '')));
	// Side by side, so that whiskers do not hide one another.
	const shift = Math.min(9, (width - left - right) / Math.max(1,
		options.values.length) / (options.series.length + 1) / 1.6);
	options.series.forEach((series, number) => {
		const aside = (number - (options.series.length - 1) / 2) * shift;
		const look = 's' + series.index % 6;
		const group = svg('g', {});
		const path = series.points.map((point, i) =>
			`${i ? 'L' : 'M'}${x(places[point.x]) + aside} ${y(point.summary.median)}`)
			.join('');
		if (options.joined)
			group.append(svg('path', {class: 'path ' + look, d: path,
				'stroke-dasharray': DASHES[series.index % 6]}));
		for (const {x: i, summary} of series.points) {
			const at = x(places[i]) + aside;
			if (options.single)
				for (const value of summary.values)
					group.append(svg('circle', {class: 'run ' + look, cx: at,
						cy: y(value), r: 2}));
			if (summary.low !== null)
				group.append(svg('path', {class: 'whisker path ' + look,
					d: `M${at} ${y(summary.low)}V${y(summary.high)}` +
						`M${at - 4} ${y(summary.low)}h8` +
						`M${at - 4} ${y(summary.high)}h8`}));
			const point = mark(series.index, at, y(summary.median));
			point.append(svg('title', {},
				`${series.name}, ${options.factor} ${options.values[i]}: ` +
				`${summaryText(summary, unit)} of ` +
				`${summary.runs} run${summary.runs === 1 ? '' : 's'}`));
			group.append(point);
		}
		root.append(group);
	});
	return root;
}

function summaryText(summary, unit) {
	const text = value => textOf(value / unit.size);
	const interval = summary.low === null ? '' :
		` [${text(summary.low)}, ${text(summary.high)}]`;
	return text(summary.median) + interval + (unit.name ? ' ' + unit.name : '');
}
