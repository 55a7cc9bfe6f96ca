// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A flame graph on a canvas: frames below (or upon) their callers, as wide as they weigh.

// Frames that would be narrower, in pixels, are not laid out; zooming in shows them.
const NARROW = 1;
const PARTS_HIGH = 3;

const shownParts = tree => tree.parts && state.parts;

// What part of its sum each has; all 0 of nothing.
function sharesOf(parts, at) {
	const all = parts.reduce((sum, part) => sum + part[at], 0);
	return parts.map(part => all > 0 ? part[at] / all : 0);
}

class Flame extends Sheet {
	// `up()`: the root is at the bottom. selected(fn, arguments of choose()) is called; with
	// `keep` the zoom is part of the state.
	constructor(host, {label, up = () => false, selected, keep}) {
		super(host,
			make('canvas', {tabindex: 0, role: 'application', 'aria-label': label}));
		Object.assign(this, {up, keep, selected, tree: null, root: 0, zoom: 0, at: -1,
			over: -1, frames: null});
		const {canvas} = this;
		canvas.addEventListener('pointermove', event => this.hover(event));
		canvas.addEventListener('pointerleave', () => this.hover(null));
		canvas.addEventListener('click', event => {
			const node = this.nodeAt(event);
			if (node >= 0) {
				this.select(node, false);
				this.zoomTo(node);
			}
		});
		canvas.addEventListener('keydown', event => this.key(event));
	}

	show(tree, zoom = 0, root = 0) {
		const fresh = tree !== this.tree;
		if (fresh || this.keep && zoom !== this.zoom) {
			this.zoom = zoom;
			this.frames = null;
		}
		this.root = root;
		if (fresh) {
			this.tree = tree;
			this.at = this.over = -1;
		}
		this.rewind ||= fresh;
		this.draw();
	}

	// Which frames are wide enough to be seen, and where they are. No recursion: paths may be
	// deep.
	layout() {
		const {tree, width} = this;
		const frames = this.frames = {node: [], x: [], width: [], depth: [], rows: 0,
			row: [], rewind: this.rewind};
		const chain = [];
		for (let at = this.zoom; at >= this.root; at = tree.parent[at])
			chain.push(at);
		chain.reverse().forEach((node, depth) => this.put(node, 0, width, depth));
		frames.base = frames.next = chain.length - 1;
		this.layoutWidth = width;
		this.rewind = false;
		this.extend();
	}

	put(node, x, wide, depth) {
		const {frames} = this;
		(frames.row[depth] ||= []).push(frames.node.length);
		frames.node.push(node);
		frames.x.push(x);
		frames.width.push(wide);
		frames.depth.push(depth);
		frames.rows = Math.max(frames.rows, depth + 1);
		work.frames++;
	}

	// Go on where the last slice has ended: `frames.next` is the frame whose children come
	// next.
	extend() {
		const {tree, width, frames} = this;
		const scale = width / (tree.total[this.zoom] || 1);
		const end = work.steps + work.slice;
		for (; frames.next < frames.node.length && work.steps < end; frames.next++) {
			let x = frames.x[frames.next];
			for (const child of tree.children(frames.node[frames.next])) {
				const wide = tree.total[child] * scale;
				if (wide >= NARROW)
					this.put(child, x, wide, frames.depth[frames.next] + 1);
				else if (tree.falls)
					break;
				x += wide;
			}
		}
		// Of a long trunk all rows but the first and the last are thin.
		const full = row => row && frames.width[row[0]] > width * 0.97;
		let trunk = 0;
		while (full(frames.row[trunk]))
			trunk++;
		let y = 0;
		frames.top = frames.row.map((_, depth) => {
			y += depth > 1 && trunk > 7 && depth < trunk ? Math.max(2,
				Math.min(6, 60 / trunk | 0)) : depth ? ROW : 0;
			return y;
		});
		frames.top.push(y + ROW);
		this.setHeight(y + ROW + 4);
		if (frames.rewind)
			this.scroller.scrollTop = this.up() ? y : 0;
		const busy = frames.next < frames.node.length;
		this.canvas.setAttribute('aria-busy', busy);
		if (!busy)
			return;
		setTimeout(() => {
			if (this.frames !== frames)
				return;
			this.extend();
			this.draw();
		});
	}

