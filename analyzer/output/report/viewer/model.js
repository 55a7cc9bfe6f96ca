// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Trees that are shown: the paths with some merged, left out or turned round. Node 0 is the root.

const hiddenFunctions = () => new Set(numberList(state.hide).filter(fn => fn < data.functions.all));
const focusFunction = () => stateIndex(state.focus, data.functions.all);

// The selected part of the timeline: cells from `from` to before `to`, of the threads with these indices.
function selectedRange() {
	const match = /^(\d+)\.(\d+)((?:\.\d+)*)$/.exec(state.range);
	if (!match || !data.time)
		return null;
	const from = Number(match[1]), to = Math.min(Number(match[2]), data.time.cells);
	const all = data.facts.threads.length;
	const threads = numberList(match[3].slice(1)).filter(i => i < all);
	return from < to ? {from, to, threads: threads.length ? threads : data.facts.threads.map((_, i) => i)} : null;
}

/*
 * Self times and calls by path of what is chosen: everything, a thread, or a part of the timeline, of
 * which there are no calls and only all of self time. `time` is 'self' or one of TIMES.
 */
function sumPaths(range, thread, time) {
	const {count, calls, baseSelf, baseCalls} = data.paths;
	if (!range && thread < 0)
		return {self: data.paths[time], calls, baseSelf, baseCalls, part: false};
	const sum = {self: new Float64Array(count), calls: new Float64Array(count), part: true};
	if (range) {
		for (const index of range.threads) {
			const {cells} = data.facts.threads[index];
			for (let i = range.from; i < range.to; i++)
				for (let j = 0; j < cells[i].path.length; j++)
					sum.self[cells[i].path[j]] += cells[i].self[j];
		}
	} else {
		const rows = data.facts.threads[thread];
		for (let i = 0; i < rows.path.length; i++) {
			sum.self[rows.path[i]] = rows[time][i];
			sum.calls[rows.path[i]] = rows.calls[i];
		}
	}
	return sum;
}

// The part of self time that is on the TEE's side; light paths count for their callers.
const insideShare = remember(() => [state.range, state.thread, state.weight, data.loaded], () => {
	const sums = currentSums();
	const {inside, self_ns: self, count} = data.functions;
	if (!sums.part && sums.wall && !sums.before) {
		const add = all => self.reduce((sum, ns, fn) => sum + (fn < count && (all || inside[fn]) ? ns : 0), 0);
		return add(false) / (add(true) || 1);
	}
	const paths = insidePaths();
	return sums.self.reduce((sum, ns, i) => sum + paths[i] * ns, 0) / (sums.self.reduce((sum, ns) => sum + ns, 0) || 1);
});

const insidePaths = remember(() => 1, () => {
	const {count, parent, fn} = data.paths;
	const inside = new Uint8Array(count);
	for (let i = 1; i < count; i++)
		inside[i] = isSmaller(fn[i]) ? inside[parent[i]] : data.functions.inside[fn[i]];
	return inside;
});

const threadIndex = () => {
	const index = stateIndex(state.thread, data.facts.threads.length);
	return data.facts.threads[index]?.path?.length ? index : -1;
};

// With all below, null of nothing; a parent's number is below its children's, so one way back is enough.
function addBelow(own, parent) {
	const sum = own && Float64Array.from(own);
	for (let i = sum ? sum.length - 1 : 0; i > 0; i--)
		sum[parent[i]] += sum[i];
	return sum ?? null;
}

// What is chosen, with inclusive times.
const currentSums = remember(() => [state.range, state.thread, state.weight, data.loaded], () => {
	const range = selectedRange();
	const thread = threadIndex();
	const time = !range && data.facts.times && TIMES.includes(state.weight) ? state.weight : 'self';
	const sums = sumPaths(range, range ? -1 : thread, time);
	sums.range = range;
	sums.wall = time === 'self';
	sums.inside = data.joined ? sums.self.map((ns, i) => insidePaths()[i] && ns) : null;
	// What self times are made up of, where it is known and is not the width already.
	sums.parts = data.facts.times && !range && sums.wall ? TIMES.map(name => sumPaths(null, thread, name).self) : null;
	const calls = (state.weight === 'calls' || data.facts.unit === 'calls') && !range;
	sums.weight = calls ? sums.calls : sums.self;
	sums.baseWeight = calls ? sums.baseCalls : sums.baseSelf;
	// Widths as they were before; colours still say what has changed.
	if (state.weight === 'before' && sums.baseSelf)
		Object.assign(sums, {weight: sums.baseSelf, self: sums.baseSelf, calls: sums.baseCalls, before: true,
			baseWeight: sums.self});
	const {parent} = data.paths;
	sums.total = addBelow(sums.weight, parent);
	sums.time = calls ? addBelow(sums.self, parent) : sums.total;
	sums.baseTotal = addBelow(sums.baseWeight, parent);
	return sums;
});

