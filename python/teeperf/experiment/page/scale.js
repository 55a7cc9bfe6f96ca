// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Numbers: from values to places on an axis, and to text.

// What a value of a factor is as a number: 4, 2.5, or 256M as bytes. NaN: it is a word.
function numberOf(text) {
	const match = /^([-+]?[0-9]*\.?[0-9]+(?:e[-+]?[0-9]+)?)\s*([KMGT]?)(i?B)?$/i.exec(text);
	if (!match)
		return NaN;
	return Number(match[1]) * 1024 ** ' KMGT'.indexOf(match[2].toUpperCase() || ' ');
}

// Steps of 1, 2 or 5 times a power of ten that make about COUNT of the range.
function niceStep(range, count) {
	const rough = range / Math.max(1, count);
	const power = 10 ** Math.floor(Math.log10(rough));
	const part = rough / power;
	return power * (part <= 1 ? 1 : part <= 2 ? 2 : part <= 5 ? 5 : 10);
}

function ticksOf(low, high, count) {
	if (!(high > low))
		return [low];
	const step = niceStep(high - low, count);
	const ticks = [];
	for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i++)
		ticks.push(i * step);
	return ticks;
}

// A unit that makes numbers up to MOST short: how much of UNIT it is, and its name.
function shownUnit(unit, most) {
	const units = {
		s: [[1, 's'], [1e-3, 'ms'], [1e-6, 'µs'], [1e-9, 'ns']],
		bytes: [[2 ** 40, 'TiB'], [2 ** 30, 'GiB'], [2 ** 20, 'MiB'], [2 ** 10, 'KiB'],
			[1, 'bytes']],
		J: [[1e3, 'kJ'], [1, 'J'], [1e-3, 'mJ'], [1e-6, 'µJ']],
		count: [[1e9, 'billions'], [1e6, 'millions'], [1e3, 'thousands'], [1, '']],
	}[unit] || [[1, unit]];
	for (const [size, name] of units)
		if (most >= size)
			return {size: size, name: name};
	const [size, name] = most === 0 ? units.find(row => row[0] === 1) ||
		units[0] : units[units.length - 1];
	return {size: size, name: name};
}

function textOf(number) {
	if (number === 0)
		return '0';
	const size = Math.abs(number);
	return size >= 1e6 || size < 1e-4 ? number.toExponential(2) :
		String(Number(number.toPrecision(4)));
}

// Of an axis, whose ticks are STEP apart.
function tickText(number, step) {
	const digits = Math.max(0, Math.min(12, -Math.floor(Math.log10(step) + 1e-9)));
	return Math.abs(number) >= 1e6 ? number.toExponential(2) : number.toFixed(digits);
}
