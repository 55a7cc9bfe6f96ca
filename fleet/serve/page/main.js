// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The page over a fleet: what was chosen stands in the address behind the #, and the parts of the
// page follow it.

const RUNS_AT_ONCE = 200;
// What theme.js and format.js ask for.
const state = {theme: 'auto', colour: 'function', measure: 'processor_ns', fn: '', search: ''};
data.facts = {unit: 'ns'};

const themes = ['auto', 'light', 'dark'];
const charts = {};
let runsShown = RUNS_AT_ONCE;

const describeRun = run => [new Date(run.start).toISOString().slice(0, 19).replace('T', ' '),
	run.program, run.git_revision || run.build_id.slice(0, 12), run.host,
	...run.labelList].filter(Boolean).join(' · ');
const timeOr = value => value === null || value === undefined ? '–' : formatTime(value);

function fail(error) {
	byId('broken').textContent = error ? error.message : '';
	byId('broken').hidden = !error;
}

async function ask(path, words) {
	const answer = await fetch('/api/' + path + (words ? '?' + words : ''));
	const found = await answer.json();
	if (!answer.ok)
		throw new Error(found.error + (found.file ? ' (' + found.file + ')' : ''));
	return found;
}

// Run WORK; of several of one NAME only the last one's answer is shown.
const latest = {};
async function only(name, question, show) {
	const mine = latest[name] = {};
	byId('page').setAttribute('aria-busy', 'true');
	try {
		const answer = await question();
		if (latest[name] === mine)
			show(answer);
	} catch (error) {
		if (latest[name] === mine)
			fail(error);
	}
	if (latest[name] === mine)
		delete latest[name];
	if (!Object.keys(latest).length) {
		byId('page').setAttribute('aria-busy', 'false');
		document.documentElement.dataset.settled = String(
			Number(document.documentElement.dataset.settled ?? 0) + 1);
	}
}

// ---- the address

function writeAddress() {
	const words = queryOf(wordsOf('a'),
		sets.b.runs.length || Object.keys(sets.b.by).length ? wordsOf('b') : []);
	if (sets.a.hand && !sets.a.add.size && !Object.keys(sets.a.by).length)
		words.set('a.none', '1');
	for (const name of ['measure', 'fn'])
		if (state[name] && !(name === 'measure' && state.measure === 'processor_ns'))
			words.set(name, state[name]);
	try {
		history.replaceState(null, '', '#' + words);
	} catch {
		// Browsers limit the number of changes per minute: the next one will be kept.
	}
}

function readAddress() {
	const words = new URLSearchParams(location.hash.slice(1));
	readSets(words);
	state.fn = /^-?\d+$/.test(words.get('fn') ?? '') ? words.get('fn') : '';
	state.measure = [...byId('measure').options].some(option => option.value ===
		words.get('measure')) ? words.get('measure') : 'processor_ns';
}

// ---- parts

function showSet(letter) {
	const set = sets[letter];
	const choose = (name, value) => {
		if (value)
			set.by[name] = value;
		else
			delete set.by[name];
		set.less.clear();
		setsChanged();
	};
	const list = (name, title) => {
		const choices = choicesOf(name);
		if (set.by[name] && !choices.some(([value]) => value === set.by[name]))
			choices.push([set.by[name], 0]);
		const select = make('select',
			{'data-by': name, onchange: event => choose(name, event.target.value)},
			make('option', {value: ''}, name === 'program' ? 'all' : 'any'),
			choices.map(([value, count]) => make('option', {value},
				value + ' (' + count + ')')));
		select.value = set.by[name] ?? '';
		return make('label', null, title, select);
	};
	const [from, to] = (set.by.day ?? '').split('..');
	const date = (title, value, other) => make('label', null, title, make('input',
		{type: 'date', value, 'data-by': title.toLowerCase(), onchange: event => {
			const [first, last] = title === 'From' ? [event.target.value, other] :
				[other, event.target.value];
			choose('day', first || last ? (first || '0000-01-01') + '..' +
				(last || '9999-12-31') : '');
		}}));
	const known = day => /^(0000|9999)/.test(day ?? '') ? '' : day ?? '';
	const clear = make('button', {type: 'button', 'data-clear': letter, onclick: () => {
		sets[letter] = makeSet(true);
		setsChanged();
	}}, 'None');
	const all = make('button', {type: 'button', 'data-all': letter, onclick: () => {
		sets[letter] = makeSet(false);
		setsChanged();
	}}, 'All');
	const count = set.runs.length;
	const links = [count > 0 && make('a', {href: '/set?' + queryOf(wordsOf(letter, 'a')),
		'data-flame': letter}, 'Flame graph of ' + letter.toUpperCase())];
	if (letter === 'b' && count && sets.a.runs.length)
		links.push(make('a', {href: '/set?' + queryOf(wordsOf('a'), wordsOf('b')),
			'data-flame': 'ab'}, 'Flame graph of the difference'));
	return make('fieldset', null,
		make('legend', null, make('i.dot.in-' + letter, {'aria-hidden': true}), 'Set ' +
			letter.toUpperCase() + (letter === 'a' ? ' (before)' : ' (after)')),
		list('program', 'Program'), list('build', 'Build'), date('From', known(from),
			known(to ?? from)), date('To', known(to ?? from), known(from)),
		list('host', 'Host'), list('label', 'Label'),
		make('div.doing', null, make('b', {'data-count': letter}, plural(count, 'run')),
			all, clear, links));
}

