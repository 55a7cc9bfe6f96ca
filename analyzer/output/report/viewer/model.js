// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Trees that are shown: the paths with some merged, left out or turned round. Node 0 is the root.

// Work done so far: trees made, places looked at, frames laid out. Frames are found in slices of
// this many steps; between slices the browser may draw and take input.
const work = {trees: 0, steps: 0, frames: 0, slice: 400000};

// Threads and the timeline are read after the first picture; only what depends on them is computed
// again.
const loadedPart = () => Boolean((state.range || state.thread) && data.loaded);

const hiddenFunctions = () => new Set(numberList(state.hide).filter(fn => fn < data.functions.all));
const focusFunction = () => stateIndex(state.focus, data.functions.all);

// The selected part of the timeline: cells from `from` to before `to`, of the threads with these
// indices.
function selectedRange() {
	const match = /^(\d+)\.(\d+)((?:\.\d+)*)$/.exec(state.range);
	if (!match || !data.time)
		return null;
	const from = Number(match[1]), to = Math.min(Number(match[2]), data.time.cells);
	const all = data.facts.threads.length;
	const threads = numberList(match[3].slice(1)).filter(i => i < all);
	return from < to ? {from, to,
		threads: threads.length ? threads : data.facts.threads.map((_, i) => i)} : null;
}

/*
 * Self times and calls by path of the selection: everything, a thread, or a part of the timeline,
 * which has no calls and only the whole self time. `time` is 'self' or one of TIMES.
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
const insideShare = remember(() => [state.range, state.thread, state.weight, loadedPart()], () => {
	const sums = currentSums();
	const {inside, self_ns: self, count} = data.functions;
	if (!sums.part && sums.wall && !sums.before) {
		const add = all => self.reduce((sum, ns, fn) => sum +
			(fn < count && (all || inside[fn]) ? ns : 0), 0);
		return add(false) / (add(true) || 1);
	}
	const paths = insidePaths();
	return sums.self.reduce((sum, ns, i) => sum + paths[i] * ns,
		0) / (sums.self.reduce((sum, ns) => sum + ns, 0) || 1);
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

// With all below, null of nothing; a parent's number is below its children's, so one way back is
// enough.
function addBelow(own, parent) {
	const sum = own && Float64Array.from(own);
	for (let i = sum ? sum.length - 1 : 0; i > 0; i--)
		sum[parent[i]] += sum[i];
	return sum ?? null;
}

// The sums of the selection, with inclusive times.
const currentSums = remember(() => [state.range, state.thread, state.weight, loadedPart()], () => {
	const range = selectedRange();
	const thread = threadIndex();
	const time = !range && data.facts.times && TIMES.includes(state.weight) ? state.weight :
		'self';
	const sums = sumPaths(range, range ? -1 : thread, time);
	sums.range = range;
	sums.wall = time === 'self';
	sums.inside = data.joined ? sums.self.map((ns, i) => insidePaths()[i] && ns) : null;
	// What self times are made up of, where it is known and is not the width already.
	sums.parts = data.facts.times && !range && sums.wall ?
		TIMES.map(name => sumPaths(null, thread, name).self) : null;
	const calls = (state.weight === 'calls' || data.facts.unit === 'calls') && !range;
	sums.weight = calls ? sums.calls : sums.self;
	sums.baseWeight = calls ? sums.baseCalls : sums.baseSelf;
	// Widths as they were before; colours still say what has changed.
	if (state.weight === 'before' && sums.baseSelf)
		Object.assign(sums, {weight: sums.baseSelf, self: sums.baseSelf,
			calls: sums.baseCalls, before: true,
			baseWeight: sums.self});
	const {parent} = data.paths;
	sums.total = addBelow(sums.weight, parent);
	sums.time = calls ? addBelow(sums.self, parent) : sums.total;
	sums.baseTotal = addBelow(sums.baseWeight, parent);
	return sums;
});

// The place of each function among all, by name; the same for the same name.
const nameRanks = remember(() => 1, () => {
	const {compare} = new Intl.Collator();
	const names = data.functions.name;
	const sorted = Array.from(names, (_, i) => i).sort((a, b) => compare(names[a], names[b]));
	const ranks = new Int32Array(names.length);
	for (let i = 1; i < sorted.length; i++)
		ranks[sorted[i]] = ranks[sorted[i - 1]] +
			(compare(names[sorted[i - 1]], names[sorted[i]]) ? 1 : 0);
	return ranks;
});

const orders = {
	weight: ({total, base}) => {
		const most = node => Math.max(total[node], base?.[node] ?? 0);
		return (a, b) => most(b) - most(a) || a - b;
	},
	first: () => (a, b) => a - b,
	name: tree => {
		const ranks = nameRanks();
		return (a, b) => ranks[tree.fn[a]] - ranks[tree.fn[b]] || a - b;
	},
};

// Nodes by caller and function: numbers from 1 on, 0 is no node.
class PairIndex {
	constructor(most) {
		let bits = 4;
		while (2 ** bits < 2 * most)
			bits++;
		this.slots = new Int32Array(2 ** bits);
		this.shift = 32 - bits;
	}

	// The place of the node in `slots`, or the free one.
	place({parent, fn}, above, it) {
		const {slots, shift} = this;
		const last = slots.length - 1;
		let at = Math.imul(Math.imul(above, 31) + it, 0x9e3779b1) >>> shift;
		while (slots[at] && (parent[slots[at]] !== above || fn[slots[at]] !== it))
			at = (at + 1) & last;
		return at;
	}
}

/*
 * Callers above, what they call below. `focus`: only what that function calls. Hidden functions
 * vanish into their callers. With `recursion`, a call of a function that is running already joins
 * it.
 */
