// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The functions of the report's viewer that touch no page, one group after the other.
'use strict';
const assert = require('node:assert/strict');
const test = require('node:test');
const {loadPage, same, varint, numberCases} = require('./load.cjs');

const {page: viewer, context} = loadPage('tp_report_page', ['main']);
const {data, state} = viewer;

// The same numbers in each run.
let seed = 1;
const random = limit => {
	seed = Math.imul(seed, 1103515245) + 12345 & 0x7fffffff;
	return (seed >> 8) % limit;
};

// Paths of FUNCTIONS functions, in preorder, as readPaths() gives them.
function makePaths(count, functions) {
	const paths = {count, parent: new Int32Array(count), fn: new Int32Array(count),
		level: new Int32Array(count)};
	for (const name of ['calls', 'self', 'min', 'max'])
		paths[name] = new Float64Array(count);
	paths.parent[0] = paths.fn[0] = -1;
	const stack = [0], made = new Map();
	for (let i = 1; i < count; i++) {
		stack.length -= random(stack.length);
		let parent = stack[stack.length - 1], fn = random(functions);
		// A path is there once.
		while (made.has(parent + '.' + fn)) {
			fn = (fn + 1) % functions;
			if (made.has(parent + '.' + fn))
				parent = i - 1;
		}
		while (stack[stack.length - 1] !== parent && stack.length > 1 && parent !== i - 1)
			stack.pop();
		parent = stack[stack.length - 1] === parent ? parent : i - 1;
		made.set(parent + '.' + fn, i);
		paths.parent[i] = parent;
		paths.fn[i] = fn;
		for (let at = parent; at > 0; at = paths.parent[at])
			paths.level[i] += paths.fn[at] === fn;
		paths.calls[i] = 1 + random(9);
		paths.self[i] = random(1000);
		if (stack[stack.length - 1] !== parent)
			stack.push(parent);
		stack.push(i);
	}
	return paths;
}

const sum = numbers => Array.from(numbers).reduce((a, b) => a + b, 0);
const chainOf = (paths, i) => {
	const chain = [];
	for (let at = i; at > 0; at = paths.parent[at])
		chain.push(paths.fn[at]);
	return chain.reverse();
};

