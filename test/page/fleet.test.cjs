// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The page over a fleet: which runs are in its sets, what the address keeps of them, and the axis
// of its chart.
'use strict';
const assert = require('node:assert/strict');
const test = require('node:test');
const {loadPage, same} = require('./load.cjs');

const {page, context} = loadPage('tp_fleet_page');
const {fleet, sets} = page;

function makeFleet() {
	const run = (id, day, build, revision, host, labels) => ({run_id: id, day, build_id: build,
		git_revision: revision, host, program: 'db', labelList: page.labelsOf({labels}),
		start: Date.UTC(2026, 0, 2, 3, 4, 5)});
	fleet.runs = [
		run('1', '20260101', 'aa', 'v1', 'red', '{"load":"light"}'),
		run('2', '20260102', 'aa', 'v1', 'blue', '{}'),
		run('3', '20260103', 'bb', '', 'red', '{"load":"heavy"}'),
	];
	fleet.byId = new Map(fleet.runs.map(it => [it.run_id, it]));
	sets.a = page.makeSet(false);
	sets.b = page.makeSet(true);
	page.chooseRuns();
}

const chosen = letter => sets[letter].runs.map(run => run.run_id).join('');
const words = (...names) => String(page.queryOf(...names.map(name => page.wordsOf(name))));

test('criteria', () => {
	makeFleet();
	same([chosen('a'), chosen('b')], ['123', '']);
	const cases = [[{host: 'red'}, '13'], [{build: 'aa'}, '12'], [{build: 'v1'}, '12'],
		[{build: 'bb', host: 'blue'}, ''], [{label: 'load=heavy'}, '3'],
		[{day: '20260102'}, '2'],
		[{day: '20260102..20260103'}, '23'], [{program: 'other'}, '']];
	for (const [by, wanted] of cases) {
		sets.a.by = by;
		page.chooseRuns();
		assert.equal(chosen('a'), wanted, JSON.stringify(by));
	}
});

test('by hand', () => {
	makeFleet();
	const toggle = (letter, id) => {
		page.toggleRun(letter, fleet.byId.get(id));
		page.chooseRuns();
		return chosen(letter);
	};
	same([toggle('a', '2'), toggle('a', '2')], ['13', '123']);
	// The last one that goes leaves none, and does not bring all back.
	same(['2', '3', '2', '3'].map(id => toggle('b', id)), ['2', '23', '3', '']);
	// One that came by an address.
	sets.a = page.makeSet(false);
	sets.a.add.add('2');
	page.chooseRuns();
	same([chosen('a'), toggle('a', '2')], ['2', '']);
	sets.a = page.makeSet(false);
	sets.a.by = {host: 'red'};
	page.chooseRuns();
	same([toggle('a', '2'), toggle('a', '1'), toggle('a', '1')], ['123', '23', '123']);
});

test('addresses', () => {
	makeFleet();
	assert.equal(words('a'), 'a.all=1');
	assert.equal(words('b'), '');
	// What the address says comes back as it was.
	sets.a.by = {host: 'red', label: 'load=a&b'};
	sets.a.less.add('1');
	sets.b.add.add('2');
	page.chooseRuns();
	const text = words('a', 'b');
	page.readSets(new URLSearchParams(text));
	assert.equal(words('a', 'b'), text);
	same([chosen('a'), chosen('b')], ['', '2']);
	// Runs that are gone, and words that nobody knows, are not there.
	page.readSets(new URLSearchParams('a.run=9&a.not=8&a.__proto__=x&b.all=1&c.all=1'));
	same([sets.a.add.size, sets.a.less.size, Object.keys(sets.a.by).length, chosen('b')],
		[0, 0, 0, '123']);
	page.readSets(new URLSearchParams('a.none=1'));
	assert.equal(chosen('a'), '');
	context.location.hash = '#fn=12;3&measure=nonsense';
	page.readAddress();
	same([page.state.fn, page.state.measure], ['', 'processor_ns']);
});

test('choices', () => {
	makeFleet();
	same(page.choicesOf('host'), [['red', 2], ['blue', 1]]);
	same(page.choicesOf('build'), [['aa', 2], ['v1', 2], ['bb', 1]]);
	same(page.choicesOf('label'), [['load=heavy', 1], ['load=light', 1]]);
	for (const labels of [undefined, '', '[', 'null', '3', '"text"'])
		same(page.labelsOf({labels}), []);
	assert.equal(page.describeRun(fleet.runs[2]),
		'2026-01-02 03:04:05 · db · bb · red · load=heavy');
});

test('axis', () => {
	const at = Date.UTC(2026, 0, 1);
	for (const [length, count, wanted] of [[60e3, 6, ['00:00:00', '00:00:10']],
		[3600e3, 4, ['01-01 00:00', '01-01 00:15']],
		[9 * 86400e3, 10, ['2026-01-01', '2026-01-02']]]) {
		const {ticks, text} = page.timeTicks(at, at + length, count);
		assert.ok(ticks.length <= count + 1);
		same(ticks.slice(0, 2).map(text), wanted);
	}
	// However long.
	assert.ok(page.timeTicks(0, 400 * 365 * 86400e3, 5).ticks.length <= 6);
	same([null, undefined, 0].map(page.timeOr), ['–', '–', '0 ns']);
});

test('answers', async () => {
	// Of two questions of one name the first one's answer comes last, and is not shown.
	const shown = [];
	let first;
	const show = answer => shown.push(answer);
	const slow = page.only('test', () => new Promise(resolve => first = resolve), show);
	await page.only('test', () => Promise.resolve('second'), show);
	first('first');
	await slow;
	same(shown, ['second']);
	await page.only('test', () => Promise.reject(new Error('no such run')), show);
	assert.equal(context.document.getElementById('broken').textContent, 'no such run');
	same(shown, ['second']);
});
