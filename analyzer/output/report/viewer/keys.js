// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Keys that work anywhere. page.html lists them all.

const tabs = ['flame', 'timeline', 'table', 'sandwich', 'tree', 'transitions', 'contention',
	'latency', 'graph'];
const hasTab = tab => tab === 'latency' ? data.heat : !rowTables[tab] && tab !== 'graph' ||
	data[tab];
// Those that this recording has something for. Before all of it is read nobody knows.
const knownTabs = () => tabs.filter(tab => !data.loaded || hasTab(tab));
const themes = ['auto', 'light', 'dark'];
const selectedFunction = () => stateIndex(state.fn, data.functions.count);

// The flame graph in sight, if there is one.
const currentFlame = () => ({flame: views.flame, timeline: views.part,
	sandwich: views.sandwich?.callees})[state.tab];

function focusOn(fn) {
	if (fn >= 0)
		change({tab: state.tab === 'tree' ? 'tree' : 'flame', focus: String(fn),
			inverted: '', zoom: ''});
}

function hide(fn) {
	const hidden = hiddenFunctions();
	if (fn >= 0)
		change({hide: [...hidden.add(fn)].join('.'),
			focus: state.focus === String(fn) ? '' : state.focus, zoom: ''});
}

const keys = {
	'/': () => byId('search').select(),
	'?': () => byId('help').showModal(),
	s: () => selectedFunction() >= 0 && change({tab: 'sandwich'}),
	f: () => focusOn(selectedFunction()),
	h: () => hide(selectedFunction()),
	y: () => copyStack(),
	l: () => data.heat && change({tab: 'latency'}),
	w: () => data.heat && nextSlowest(),
	o: () => showSource(selectedFunction()),
	c: () => change({recursion: state.recursion ? '' : '1', zoom: ''}),
	i: () => change({inverted: state.inverted ? '' : '1', zoom: ''}),
	u: () => change({up: state.up ? '' : '1'}),
	p: () => change({parts: state.parts ? '' : '1'}),
	t: () => chooseTheme(themes[(themes.indexOf(state.theme) + 1) % 3]),
	x: () => change({focus: '', hide: '', range: '', zoom: '', search: ''}),
	n: () => currentFlame()?.nextHit(1),
	N: () => currentFlame()?.nextHit(-1),
	Escape: () => change(state.zoom ? {zoom: ''} : {search: ''}),
};

function pressKey(event) {
	if (hasModifier(event) || document.querySelector('dialog[open]'))
		return;
	const search = byId('search');
	if (event.target === search && event.key === 'Enter')
		currentFlame()?.nextHit(event.shiftKey ? -1 : 1);
	else if (event.target === search && event.key === 'Escape') {
		change({search: ''});
		search.blur();
	}
	if (event.target.matches('input, select'))
		return;
	// After a wheel, or a click on a button, no canvas may have the focus.
	if (/^([-+0v]|Escape|Backspace)$/.test(event.key))
		(state.tab === 'timeline' && data.time ? views.timeline :
			currentFlame())?.key(event);
	if (event.defaultPrevented)
		return;
	const tab = tabs[event.key - 1];
	if (!(tab && knownTabs().includes(tab)) && !keys[event.key])
		return;
	if (tab)
		change({tab});
	else
		keys[event.key]();
	event.preventDefault();
}