function showSets() {
	// What had the focus has it again.
	const at = document.activeElement;
	const place = at?.closest('fieldset') && [
		[...byId('sets').children].indexOf(at.closest('fieldset')),
		[...at.closest('fieldset').querySelectorAll('select, input, button')].indexOf(at)];
	byId('sets').replaceChildren(...letters.map(showSet));
	if (place)
		byId('sets').children[place[0]]?.querySelectorAll('select, input, button')[
			place[1]]?.focus();
}

function showChart() {
	byId('measure').value = state.measure;
	charts.runs.show(fleet.runs.map(run => ({run, value: run[state.measure]})));
}

function showRuns() {
	const newest = [...fleet.runs].reverse();
	const box = (letter, run) => make('td', null, make('input',
		{type: 'checkbox', checked: run[letter] ? '' : null, 'aria-label': 'In set ' +
			letter.toUpperCase() + ': ' + run.run_id, 'data-set': letter,
			onchange: () => {
				toggleRun(letter, run);
				setsChanged();
			}}));
	byId('runs').replaceChildren(...newest.slice(0, runsShown)
		.map(run => make('tr', {'data-run': run.run_id}, box('a', run), box('b', run),
			[new Date(run.start).toISOString().slice(0, 19).replace('T', ' '),
				run.program, run.git_revision || run.build_id.slice(0, 12),
				run.host, run.labelList.join(' ')].map(text => make('td.left',
					{title: text}, text)),
			make('td', null, timeOr(run.processor_ns)),
			make('td', null, formatCount(run.calls ?? 0)),
			make('td.left', {title: run.trace}, run.run_id))));
	byId('more').hidden = runsShown >= newest.length;
	byId('more').textContent = 'Show more: ' + formatCount(newest.length - runsShown) +
		' are left';
	byId('runs-note').textContent = plural(fleet.runs.length, 'run') +
		(fleet.leftOut ? '; ' + formatCount(fleet.leftOut) + ' older ones are not shown' :
			'') + ', the newest first. Tick runs to put them into a set by hand.';
}

// Ticks follow the sets, without a new table.
function markRuns() {
	for (const box of byId('runs').querySelectorAll('input'))
		box.checked = fleet.byId.get(box.closest('tr').dataset.run)[box.dataset.set];
}

const functionLink = row => make('button.link',
	{type: 'button', title: row.function, 'data-fn': row.fn_key, onclick: () => {
		state.fn = row.fn_key;
		writeAddress();
		showHistory(true);
	}}, row.function || '(no name)');

const row = cells => make('tr', null, cells.map(cell => make('td', null, cell)));

function showFunctions() {
	byId('section-functions').hidden = !sets.a.runs.length;
	if (!sets.a.runs.length)
		return;
	const words = queryOf(wordsOf('a'), state.search ? [['search', state.search]] : []);
	only('functions', () => ask('functions', words), ({functions, left_out: left}) => {
		byId('functions').replaceChildren(...functions.map(it => row([functionLink(it),
			formatTime(it.cpu_ns), it.cpu_percent === null ? '–' :
			it.cpu_percent.toFixed(2), formatTime(it.self_ns), formatCount(it.calls),
			formatCount(it.runs), it.module])));
		byId('functions-note').textContent = plural(functions.length, 'function') + (left ?
			' of ' + formatCount(functions.length + left) + ', by processor time' :
			', by processor time') + '. Choose one to see its history.';
	});
}

function showCompare() {
	const both = sets.a.runs.length && sets.b.runs.length;
	byId('section-compare').hidden = !both;
	if (!both)
		return;
	only('compare', () => ask('compare', queryOf(wordsOf('a'), wordsOf('b'))), answer => {
		byId('compare').replaceChildren(...answer.functions.map(it => {
			const line = row([functionLink(it), it.verdict, it.percent === null ? '–' :
				(it.percent > 0 ? '+' : '') + it.percent.toFixed(1) + ' %',
				timeOr(it.old_ns), timeOr(it.new_ns), it.time === 'cpu' ?
					timeOr(it.old_wall_ns) + ' / ' + timeOr(it.new_wall_ns) :
					'compared',
				it.t === null ? '–' :
					it.t.toFixed(1) + ' (' + it.t_needed.toFixed(1) + ')',
				it.old_runs + ' / ' + it.new_runs]);
			if (it.verdict === 'slower' || it.verdict === 'faster')
				line.cells[1].classList.add(it.verdict === 'slower' ? 'worse' :
					'better');
			return line;
		}));
		byId('compare-note').textContent = plural(answer.tested, 'function') +
			' with five runs on each side tested together: ' +
			'slower and faster are beyond chance (5 %), and by at least 5 %.' +
			(answer.left_out ? ' ' + formatCount(answer.left_out) +
				' lighter changes are not shown.' : '');
	});
}

