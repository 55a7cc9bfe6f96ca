// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The description of a frame: beside the mouse, at the foot of the page, and for a screen reader.

// Beside the mouse: a function, and lines of title and text.
function showTip(event, fn, facts) {
	showTipOf(event, functionName(fn), isSmaller(fn) ?
		'paths too light for this report, together' : functionPlace(fn), facts);
}

function showTipOf(event, title, place, facts) {
	const tip = byId('tip');
	const {clientX, clientY} = event;
	tip.replaceChildren(make('strong', null, title), make('span.place', null, place),
		definitions(facts));
	tip.hidden = false;
	const {width, height} = tip.getBoundingClientRect();
	const left = clientX + 14 + width > innerWidth - 8 ? Math.max(8, clientX - 14 - width) :
		clientX + 14;
	const top = clientY + 18 + height > innerHeight - 8 ? Math.max(8, clientY - 12 - height) :
		clientY + 18;
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
	facts.push([timed ? (sums.before ? 'Before' : tree.base ? 'After' : tree.self ? 'Total' :
		'Time') : 'Calls, all below',
		formatWeight(tree.total[node]) + ' · ' +
			formatShare(tree.total[node], tree.total[0])]);
	if (tree.base && timed) {
		const [after, before] = sums.before ? [tree.base[node], tree.total[node]] :
			[tree.total[node], tree.base[node]];
		facts.push([sums.before ? 'After' : 'Before', formatTime(tree.base[node])],
			['Change', formatChange(after, before)]);
	}
	if (tree.inside && tree.time?.[node] > 0)
		facts.push(['Inside the TEE', formatTime(tree.inside[node]) + ' · ' +
			formatShare(tree.inside[node], tree.time[node])]);
	if (crosses(tree.fn[tree.parent[node]] ?? -1, fn))
		facts.push(['Border',
			(sideOf(fn) === 'TEE' ? 'a call into the TEE' : 'a call out of the TEE')]);
	if (tree.parts && node >= 0)
		facts.push(['Cpu / wait / preempted',
			tree.parts.map(part => formatTime(part[node])).join(' / ')]);
	if (tree.self && data.facts.unit !== 'calls')
		facts.push(['Self', formatTime(tree.self[node]) + ' · ' +
			formatShare(tree.self[node], tree.time[0])]);
	if (fn >= 0 && !sums.range)
		facts.push(['Calls', formatCount(calls)]);
	if (tree.time && fn >= 0 && calls > 0 && !sums.range && !isSmaller(fn) &&
			data.facts.unit !== 'calls') {
		facts.push(['Mean', formatTime(tree.time[node] / calls)]);
		if (tree.max && tree.max[node] > 0 && !sums.part && !sums.before && sums.wall)
			facts.push(['Min – max',
				formatTime(tree.min[node]) + ' – ' + formatTime(tree.max[node])]);
	}
	return facts;
}

function sayNode(tree, node) {
	return [functionName(tree.fn[node]), ...nodeFacts(tree, node).slice(0,
		3).map(([title, text]) => title + ' ' + text)].join(', ');
}

// The frame or the call that was clicked last, with its own numbers: {what, fn, facts, stack,
// isThere}.
let chosen = null;

// Show the numbers of `it`, and have the state changed by `patch`.
function choose(it, patch) {
	chosen = null;
	change(patch);
	chosen = {...it, tab: state.tab, selected: state.fn};
	showFoot();
}

// Whether it is still to be seen, and nothing else has been selected.
const isChosen = () => chosen && chosen.tab === state.tab && chosen.selected === state.fn &&
	chosen.isThere();

// The calls that were running at what was clicked, a line each, the innermost first: "name
// (file:line)".
async function copyStack() {
	const fns = isChosen() && chosen.stack?.();
	if (!fns?.length)
		return;
	const text = fns.map(fn => functionName(fn) +
		(functionPlace(fn, true) && ' (' + functionPlace(fn, true) + ')')).join('\n');
	try {
		await navigator.clipboard.writeText(text);
	} catch {
		// A browser that does not let pages from a disk do that: the older way.
		const field = make('textarea', {readonly: '', 'aria-hidden': true, tabindex: -1});
		const {activeElement} = document;
		field.value = text;
		document.body.append(field);
		field.select();
		document.execCommand('copy');
		field.remove();
		activeElement?.focus();
	}
	announce(plural(fns.length, 'line') + ' copied');
	byId('copy').classList.add('done');
	setTimeout(() => byId('copy').classList.remove('done'), 1500);
}

// Lines of title and text for a function.
function functionFacts(row) {
	const timed = data.facts.unit !== 'calls';
	return [
		timed && ['Self', formatTime(row.self) +
			(row.self_uncertainty ? ' ± ' + formatTime(row.self_uncertainty) : '')],
		row.self_cpu !== null && ['Self cpu / wait / preempted',
			TIMES.map(name => formatTime(row['self_' + name])).join(' / ')],
		timed && ['Inclusive', formatTime(row.inclusive)],
		row.calls !== null && ['Calls', formatCount(row.calls)],
		isEstimated(row.calls_estimated) && ['All calls, estimated',
			formatCount(row.calls_estimated) + ' ± ' +
				formatCount(row.calls_estimated_pm)],
		isEstimated(row.inclusive_estimated_ns) && ['All inclusive, estimated',
			formatTime(row.inclusive_estimated_ns) + ' ± ' +
				formatTime(row.inclusive_estimated_pm_ns)],
		row.mean > 0 && ['Mean', formatTime(row.mean)],
		row.p99 > 0 && ['p50 / p99', formatTime(row.p50) + ' / ' + formatTime(row.p99)],
	].filter(Boolean);
}

/*
 * The foot of the page: the selected function, and the frame or call of it that was clicked. Each
 * number is a column, what was clicked above, the function below.
 */
function showFoot() {
	const fn = stateIndex(state.fn, data.functions.all);
	const it = isChosen() ? chosen : null;
	byId('acts').hidden = fn < 0 || isSmaller(fn);
	for (const button of document.querySelectorAll('.of-calls'))
		button.hidden = !data.heat;
	byId('source-open').hidden = !sourceOf(fn);
	byId('copy').hidden = !it?.stack?.()?.length;
	const shown = fn >= 0 ? fn : it?.fn;
	byId('foot-name').textContent = byId('foot-name').title = shown === undefined ?
		'No function is selected' : functionName(shown);
	byId('foot-place').textContent = byId('foot-place').title = shown === undefined ?
		'Click one to see its numbers here.' : functionPlace(shown, true);
	const frame = new Map(it?.facts().filter(([title]) => title !== 'Min – max'));
	const whole = new Map(fn >= 0 ? functionFacts(functionRows()[fn]) : []);
	const columns = [...new Set([...frame.keys(), ...whole.keys()])].map(title => [title,
		frame.get(title) ?? '', whole.get(title) ?? '']);
	if (it)
		columns.unshift(['', it.fn === shown ? it.what || 'This frame' :
			shortName(functionName(it.fn)), whole.size ? 'The function' : '']);
	byId('foot-numbers').classList.toggle('two', Boolean(it));
	byId('foot-numbers').replaceChildren(...columns.map(([title, own, all]) =>
		make('span', null, make('small', null, title), it && make('b', null, own),
			make('i', null, all))));
}
