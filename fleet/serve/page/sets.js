// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two sets of runs: how each is chosen, which runs that is, and the words for it in an address.

const CRITERIA = ['program', 'build', 'day', 'host', 'label'];
const letters = ['a', 'b'];

// Of the fleet: all runs, the newest last.
const fleet = {runs: [], byId: new Map()};

/*
 * `by`: criterion to value; runs fit all of them. `add` and `less`: run ids by hand. With `hand`
 * nothing fits but what was added; so is B at first.
 */
const makeSet = hand => ({by: {}, add: new Set(), less: new Set(), hand, runs: []});
const sets = {a: makeSet(false), b: makeSet(true)};

function labelsOf(run) {
	let labels;
	try {
		labels = JSON.parse(run.labels);
	} catch {
		// It is a file's, and may be anything.
	}
	return labels && typeof labels === 'object' ? Object.entries(labels).map(([key, value]) =>
		key + '=' + (typeof value === 'string' ? value : JSON.stringify(value))) : [];
}

function fitsCriterion(run, name, value) {
	switch (name) {
	case 'build':
		return run.build_id === value || run.git_revision === value;
	case 'day': {
		const [from, to] = value.split('..');
		return run.day >= from && run.day <= (to ?? from);
	}
	case 'label':
		return run.labelList.includes(value);
	default:
		return run[name] === value;
	}
}

// As the server does it.
function isChosen(set, run) {
	if (set.less.has(run.run_id))
		return false;
	if (set.add.has(run.run_id))
		return true;
	const wishes = Object.entries(set.by);
	if (wishes.length)
		return wishes.every(([name, value]) => fitsCriterion(run, name, value));
	return !set.hand && !set.add.size;
}

function chooseRuns() {
	for (const letter of letters)
		sets[letter].runs = fleet.runs.filter(run => run[letter] = isChosen(sets[letter],
			run));
}

// Take a run into a set, or out of it.
function toggleRun(letter, run) {
	const set = sets[letter];
	if (run[letter]) {
		const byHand = set.add.delete(run.run_id);
		// The last one by hand leaves none, not all.
		if (byHand && !set.add.size && !Object.keys(set.by).length && !set.less.size)
			set.hand = true;
		else if (isChosen(set, run))
			set.less.add(run.run_id);
	} else {
		set.less.delete(run.run_id);
		if (!isChosen(set, run))
			set.add.add(run.run_id);
	}
}

// Words of a query for the sets in LETTERS: [name, value] pairs. `to` names the set there.
function wordsOf(letter, to = letter) {
	const set = sets[letter];
	const words = Object.entries(set.by).map(([name, value]) => [to + '.' + name, value]);
	for (const id of set.add)
		words.push([to + '.run', id]);
	for (const id of set.less)
		words.push([to + '.not', id]);
	if (!words.some(([name]) => !name.endsWith('.not')) && !set.hand)
		words.push([to + '.all', '1']);
	return words;
}

// Of no run there is nothing to ask for.
const queryOf = (...pairs) => new URLSearchParams(pairs.flat());

function readSets(words) {
	for (const letter of letters) {
		const named = [...words].filter(([name]) => name.startsWith(letter + '.'));
		const set = sets[letter] = makeSet(letter === 'b');
		for (const [name, value] of named) {
			const key = name.slice(2);
			if (CRITERIA.includes(key))
				set.by[key] = value;
			else if (key === 'run' && fleet.byId.has(value))
				set.add.add(value);
			else if (key === 'not' && fleet.byId.has(value))
				set.less.add(value);
			else if (key === 'all')
				set.hand = false;
		}
		set.hand ||= named.some(([name]) => name.endsWith('.none'));
	}
	chooseRuns();
}

// What there is to choose from, the most frequent first.
function choicesOf(name) {
	const counts = new Map();
	const count = value => value && counts.set(value, (counts.get(value) ?? 0) + 1);
	for (const run of fleet.runs) {
		if (name === 'label')
			run.labelList.forEach(count);
		else if (name === 'build')
			[...new Set([run.git_revision, run.build_id])].forEach(count);
		else
			count(run[name]);
	}
	return [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).slice(0, 500);
}
