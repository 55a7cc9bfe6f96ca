// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One function between its callers and what it calls.

class Sandwich {
	constructor() {
		this.steps = [];
		const selected = (fn, it) => {
			this.at = fn;
			choose(it, {});
		};
		this.callers = new Flame(byId('callers'),
			{label: 'Callers', up: () => true, selected});
		this.callees = new Flame(byId('callees'), {label: 'What it calls', selected});
		for (const {canvas} of [this.callers, this.callees])
			canvas.addEventListener('dblclick', () => this.at >= 0 &&
				change({fn: String(this.at)}));
	}

	show() {
		let fn = selectedFunction();
		if (fn < 0)
			fn = functionRows().reduce((best, row) => row.fn < data.functions.count &&
				row.self > best.self ? row : best, {fn: -1, self: -1}).fn;
		if (fn < 0)
			return;
		const sums = currentSums();
		const hidden = hiddenFunctions();
		hidden.delete(fn);
		const options = {hidden, recursion: Boolean(state.recursion), order: state.order};
		const key = [fn, state.thread, state.range, state.weight, state.hide,
			state.recursion, state.order, loadedPart()].join('|');
		if (key === this.key)
			return this.callers.draw(), this.callees.draw();
		this.key = key;
		const callers = new Backward(sums, {...options, of: fn});
		const all = callers.total[0];
		this.callers.show(callers);
		byId('filling-name').textContent = functionName(fn);
		byId('filling-place').textContent = functionPlace(fn, true);
		byId('filling-share').textContent = formatWeight(all) + ' · ' +
			formatShare(all, sums.total[0]) + ' of all';
		byId('edges').setAttribute('aria-busy', true);
		// What it calls, and the lists, go through all paths again: the browser may paint
		// before each.
		const steps = this.steps = [() => this.showCallees(sums, options,
			fn), () => this.showEdges(sums, options, fn, all)];
		const next = () => requestAnimationFrame(() => setTimeout(() => {
			if (this.steps !== steps || !steps.length)
				return;
			steps.shift()();
			next();
		}));
		next();
	}

	// Do the rest at once.
	finish() {
		for (const step of this.steps.splice(0))
			step();
	}

	showCallees(sums, options, fn) {
		const callees = new Forward(sums, {...options, focus: fn});
		// Its root is the program again: the function itself is below.
		const root = callees.children(0)[0] ?? 0;
		this.callees.show(callees, root, root);
	}

	showEdges(sums, options, fn, all) {
		// The flame graph's tree, if it has all of them.
		const shared = !state.inverted && focusFunction() < 0 &&
			!hiddenFunctions().has(fn) && sums === currentSums();
		const tree = shared ? currentTree() : new Forward(sums, options);
		const callers = pairsOf(tree, fn, true);
		const known = callers.reduce((sum, pair) => sum + pair.calls, 0);
		this.list('edges-up', callers, all,
			sums.part || sums.before ? 0 : data.functions.calls[fn] - known);
		this.list('edges-down', pairsOf(tree, fn, false), all, 0);
		byId('edges').setAttribute('aria-busy', false);
	}

	// `unknown`: calls on none of the report's paths.
	list(id, pairs, all, unknown) {
		const rows = pairs.slice(0, 40).map(({fn, total, calls}) => [
			fn < 0 ? '(start of a thread)' : isSmaller(fn) ? functionName(fn) :
				make('button.link', {type: 'button', title: functionName(fn),
					onclick: () => change({fn: String(fn)})},
					shortName(functionName(fn))),
			formatWeight(total), formatShare(total, all),
			currentSums().range ? '–' : formatCount(calls)]);
		if (pairs.length > rows.length)
			rows.push(['and ' + plural(pairs.length - rows.length, 'lighter one'), '',
				'', '']);
		if (unknown > 0)
			rows.push([make('span', {title: 'Calls that were only counted have ' +
				'no caller, light paths are merged, and only some calls of a ' +
				'sampled function are on paths.'}, '(caller not known)'), '', '',
				formatCount(unknown)]);
		if (!rows.length)
			rows.push(['none', '', '', '']);
		byId(id).replaceChildren(...rows.map(row => make('tr', null,
			row.map(content => make('td', null, content)))));
	}
}
