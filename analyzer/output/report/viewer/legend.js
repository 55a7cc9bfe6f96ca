// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What colours mean, in a line above the foot of the page.

const LEGEND_MOST = 16;

const swatch = (colour, text, title) => make('span', {title: title || null}, makeDot(colour), text);

function legendOfColours() {
	if (data.baseline)
		return [swatch(rgb(LESS), 'less than before'),
			swatch(rgb(MORE), 'more than before')];
	const groups = colourGroups();
	const left = groups.length - LEGEND_MOST;
	return [...groups.slice(0, LEGEND_MOST).map(({name, share}) => {
		const text = state.colour === 'function' ? shortName(name) :
			name.slice(name.lastIndexOf('/') + 1);
		return swatch(rgb(paletteOf(name)), text, name + ', ' + formatShare(share, 1) +
			' of self ' + (data.facts.unit === 'calls' ? 'calls' : 'time'));
	}), left > 0 && make('span', null, 'and ' + plural(left, 'lighter one'))].filter(Boolean);
}

function showLegend() {
	const known = {timeline: data.waits, table: data.facts.times}[state.tab] ||
		['flame', 'sandwich'].includes(state.tab) && currentSums().parts && state.parts;
	const strip = known && [make('b', null, state.tab === 'table' ? 'bar' : 'strip'),
		...timeTitles.map((title, i) => swatch(rgb(timeColours[i]), title))];
	const lanes = state.tab === 'timeline' && state.lanes && data.lanes &&
		[make('b', null, 'lanes'), ...laneKinds.filter(kind => data.facts.threads.some(
			thread => thread.lanes.some(lane => lane.kind === kind)))
			.map(kind => swatch(rgb(kind.colour), kind.title))];
	const sides = data.joined && data.facts.unit !== 'calls' &&
		[make('b', null, 'time'), make('span', {id: 'share-inside'},
			formatShare(insideShare(), 1) + ' inside the TEE'),
			make('span', null, '▔ a call over the border')];
	byId('legend').replaceChildren(...[sides || [], strip || [], lanes || [],
		make('b', null, data.baseline ? 'change' : state.colour === 'file' ? 'file' :
			state.colour), legendOfColours()].flat());
}