class Forward {
	constructor(sums, {focus = -1, hidden = new Set(), recursion = false, order = 'weight'}) {
		const {parent, fn, min, max, count} = data.paths;
		this.order = order;
		work.trees++;
		// The heaviest first: what follows one that is too narrow is, too.
		this.falls = order === 'weight' && !sums.baseWeight;
		if (focus >= 0 || hidden.size || recursion) {
			this.merge(sums, focus, hidden, recursion);
			return;
		}
		// Each node is one path.
		const below = own => addBelow(own, parent);
		const {self, calls, total} = sums;
		Object.assign(this, {count, parent, fn, min, max, self, calls, total});
		this.time = sums.weight === self ? total : sums.time;
		this.base = sums.baseWeight ? sums.baseTotal : null;
		this.parts = sums.parts && sums.parts.map(below);
		this.inside = below(sums.inside);
	}

	merge(sums, focus, hidden, recursion) {
		const {count, parent, fn, level} = data.paths;
		const nodes = new PairIndex(count);
		const vanishes = new Uint8Array(data.functions.all);
		for (const it of hidden)
			vanishes[it] = 1;
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
			if (above < 0) {
				if (it !== focus) {
					node[i] = -1;
					continue;
				}
				above = 0;
			}
			if (vanishes[it]) {
				node[i] = above;
				continue;
			}
			if (recursion && level[i]) {
				let at = above;
				while (at > 0 && this.fn[at] !== it)
					at = this.parent[at];
				if (at > 0) {
					node[i] = at;
					continue;
				}
			}
			const place = nodes.place(this, above, it);
			node[i] = nodes.slots[place] ||= this.add(above, it);
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
		const below = own => addBelow(own, this.parent);
		this.self = sumUp(sums.self, true);
		this.calls = sumUp(sums.calls, false);
		this.total = below(sums.weight === sums.self ? this.self : this.calls);
		this.time = sums.weight === sums.self ? this.total : below(this.self);
		this.base = below(sumUp(sums.baseWeight, true));
		this.parts = sums.parts && sums.parts.map(part => below(sumUp(part, true)));
		this.inside = below(sumUp(sums.inside, true));
	}

	add(parent, fn) {
		this.parent[this.count] = parent;
		this.fn[this.count] = fn;
		return this.count++;
	}

	// Children of all nodes in one array; what weighs nothing and was not called is left out.
	link() {
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
		this.sorted = new Uint8Array(count);
		this.compare = orders[this.order](this);
	}

	// Those of each node are sorted when somebody first looks at them, as most are never seen.
	children(node) {
		if (!this.kids)
			this.link();
		const kids = this.kids.subarray(this.start[node], this.start[node + 1]);
		if (!this.sorted[node] && kids.length > 1) {
			kids.sort(this.compare);
			work.steps += kids.length;
		}
		this.sorted[node] = 1;
		return kids;
	}
}

/*
 * What was called above, its callers below. Nodes are made when they are first looked at, as there
 * may be far more of them than paths. Without `of` the root is everything and its children are
 * functions with their self times; with it the root is that function with the time of its outermost
 * calls. Calls are all that were made from there.
 */
class Backward {
	constructor(sums, {of = -1, hidden = new Set(), recursion = false, order = 'weight'}) {
		const {count, fn, level} = data.paths;
		work.trees++;
		Object.assign(this,
			{sums, hidden, recursion, falls: order === 'weight' && !sums.baseWeight});
		for (const column of ['fn', 'parent', 'depth', 'total', 'calls', 'from', 'to',
				'kids'])
			this[column] = [];
		this.base = sums.baseWeight ? [] : null;
		this.parts = sums.parts && sums.parts.map(() => []);
		this.order = orders[order](this);
		const outermost = times => times && times.map((time, i) => level[i] ? 0 : time);
		this.own = of < 0 ? sums.weight : outermost(sums.total);
		this.ownBase = of < 0 ? sums.baseWeight : outermost(sums.baseTotal);
		this.ownParts = sums.parts && (of < 0 ? sums.parts :
			sums.parts.map(part => outermost(addBelow(part, data.paths.parent))));
		const root = this.add(-1, of);
		// The paths of each node, from `from` to before `to`. Places are the paths that the
		// next step names: callers, or at first the functions themselves.
		this.path = new Int32Array(count);
		let end = 0;
		for (let i = 1; i < count; i++)
			if ((of < 0 || fn[i] === of) && (this.own[i] > 0 || sums.calls[i] > 0 ||
					this.ownBase?.[i] > 0))
				this.path[end++] = i;
		this.path = this.path.slice(0, end);
		this.place = this.path.slice();
		this.to[root] = end;
		this.sum(root);
		this.first = of < 0;
		// For children(): the child of each function, and which functions are left out.
		this.child = new Int32Array(data.functions.all);
		this.skipped = new Uint8Array(data.functions.all);
	}

