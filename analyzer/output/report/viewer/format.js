// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Numbers as people read them, and elements of the page.

const thousands = new Intl.NumberFormat('en-US');
const formatCount = n => thousands.format(Math.round(n));

// 1.234 µs: four significant digits, as on the command line (test/unit/numbers.txt).
function formatTime(ns) {
	if (data.facts.unit !== 'ns')
		return formatCount(ns) + ' ticks';
	if (ns < 0)
		return '−' + formatTime(-ns);
	const units = [['ns', 1], ['µs', 1e3], ['ms', 1e6], ['s', 1e9]];
	let at = 0;
	while (at < 3 && ns >= units[at + 1][1] * 0.99995)
		at++;
	const value = ns / units[at][1];
	const digits = at === 0 ? (value % 1 && value < 100 ? 1 : 0) : value >= 99.995 ? 1 :
		value >= 9.9995 ? 2 : 3;
	return value.toFixed(digits) + ' ' + units[at][0];
}

// A place on the time axis: as many digits as the distance between two marks asks for.
function formatMark(ns, step) {
	if (data.facts.unit !== 'ns')
		return formatCount(ns);
	const [unit, size] = step >= 1e9 ? ['s', 1e9] : step >= 1e6 ? ['ms', 1e6] :
		step >= 1e3 ? ['µs', 1e3] : ['ns', 1];
	return thousands.format(Math.round(ns / step) * step / size) + ' ' + unit;
}

// What a frame weighs: time or calls.
const weighsCalls = () => currentSums().weight === currentSums().calls;
const formatWeight = value => weighsCalls() ? formatCount(value) +
	(value === 1 ? ' call' : ' calls') : formatTime(value);

function formatShare(part, whole) {
	const share = whole > 0 ? part / whole * 100 : 0;
	return (share >= 99.95 ? share.toFixed(0) : share >= 0.1 || !share ? share.toFixed(1) :
		share < 0.01 ? '<0.01' : share.toFixed(2)) + '%';
}

// "+12.5 ms (+3.1%)", with a real minus.
function formatChange(after, before) {
	const delta = after - before;
	const sign = delta > 0 ? '+' : delta < 0 ? '−' : '±';
	const share = before > 0 ? sign + formatShare(Math.abs(delta), before) : after > 0 ? 'new' :
		'±0%';
	return sign + formatTime(Math.abs(delta)) + ' (' + share + ')';
}

const plural = (n, one, many) => formatCount(n) + ' ' + (n === 1 ? one : many || one + 's');

/*
 * An element: make('button.quiet', {onclick: f, 'aria-pressed': false}, 'text', child). Text is
 * always text: names come from the program that was recorded, and may be anything.
 */
function make(what, properties, ...children) {
	const [tag, ...classes] = what.split('.');
	const element = document.createElement(tag);
	if (classes.length)
		element.className = classes.join(' ');
	for (const [name, value] of Object.entries(properties || {})) {
		if (name.startsWith('on'))
			element.addEventListener(name.slice(2), value);
		else if (value !== null && value !== undefined)
			element.setAttribute(name, value);
	}
	element.append(...children.flat(9).filter(child => child || child === 0));
	return element;
}

const hasModifier = event => event.ctrlKey || event.metaKey || event.altKey;

// Nobody else is to act on it.
function consume(event) {
	event.preventDefault();
	event.stopPropagation();
}

const byId = id => document.getElementById(id);

const definitions = facts => make('dl', null,
	facts.map(([title, text]) => [make('dt', null, title), make('dd', null, text)]));

function makeDot(colour) {
	const dot = make('i.dot', {'aria-hidden': true});
	dot.style.background = colour;
	return dot;
}
