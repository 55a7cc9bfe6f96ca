// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the report's viewer makes of the blocks of a page, and its table, search and colours of one
// small recording.
'use strict';
const assert = require('node:assert/strict');
const test = require('node:test');
const {loadPage, same, varint} = require('./load.cjs');

const {page: viewer} = loadPage('tp_report_page', ['main']);
const {data, state, defaults} = viewer;
// Numbers, and bytes as they are.
const packed = (...parts) => Uint8Array.from(
	parts.flat(9).flatMap(part => part instanceof Uint8Array ? [...part] : varint(part)));
const letters = text => new TextEncoder().encode(text);

// main calls parse twice, each of which calls read; and leaf by itself.
function makeRecording(facts = {}) {
	Object.assign(state, defaults, {thread: '', range: '', search: ''});
	const functions = {
		name: ['main', 'parse(int)', 'read', 'leaf'],
		short: ['main', 'parse', 'read', 'leaf'],
		files: ['', '/src/main.c', '/src/io.c', '/src/a.c', '/src/b.c'], file: [1, 1, 2, 0],
		modules: ['program', 'libio.so'], module: [0, 0, 1, 1], line: [10, 0, 7, 0],
		calls: [1, 2, 2, 1], self_ns: [10, 30, 50, 20], inclusive_ns: [110, 80, 50, 20],
		total_ns: [110, 80, 50, 20], timed_calls: [1, 2, 2, 0], p99_ns: [110, 41, 26, 0],
		histogram: [[], [], [], []],
	};
	viewer.useFacts({unit: 'ns', start: 0, program: 'program', threads: [{title: 'main'}],
		functions, ...facts});
	// Columns one after the other: how many levels up, fn, level, calls, self, min, max less
	// min.
	data.paths = viewer.readPaths(packed(4, [0, 0, 0, 2], [0, 1, 2, 3], [0, 0, 0, 0],
		[1, 2, 2, 1],
		[10, 30, 50, 20], [110, 39, 24, 20], [0, 2, 2, 0]));
	data.loaded = (data.loaded || 0) + 1;
}

test('sums', () => {
	makeRecording();
	same([...viewer.currentSums().total], [110, 110, 80, 50, 20]);
	assert.equal(viewer.formatWeight(1500), '1.500 µs');
	state.weight = 'calls';
	same([...viewer.currentSums().total], [6, 6, 4, 2, 1]);
	same([1, 1500].map(viewer.formatWeight), ['1 call', '1,500 calls']);
});

test('threads', () => {
	makeRecording({threads: [{title: 'main'}, {title: 'worker'}]});
	// Paths as distances, then calls and self times.
	viewer.readThreads(packed(2, [1, 1], [1, 2], [10, 30], 2, [3, 1], [2, 1], [50, 20]));
	same(data.facts.threads.map(thread => [...thread.path]), [[1, 2], [3, 4]]);
	state.thread = '1';
	same([...viewer.currentSums().total], [70, 70, 50, 50, 20]);
	same(viewer.functionRows().map(row => [row.self, row.inclusive, row.calls]),
		[[0, 70, 0], [0, 50, 0], [50, 50, 2], [20, 20, 1], [0, 0, 0]]);
	state.thread = '2';
	assert.equal(viewer.threadIndex(), -1);
});

test('timeline', () => {
	makeRecording();
	// Two rows, of two runs and one; in the only two cells path 1 has 5 ns, then paths 1 and 3
	// have 6 and 7; one call is the longest.
	viewer.readTimeline(packed(100, 2, 2, [2, [50 * 16 + 15, 1], [50 * 16]],
		[1, [100 * 16 + 3, 2]], [1, 1, 5], [2, 1, 6, 2, 7], 1, 40, 60, 2));
	const [thread] = data.facts.threads;
	same(thread.rows,
		[{to: [50, 100], path: [1, 0], fill: [15, 0]}, {to: [100], path: [2], fill: [3]}]);
	same(thread.cells.map(cell => [[...cell.path], [...cell.self]]),
		[[[1], [5]], [[1, 3], [6, 7]]]);
	state.range = '1.2';
	same([...viewer.currentSums().total], [13, 13, 7, 7, 0]);
	assert.equal(viewer.functionRows()[0].calls, null);
	assert.throws(() => viewer.readTimeline(packed(100, 2, 1)), /ends too early/);
});

