// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The source lines of a function, if the report has them: in a window of their own, with what is known of each function there.

// The file of a function and the part of it that has the function's line: {found, line, text}; nothing if it is not there.
function sourceOf(fn) {
	if (!data.sources || fn < 0 || isSmaller(fn))
		return null;
	const {files, file, line} = data.functions;
	const path = files[file[fn]], at = line[fn];
	const source = data.sources.files.find(it => it.file === path);
	const part = source?.parts.find(it => it.line <= at && at < it.line + it.text.length);
	return part ? {found: source.found, ...part} : null;
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
	byId('source-name').textContent = functionName(fn);
	byId('source-place').textContent = source.found + ':' + functions.line[fn];
	byId('source-lines').replaceChildren(...source.text.map((text, i) => {
		const line = source.line + i;
		const fns = begin.get(line) || [];
		const known = fns.length > 0;
		return make('tr', {'aria-current': line === functions.line[fn] ? 'true' : null, title: known ? fns.map(functionName).join('\n') : null},
			make('td', null, String(line)), make('td', null, known && rows[fns[0]].calls !== null && formatCount(sum(fns, 'calls'))),
			make('td', null, known && timed && formatTime(sum(fns, 'self'))), make('td', null, known && timed && formatTime(sum(fns, 'inclusive'))),
			make('td.code', null, text));
	}));
	byId('source').showModal();
	byId('source-lines').querySelector('[aria-current]').scrollIntoView({block: 'center'});
}
