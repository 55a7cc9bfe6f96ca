// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The line between the threads of the timeline and their flame graph, and the notes that open upon
// the page.

const SPLIT_LEAST = 15, SPLIT_MOST = 85;

const clampSplit = percent => Math.round(Math.min(SPLIT_MOST, Math.max(SPLIT_LEAST, percent)));
// What the state says, if it is such a number.
const currentSplit = () => clampSplit(/^\d+$/.test(state.split) ? Number(state.split) :
	Number(defaults.split));

function showSplit() {
	const share = currentSplit();
	const bar = byId('split');
	bar.hidden = false;
	bar.setAttribute('aria-valuenow', share);
	document.querySelector('.tracks').style.flex = share + ' 1 0';
	byId('part').style.flex = 100 - share + ' 1 0';
}

function listenToSplit() {
	const bar = byId('split');
	const move = percent => change({split: String(clampSplit(percent))});
	bar.addEventListener('pointerdown', event => {
		if (event.button)
			return;
		bar.setPointerCapture(event.pointerId);
		bar.focus();
		event.preventDefault();
	});
	bar.addEventListener('pointermove', event => {
		if (!bar.hasPointerCapture(event.pointerId))
			return;
		const top = document.querySelector('.tracks').getBoundingClientRect().top;
		const low = byId('part').getBoundingClientRect().bottom;
		move((event.clientY - top) / (low - top) * 100);
	});
	bar.addEventListener('dblclick', () => change({split: defaults.split}));
	bar.addEventListener('keydown', event => {
		const to = {ArrowUp: currentSplit() - 5, ArrowDown: currentSplit() + 5,
			Home: SPLIT_LEAST, End: SPLIT_MOST,
			Enter: Number(defaults.split)}[event.key];
		if (to === undefined || hasModifier(event))
			return;
		move(to);
		consume(event);
	});
}

// The notes lie upon the page: Escape and a click elsewhere close them.
function listenToNotes() {
	const notes = byId('notes');
	// A page over a fleet has none.
	if (!notes)
		return;
	addEventListener('pointerdown', event => {
		if (!notes.contains(event.target))
			notes.open = false;
	});
	notes.addEventListener('keydown', event => {
		if (event.key !== 'Escape' || !notes.open)
			return;
		notes.open = false;
		notes.querySelector('summary').focus();
		consume(event);
	});
}
