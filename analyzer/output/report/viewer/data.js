// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The report's data, as columns of numbers, and the names of functions.

// The recording: facts, functions, paths, threads, and later the timeline.
const data = {};
// What self time is made up of, where it is known.
const TIMES = ['cpu', 'wait', 'preempted'];

// Have the facts, with the functions, in `data`.
function useFacts(facts) {
	data.facts = facts;
	const functions = data.functions = facts.functions;
	functions.count = functions.name.length;
	functions.all = functions.count + 1;
	data.shortNames = new Map(functions.name.map((name, i) => [name,
		functions.short?.[i] || name]));
	functions.name.push('(smaller)');
	data.baseline = Boolean(functions.base_self_ns);
	data.joined = Boolean(functions.inside);
	// Few files are few colours. The first one is none.
	if (functions.files.length < 5)
		defaults.colour = 'function';
	if (data.joined)
		defaults.colour = 'side';
	if (TIMES.includes(facts.time)) {
		defaults.weight = facts.time;
		defaults.sort = 'self_' + facts.time;
	}
}

const functionName = fn => fn < 0 ? data.facts.program : data.functions.name[fn];
const isSmaller = fn => fn === data.functions.count;

// Of a joined trace: 'TEE' or 'host'; '' of what may be of both, or if nobody knows.
const sideOf = fn => !data.joined || fn < 0 || isSmaller(fn) ? '' :
	data.functions.inside[fn] ? 'TEE' : 'host';
// Whether a call of one by the other goes over the border.
const crosses = (caller, fn) => Boolean(data.joined && sideOf(caller) && sideOf(fn) &&
	sideOf(caller) !== sideOf(fn));

// "lvm.c:1141", or the module, or nothing.
function functionPlace(fn, full) {
	if (fn < 0 || isSmaller(fn))
		return '';
	const {files, file, modules, module, line} = data.functions;
	const path = files[file[fn]];
	if (!path)
		return modules[module[fn]];
	return (full ? path : path.slice(path.lastIndexOf('/') + 1)) +
		(line[fn] ? ':' + line[fn] : '');
}
