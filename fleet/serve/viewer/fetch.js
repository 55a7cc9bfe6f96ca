// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The data of a set of runs, or of two: the page's own query, asked of /api/flame.

// What the head of the page says of them.
function describeSet(name, set, letter) {
	const notes = [set.untimed && plural(set.untimed, 'run') + ' without times',
		set.incomplete && plural(set.incomplete, 'run') + ' with missing events',
		set.lost_paths &&
			plural(set.lost_paths, 'path') + ' without a caller'].filter(Boolean);
	return make('div', null, make('dt', null, name), make('dd', null, plural(set.runs, 'run')),
		make('dd.sub', null, [...describeQuery(letter), ...notes].join(', ') ||
			'all runs'));
}

function describeQuery(letter) {
	const words = [...new URLSearchParams(location.search)].filter(([name]) =>
		name.startsWith(letter + '.') && !/\.(run|not|all)$/.test(name));
	const by = name => new URLSearchParams(location.search).getAll(letter + '.' + name).length;
	return [...words.map(([name, value]) => name.slice(2) + ' ' + value),
		by('run') && plural(by('run'), 'run') + ' by hand',
		by('not') && plural(by('not'), 'run') + ' less'].filter(Boolean);
}

function showOverview(facts) {
	const {pruned, before, shown} = facts;
	const back = make('a', {href: '/#' + new URLSearchParams(location.search)}, 'Fleet');
	const tiles = make('dl.tiles', null, before && describeSet('Before', before, 'a'),
		describeSet(before ? 'After' : 'Set', shown, before ? 'b' : 'a'),
		make('div', null, make('dt', null, 'Call paths'),
			make('dd', null, formatCount(pruned.all - pruned.paths)),
			make('dd.sub', {id: 'pruned'}, pruned.paths ? plural(pruned.paths,
				'lighter one') + ' (' + formatShare(pruned.share, 1) +
				' of time) are in “(smaller)”' : 'all of them')),
		pruned.functions > 0 && make('div', null, make('dt', null, 'Functions'),
			make('dd', null, formatCount(data.functions.count)),
			make('dd.sub', null,
				plural(pruned.functions, 'lighter one') + ' not shown')),
		before && make('div', null, make('dt', null, 'Numbers'), make('dd', null,
			'means per run'), make('dd.sub', null, 'sums divided by runs')));
	byId('overview').replaceChildren(make('div.title', null, make('h1', null, facts.program),
		back), tiles);
	document.title = facts.program + ' – TeePerf';
}

async function loadData() {
	byId('cut').hidden = true;
	const answer = await fetch('/api/flame' + location.search);
	const facts = await answer.json();
	if (!answer.ok)
		throw new Error(facts.error);
	useFacts(facts);
	const {paths} = facts;
	data.paths = {count: paths.parent.length, parent: Int32Array.from(paths.parent),
		fn: Int32Array.from(paths.fn), level: Int32Array.from(paths.level)};
	for (const name of ['calls', 'self', 'min', 'max', 'baseCalls', 'baseSelf'])
		if (paths[name])
			data.paths[name] = Float64Array.from(paths[name]);
	data.paths.parent[0] = data.paths.fn[0] = -1;
	showOverview(facts);
	byId('acts').append(make('button', {type: 'button', value: 'y',
		title: 'Its times, run by run'}, 'History ', make('kbd', null, 'y')));
	keys.y = () => {
		const fn = selectedFunction();
		const words = new URLSearchParams(location.search);
		if (fn < 0)
			return;
		words.set('fn', data.functions.fn_key[fn]);
		location.assign('/#' + words);
	};
}

// There is no more.
async function loadMore() {
}
