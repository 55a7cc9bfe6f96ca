// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The script of a page, loaded without a page: its functions that touch none can be called.
'use strict';
const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const vm = require('node:vm');

const root = path.join(__dirname, '../..');

// The parts of a page's script in the order in which the build joins them, which stands in
// cmake/TeePerfTargets.cmake alone.
function partsOf(target) {
	if (Array.isArray(target))
		return target.map(name => path.join(root, name));
	const text = fs.readFileSync(path.join(root, 'cmake/TeePerfTargets.cmake'), 'utf-8');
	const variables = new Map();
	for (const [, name, value] of text.matchAll(/^set\((\w+) ([^")]*)\)$/gm))
		variables.set(name, value);
	// Its target, output, folder, name, header, and parts.
	const pages = text.matchAll(/^teeperf_page\((\w+) "[^"]*" (\S+) \w+\s+\S+\s+([^)]*)\)$/gm);
	const page = [...pages].find(match => match[1] === target);
	assert.ok(page, 'cmake/TeePerfTargets.cmake has no teeperf_page(' + target + ' ...)');
	const [, , folder, names] = page;
	return names.replace(/\$\{(\w+)\}/g, (whole, name) => variables.get(name) ?? whole)
		.split(/\s+/).map(name => path.join(root, folder, name + '.js'));
}

const nothing = () => {};

function makeElement() {
	return {dataset: {}, style: {}, options: [], children: [], textContent: '',
		classList: {toggle: nothing, add: nothing}, setAttribute: nothing,
		addEventListener: nothing, append: nothing, replaceChildren: nothing};
}

/*
 * The target is one of the build, or a list of files. {page, context}: page.NAME is what the script
 * calls so, context its global object. Parts that `without` names are left out: main starts a page.
 */
function loadPage(target, without = []) {
	const elements = new Map();
	const byId = id => {
		if (!elements.has(id))
			elements.set(id, makeElement());
		return elements.get(id);
	};
	const context = vm.createContext({
		document: {getElementById: byId, documentElement: makeElement(),
			querySelector: makeElement,
			createElement: makeElement},
		matchMedia: () => ({matches: false, addEventListener: nothing}),
		getComputedStyle: () => ({getPropertyValue: () => ''}),
		fetch: () => Promise.reject(new Error('there is no server')),
		location: {hash: '', search: ''}, history: {replaceState: nothing},
		localStorage: {getItem: () => null}, addEventListener: nothing,
		performance, console, TextDecoder, TextEncoder, URLSearchParams, setTimeout,
		clearTimeout,
	});
	const parts = partsOf(target).filter(name => !without.includes(path.basename(name, '.js')));
	const script = parts.map(name => fs.readFileSync(name, 'utf-8')).join('\n');
	const lookUp = vm.runInContext("'use strict';\n" + script + '\n(name => eval(name));',
		context,
		{filename: target + '.js'});
	return {page: new Proxy({}, {get: (_, name) => lookUp(name)}), context};
}

// What comes out of the other context is of other classes.
const plain = value => JSON.parse(JSON.stringify(value));
const same = (found, wanted, what) => assert.deepEqual(plain(found), plain(wanted), what);

// A number as blocks of a report have it.
function varint(value) {
	const bytes = [];
	do {
		bytes.push(value % 128 + (value > 127 ? 128 : 0));
		value = Math.floor(value / 128);
	} while (value);
	return bytes;
}

// The cases of which test/unit/u_units.c demands the same: [what, number, text].
function numberCases() {
	const lines = fs.readFileSync(path.join(root, 'test/unit/numbers.txt'),
		'utf-8').split('\n');
	return lines.filter(line => line && !line.startsWith('#'))
		.map(line => /^(\w+) (\d+) (.*)$/.exec(line).slice(1));
}

module.exports = {loadPage, same, varint, numberCases};