const orders = {
	weight: ({total, base}) => {
		const most = node => Math.max(total[node], base?.[node] ?? 0);
		return (a, b) => most(b) - most(a) || a - b;
	},
	first: () => (a, b) => a - b,
	name: tree => (a, b) => functionName(tree.fn[a]).localeCompare(functionName(tree.fn[b])) || a - b,
};

/*
 * Callers above, what they call below. `focus`: only what that function calls. Hidden functions vanish
 * into their callers. With `recursion`, a call of a function that is running already joins it.
 */
class Forward {
	constructor(sums, {focus = -1, hidden = new Set(), recursion = false, order = 'weight'}) {
		const {count, parent, fn, min, max} = data.paths;
		const plain = focus < 0 && !hidden.size && !recursion;
		const all = data.functions.all + 1;
		const nodes = new Map();
		// Which node a path belongs to; -1: it is outside of the focus.
		const node = new Int32Array(count);
		this.count = 1;
		this.fn = new Int32Array(count);
		this.parent = new Int32Array(count);
		this.fn[0] = this.parent[0] = -1;
		if (focus >= 0)
			node[0] = -1;
		for (let i = 1; i < count; i++) {
			let above = node[parent[i]];
			const it = fn[i];
			if (plain) {
				node[i] = this.add(above, it);
				continue;
			}
			if (above < 0) {
				if (it !== focus) {
					node[i] = -1;
					continue;
				}
				above = 0;
			}
			if (hidden.has(it)) {
				node[i] = above;
				continue;
			}
			if (recursion) {
				let at = above;
				while (at > 0 && this.fn[at] !== it)
					at = this.parent[at];
				if (at > 0) {
					node[i] = at;
					continue;
				}
			}
			const key = above * all + it;
			node[i] = nodes.get(key) ?? -1;
			if (node[i] < 0)
				nodes.set(key, node[i] = this.add(above, it));
		}
		const sumUp = (own, nested) => {
			if (!own)
				return null;
			const sum = new Float64Array(this.count);
			for (let i = 0; i < count; i++)
				if (node[i] >= 0 && (nested || this.fn[node[i]] === fn[i]))
					sum[node[i]] += own[i];
			return sum;
		};
		this.self = sumUp(sums.self, true);
		this.calls = sumUp(sums.calls, false);
		const own = sums.weight === sums.self ? this.self : this.calls;
		this.total = addBelow(own, this.parent);
		this.time = sums.weight === sums.self ? this.total : addBelow(this.self, this.parent);
		this.base = addBelow(sumUp(sums.baseWeight, true), this.parent);
		this.parts = sums.parts && sums.parts.map(part => addBelow(sumUp(part, true), this.parent));
		this.inside = addBelow(sumUp(sums.inside, true), this.parent);
		// Only as long as each node is one path.
		if (plain)
			Object.assign(this, {min, max});
		this.link(orders[order]);
	}

	add(parent, fn) {
		this.parent[this.count] = parent;
		this.fn[this.count] = fn;
		return this.count++;
	}

	// Children of all nodes in one array, those of each in order; what weighs nothing and was not called is left out.
	link(order) {
		const {count, parent, total, base, calls} = this;
		const start = this.start = new Int32Array(count + 2);
		const weighs = i => total[i] > 0 || calls[i] > 0 || (base && base[i] > 0);
		for (let i = 1; i < count; i++)
			if (weighs(i))
				start[parent[i] + 2]++;
		for (let i = 2; i < count + 2; i++)
			start[i] += start[i - 1];
		const kids = this.kids = new Int32Array(start[count + 1]);
		for (let i = 1; i < count; i++)
			if (weighs(i))
				kids[start[parent[i] + 1]++] = i;
		const compare = order(this);
		for (let i = 0; i < count; i++)
			if (start[i + 1] - start[i] > 1)
				kids.subarray(start[i], start[i + 1]).sort(compare);
	}

	children(node) {
		return this.kids.subarray(this.start[node], this.start[node + 1]);
	}
}

/*
 * What was called above, its callers below. Nodes are made when they are first looked at, as there may
 * be far more of them than paths. Without `of` the root is everything and its children are functions
 * with their self times; with it the root is that function with the time of its outermost calls. Calls
 * are all that were made from there.
 */
class Backward {
	constructor(sums, {of = -1, hidden = new Set(), recursion = false, order = 'weight'}) {
		const {count, fn, level} = data.paths;
		Object.assign(this, {sums, hidden, recursion});
		for (const column of ['fn', 'parent', 'depth', 'total', 'calls', 'paths', 'places', 'kids'])
			this[column] = [];
		this.base = sums.baseWeight ? [] : null;
		this.parts = sums.parts && sums.parts.map(() => []);
		this.order = orders[order](this);
		const outermost = times => times && times.map((time, i) => level[i] ? 0 : time);
		this.own = of < 0 ? sums.weight : outermost(sums.total);
		this.ownBase = of < 0 ? sums.baseWeight : outermost(sums.baseTotal);
		this.ownParts = sums.parts && (of < 0 ? sums.parts : sums.parts.map(part => outermost(addBelow(part, data.paths.parent))));
		const root = this.add(-1, of);
		for (let i = 1; i < count; i++)
			if ((of < 0 || fn[i] === of) && (this.own[i] > 0 || sums.calls[i] > 0 || this.ownBase?.[i] > 0))
				this.put(root, i, i);
		// Places are the paths that the next step names: callers, or at first the functions themselves.
		this.first = of < 0;
	}

