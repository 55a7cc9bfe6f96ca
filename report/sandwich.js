// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One function between its callers and what it calls.

class Sandwich {
	constructor() {
		const selected = (fn, it) => {
			this.at = fn;
			choose(it, {});
		};
		this.callers = new Flame(byId('callers'), {label: 'Callers', up: () => true, selected});
		this.callees = new Flame(byId('callees'), {label: 'What it calls', selected});
		for (const {canvas} of [this.callers, this.callees])
			canvas.addEventListener('dblclick', () => this.at >= 0 && change({fn: String(this.at)}));
	}

	show() {
		let fn = selectedFunction();
		if (fn < 0)
			fn = functionRows().reduce((best, row) => row.fn < data.functions.count && row.self > best.self ? row : best, {fn: -1, self: -1}).fn;
		if (fn < 0)
			return;
		const sums = currentSums();
		const options = {hidden: hiddenFunctions(), recursion: Boolean(state.recursion), order: state.order};
		const key = [fn, state.thread, state.range, state.weight, state.hide, state.recursion, state.order, data.loaded].join('|');
		if (key === this.key)
			return this.callers.draw(), this.callees.draw();
		this.key = key;
		const callers = new Backward(sums, {...options, of: fn});
		const callees = new Forward(sums, {...options, focus: fn});
		this.callers.show(callers);
		// Its root is the program again: the function itself is below.
		const root = callees.children(0)[0] ?? 0;
		this.callees.show(callees, root, root);
		byId('filling-name').textContent = functionName(fn);
		byId('filling-place').textContent = functionPlace(fn, true);
		byId('filling-share').textContent = formatWeight(callees.total[root]) + ' · ' + formatShare(callees.total[root], sums.total[0]) + ' of all';
		this.list('edges-up', callers, 0);
		this.list('edges-down', callees, root);
	}

	list(id, tree, node) {
		const kids = [...tree.children(node)];
		const rows = kids.slice(0, 40).map(kid => {
			const fn = tree.fn[kid];
			return [make('button.link', {type: 'button', title: functionName(fn), onclick: () => change({fn: String(fn)})}, functionName(fn)),
				formatWeight(tree.total[kid]), formatShare(tree.total[kid], tree.total[node]), currentSums().range ? '–' : formatCount(tree.calls[kid])];
		});
		if (kids.length !== rows.length || !rows.length)
			rows.push([rows.length ? 'and ' + plural(kids.length - rows.length, 'lighter one') : 'none', '', '', '']);
		byId(id).replaceChildren(...rows.map(row => make('tr', null, row.map(content => make('td', null, content)))));
	}
}
