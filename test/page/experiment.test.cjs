// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The page of an experiment's results: values as numbers, axes and their texts.
'use strict';
const assert = require('node:assert/strict');
const test = require('node:test');
const {loadPage, same} = require('./load.cjs');

const {page} = loadPage(['scale', 'plot'].map(name =>
	`python/teeperf/experiment/page/${name}.js`));

test('values', () => {
	for (const [text, number] of [['4', 4], ['2.5', 2.5], ['-1e3', -1000],
			['256M', 256 * 2 ** 20],
		['1KiB', 1024], ['2 GB', 2 ** 31], ['.5', 0.5]])
		assert.equal(page.numberOf(text), number, text);
	for (const text of ['', 'x', '4 threads', '0x10', '1.2.3', 'M'])
		assert.ok(Number.isNaN(page.numberOf(text)), text);
});

test('steps', () => {
	const cases = [[10, 5, 2], [10, 2, 5], [1, 10, 0.1], [7, 7, 1], [300, 4, 100]];
	for (const [range, count, step] of cases)
		assert.equal(page.niceStep(range, count), step);
	same(page.ticksOf(0, 10, 5), [0, 2, 4, 6, 8, 10]);
	same(page.ticksOf(1, 9, 4), [2, 4, 6, 8]);
	same(page.ticksOf(3, 3, 4), [3]);
	same(page.ticksOf(3, NaN, 4), [3]);
});

test('texts', () => {
	same(page.shownUnit('s', 0.02), {size: 1e-3, name: 'ms'});
	same(page.shownUnit('s', 1e-12), {size: 1e-9, name: 'ns'});
	same(page.shownUnit('bytes', 5000), {size: 1024, name: 'KiB'});
	same(page.shownUnit('count', 0), {size: 1, name: ''});
	same(page.shownUnit('requests/s', 5), {size: 1, name: 'requests/s'});
	same([0, 1234.56, 1e6, 0.00001].map(page.textOf), ['0', '1235', '1.00e+6', '1.00e-5']);
	same([[1.5, 0.5], [2, 1], [1e7, 1e6]].map(it => page.tickText(...it)),
		['1.5', '2', '1.00e+7']);
});

test('places', () => {
	same(page.placesOf(['a', 'b']), {places: [0.25, 0.75], how: ''});
	assert.equal(page.placesOf(['1', '2', '4', '16']).how, ', logarithmic');
	same(page.placesOf(['1', '2', '3']).places.map(place => Math.round(place * 100)),
		[8, 50, 92]);
	// Without room they stand side by side; so do equal ones.
	assert.equal(page.placesOf(['0', '1', '1000']).how, '');
	same(page.placesOf(['5', '5']).places, [0.25, 0.75]);
});