	add(parent, fn) {
		this.parent.push(parent);
		this.depth.push((this.depth[parent] ?? -1) + 1);
		this.fn.push(fn);
		this.total.push(0);
		this.calls.push(0);
		this.base?.push(0);
		this.parts?.forEach(part => part.push(0));
		this.paths.push([]);
		this.places.push([]);
		return this.fn.length - 1;
	}

	put(node, path, place) {
		this.total[node] += this.own[path];
		this.calls[node] += this.sums.calls[path];
		if (this.base)
			this.base[node] += this.ownBase[path];
		this.parts?.forEach((part, i) => part[node] += this.ownParts[i][path]);
		this.paths[node].push(path);
		this.places[node].push(place);
	}

	above(node, path) {
		const {parent, fn} = data.paths;
		const runs = it => {
			let at = node;
			while (at >= 0 && this.fn[at] !== it)
				at = this.parent[at];
			return at >= 0;
		};
		let at = this.first && node === 0 ? path : parent[path];
		while (at > 0 && (this.hidden.has(fn[at]) || (this.recursion && runs(fn[at]))))
			at = parent[at];
		return at;
	}

	children(node) {
		if (this.kids[node])
			return this.kids[node];
		const made = new Map();
		const {fn} = data.paths;
		// Each level may cost a step for each path.
		if (this.depth[node] > 150)
			return [];
		this.paths[node].forEach((path, i) => {
			const place = this.above(node, this.places[node][i]);
			if (place <= 0)
				return;
			let child = made.get(fn[place]);
			if (child === undefined)
				made.set(fn[place], child = this.add(node, fn[place]));
			this.put(child, path, place);
		});
		// What is not needed again goes, as long as it is much.
		this.paths[node] = this.places[node] = [];
		return this.kids[node] = [...made.values()].sort(this.order);
	}
}

/*
 * Whoever calls a function, or with `up` false what it calls, over all of a Forward tree: all calls of that pair, and
 * the time of those that are not within another call of the same pair. The command line's view "function"
 * has the same numbers.
 */
function pairsOf(tree, fn, up) {
	const {count, parent, calls, total} = tree;
	// Places in preorder: a node's are from `at` to before `at + size`.
	const size = new Int32Array(count).fill(1), at = new Int32Array(count), next = new Int32Array(count);
	for (let i = count - 1; i > 0; i--)
		size[parent[i]] += size[i];
	const order = new Int32Array(count);
	next[0] = 1;
	for (let i = 1; i < count; i++) {
		at[i] = next[parent[i]];
		next[parent[i]] += size[i];
		next[i] = at[i] + 1;
		order[at[i]] = i;
	}
	const pairs = new Map();
	for (const i of order.subarray(1)) {
		const above = tree.fn[parent[i]];
		if ((up ? tree.fn[i] : above) !== fn)
			continue;
		const other = up ? above : tree.fn[i];
		const pair = pairs.get(other) ?? {fn: other, calls: 0, total: 0, until: 0};
		pairs.set(other, pair);
		pair.calls += calls[i];
		if (at[i] < pair.until)
			continue;
		pair.total += total[i];
		pair.until = at[i] + size[i];
	}
	return [...pairs.values()].filter(pair => pair.calls > 0 || pair.total > 0)
		.sort((a, b) => b.total - a.total || b.calls - a.calls || a.fn - b.fn);
}

// The tree of flame graph and call tree.
const currentTree = remember(
	() => [state.range, state.thread, state.weight, state.order, state.inverted, state.recursion, state.focus, state.hide, data.loaded],
	() => {
		const options = {focus: focusFunction(), hidden: hiddenFunctions(), recursion: Boolean(state.recursion), order: state.order};
		return state.inverted ? new Backward(currentSums(), options) : new Forward(currentSums(), options);
	});

// The functions that were running at a node, the innermost first.
function stackOf(tree, node) {
	const fns = [];
	for (let at = node; at >= 0; at = tree.parent[at])
		if (tree.fn[at] >= 0)
			fns.push(tree.fn[at]);
	return tree instanceof Backward ? fns.reverse() : fns;
}

// A node as functions from the root on, and back; the deepest that is there.
function nodeName(tree, node) {
	const names = [];
	for (let at = node; at > 0; at = tree.parent[at])
		names.push(tree.fn[at]);
	return names.reverse().join('.');
}

function findNode(tree, name) {
	let node = 0;
	for (const fn of numberList(name)) {
		const child = tree.children(node).find(kid => tree.fn[kid] === fn);
		if (child === undefined)
			break;
		node = child;
	}
	return node;
}
