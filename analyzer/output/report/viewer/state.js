// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The state of the page, kept in the address behind the # so that a link, a reload and Back show
// the same.

// All are texts; page.html has buttons for some.
const defaults = {
	// flame, timeline, table, sandwich, tree, transitions, contention, latency, graph
	tab: 'flame',
	zoom: '', // functions from the root of the flame graph down to its widest frame, as 12.0.7
	order: 'weight', // of frames beside one another: weight, first, name
	up: '', // 1: flames stand on their root
	inverted: '', // 1: callers below what they call
	weight: 'time', // or one of TIMES, or calls, or before: time in the baseline
	recursion: '', // 1: collapse it
	focus: '', // a function: only what it calls
	hide: '', // functions that vanish into their callers, as 12.7
	thread: '', // index in data.facts.threads; empty for all
	range: '', // a selection of the timeline: from.to.threads, in cells and indices of threads
	lanes: '1', // 1: show the kernel's events beneath the threads, and meters beneath all
	view: '', // of the timeline: from.to, in nanoseconds
	split: '60', // part of the timeline's height that the threads have, in percent
	parts: '1', // 1: frames say how much of their time is running, waiting and preempted
	search: '',
	fn: '', // the selected function
	sort: 'self', // column of the table; with a - in front the other way round
	colour: 'file', // file, module, function, or side: host or TEE
};
const state = {...defaults, theme: 'auto'};
// What going back should undo; all else replaces the entry in the history.
const steps = ['tab', 'zoom', 'focus', 'hide', 'range', 'thread'];

function readAddress() {
	const words = new URLSearchParams(location.hash.slice(1));
	for (const name in defaults)
		state[name] = words.get(name) ?? defaults[name];
	if (!knownTabs().includes(state.tab))
		state.tab = 'flame';
	if (!Object.hasOwn(orders, state.order))
		state.order = 'weight';
	try {
		state.theme = localStorage.getItem('teeperf-theme') || 'auto';
	} catch {
		// A browser may forbid a page to remember anything.
	}
}

// Change some of the state, and show it.
function change(patch) {
	const names = Object.keys(patch).filter(name => state[name] !== patch[name]);
	if (!names.length)
		return;
	Object.assign(state, patch);
	const words = Object.keys(defaults).filter(name => state[name] !== defaults[name])
		.map(name => [name, state[name]]);
	try {
		history[names.some(name => steps.includes(name)) ? 'pushState' :
			'replaceState'](null, '', '#' + new URLSearchParams(words));
	} catch {
		// Browsers limit the number of changes per minute: the next one will be kept.
	}
	render(names);
}

const numberList = text => text ? text.split('.').map(Number).filter(Number.isInteger) : [];

// A number of the state, if it is one below `limit`; else -1.
const stateIndex = (text, limit) => /^\d+$/.test(text) && Number(text) < limit ? Number(text) : -1;