// Of both sets together.
function showHistory(move) {
	byId('section-history').hidden = !state.fn || !(sets.a.runs.length + sets.b.runs.length);
	if (byId('section-history').hidden)
		return;
	const asked = letters.filter(letter => sets[letter].runs.length);
	const quiet = error => {
		// A function may be in one of the sets alone.
		if (!/no run of the set/.test(error.message))
			throw error;
		return {function: '', runs: [], days: []};
	};
	only('history', () => Promise.all(asked.map(letter => ask('history', queryOf(wordsOf(letter,
		'a'), [['function', state.fn]])).catch(quiet))), answers => {
			const rows = new Map(
				answers.flatMap(answer => answer.runs.map(it => [it.run_id, it])));
			byId('history-name').textContent = answers.find(answer =>
				answer.function)?.function ??
				'a function that is in no run of these sets';
			const points = name =>
				[...rows.values()].filter(it => fleet.byId.has(it.run_id))
				.map(it => ({run: fleet.byId.get(it.run_id), value: it[name]}));
			charts.self.show(points('self_ns_a_call'));
			charts.p99.show(points('quantile_ns'));
			byId('history-days').replaceChildren(...answers.flatMap((answer, i) =>
				answer.days.map(it => row([it.day_utc.replace(/^(....)(..)(..)$/,
					'$1-$2-$3') + (answers.length > 1 ? ', set ' +
						asked[i].toUpperCase() : ''),
					timeOr(it.quantile_ns), formatCount(it.calls)]))));
			if (move) {
				byId('title-history').scrollIntoView({block: 'start'});
				charts.self.svg.focus({preventScroll: true});
			}
		});
}

let waiting;

function setsChanged() {
	fail(null);
	chooseRuns();
	writeAddress();
	showSets();
	showChart();
	markRuns();
	// After the last of several clicks.
	clearTimeout(waiting);
	waiting = setTimeout(showAnswers, 200);
}

function showAnswers() {
	showFunctions();
	showCompare();
	showHistory(false);
}

// theme.js and the button of the head call it.
function change(patch) {
	Object.assign(state, patch);
	applyTheme();
	byId('theme').textContent = {auto: '◐', light: '○', dark: '●'}[state.theme];
	byId('theme').setAttribute('aria-label', 'Colours: ' + state.theme);
	byId('theme').title = 'Colours: ' + state.theme;
}

function listen() {
	byId('theme').addEventListener('click', () =>
		chooseTheme(themes[(themes.indexOf(state.theme) + 1) % 3]));
	byId('measure').addEventListener('change', event => {
		state.measure = event.target.value;
		writeAddress();
		showChart();
	});
	byId('search').addEventListener('input', event => {
		state.search = event.target.value;
		clearTimeout(waiting);
		waiting = setTimeout(showFunctions, 200);
	});
	byId('more').addEventListener('click', () => {
		runsShown += RUNS_AT_ONCE;
		showRuns();
	});
	addEventListener('hashchange', () => {
		readAddress();
		setsChanged();
	});
	prefersDark.addEventListener('change', () => change({}));
}

async function main() {
	let theme = 'auto';
	try {
		theme = localStorage.getItem('teeperf-theme') || 'auto';
	} catch {
		// A browser may forbid a page to remember anything.
	}
	change({theme: themes.includes(theme) ? theme : 'auto'});
	try {
		const answer = await ask('runs');
		for (const run of answer.runs) {
			run.start = run.start_unix_ns === null || run.start_unix_ns > 8.64e21 ? 0 :
				run.start_unix_ns / 1e6;
			run.labelList = labelsOf(run);
			fleet.byId.set(run.run_id, run);
		}
		fleet.runs = answer.runs;
		fleet.leftOut = answer.left_out;
		byId('folder').textContent = answer.fleet;
		const value = number => state.measure === 'calls' ? formatCount(number) :
			formatTime(number);
		const enter = run => {
			toggleRun('a', run);
			setsChanged();
		};
		charts.runs = new Chart(byId('chart'), 'Runs over time. Arrows go from run to ' +
			'run, Enter puts a run into set A or takes it out.', value, enter);
		charts.self = new Chart(byId('history-self'), 'Self time per call, by run',
			formatTime, enter);
		charts.p99 = new Chart(byId('history-p99'), '99th percentile, by run', formatTime,
			enter);
		listen();
		readAddress();
		showSets();
		showChart();
		showRuns();
		showAnswers();
	} catch (error) {
		fail(error);
	}
	document.documentElement.dataset.loaded = 'yes';
}

main();