	add(parent, fn) {
		this.parent.push(parent);
		this.depth.push((this.depth[parent] ?? -1) + 1);
		this.fn.push(fn);
		this.total.push(0);
		this.calls.push(0);
		this.base?.push(0);
		this.parts?.forEach(part => part.push(0));
		this.from.push(0);
		this.to.push(0);
		return this.fn.length - 1;
	}

	// Have what the paths of a node weigh in its sums.
	sum(node) {
		const {path} = this;
		const from = this.from[node], to = this.to[node];
		const sumUp = own => {
			let sum = 0;
			for (let j = from; j < to; j++)
				sum += own[path[j]];
			return sum;
		};
		this.total[node] = sumUp(this.own);
		this.calls[node] = sumUp(this.sums.calls);
		if (this.base)
			this.base[node] = sumUp(this.ownBase);
		this.parts?.forEach((part, i) => part[node] = sumUp(this.ownParts[i]));
	}

	// Hidden functions, and those that are running there already if recursion is collapsed.
	skip(node, value) {
		for (const fn of this.hidden)
			this.skipped[fn] = value;
		for (let at = node; this.recursion && at >= 0; at = this.parent[at])
			if (this.fn[at] >= 0)
				this.skipped[this.fn[at]] = value;
	}

	children(node) {
		// Each level may cost a step for each path.
		if (this.kids[node] || this.depth[node] > 150)
			return this.kids[node] || [];
		const {path, place, child, skipped} = this;
		const {fn, parent} = data.paths;
		const from = this.from[node], to = this.to[node];
		const kids = [];
		const itself = this.first && node === 0;
		work.steps += to - from;
		this.skip(node, 1);
		for (let j = from; j < to; j++) {
			let at = itself ? path[j] : parent[place[j]];
			while (at > 0 && skipped[fn[at]])
				at = parent[at];
			place[j] = at;
			if (at <= 0)
				continue;
			const kid = child[fn[at]] ||= kids[kids.push(this.add(node, fn[at])) - 1];
			this.to[kid]++;
		}
		this.skip(node, 0);
		// The paths of each child side by side, where the node had all of them: it does not
		// need them again.
		let end = from;
		for (const kid of kids) {
			this.from[kid] = end;
			end += this.to[kid];
			this.to[kid] = this.from[kid];
		}
		const paths = path.slice(from, to), places = place.slice(from, to);
		for (let j = 0; j < paths.length; j++)
			if (places[j] > 0) {
				const at = this.to[child[fn[places[j]]]]++;
				path[at] = paths[j];
				place[at] = places[j];
			}
		for (const kid of kids) {
			child[this.fn[kid]] = 0;
			this.sum(kid);
		}
		return this.kids[node] = kids.sort(this.order);
	}
}

// Places of nodes in preorder: a node and all below it are from `at` to before `at + size`; `order`
// has the nodes of the places.
function preorderOf({count, parent}) {
	const size = new Int32Array(count).fill(1), at = new Int32Array(count),
		next = new Int32Array(count);
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
	return {size, at, order};
}

/*
 * Whoever calls a function, or with `up` false what it calls, over all of a Forward tree: all calls
 * of that pair, and the time of those that are not within another call of the same pair. The
 * command line's view "function" has the same numbers.
 */
function pairsOf(tree, fn, up) {
	const {count, parent, calls, total, fn: fns} = tree;
	const {size, at, order} = tree.preorder ||= preorderOf(tree);
	const pairs = new Map();
	for (let j = 1; j < count; j++) {
		const i = order[j];
		const above = fns[parent[i]];
		if ((up ? fns[i] : above) !== fn)
			continue;
		const other = up ? above : fns[i];
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
	() => [state.range, state.thread, state.weight, state.order, state.inverted,
		state.recursion, state.focus, state.hide, loadedPart()],
	() => {
		const options = {focus: focusFunction(), hidden: hiddenFunctions(),
			recursion: Boolean(state.recursion), order: state.order};
		return state.inverted ? new Backward(currentSums(), options) :
			new Forward(currentSums(), options);
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