	// Of a row: its upper edge, and how high it is.
	edge(depth) {
		const {top, rows} = this.frames;
		const high = top[depth + 1] - top[depth];
		const all = Math.max(top[rows] + 4, this.up() ? this.height : 0);
		return [this.up() ? all - 2 - top[depth + 1] : 2 + top[depth], high];
	}

	paint(pen, scroll) {
		if (!this.tree)
			return;
		if (!this.frames || this.rewind || this.layoutWidth !== this.width)
			this.layout();
		const {tree, frames, height} = this;
		const hits = searchHits();
		fillBox(pen, theme.panel, 0, 0, this.width, height);
		if (!(tree.total[0] > 0)) {
			pen.fillStyle = theme.dim;
			pen.fillText('Nothing here took any time.', 16, 28);
			return;
		}
		for (let depth = 0; depth < frames.rows; depth++) {
			const [top, high] = this.edge(depth);
			const y = top - scroll;
			if (y > height || y < -ROW)
				continue;
			for (const i of frames.row[depth]) {
				const node = frames.node[i], fn = tree.fn[node];
				const x = frames.x[i], wide = frames.width[i];
				const dull = hits && !(fn >= 0 && hits[fn]);
				const strip = high === ROW && wide > 3 && shownParts(tree);
				pen.globalAlpha = dull ? 0.28 : depth < frames.base ? 0.6 : 1;
				fillBox(pen, nodeColour(tree, node), x, y,
					wide > 3 ? wide - 1 : wide, high - 1);
				pen.globalAlpha = 1;
				if (node > this.root && crosses(tree.fn[tree.parent[node]], fn))
					fillBox(pen, theme.ink, x, y, wide > 3 ? wide - 1 : wide,
						BORDER);
				if (strip && !dull)
					this.paintParts(pen, node, x, y + high - 1 - PARTS_HIGH,
						wide - 1);
				if (hits && !dull)
					fillBox(pen, theme.found, x, y + high - 4 - (strip ?
						PARTS_HIGH : 0), wide > 3 ? wide - 1 : wide, 3);
				pen.fillStyle = dull ? theme.ink : FRAME_INK;
				if (high === ROW)
					drawLabel(pen, functionName(fn), x + 5,
						y + ROW / 2 - (strip ? 1 : 0), wide - 10);
			}
		}
		if (frames.next < frames.node.length) {
			fillBox(pen, theme.panel, 0, height - ROW, this.width, ROW);
			pen.fillStyle = theme.dim;
			pen.fillText('Looking for more frames …', 16, height - ROW / 2);
		}
		this.outline(pen, scroll, this.over, theme.ink, 1);
		this.outline(pen, scroll, this.at, theme.ink, 2.5);
	}

	// At the lower edge of a frame how much of its time is running, waiting and preempted.
	paintParts(pen, node, x, y, wide) {
		for (const [i, share] of sharesOf(this.tree.parts, node).entries()) {
			fillBox(pen, rgb(timeColours[i]), x, y, share * wide, PARTS_HIGH);
			x += share * wide;
		}
	}

	outline(pen, scroll, node, colour, thick) {
		const i = node < 0 ? -1 : this.frames.node.indexOf(node);
		if (i < 0)
			return;
		pen.strokeStyle = colour;
		pen.lineWidth = thick;
		const [top, high] = this.edge(this.frames.depth[i]);
		pen.strokeRect(this.frames.x[i] + thick / 2, top - scroll + thick / 2,
			Math.max(this.frames.width[i] - 1 - thick, 1), high - 1 - thick);
	}

