// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tree of the flame graph as a table that can be read aloud, and walked with arrows.

const KIDS_AT_ONCE = 100;

class TreeGrid {
	constructor() {
		this.body = byId('tree-body');
		this.body.addEventListener('keydown', event => this.key(event));
		this.body.addEventListener('click', event => {
			const row = event.target.closest('tr');
			if (!row)
				return;
			if (row.rest)
				this.addRest(row);
			else if (event.target.closest('.twist'))
				this.toggle(row);
			else
				this.focus(row);
		});
	}

	// Anew if the tree is another one: the heaviest path is open, or the way to the flame
	// graph's frame.
	show(tree, at) {
		if (tree === this.tree && at === this.shownAt)
			return;
		this.tree = tree;
		this.shownAt = at;
		this.body.replaceChildren();
		this.body.append(this.makeRow(0, 1, 1, 1));
		let row = this.body.firstElementChild;
		const chain = [];
		for (let node = at; node > 0; node = tree.parent[node])
			chain.push(node);
		for (let steps = 0; row && steps < 400; steps++) {
			this.toggle(row, true);
			const wanted = chain.pop();
			const rows = this.kids(row);
			const next = wanted !== undefined ? rows.find(kid => kid.node === wanted) :
				rows[0];
			if (!next || (wanted === undefined &&
					tree.total[next.node] < tree.total[0] * 0.3))
				break;
			row = next;
		}
		this.focus(at ? row : this.body.firstElementChild, false);
	}

	makeRow(node, level, place, all) {
		const {tree} = this;
		const fn = tree.fn[node];
		const kids = tree.children(node).length;
		const row = make('tr', {role: 'row', 'aria-level': level, 'aria-posinset': place,
			'aria-setsize': all,
			'aria-expanded': kids ? 'false' : null, tabindex: -1});
		Object.assign(row, {node, level});
		const dot = makeDot(nodeColour(tree, node));
		const name = make('td', {role: 'gridcell', title: functionName(fn)},
			make('span.twist', {'aria-hidden': true}, kids ? '▸' : ''), dot,
			shortName(functionName(fn)));
		name.style.paddingLeft = Math.min(level - 1, 60) * 16 + 8 + 'px';
		const text = [formatWeight(tree.total[node]),
			formatShare(tree.total[node], tree.total[0]),
			tree.self && data.facts.unit !== 'calls' ? formatTime(tree.self[node]) :
				'–',
			fn < 0 || currentSums().range ? '–' : formatCount(tree.calls[node]),
			functionPlace(fn)];
		row.append(name, ...text.map((word, i) => make('td' + (i === 4 ? '.place' : ''),
			{role: 'gridcell'}, word)));
		return row;
	}

	kids(row) {
		const found = [];
		for (let next = row.nextElementSibling; next && next.level > row.level;
				next = next.nextElementSibling)
			if (next.level === row.level + 1 && !next.rest)
				found.push(next);
		return found;
	}

	toggle(row, open = row.getAttribute('aria-expanded') === 'false') {
		if (!row.hasAttribute('aria-expanded') ||
				open === (row.getAttribute('aria-expanded') === 'true'))
			return;
		row.setAttribute('aria-expanded', open);
		row.querySelector('.twist').textContent = open ? '▾' : '▸';
		if (!open) {
			while (row.nextElementSibling?.level > row.level)
				row.nextElementSibling.remove();
			return;
		}
		row.after(...this.makeKids(row.node, row.level, 0));
	}

	makeKids(node, level, from) {
		const kids = this.tree.children(node);
		const rows = [...kids].slice(from, from + KIDS_AT_ONCE)
			.map((kid, i) => this.makeRow(kid, level + 1, from + i + 1, kids.length));
		const left = kids.length - from - rows.length;
		if (left > 0) {
			const rest = make('tr', {role: 'row', 'aria-level': level + 1,
				tabindex: -1}, make('td.rest', {role: 'gridcell', colspan: 6},
					'Show ' + plural(left, 'more', 'more')));
			rest.firstChild.style.paddingLeft = level * 16 + 26 + 'px';
			rows.push(Object.assign(rest,
				{rest: {node, from: from + rows.length}, level: level + 1}));
		}
		return rows;
	}

	addRest(row) {
		const rows = this.makeKids(row.rest.node, row.level - 1, row.rest.from);
		row.replaceWith(...rows);
		this.focus(rows[0]);
	}

	focus(row, take = true) {
		this.current?.setAttribute('tabindex', -1);
		this.current?.setAttribute('aria-selected', 'false');
		this.current = row;
		row.setAttribute('tabindex', 0);
		row.setAttribute('aria-selected', 'true');
		if (take) {
			row.focus();
			row.scrollIntoView({block: 'nearest'});
		}
		if (row.node > 0 && take)
			this.choose(row);
	}

	choose(row) {
		const {tree} = this;
		choose({fn: tree.fn[row.node], facts: () => nodeFacts(tree, row.node),
			stack: () => stackOf(tree, row.node),
			isThere: () => this.current === row && this.tree === tree},
			{fn: String(tree.fn[row.node])});
	}

	key(event) {
		const row = event.target.closest('tr');
		if (!row || hasModifier(event))
			return;
		const parent = () => {
			let above = row.previousElementSibling;
			while (above && above.level >= row.level)
				above = above.previousElementSibling;
			return above;
		};
		const open = row.getAttribute('aria-expanded');
		const moves = {
			ArrowDown: () => row.nextElementSibling,
			ArrowUp: () => row.previousElementSibling,
			ArrowRight: () => open === 'true' ? row.nextElementSibling :
				void this.toggle(row, true),
			ArrowLeft: () => open === 'true' ? void this.toggle(row, false) : parent(),
			Home: () => this.body.firstElementChild,
			End: () => this.body.lastElementChild,
			Enter: () => row.rest ? void this.addRest(row) :
				void change({tab: 'flame', zoom: nodeName(this.tree, row.node)}),
			'*': () => {
				const above = parent();
				for (const kid of above ? this.kids(above) : [row])
					this.toggle(kid, true);
			},
		};
		if (!(event.key in moves))
			return;
		const to = moves[event.key]();
		if (to)
			this.focus(to);
		consume(event);
	}
}
