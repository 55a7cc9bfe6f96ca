// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The page: its parts, and which of them a change concerns.

const views = {};

function makeView(tab) {
	const host = byId('view-' + tab);
	const flame = (place, label, keep) => new Flame(place, {label, up: () => state.up, keep,
		selected: (fn, it) => choose(it, {fn: fn < 0 ? '' : String(fn)})});
	if (tab === 'flame') {
		views.flame = flame(host, 'Flame graph. The call tree is the same as a table.',
			true);
	} else if (tab === 'timeline') {
		byId('no-timeline').hidden = true;
		byId('part').hidden = false;
		views.timeline = new Timeline(host);
		host.append(byId('split'), byId('part'));
		views.part = flame(byId('part'), 'Flame graph of the selection', false);
	} else {
		views[tab] = new {table: FunctionTable, sandwich: Sandwich, tree: TreeGrid,
			transitions: RowTable, contention: RowTable, latency: Latency,
			graph: CallGraph}[tab](host, tab);
	}
}

// What has been chosen, with a way back for each.
function showChips() {
	const chip = (text, patch) => make('button.chip',
		{type: 'button', title: 'Remove', onclick: () => change({zoom: '', ...patch})},
		text, make('span', {'aria-hidden': true}, '×'));
	const range = selectedRange();
	const focus = focusFunction();
	const hidden = [...hiddenFunctions()];
	byId('chips').replaceChildren(...[
		range && chip('Selected: ' + describeRange(range) + ', times as recorded',
			{range: ''}),
		focus >= 0 && chip('Focus: ' + functionName(focus), {focus: ''}),
		...hidden.map(fn => chip('Hidden: ' + functionName(fn),
			{hide: hidden.filter(it => it !== fn).join('.')})),
		state.search && make('span.found', {role: 'status'},
			plural(searchHits().reduce((sum, hit) => sum + hit, 0), 'function') +
			', ' + formatShare(searchShare(), 1) + ' with what they call'),
	].filter(Boolean));
}

// Buttons and lists of page.html with the name of a state: which are of use here, which are
// pressed.
function showTools() {
	const known = {
		times: data.facts.unit !== 'calls' && !selectedRange(),
		alone: !data.baseline,
		lanes: data.lanes || data.meters,
		parts: currentSums().parts,
	};
	for (const tool of byId('tools').children) {
		tool.hidden = !tool.dataset.tabs.includes(state.tab) ||
			(tool.dataset.if && !known[tool.dataset.if]);
		for (const button of tool.querySelectorAll('button[value]'))
			button.setAttribute('aria-pressed',
				button.value === state[tool.dataset.name]);
	}
	for (const select of document.querySelectorAll('select[name]'))
		select.value = state[select.name];
	const theme = byId('theme');
	theme.textContent = {auto: '◐', light: '○', dark: '●'}[state.theme];
	theme.title = 'Colours: ' + state.theme + ' (t)';
	theme.setAttribute('aria-label', theme.title);
	if (byId('search').value !== state.search)
		byId('search').value = state.search;
}

function render(names) {
	if (names.includes('theme') || names.includes('colour'))
		applyTheme();
	const known = knownTabs();
	if (!known.includes(state.tab))
		state.tab = 'flame';
	for (const tab of tabs) {
		byId('tab-' + tab).hidden = !hasTab(tab);
		byId('view-' + tab).hidden = tab !== state.tab;
		byId('tab-' + tab).setAttribute('aria-selected', tab === state.tab);
		byId('tab-' + tab).tabIndex = tab === state.tab ? 0 : -1;
	}
	showTools();
	showChips();
	showLegend();
	showView(state.tab, names);
	showFoot();
}

function showView(tab, names) {
	if (tab === 'timeline' && !data.time) {
		if (data.loaded)
			byId('no-timeline').textContent = data.facts.no_timeline;
		return;
	}
	if (!hasTab(tab))
		return;
	const fresh = !views[tab];
	if (fresh)
		makeView(tab);
	const onlyMark = !fresh && names.length === 1 && names[0] === 'fn';
	if (tab === 'timeline') {
		const range = selectedRange();
		showSplit();
		views.timeline.show();
		byId('part-all').hidden = range;
		byId('part-title').textContent = range ? 'Selected: ' + describeRange(range) +
			'. Its edges snap to ' + formatTime(data.facts.span / data.time.cells) +
			'.' : '';
		views.part.show(currentTree(), 0);
	} else if (tab === 'flame') {
		views.flame.rewind ||= names.includes('up');
		views.flame.show(currentTree(), findNode(currentTree(), state.zoom));
	} else if (tab === 'tree') {
		if (!onlyMark)
			views.tree.show(currentTree(), findNode(currentTree(), state.zoom));
	} else if (onlyMark && tab === 'table') {
		views.table.mark();
	} else {
		views[tab].show();
	}
}

// Let what page.html has change the state.
function listen() {
	addEventListener('keydown', pressKey);
	listenToSplit();
	listenToNotes();
	addEventListener('popstate', () => {
		readAddress();
		render(Object.keys(state));
	});
	prefersDark.addEventListener('change', () => render(['theme']));
	byId('search').addEventListener('input', event => change({search: event.target.value}));
	byId('theme').addEventListener('click', keys.t);
	byId('keys').addEventListener('click', keys['?']);
	byId('select-view').addEventListener('click', () => views.timeline?.selectView());
	byId('acts').addEventListener('click',
		event => keys[event.target.closest('[value]')?.value]?.());
	byId('tools').addEventListener('click', event => {
		const button = event.target.closest('.choice button');
		if (button)
			change({[button.parentNode.dataset.name]: button.value ===
				state[button.parentNode.dataset.name] ? button.dataset.off ??
				button.value : button.value, zoom: ''});
	});
	for (const select of document.querySelectorAll('select[name]'))
		select.addEventListener('change', () => change({[select.name]: select.value,
			...(select.name === 'thread' && {range: '', zoom: ''})}));
	const list = document.querySelector('.tabs');
	list.addEventListener('click', event => event.target.value &&
		change({tab: event.target.value}));
	list.addEventListener('keydown', event => {
		const shown = tabs.filter(tab => !byId('tab-' + tab).hidden);
		const step = {ArrowRight: 1, ArrowLeft: shown.length - 1}[event.key];
		if (step) {
			change({tab: shown[(shown.indexOf(state.tab) + step) % shown.length]});
			byId('tab-' + state.tab).focus();
		}
	});
}

async function main() {
	if (!self.DecompressionStream) {
		byId('too-old').hidden = false;
		return;
	}
	try {
		await loadData();
		readAddress();
		listen();
		if (data.baseline) {
			byId('before').hidden = false;
			byId('after').textContent = 'After';
		}
		if (!data.joined)
			document.querySelector('[name="colour"] [value="side"]').remove();
		for (const button of document.querySelectorAll('.of-times'))
			button.hidden = !data.facts.times;
		render(Object.keys(state));
		performance.mark('shown');
		// The first picture first.
		await new Promise(resolve => setTimeout(resolve));
		await loadMore();
		const threads = document.querySelector('[name="thread"]');
		threads.hidden = data.facts.threads.length < 2;
		threads.append(...data.facts.threads.map((thread, i) => make('option',
			{value: i, disabled: thread.path.length ? null : ''}, thread.title)));
		data.loaded = true;
		render(Object.keys(state));
		document.documentElement.dataset.loaded = 'yes';
	} catch (error) {
		byId('broken').hidden = false;
		byId('why').textContent = error.message;
		document.querySelector('main').hidden = true;
	}
}

main();
