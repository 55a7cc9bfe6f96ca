// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is said of a frame: beside the mouse, at the foot of the page, and to a screen reader.

// Beside the mouse: a function, and lines of title and text.
function showTip(event, fn, facts) {
	const tip = byId('tip');
	const {clientX, clientY} = event;
	tip.replaceChildren(make('strong', null, functionName(fn)),
		make('span.place', null, isSmaller(fn) ? 'paths that are too light for this report, together' : functionPlace(fn)), definitions(facts));
	tip.hidden = false;
	const {width, height} = tip.getBoundingClientRect();
	const left = clientX + 14 + width > innerWidth - 8 ? Math.max(8, clientX - 14 - width) : clientX + 14;
	const top = clientY + 18 + height > innerHeight - 8 ? Math.max(8, clientY - 12 - height) : clientY + 18;
	tip.style.transform = 'translate(' + Math.round(left) + 'px,' + Math.round(top) + 'px)';
}

function hideTip() {
	byId('tip').hidden = true;
}

function announce(text) {
	byId('live').textContent = text;
}

// Lines of title and text for a node of a tree.
function nodeFacts(tree, node) {
	const sums = currentSums();
	const fn = tree.fn[node];
	const calls = tree.calls[node];
	const facts = [];
	const timed = !weighsCalls();
	facts.push([timed ? (sums.before ? 'Before' : tree.base ? 'After' : tree.self ? 'Total' : 'Time') : 'Calls, all below',
		formatWeight(tree.total[node]) + ' · ' + formatShare(tree.total[node], tree.total[0])]);
	if (tree.base && timed) {
		const [after, before] = sums.before ? [tree.base[node], tree.total[node]] : [tree.total[node], tree.base[node]];
		facts.push([sums.before ? 'After' : 'Before', formatTime(tree.base[node])], ['Change', formatChange(after, before)]);
	}
	if (tree.self && data.facts.unit !== 'calls')
		facts.push(['Self', formatTime(tree.self[node]) + ' · ' + formatShare(tree.self[node], tree.time[0])]);
	if (fn >= 0 && !sums.range)
		facts.push(['Calls', formatCount(calls)]);
	if (tree.time && fn >= 0 && calls > 0 && !sums.range && !isSmaller(fn) && data.facts.unit !== 'calls') {
		facts.push(['Mean', formatTime(tree.time[node] / calls)]);
		if (tree.max && tree.max[node] > 0 && !sums.part && !sums.before)
			facts.push(['Min – max', formatTime(tree.min[node]) + ' – ' + formatTime(tree.max[node])]);
	}
	return facts;
}

function sayNode(tree, node) {
	return [functionName(tree.fn[node]), ...nodeFacts(tree, node).slice(0, 3).map(([title, text]) => title + ' ' + text)].join(', ');
}

// The foot of the page: the selected function.
function showFoot() {
	const fn = stateIndex(state.fn, data.functions.all);
	byId('acts').hidden = fn < 0 || isSmaller(fn);
	if (fn < 0)
		return;
	const row = functionRows()[fn];
	const timed = data.facts.unit !== 'calls';
	const numbers = [
		timed && ['Self', formatTime(row.self) + (row.self_uncertainty ? ' ± ' + formatTime(row.self_uncertainty) : '')],
		timed && ['Inclusive', formatTime(row.inclusive)],
		row.calls !== null && ['Calls', formatCount(row.calls)],
		row.mean > 0 && ['Mean', formatTime(row.mean)],
		row.p99 > 0 && ['p50 / p99', formatTime(row.p50) + ' / ' + formatTime(row.p99)],
	].filter(Boolean);
	byId('foot-name').textContent = byId('foot-name').title = functionName(fn);
	byId('foot-place').textContent = byId('foot-place').title = functionPlace(fn, true);
	byId('foot-numbers').replaceChildren(...numbers.map(([title, text]) => make('span', null, make('small', null, title), text)));
}