	// The node below the mouse, or -1.
	nodeAt(event) {
		if (!this.frames)
			return -1;
		const [x, y] = this.place(event);
		const at = y + this.scroller.scrollTop;
		const [first, high] = this.edge(0);
		const depth = firstAfter(this.frames.top,
			this.up() ? first + high - at : at - first) - 1;
		const {row, node, width} = this.frames;
		return node[row[depth]?.findLast(i => this.frames.x[i] <= x &&
			x < this.frames.x[i] + Math.max(width[i], 1))] ?? -1;
	}

	hover(event) {
		const over = event ? this.nodeAt(event) : -1;
		if (over !== this.over) {
			this.over = over;
			this.canvas.style.cursor = over < 0 ? '' : 'pointer';
			this.draw();
		}
		if (over < 0 || event.pointerType === 'touch')
			hideTip();
		else
			showTip(event, this.tree.fn[over], nodeFacts(this.tree, over));
	}

	select(node, scrollTo = true) {
		this.at = node;
		const {tree} = this;
		this.selected(tree.fn[node], {fn: tree.fn[node], facts: () => nodeFacts(tree, node),
			stack: () => stackOf(tree, node),
			isThere: () => this.tree === tree && this.at === node});
		if (scrollTo && this.frames) {
			const i = this.frames.node.indexOf(node);
			const y = i < 0 ? 0 : this.edge(this.frames.depth[i])[0];
			if (i >= 0 && y < this.scroller.scrollTop + 2)
				this.scroller.scrollTop = y - 2;
			else if (i >= 0 && y + ROW > this.scroller.scrollTop + this.height)
				this.scroller.scrollTop = y + ROW + 2 - this.height;
			announce(sayNode(this.tree, node));
		}
		this.draw();
	}

	zoomTo(node) {
		if (node === this.zoom)
			return;
		this.zoom = node;
		this.frames = null;
		hideTip();
		if (this.keep)
			change({zoom: nodeName(this.tree, node)});
		this.draw();
	}

	// The next frame of the row, of a search's hits or of all.
	beside(direction) {
		const i = this.frames.node.indexOf(this.at);
		const row = this.frames.row[this.frames.depth[i]];
		return this.frames.node[row[row.indexOf(i) + direction]] ?? this.at;
	}

	nextHit(direction) {
		const hits = searchHits();
		if (!hits || !this.frames)
			return;
		const {node} = this.frames;
		const from = Math.max(0, node.indexOf(this.at));
		for (let step = 1; step <= node.length; step++) {
			const at = node[(from + direction * step + node.length * 2) % node.length];
			if (this.tree.fn[at] >= 0 && hits[this.tree.fn[at]]) {
				this.select(at);
				return;
			}
		}
	}

	key(event) {
		if (hasModifier(event) || !this.frames)
			return;
		const seen = this.at >= 0 && this.frames.node.includes(this.at);
		const parent = () => Math.max(this.root, this.tree.parent[this.at]);
		const child = () => Array.from(this.tree.children(this.at))
			.find(kid => this.frames.node.includes(kid)) ?? this.at;
		const moves = {
			ArrowUp: this.up() ? child : parent,
			ArrowDown: this.up() ? parent : child,
			ArrowLeft: () => this.beside(-1),
			ArrowRight: () => this.beside(1),
			Home: () => this.zoom,
		};
		if (event.key in moves) {
			this.select(seen ? moves[event.key]() : this.zoom);
		} else if (event.key === 'Enter' && seen) {
			this.zoomTo(this.at);
		} else if (event.key === 'Backspace' || event.key === '-') {
			this.zoomTo(Math.max(this.root, this.tree.parent[this.zoom]));
		} else if (event.key === '0' || (event.key === 'Escape' && this.zoom > this.root)) {
			this.zoomTo(this.root);
		} else {
			return;
		}
		consume(event);
	}
}