const groups = {
	latency() {
		data.facts = {unit: 'ns', threads: [{}], bounds: [0, 1, 2, 3, 4, 5, 6, 7, 8]};
		data.time = {cells: 4};
		viewer.readBegun(Uint8Array.from([2, 2, 1, 2, 5, 6, 0]));
		same(data.facts.threads[0].begun,
			[{0: 0, 1: 5, 2: 0, 3: 6}, {0: 0, 1: 0, 2: 0, 3: 0}]);
		// Two columns of three rows: cells 1, 3 and 5.
		viewer.readHeat(Uint8Array.from([2, 2, 7, 1, 4, 1, 2, 3, 3, 1, 2, 2, 9, 99, 1]));
		const map = data.heat.maps.get(4);
		same([...map.calls], [0, 9, 0, 99, 0, 1]);
		same(map.bounds, [2, 4, 6, 8]);
		same([data.heat.left, map.most], [7, 99]);
		same([0, 0.5, 1].map(part => viewer.heatRank(map, 0, part)), [0, 1, 1]);
		same([0.5, 0.99, 0.991].map(part => viewer.heatRank(map, 1, part)), [0, 0, 2]);
		assert.equal(viewer.heatRank({rows: 2, calls: [0, 0]}, 0, 0.5), -1);
		// Nearest rank in random columns, against all values sorted.
		for (let round = 0; round < 50; round++) {
			const rows = 1 + random(9),
				calls = Array.from({length: rows}, () => random(5)),
				all = calls.flatMap((n, row) => Array(n).fill(row));
			for (const part of [0.5, 0.9, 0.99])
				assert.equal(viewer.heatRank({rows, calls}, 0, part),
					all.length ? all[Math.ceil(part * all.length) - 1] : -1);
		}
		viewer.readSlowest(Uint8Array.from([2, 1, 1, 1, 3, 2, 1, 0, 10, 20, 8, 7, 6, 5, 1,
			0, 4, 3]));
		same(data.slowest.of.get(3), [{thread: 0, start: 10, duration: 8, inside: 6,
			full: true, cpu: 4}, {thread: -1, start: 20, duration: 7, inside: 5,
			full: false, cpu: 3}]);
		same(viewer.axisMarks(0, 100, 440), {at: [0, 50, 100], step: 50});
	},
	graph() {
		assert.equal(viewer.curveOf([0, 1, 2, 3, 4, 5, 6, 7]), 'M0 1C2 3 4 5 6 7');
		assert.equal(viewer.arrowHead([0, 0, 0, 10]), 'M0 10L4.0 1.0L-4.0 1.0Z');
	},
	numbers() {
		for (const value of [0, 1, 127, 128, 300, 16383, 16384, 2 ** 32, 2 ** 53 - 1]) {
			const numbers = new viewer.Numbers(Uint8Array.from(varint(value)));
			assert.equal(numbers.next(), value);
			assert.throws(() => numbers.next(), /ends too early/);
		}
		assert.throws(() => new viewer.Numbers(Uint8Array.of(128, 128)).next(),
			/ends too early/);
		const text = new TextEncoder().encode('größer');
		assert.equal(new viewer.Numbers(Uint8Array.from([...varint(text.length), ...text]))
			.text(), 'größer');
	},
	paths() {
		data.facts = {unit: 'ns', threads: [], program: 'program'};
		// main, below it a and b, below b again b: columns one after the other.
		const columns = [[0], [0], [1], [0], [0, 1, 2, 2], [0, 0, 0, 1], [1, 2, 3, 4],
			[10, 20, 30, 40], [1, 2, 3, 4], [5, 6, 7, 8]];
		const bytes = [4, 0, 0, 1, 0, ...columns.slice(4).flat()].flatMap(varint);
		const paths = viewer.readPaths(Uint8Array.from(bytes));
		same([...paths.parent], [-1, 0, 1, 1, 3]);
		same([...paths.max], [0, 6, 8, 10, 12]);
		same([...paths.level], [0, 0, 0, 0, 1]);
	},
	times() {
		data.facts = {unit: 'ns', start: 0};
		const cases = [[0, '0 ns'], [1, '1 ns'], [2.5, '2.5 ns'], [999, '999 ns'], [999.96,
			'1.000 µs'], [1000, '1.000 µs'], [12345, '12.35 µs'], [999949, '999.9 µs'],
			[999951, '1.000 ms'], [1e9, '1.000 s'], [-1500, '−1.500 µs']];
		for (const [value, text] of cases)
			assert.equal(viewer.formatTime(value), text);
		assert.equal(viewer.formatMark(1500000, 500000), '1,500 µs');
		// As commands write them.
		const written = {time: viewer.formatTime, count: viewer.formatCount};
		for (const [what, number, text] of numberCases())
			assert.equal(written[what](Number(number)), text.replace(' us', ' µs'));
		data.facts.unit = 'ticks';
		assert.equal(viewer.formatTime(1234567), '1,234,567 ticks');
		data.facts.unit = 'ns';
	},
	shares() {
		for (const [part, whole, text] of [[0, 0, '0.0%'], [1, 1, '100%'], [9996, 10000,
				'100%'], [1, 1000, '0.1%'], [1, 2000, '0.05%'], [1, 1e9, '<0.01%']])
			assert.equal(viewer.formatShare(part, whole), text);
		assert.equal(viewer.formatChange(150, 100), '+50 ns (+50.0%)');
		assert.equal(viewer.formatChange(50, 100), '−50 ns (−50.0%)');
		assert.equal(viewer.formatChange(5, 0), '+5 ns (new)');
		assert.equal(viewer.formatChange(5, 5), '±0 ns (±0.0%)');
		same(viewer.sharesOf([[1], [2], [1]], 0), [0.25, 0.5, 0.25]);
		same(viewer.sharesOf([[0], [0], [0]], 0), [0, 0, 0]);
		assert.equal(viewer.rowFormats.inside('0;38000'), '2: 100%');
		assert.equal(viewer.rowFormats.inside('100;300'), '1: 25.0%  2: 75.0%');
		assert.equal(viewer.rowFormats.inside(''), '–');
		assert.equal(viewer.rowFormats.time(null), '–');
	},
	names() {
		// Those that the report brings, by the rule of common/short_name.h; others are as
		// they are.
		data.shortNames = new Map([['f(int, char)', 'f']]);
		assert.equal(viewer.shortName('f(int, char)'), 'f');
		assert.equal(viewer.shortName('main'), 'main');
	},
	addresses() {
		same(viewer.numberList('12.0.7'), [12, 0, 7]);
		same(viewer.numberList('x.1e400.2'), [2]);
		same(viewer.numberList(''), []);
		for (const [text, index] of [['0', 0], ['4', 4], ['5', -1], ['-1', -1], ['1e0', -1],
				[' 1', -1], ['', -1], ['constructor', -1]])
			assert.equal(viewer.stateIndex(text, 5), index);
		for (const [percent, wanted] of [[0, 15], [50, 50], [50.4, 50], [1000, 85],
				[-5, 15]])
			assert.equal(viewer.clampSplit(percent), wanted);
		for (const nonsense of ['', 'x', '-3', '1e3', 'NaN']) {
			state.split = nonsense;
			assert.equal(viewer.currentSplit(), 60);
		}
		data.time = {cells: 10};
		data.facts = {threads: [{}, {}]};
		for (const [text, wanted] of [['', null], ['2.1', null], ['1.2', {from: 1, to: 2,
				threads: [0, 1]}], ['1.99.1', {from: 1, to: 10, threads: [1]}],
			['1.2.7', {from: 1, to: 2, threads: [0, 1]}], ['a.b', null],
			['1.2;3', null]]) {
			state.range = text;
			same(viewer.selectedRange(), wanted);
		}
		state.range = '';
		context.location.hash = '#tab=nowhere&order=__proto__&split=40';
		data.facts.program = 'program';
		viewer.readAddress();
		same([state.tab, state.order, state.split], ['flame', 'weight', '40']);
		context.location.hash = '';
		viewer.readAddress();
		let computed = 0, key = 1;
		const cached = viewer.remember(() => key, () => ++computed);
		same([cached(), cached(), (key = 2, cached())], [1, 1, 2]);
	},
	colours() {
		const many = Array.from({length: 40}, (_, i) => 'file' + i + '.c');
		for (let round = 0; round < 20; round++) {
			const some = many.slice(round, round + 9);
			const taken = viewer.assignColours(some, 9);
			assert.equal(new Set(taken.values()).size, 9);
		}
		// The heaviest has what its name is for, whatever else there is.
		assert.equal(viewer.assignColours(['a', 'b'], 9).get('a'),
			viewer.hashText('a') % 9);
		assert.equal(viewer.assignColours(many, 9).size, 9);
		same(viewer.mix([0, 100, 200], [100, 100, 0], 0.5), [50, 100, 100]);
	},
	heights() {
		const sizes = {row: 18, lane: 14, thin: 5, gap: 14, top: 4};
		const needs = (threads, {rows, lane}) => threads.reduce((all, it) => all +
			Math.min(rows, it.rows) * 18 + (it.lanes && it.lanes * lane + 4) + 14, 0);
		const five = Array.from({length: 5}, () => ({rows: 12, lanes: 4}));
		const fit = viewer.fitTracks(five, 400, sizes);
		assert.ok(needs(five, fit) <= 400 && fit.rows >= 1);
		same(viewer.fitTracks([{rows: 3, lanes: 0}], 400, sizes), {rows: 3, lane: 14});
		for (let round = 0; round < 2000; round++) {
			const threads = Array.from({length: 1 +
				random(8)}, () => ({rows: 1 + random(30), lanes: random(5)}));
			const height = random(900),
				found = viewer.fitTracks(threads, height, sizes);
			assert.ok(found.rows >= 1 && [14, 5].includes(found.lane));
			// What could be in sight is, and as much of it as could be.
			if (needs(threads, {rows: 1, lane: 5}) <= height)
				assert.ok(needs(threads, found) <= height);
			const most = Math.max(...threads.map(it => it.rows));
			if (found.rows < most && needs(threads, found) <= height)
				assert.ok(needs(threads,
					{rows: found.rows + 1, lane: found.lane}) > height);
		}
	},
	trees() {
		data.functions = {count: 6, all: 7,
			name: ['a', 'b', 'c', 'd', 'e', 'f', '(smaller)']};
		for (let round = 0; round < 60; round++) {
			const paths = data.paths = makePaths(2 + random(120), 6);
			const {count, parent, fn, self, calls} = paths;
			const sums = {self, calls, weight: self,
				total: viewer.addBelow(self, parent)};
			assert.equal(sums.total[0], sum(self));
			const whole = new viewer.Forward(sums, {});
			assert.equal(whole.total[0], sum(self));
			assert.equal(sum(whole.calls), sum(calls));
			// Each node is named and found again, but for what weighs nothing.
			for (let node = 1; node < whole.count; node++)
				if (whole.total[node] > 0)
					assert.equal(viewer.findNode(whole,
						viewer.nodeName(whole, node)), node);
			const hidden = new viewer.Forward(sums, {hidden: new Set([2])});
			assert.equal(hidden.total[0], sum(self));
			assert.ok(!Array.from(hidden.fn.subarray(1, hidden.count)).includes(2));
			const collapsed = new viewer.Forward(sums, {recursion: true});
			assert.equal(collapsed.total[0], sum(self));
			for (let node = 1; node < collapsed.count; node++) {
				const chain = [];
				for (let at = node; at > 0; at = collapsed.parent[at])
					chain.push(collapsed.fn[at]);
				assert.equal(new Set(chain).size, chain.length);
			}
			const focus = new viewer.Forward(sums, {focus: 1});
			let below = 0;
			for (let i = 1; i < count; i++)
				below += chainOf(paths, i).includes(1) ? self[i] : 0;
			assert.equal(focus.total[0], below);
			// Turned round: functions with their self times.
			const back = new viewer.Backward(sums, {});
			assert.equal(back.total[0], sum(self));
			for (const child of back.children(0)) {
				let own = 0;
				for (let i = 1; i < count; i++)
					own += fn[i] === back.fn[child] ? self[i] : 0;
				assert.equal(back.total[child], own);
			}
			for (const [up, other] of [[true, (above, it) => above],
					[false, (above, it) => it]]) {
				const wanted = new Map();
				for (let i = 1; i < count; i++) {
					const above = parent[i] ? fn[parent[i]] : -1;
					if ((up ? fn[i] : above) === 3)
						wanted.set(other(above, fn[i]),
							(wanted.get(other(above, fn[i])) || 0) +
							calls[i]);
				}
				same(viewer.pairsOf(whole, 3, up).map(pair => [pair.fn, pair.calls])
					.sort(), [...wanted].sort());
			}
		}
	},
	timelines() {
		same([0, 1, 2, 3, 4].map(value => viewer.firstAfter([1, 2, 2, 3], value)),
			[0, 1, 3, 4, 4]);
		same(viewer.firstAfter([], 3), 0);
		const row = (...runs) => ({to: runs.map(([to]) => to),
			path: runs.map(([, path]) => path), fill: runs.map(() => 15)});
		const trunk = Array.from({length: 6}, (_, i) => row([100, i + 1]));
		assert.equal(viewer.trunkRows({rows: [...trunk, row([50, 7], [100, 8])]}), 5);
		assert.equal(viewer.trunkRows({rows: trunk.slice(0, 3)}), 0);
	},
	sources() {
		data.facts = {unit: 'ns', threads: []};
		data.functions = {count: 5, all: 6,
			name: ['work', 'often', 'once', 'pointed', 'macro', '(smaller)']};
		data.paths = {count: 6, parent: [-1, 0, 1, 1, 1, 1], fn: [-1, 0, 1, 2, 3, 4],
			calls: [0, 1, 1500, 1, 2, 3], self: [0, 5, 50, 10, 20, 4]};
		data.sources = {inlined: ['outer → inner'], calls: [{fn: 0,
			sites: [0, 4, 0, 7, 1, 0, 8, 1, 0, 9, 1, 0, 9, 2, 1, 10, 4, 0]}]};
		Object.assign(state, {range: '', thread: ''});
		const {known, callees} = viewer.callsOf(0);
		same([known, viewer.callsOf(1).known], [true, false]);
		same(callees.map(pair => [pair.fn, pair.calls, pair.total,
			viewer.linesInWords(pair)]), [[1, 1500, 50, 'lines 7, 8 and 9 together'],
				[3, 2, 20, 'an unknown line'], [2, 1, 10, 'line 9'],
				[4, 3, 4, 'line 10 and elsewhere together']]);
		const byLine = viewer.callsByLine([0, 1]);
		same([...byLine.keys()].sort((a, b) => a - b), [7, 8, 9, 10]);
		same([7, 9, 10].map(line => viewer.sumOfLine(byLine.get(line), 'calls',
			viewer.formatCount)), ['1,500*', '1 + 1,500*', '3*']);
		same([9, 7].map(line => viewer.inlinedInWords(callees[line === 9 ? 2 :
			0].lines.get(line))), [', in code inlined from outer → inner', '']);
		delete data.sources;
	},
	sides() {
		data.joined = true;
		data.functions = {count: 3, name: ['host', 'tee', 'other', '(smaller)'],
			inside: [0, 1, 0]};
		same([-1, 0, 1, 3].map(viewer.sideOf), ['', 'host', 'TEE', '']);
		same([[0, 1], [1, 0], [0, 2], [-1, 1], [1, 3]].map(([a, b]) => viewer.crosses(a,
			b)), [true, true, false, false, false]);
		data.joined = false;
		assert.equal(viewer.crosses(0, 1), false);
	},
};

for (const [name, group] of Object.entries(groups))
	test(name, group);