test('waits', () => {
	makeRecording({threads: [{}, {}]});
	// Stretches from 10 to 15 and, preempted, from 30 to 33; nothing is known of the other
	// thread.
	viewer.readWaits(packed(3, [10, 10], [20, 7], 0));
	const [{waits}, other] = data.facts.threads;
	same([waits.start, waits.end, waits.preempted].map(column => [...column]),
		[[10, 30], [15, 33], [0, 1]]);
	assert.equal(other.waits, undefined);
});

test('lanes', () => {
	makeRecording();
	data.time = {cells: 2};
	const none = [0, 0];
	// One wait of 30 ns, which function 1 made and function 2 of thread 0 ended, and in the
	// second cell a page fault that is too short. Events begin up to 5 ns before the recording.
	viewer.readLanes(packed(2, [4, letters('poll')], 7, letters('größe'), 5, none,
		[1, 25, 30, 0, 2, 0, 4, 3, 1, 0], none, [0, 1, 0, 1, 12]));
	same(data.eventNames, ['poll', 'größe']);
	const [wait, fault] = data.facts.threads[0].lanes;
	const columns = ['start', 'duration', 'name', 'fn', 'bytes', 'woken', 'waker',
		'wakerThread'];
	same(columns.map(name => wait[name][0]), [20, 30, 0, 1, -1, 3, 2, 0]);
	same([[...fault.short.count], [...fault.short.ns]], [[0, 1], [0, 12]]);
	same([wait.kind.title, fault.kind.title], ['waits', 'page faults']);
	assert.equal(viewer.wakerName(wait, 0), 'read');
});

test('meters', () => {
	makeRecording({start: 100});
	viewer.readMeters(packed(7, letters('package'), 2, letters('uW'), 0, 2, [150, 50],
		[2500000, 0], 0));
	const [meter] = data.meters;
	same([meter.name, meter.unit, meter.note, [...meter.at], meter.most],
		['package', 'uW', '', [50, 100], 2500000]);
	same([[2.5e6, 'uW'], [1.5e9, 'ns/s'],
		[1234, 'faults']].map(it => viewer.formatMeter(...it)),
		['2.50 W', '1.50 s/s', '1,234 faults']);
});

test('marks', () => {
	makeRecording({start: 100});
	// A moment, a phase without an end, and one of 40 ns; the last two in thread 0.
	viewer.readMarks(packed(2, letters('go'), 150, 0, 0, 1, letters('a'), 10, 1, 1,
		1, letters('b'), 10, 42, 1, 0));
	same(data.marks, [
		{name: 'go', time: 50, duration: -1, thread: -1},
		{name: 'a', time: 60, duration: -2, thread: 0},
		{name: 'b', time: 70, duration: 40, thread: 0},
	]);
});

test('table', () => {
	makeRecording();
	const order = sort => {
		state.sort = sort;
		const rows = viewer.functionRows().slice(0, 4);
		return viewer.sortRows(rows).map(row => viewer.functionName(row.fn));
	};
	same(order('self'), ['read', 'parse(int)', 'leaf', 'main']);
	same(order('-self'), ['main', 'leaf', 'parse(int)', 'read']);
	same(order('name'), ['leaf', 'main', 'parse(int)', 'read']);
	same(order('-name'), ['read', 'parse(int)', 'main', 'leaf']);
	// Equal ones stay as they are; what has no value comes last.
	same(order('calls'), ['parse(int)', 'read', 'main', 'leaf']);
	same(order('mean'), ['main', 'parse(int)', 'read', 'leaf']);
	same(order('nonsense'), ['main', 'parse(int)', 'read', 'leaf']);
	same(viewer.functionRows().map(row => row.mean), [110, 40, 25, null, null]);
	const [main] = viewer.functionRows();
	same(['name', 'share', 'calls', 'place'].map(name => viewer.cells[name](main, 110)),
		['main', '9.1%', '1', 'main.c:10']);
	same([null, -1, 0, 1000].map(viewer.timeOrDash), ['–', '–', '0 ns', '1.000 µs']);
	same(['self', 'p99', 'before', 'self_wait'].map(name => Boolean(viewer.isShown(name))),
		[true, true, false, false]);
});

