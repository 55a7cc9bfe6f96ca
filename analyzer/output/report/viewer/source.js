// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The source lines of a function, if the report has them: in a window of their own, with the facts
// about each function there.

// The file of a function and the part of it that has the function's line: {found, line, text};
// nothing if it is not there.
function sourceOf(fn) {
	if (!data.sources || fn < 0 || isSmaller(fn))
		return null;
	const {files, file, line} = data.functions;
	const path = files[file[fn]], at = line[fn];
	const source = data.sources.files.find(it => it.file === path);
	const part = source?.parts.find(it => it.line <= at && at < it.line + it.text.length);
	return part ? {found: source.found, ...part} : null;
}

// The paths of the selection with times, in the form that pairsOf() takes.
const timedPaths = remember(() => [state.thread, state.range, loadedPart()], () => {
	const {count, parent, fn} = data.paths;
	const range = selectedRange();
	const {self, calls} = sumPaths(range, range ? -1 : threadIndex(), 'self');
	return {count, parent, fn, calls, total: addBelow(self, parent)};
});

/*
 * What a function calls, with calls and time as in the sandwich. `lines`: of each line from which
 * it calls that one, the inlined functions around these calls; line 0 is unknown, or in another
 * file. `known`: the debug information has its calls.
 */
function callsOf(fn) {
	const sites = data.sources.calls?.find(it => it.fn === fn)?.sites;
	const callees = pairsOf(timedPaths(), fn,
		false).filter(pair => pair.fn >= 0 && !isSmaller(pair.fn));
	for (const pair of callees) {
		pair.lines = new Map();
		for (let i = 0; sites && i < sites.length; i += 3)
			if (sites[i + 1] === pair.fn)
				pair.lines.set(sites[i], [...pair.lines.get(sites[i]) || [],
					data.sources.inlined[sites[i + 2] - 1]].filter(Boolean));
	}
	return {known: Boolean(sites), callees};
}

// "line 12", "lines 12, 15 and 31 together".
function linesInWords({lines}) {
	const numbers = [...lines.keys()].filter(Boolean).map(String);
	if (!numbers.length)
		return 'an unknown line';
	const words = (numbers.length > 1 ? 'lines ' : 'line ') + new Intl.ListFormat('en-GB')
		.format(numbers) + (lines.has(0) ? ' and elsewhere' : '');
	return words + (lines.size > 1 ? ' together' : '');
}

const inlinedInWords = inlined => inlined?.length ? ', in code inlined from ' + inlined.join('; ') :
	'';

// Of each line of the source the calls of other functions there, by the functions that begin in it.
function callsByLine(fns) {
	const byLine = new Map();
	for (const pair of fns.flatMap(it => callsOf(it).callees))
		for (const line of pair.lines.keys())
			byLine.set(line, [...byLine.get(line) || [], pair]);
	byLine.delete(0);
	return byLine;
}

// "12", or "12 + 40*": the sum of this line alone, and that of several lines together.
function sumOfLine(pairs, name, format) {
	const sum = shared => {
		const some = pairs.filter(pair => pair.lines.size > 1 === shared);
		return some.length ? format(some.reduce((all, pair) => all + pair[name], 0)) +
			(shared ? '*' : '') : '';
	};
	return [sum(false), sum(true)].filter(Boolean).join(' + ');
}

// The two cells of a line for the calls that it makes.
function cellsOfCalls(pairs, line, timed, counted) {
	const inWords = pair => functionName(pair.fn) + ': ' +
		[counted && plural(pair.calls, 'call'), timed && formatTime(pair.total),
			pair.lines.size > 1 && linesInWords(pair)].filter(Boolean).join(', ') +
				inlinedInWords(pair.lines.get(line));
	const title = pairs.map(inWords).join('\n') || null;
	return [make('td', {title}, counted && sumOfLine(pairs, 'calls', formatCount)),
		make('td', {title}, timed && sumOfLine(pairs, 'total', formatTime))];
}

// What the function calls, in words; also what no line is known of.
function showCallees(fn, timed, counted, isMarked) {
	const {known, callees} = callsOf(fn);
	byId('source-note').textContent = !callees.length ? '' :
		!known ? 'Its calls are shown without lines: the debug information has no ' +
		'call sites of this function. clang writes them with -g and -O1 or higher.' :
			(isMarked ? '* Several lines call the same function: ' +
				'the number is the sum of these lines. ' : '') +
				'Calls include those through functions that are not recorded.';
	byId('source-calls').hidden = !callees.length;
	byId('source-callees').replaceChildren(...callees.map(pair => make('tr', null,
		make('td.code', {title: functionName(pair.fn)}, shortName(functionName(pair.fn))),
		make('td', null, counted && formatCount(pair.calls)),
		make('td', null, timed && formatTime(pair.total)),
		make('td.code', null, known && linesInWords(pair) +
			inlinedInWords([...new Set([...pair.lines.values()].flat())])))));
}

function showSource(fn) {
	const source = sourceOf(fn);
	if (!source)
		return;
	const {functions} = data;
	// The functions that begin at each line.
	const begin = new Map();
	for (let it = 0; it < functions.count; it++)
		if (functions.file[it] === functions.file[fn])
			begin.set(functions.line[it], [...begin.get(functions.line[it]) || [], it]);
	const rows = functionRows();
	const timed = data.facts.unit !== 'calls';
	const sum = (fns, name) => fns.reduce((all, it) => all + (rows[it][name] || 0), 0);
	// Of a part of the timeline no calls are known.
	const counted = !currentSums().range;
	const isHere = line => source.line <= line && line < source.line + source.text.length;
	const calls = callsByLine([...begin].flatMap(([line, fns]) => isHere(line) ? fns : []));
	const isThere = source.text.some((_, i) => calls.has(source.line + i));
	const isMarked = source.text.some((_, i) => calls.get(source.line +
		i)?.some(pair => pair.lines.size > 1));
	byId('source-name').textContent = functionName(fn);
	byId('source-place').textContent = source.found + ':' + functions.line[fn];
	byId('source-lines').replaceChildren(...source.text.map((text, i) => {
		const line = source.line + i;
		const fns = begin.get(line) || [];
		const known = fns.length > 0;
		return make('tr', {'aria-current': line === functions.line[fn] ? 'true' : null,
			title: known ? fns.map(functionName).join('\n') : null},
			make('td', null, String(line)), make('td', null, known &&
				rows[fns[0]].calls !== null && formatCount(sum(fns, 'calls'))),
			make('td', null, known && timed && formatTime(sum(fns, 'self'))),
			make('td', null, known && timed && formatTime(sum(fns, 'inclusive'))),
			isThere && cellsOfCalls(calls.get(line) || [], line, timed, counted),
			make('td.code', null, text));
	}));
	for (const head of document.querySelectorAll('#source .made'))
		head.hidden = !isThere;
	showCallees(fn, timed, counted, isMarked);
	byId('source').showModal();
	byId('source-lines').querySelector('[aria-current]').scrollIntoView({block: 'center'});
}
