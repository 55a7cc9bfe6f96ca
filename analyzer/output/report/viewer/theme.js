// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Light and dark, and the colours of frames.

// Distinct for all kinds of colour vision, light enough for dark text: after Paul Tol's "light"
// scheme.
const palette = [[119, 170, 221], [238, 136, 102], [68, 187, 153], [238, 221, 136], [153, 221, 255],
	[255, 170, 187], [187, 204, 51], [170, 170, 0], [205, 180, 232]];
const NEUTRAL = [206, 208, 212];
const LESS = [90, 160, 219];
const MORE = [240, 134, 58];
const RUNNING = [24, 132, 98];
const WAITING = [128, 132, 148];
const PREEMPTED = [208, 84, 10];
// By TIMES.
const timeColours = [RUNNING, WAITING, PREEMPTED];
const timeTitles = ['running', 'waiting', 'preempted'];

const theme = {dark: false, colours: new Map()};
const prefersDark = matchMedia('(prefers-color-scheme: dark)');

function applyTheme() {
	theme.dark = state.theme === 'dark' || (state.theme === 'auto' && prefersDark.matches);
	document.documentElement.dataset.theme = theme.dark ? 'dark' : 'light';
	const style = getComputedStyle(document.documentElement);
	for (const name of ['paper', 'panel', 'ink', 'dim', 'line', 'accent', 'found', 'faint'])
		theme[name] = style.getPropertyValue('--' + name).trim();
	theme.font = '12px ' + style.getPropertyValue('--sans');
	theme.colours.clear();
}

function chooseTheme(name) {
	try {
		localStorage.setItem('teeperf-theme', name);
	} catch {
		// It is then forgotten with the page.
	}
	change({theme: name});
}

function hashText(text) {
	let hash = 2166136261;
	for (let i = 0; i < text.length; i++)
		hash = Math.imul(hash ^ text.charCodeAt(i), 16777619);
	hash ^= hash >>> 15;
	return Math.imul(hash, 2246822519) >>> 0;
}

const mix = (a, b, share) => a.map((value, i) => value + (b[i] - value) * share);

// As it is painted: somewhat darker on dark paper, where dark text has to stay readable.
function rgb(colour) {
	const shade = theme.dark ? mix(colour, [20, 22, 28], 0.16) : colour;
	return 'rgb(' + shade.map(Math.round).join(' ') + ')';
}

// What stands for a function's colour in the legend: its file, module, or name.
function colourGroup(fn) {
	const {files, file, modules, module} = data.functions;
	if (fn < 0 || isSmaller(fn))
		return '';
	if (state.colour === 'side' && data.joined)
		return sideOf(fn);
	const place = state.colour === 'file' && files[file[fn]] ||
		state.colour !== 'function' && modules[module[fn]];
	return place || functionName(fn);
}

// What has colours, the heaviest first: {name, share} of all self time, or of calls where there are
// no times.
const colourGroups = remember(() => state.colour, () => {
	const {functions, facts} = data;
	const weights = functions[facts.unit === 'calls' ? 'calls' : 'self_ns'] || [];
	const groups = new Map();
	let all = 0;
	for (let fn = 0; fn < functions.count; fn++) {
		const name = colourGroup(fn);
		groups.set(name, (groups.get(name) || 0) + (weights[fn] || 0));
		all += weights[fn] || 0;
	}
	return [...groups].map(([name, weight]) => ({name, share: all ? weight / all : 0}))
		.sort((a, b) => b.share - a.share);
});

// Each of the heaviest has a colour of its own: the one that its name is for, or one that is free.
function assignColours(names, colours) {
	const taken = new Map();
	for (const name of names.slice(0, colours)) {
		let at = hashText(name) % colours;
		while ([...taken.values()].includes(at))
			at = (at + 1) % colours;
		taken.set(name, at);
	}
	return taken;
}

const assignedColours = remember(() => state.colour, () =>
	assignColours(colourGroups().map(group => group.name), palette.length));
const sideColours = {host: palette[0], TEE: palette[3]};
const paletteOf = name => state.colour === 'side' && sideColours[name] ||
	palette[assignedColours().get(name) ?? hashText(name) % palette.length];

function functionColour(fn) {
	let colour = theme.colours.get(fn);
	if (!colour) {
		const hash = hashText(functionName(fn)) % 1000 / 1000;
		const base = paletteOf(colourGroup(fn));
		const own = hash < 0.5 ? mix(base, [255, 255, 255], hash * 0.5) :
			mix(base, [60, 60, 60], (hash - 0.5) * 0.22);
		colour = rgb(fn < 0 || isSmaller(fn) ? NEUTRAL : own);
		theme.colours.set(fn, colour);
	}
	return colour;
}

// Orange is more than before, blue is less; the stronger, the larger a part of it has changed.
function nodeColour({fn, total, base}, node) {
	if (!base)
		return functionColour(fn[node]);
	const [after, before] = currentSums().before ? [base[node], total[node]] :
		[total[node], base[node]];
	const most = Math.max(after, before);
	const share = most > 0 ? (after - before) / most : 0;
	return rgb(mix(NEUTRAL, share > 0 ? MORE : LESS,
		Math.min(1, Math.sqrt(Math.abs(share)) * 1.1)));
}
