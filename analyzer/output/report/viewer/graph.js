// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The call graph: places are graphviz's, the picture is drawn here, of text and numbers only.

function readGraph(bytes) {
	data.graph = JSON.parse(new TextDecoder().decode(bytes));
}

function makeSvg(tag, properties, ...children) {
	const element = document.createElementNS(SVG, tag);
	for (const [name, value] of Object.entries(properties || {}))
		element.setAttribute(name, value);
	element.append(...children);
	return element;
}

// A triangle where a curve ends.
function arrowHead(at) {
	const [fromX, fromY, x, y] = at.slice(-4);
	const length = Math.hypot(x - fromX, y - fromY) || 1;
	const [dx, dy] = [(x - fromX) / length, (y - fromY) / length];
	return 'M' + x + ' ' + y + 'L' + (x - 9 * dx + 4 * dy).toFixed(1) + ' ' +
		(y - 9 * dy - 4 * dx).toFixed(1) +
		'L' + (x - 9 * dx - 4 * dy).toFixed(1) + ' ' + (y - 9 * dy + 4 * dx).toFixed(1) +
		'Z';
}

// The first point, then curves of three each.
function curveOf(at) {
	let path = 'M' + at[0] + ' ' + at[1];
	for (let i = 2; i < at.length; i += 6)
		path += 'C' + at.slice(i, i + 6).join(' ');
	return path;
}

class CallGraph {
	constructor(host) {
		const {graph} = data;
		if (graph.why) {
			host.replaceChildren(make('div.part', null, make('p.empty', null,
				graph.why + ' Install it (package graphviz) and make the report ' +
				'again; or, on a machine with graphviz, ' +
				'draw the output of ‘teeperf export --format dot’.')));
			return;
		}
		this.zoom = 1;
		this.nodes = graph.nodes.map((node, i) => this.makeNode(node, i));
		this.edges = graph.edges.map(edge => this.makeEdge(edge));
		const {width, height} = graph;
		this.svg = makeSvg('svg', {viewBox: [-8, -8, width + 16, height + 16].join(' '),
			role: 'group', 'aria-label': 'Call graph'},
			...this.edges.map(edge => edge.line), ...this.nodes.map(node => node.box));
		this.place = make('div.graphplace', {tabindex: -1}, this.svg);
		const zoom = (text, title, factor) => make('button',
			{type: 'button', title, 'aria-label': factor ? title : null,
				onclick: () => this.scale(factor && this.zoom * factor)}, text);
		const left = [graph.nodes_left && plural(graph.nodes_left, 'lighter function'),
			graph.edges_left &&
			plural(graph.edges_left, 'lighter edge')].filter(Boolean);
		host.replaceChildren(make('div.part.graph', null,
			make('h2', null, make('span', null, plural(graph.nodes.length, 'function') +
				' of all threads; numbers at arrows are calls. ' +
				(left.length ? left.join(' and ') + ' are not drawn. ' : '')),
				zoom('−', 'Smaller', 0.8), zoom('+', 'Larger', 1.25),
				zoom('Fit', 'All of it', 0)), this.place));
		this.svg.addEventListener('click',
			event => this.select(event.target.closest('[data-node]')));
		this.svg.addEventListener('keydown', event => this.key(event));
		this.svg.addEventListener('pointermove', event => {
			const at = event.pointerType !== 'touch' &&
				event.target.closest('[data-node]')?.dataset.node;
			if (at)
				showTip(event, graph.nodes[at].fn, this.facts(graph.nodes[at].fn));
			else
				hideTip();
		});
		this.svg.addEventListener('pointerleave', hideTip);
		this.at = 0;
		this.fresh = true;
	}

	facts(fn) {
		const {functions, facts, graph} = data;
		const time = name => [functions[name][fn], formatTime(functions[name][fn]) + ' · ' +
			formatShare(functions[name][fn], graph.total)][1];
		return [...facts.unit === 'calls' ? [] : [['Self', time('self_ns')], ['Inclusive',
			time('inclusive_ns')]], ['Calls', formatCount(functions.calls[fn])]];
	}