test('search', () => {
	makeRecording();
	const found = text => {
		state.search = text;
		return viewer.searchHits() && [...viewer.searchHits()];
	};
	assert.equal(found(''), null);
	same(found('READ'), [0, 0, 1, 0, 0]);
	same(found('^(main|leaf)$'), [1, 0, 0, 1, 0]);
	// No expression, so as it is. Whatever is sought, "(smaller)" is no function.
	same(found('parse('), [0, 1, 0, 0, 0]);
	same(found('smaller'), [0, 0, 0, 0, 0]);
	found('parse');
	assert.equal(viewer.searchShare(), 80 / 110);
});

test('places', () => {
	makeRecording();
	same([0, 1, 2, 3, 4, -1].map(fn => viewer.functionPlace(fn)),
		['main.c:10', 'main.c', 'io.c:7', 'libio.so', '', '']);
	assert.equal(viewer.functionPlace(2, true), '/src/io.c:7');
	assert.equal(viewer.shortName('parse(int)'), 'parse');
	same([-1, 1, 4].map(viewer.functionName), ['program', 'parse(int)', '(smaller)']);
});

test('stacks', () => {
	makeRecording();
	const tree = new viewer.Forward(viewer.currentSums(), {});
	same(viewer.stackOf(tree, 3), [2, 1, 0]);
	const back = new viewer.Backward(viewer.currentSums(), {});
	const [read] = back.children(0);
	const [parse] = back.children(read);
	same(viewer.stackOf(back, back.children(parse)[0]), [2, 1, 0]);
	assert.equal(new viewer.Forward(viewer.currentSums(), {hidden: new Set([1])}).count, 4);
	state.hide = '1.x.9';
	same([...viewer.hiddenFunctions()], [1]);
	same(['0', '5', '', '-1'].map(focus => (state.focus = focus, viewer.focusFunction())),
		[0, -1, -1, -1]);
});

test('colours', () => {
	makeRecording();
	state.colour = 'file';
	same(viewer.colourGroups().map(({name, share}) => [name, Math.round(share * 110)]),
		[['/src/io.c', 50], ['/src/main.c', 40], ['libio.so', 20]]);
	state.colour = 'module';
	same(viewer.colourGroups().map(group => group.name), ['libio.so', 'program']);
	state.colour = 'function';
	assert.equal(viewer.colourGroup(2), 'read');
	same([-1, 4].map(viewer.colourGroup), ['', '']);
	assert.match(viewer.functionColour(2), /^rgb\(\d+ \d+ \d+\)$/);
	// More is orange, less is blue, the same is grey.
	const difference = base =>
		viewer.nodeColour({fn: [0], total: [100], base: [base]},
			0).match(/\d+/g).map(Number);
	const [more, none, less] = [0, 100, 1000].map(difference);
	assert.ok(more[0] > more[2] && less[2] > less[0]);
	assert.ok(Math.max(...none) - Math.min(...none) < 10);
});

test('estimates', () => {
	makeRecording();
	Object.assign(data.functions, {calls_estimated: [null, -1, 208, null],
		calls_estimated_pm: [null, -1, 300, null],
		inclusive_estimated_ns: [null, null, 1500, null],
		inclusive_estimated_pm_ns: [null, null, 700, null]});
	state.weight = 'calls'; // other rows than those of the tests before
	const rows = viewer.functionRows();
	same(rows.map(row => viewer.cells.calls(row)), ['1', '2', '2 (≈208)', '1', '0']);
	const facts = row => viewer.functionFacts(row).filter(([title]) => /estimated/.test(title));
	same(rows.map(row => facts(row).length), [0, 0, 2, 0, 0]);
	same(facts(rows[2]), [['All calls, estimated', '208 ± 300'],
		['All inclusive, estimated', '1.500 µs ± 700 ns']]);
});
