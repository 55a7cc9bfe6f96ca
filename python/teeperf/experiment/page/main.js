// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The page of an experiment: the choices, a section of plots for each task, and tables of their
// values.

const data = JSON.parse(document.getElementById('data').textContent);
const chosen = {figure: 0, zero: true, single: true, axis: {}};
const PANELS_MOST = 60;

const summaries = data.summaries.map(([cell, figure, runs, median, low, high, min, max, values]) =>
	({cell: cell, figure: figure, runs: runs, median: median, low: low, high: high, min: min,
		max: max, values: values}));

function element(name, attributes, ...children) {
	const node = document.createElement(name);
	for (const [key, value] of Object.entries(attributes || {}))
		node.setAttribute(key, value);
	node.append(...children);
	return node;
}

// In the order in which the plan has them.
function distinct(values) {
	return [...new Set(values.filter(value => value !== null))];
}

// What of a task can be on the axis: its factors that have several values, the one with most of
// them first; else its variants.
function axesOf(cells) {
	const axes = data.columns.map((name, column) =>
		({name: name, column: column,
			values: distinct(cells.map(cell => cell.values[column]))}))
		.filter(axis => axis.values.length > 1)
		.sort((a, b) => b.values.length - a.values.length);
	const variants = {name: 'variant', column: -1,
		values: distinct(cells.map(cell => cell.variant))};
	return axes.length ? axes : [variants];
}

const valueOf = (cell, axis) => axis.column < 0 ? cell.variant : cell.values[axis.column];

// The other factors that change: a panel for each combination.
function panelsOf(cells, axis) {
	const others = data.columns.map((name, column) => ({name: name, column: column}))
		.filter(({column}) => column !== axis.column &&
			distinct(cells.map(cell => cell.values[column])).length > 1);
	const panels = new Map();
	for (const cell of cells) {
		const title = others.filter(({column}) => cell.values[column] !== null)
			.map(({name, column}) => `${name} ${cell.values[column]}`).join(', ');
		if (!panels.has(title))
			panels.set(title, []);
		panels.get(title).push(cell);
	}
	return panels;
}

function tableOf(rows, axis, unit) {
	const table = element('table', {}, element('caption', {},
		'median [95 % interval], runs; no interval with fewer than 3 runs'));
	table.append(element('tr', {},
		...['panel', 'variant', axis.name, 'median', 'runs', 'min', 'max'].map((text, i) =>
			element('th', i > 2 ? {class: 'number'} : {}, text))));
	for (const [title, series, value, summary] of rows)
		table.append(element('tr', {}, element('td', {}, title), element('td', {}, series),
			element('td', {}, value),
			element('td', {class: 'number'}, summaryText(summary, unit)),
			element('td', {class: 'number'}, String(summary.runs)),
			element('td', {class: 'number'}, textOf(summary.min / unit.size)),
			element('td', {class: 'number'}, textOf(summary.max / unit.size))));
	return element('details', {}, element('summary', {}, 'Numbers'),
		element('div', {class: 'scroll'}, table));
}

function drawTask(task, cells, bySummary, figure) {
	const axes = axesOf(cells);
	const axis = axes[Math.min(chosen.axis[task] || 0, axes.length - 1)];
	const section = element('section', {'data-task': task});
	const head = element('div', {class: 'head'}, element('h2', {}, task));
	if (axes.length > 1) {
		const select = element('select', {},
			...axes.map((other, i) => element('option', {value: i}, other.name)));
		select.value = axes.indexOf(axis);
		select.addEventListener('change', () => {
			chosen.axis[task] = Number(select.value);
			draw();
		});
		head.append(element('label', {}, 'Axis ', select));
	}
	section.append(head);
	const shown = cells.filter(cell => bySummary.has(cell.index));
	if (!shown.length) {
		section.append(element('p', {class: 'dim'},
			`No run of this task has ${figure.name}.`));
		return section;
	}
	const all = shown.map(cell => bySummary.get(cell.index));
	const ends = all.flatMap(summary => [summary.low === null ? summary.median : summary.low,
		summary.high === null ? summary.median : summary.high,
		...chosen.single ? summary.values : []]);
	const least = Math.min(...ends), most = Math.max(...ends);
	const low = chosen.zero && least >= 0 ? 0 : least;
	const names = axis.column < 0 ? ['all variants'] :
		distinct(shown.map(cell => cell.variant));
	const unit = shownUnit(figure.unit, Math.max(Math.abs(low), Math.abs(most)));
	if (axis.column >= 0)
		section.append(element('div', {class: 'legend'},
			...names.map((name, i) => legendEntry(i, name))));
	const panels = element('div', {class: 'panels'});
	const rows = [];
	const of = panelsOf(shown, axis);
	let count = 0;
	for (const [title, members] of of) {
		const series = names.map((name, i) => ({name: axis.column < 0 ? task : name,
			index: i, points: members
			.filter(cell => axis.column < 0 || cell.variant === name)
			.map(cell => ({x: axis.values.indexOf(valueOf(cell, axis)),
				summary: bySummary.get(cell.index), cell: cell}))
			.filter(point => point.x >= 0)
			.sort((a, b) => a.x - b.x)})).filter(one => one.points.length);
		for (const one of series)
			for (const point of one.points)
				rows.push([title, point.cell.variant, axis.values[point.x],
					point.summary]);
		if (++count > PANELS_MOST)
			continue;
		panels.append(element('div', {class: 'panel'},
			...title ? [element('h3', {}, title)] : [],
			plot({factor: axis.name, values: axis.values, series: series,
				figure: figure, low: low, high: most,
				single: chosen.single, joined: axis.column >= 0})));
	}
	section.append(panels);
	if (count > PANELS_MOST)
		section.append(element('p', {class: 'dim'},
			`${count - PANELS_MOST} more panels are left out; ` +
				'the table has their numbers.'));
	section.append(tableOf(rows, axis, unit));
	return section;
}

function draw() {
	const figure = data.figures[chosen.figure];
	const bySummary = new Map(summaries.filter(summary => summary.figure === chosen.figure)
		.map(summary => [summary.cell, summary]));
	const plots = document.getElementById('plots');
	plots.replaceChildren();
	for (const task of distinct(data.cells.map(cell => cell.task)))
		plots.append(drawTask(task, data.cells.filter(cell => cell.task === task),
			bySummary, figure));
}

function start() {
	data.cells.forEach((cell, i) => {
		cell.index = i;
	});
	if (!data.figures.length)
		return;
	const select = document.getElementById('figure');
	select.append(...data.figures.map((figure, i) =>
		element('option', {value: i}, figure.name.replaceAll('_', ' ') +
			(figure.unit === 'count' ? '' : ` (${figure.unit})`))));
	chosen.figure = Math.max(0, data.figures.findIndex(figure => figure.name === 'wall_time'));
	select.value = chosen.figure;
	select.addEventListener('change', () => {
		chosen.figure = Number(select.value);
		draw();
	});
	for (const id of ['zero', 'single'])
		document.getElementById(id).addEventListener('change', event => {
			chosen[id] = event.target.checked;
			draw();
		});
	document.getElementById('controls').hidden = false;
	draw();
}

start();