	makeNode({fn, at: [x, y, width, height]}, i) {
		const name = shortName(functionName(fn)), most = Math.floor((width - 12) / 6.7);
		const lines = [name.length > most ? name.slice(0, most - 1) + '…' : name,
			...this.facts(fn).map(([title, text]) => title === 'Calls' ? text +
				(text === '1' ? ' call' : ' calls') :
				title.toLowerCase() + ' ' + text)];
		const high = (height - 10) / lines.length;
		const box = makeSvg('g', {role: 'button', tabindex: i ? -1 : 0, 'data-node': i,
			'aria-pressed': 'false'},
			makeSvg('rect',
				{x: x - width / 2, y: y - height / 2, width, height, rx: 4}),
			// Read aloud as words.
			...lines.flatMap((text, line) => [makeSvg('text', {x, y: y - height / 2 +
				5 + (line + 0.72) * high, class: line ? 'more' : 'name'}, text),
				' ']));
		return {box, fn};
	}

	makeEdge({from, to, calls, inclusive, x, y, at}) {
		const share = Math.min(1, (inclusive ?? calls) / (data.graph.total || 1));
		const line = makeSvg('g', {class: 'edge'}, makeSvg('path', {d: curveOf(at),
			'stroke-width': (0.8 + 4 * share).toFixed(1), class: 'line'}),
			makeSvg('path', {d: arrowHead(at), class: 'head'}),
			makeSvg('text', {x, y: y + 4}, formatCount(calls)),
			makeSvg('title', null, functionName(data.graph.nodes[from].fn) +
				' → ' + functionName(data.graph.nodes[to].fn) + ': ' +
				plural(calls, 'call') +
				(inclusive === undefined ? '' : ', ' + formatTime(inclusive))));
		return {line, from, to};
	}

	// 0: all of it.
	scale(to) {
		const {width, height} = data.graph;
		const fit = Math.min(this.place.clientWidth / (width + 16),
			this.place.clientHeight / (height + 16), 1.3);
		this.zoom = Math.min(Math.max(to || fit, 0.1), 4);
		this.svg.setAttribute('width', Math.round((width + 16) * this.zoom));
		this.svg.setAttribute('height', Math.round((height + 16) * this.zoom));
	}

	show() {
		if (!this.svg)
			return;
		if (this.fresh) {
			this.fresh = false;
			this.scale(Math.max(0.5,
				Math.min(1, this.place.clientWidth / (data.graph.width + 16))));
		}
		const hits = searchHits();
		const selected = this.nodes.findIndex(({fn}) => String(fn) === state.fn);
		this.nodes.forEach(({box, fn}, i) => {
			box.firstChild.setAttribute('fill', functionColour(fn));
			box.setAttribute('aria-pressed', i === selected);
			box.setAttribute('class', hits && !hits[fn] ? 'pale' : '');
		});
		for (const {line, from, to} of this.edges)
			line.setAttribute('class', selected >= 0 && (from === selected ||
				to === selected) ? 'edge on' : 'edge');
		if (selected >= 0)
			this.move(selected);
	}

	// Which node Tab comes to.
	move(to) {
		this.nodes[this.at].box.setAttribute('tabindex', -1);
		this.nodes[to].box.setAttribute('tabindex', 0);
		this.at = to;
	}

	select(box) {
		if (!box)
			return;
		this.move(Number(box.dataset.node));
		change({fn: String(this.nodes[this.at].fn)});
	}

	// The neighbour in a direction: a near node, preferably beside this one rather than above.
	beside(direction) {
		const {nodes} = data.graph, [x, y] = nodes[this.at].at;
		let best = -1, least = Infinity;
		nodes.forEach(({at}, i) => {
			const far = (at[0] - x) * direction;
			const distance = far + 3 * Math.abs(at[1] - y);
			if (far > 0 && distance < least)
				[best, least] = [i, distance];
		});
		return best;
	}

	key(event) {
		if (hasModifier(event))
			return;
		const {at} = this;
		const next = {
			ArrowUp: () => this.edges.find(({from, to}) => to === at &&
				from !== at)?.from,
			ArrowDown: () => this.edges.find(({from, to}) => from === at &&
				to !== at)?.to,
			ArrowLeft: () => this.beside(-1),
			ArrowRight: () => this.beside(1),
			'+': () => this.scale(this.zoom * 1.25),
			'-': () => this.scale(this.zoom * 0.8),
			0: () => this.scale(0),
			Enter: () => change({fn: String(this.nodes[at].fn), tab: 'sandwich'}),
			' ': () => at,
		}[event.key];
		if (!next)
			return;
		const to = next();
		if (to >= 0) {
			this.select(this.nodes[to].box);
			this.nodes[to].box.focus();
		}
		consume(event);
	}
}
