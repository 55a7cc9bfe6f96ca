// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From the blocks of the page to columns of numbers. analyzer/output/report/report.h has the
// format.

// A block's bytes; null if the page has none of that name.
async function readBlock(name) {
	const text = document.getElementById('data-' + name)?.textContent;
	if (!text)
		return null;
	const letters = atob(text);
	const packed = new Uint8Array(letters.length);
	for (let i = 0; i < letters.length; i++)
		packed[i] = letters.charCodeAt(i);
	const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate'));
	return new Uint8Array(await new Response(stream).arrayBuffer());
}

// Numbers of seven bits a byte, the lowest first; whole up to 2^53.
class Numbers {
	constructor(bytes) {
		this.bytes = bytes;
		this.at = 0;
	}

	next() {
		let value = 0, scale = 1, byte;
		do {
			if (this.at >= this.bytes.length)
				throw new Error('a block of numbers ends too early');
			byte = this.bytes[this.at++];
			value += (byte & 127) * scale;
			scale *= 128;
		} while (byte > 127);
		return value;
	}

	text() {
		const length = this.next();
		return new TextDecoder().decode(this.bytes.subarray(this.at, this.at += length));
	}

	column(array) {
		for (let i = 0; i < array.length; i++)
			array[i] = this.next();
		return array;
	}
}

// The tree of calling contexts. Path 0 is the whole program; a parent's number is below its
// children's.
function readPaths(bytes) {
	const numbers = new Numbers(bytes);
	const count = numbers.next() + 1;
	const column = type => new type(count);
	const paths = {
		count,
		parent: column(Int32Array),
		fn: column(Int32Array),
		level: column(Int32Array), // how many callers are the same function
		calls: column(Float64Array),
		self: column(Float64Array),
		min: column(Float64Array),
		max: column(Float64Array),
	};
	const columns = ['fn', 'level', 'calls', 'self', 'min', 'max'];
	if (data.baseline) {
		paths.baseCalls = column(Float64Array);
		paths.baseSelf = column(Float64Array);
		columns.push('baseCalls', 'baseSelf');
	}
	if (data.facts.times)
		for (const name of TIMES) {
			paths[name] = column(Float64Array);
			columns.push(name);
		}
	const stack = [0];
	paths.parent[0] = paths.fn[0] = -1;
	for (let i = 1; i < count; i++) {
		stack.length -= numbers.next();
		paths.parent[i] = stack[stack.length - 1];
		stack.push(i);
	}
	for (const name of columns)
		numbers.column(paths[name].subarray(1));
	for (let i = 1; i < count; i++)
		paths.max[i] += paths.min[i];
	return paths;
}

// What each thread has of the paths: rows of path, calls, self, and what of that is of TIMES.
function readThreads(bytes) {
	const numbers = new Numbers(bytes);
	for (const thread of data.facts.threads) {
		const count = numbers.next();
		thread.path = numbers.column(new Int32Array(count));
		for (let i = 1; i < count; i++)
			thread.path[i] += thread.path[i - 1];
		for (const name of ['calls', 'self', ...data.facts.times ? TIMES : []])
			thread[name] = numbers.column(new Float64Array(count));
	}
}

/*
 * The timeline: what was on top in each of many buckets of time. `rows` of a thread are runs for
 * each depth: from, to, path, fill (0 to 15). `cells` are self times by path in each of fewer,
 * wider ones.
 */
function readTimeline(bytes) {
	const numbers = new Numbers(bytes);
	const time = {buckets: numbers.next(), cells: numbers.next()};
	for (const thread of data.facts.threads) {
		thread.rows = [];
		for (let rows = numbers.next(); rows > 0; rows--) {
			const row = {to: [], path: [], fill: []};
			let at = 0;
			for (let runs = numbers.next(); runs > 0; runs--) {
				const head = numbers.next();
				at += Math.floor(head / 16);
				row.to.push(at);
				row.fill.push(head % 16);
				row.path.push(head % 16 ? numbers.next() : 0);
			}
			thread.rows.push(row);
		}
		thread.cells = [];
		for (let i = 0; i < time.cells; i++) {
			const count = numbers.next();
			const path = new Int32Array(count), self = new Float64Array(count);
			for (let j = 0, last = 0; j < count; j++) {
				path[j] = last += numbers.next();
				self[j] = numbers.next();
			}
			thread.cells.push({path, self});
		}
		const count = numbers.next();
		thread.longest = {
			start: numbers.column(new Float64Array(count)),
			duration: numbers.column(new Float64Array(count)),
			path: numbers.column(new Int32Array(count)),
		};
		for (let i = 1; i < count; i++)
			thread.longest.start[i] += thread.longest.start[i - 1];
	}
	data.time = time;
}

// When threads had no processor: stretches, in order, the longest of them. Threads of which it is
// not known have none.
function readWaits(bytes) {
	const numbers = new Numbers(bytes);
	for (const thread of data.facts.threads) {
		const count = numbers.next() - 1;
		if (count < 0)
			continue;
		const waits = thread.waits = {start: new Float64Array(count),
			end: new Float64Array(count), preempted: new Uint8Array(count)};
		for (let i = 0, last = 0; i < count; i++) {
			waits.start[i] = last += numbers.next();
			const length = numbers.next();
			waits.end[i] = last + Math.floor(length / 2);
			waits.preempted[i] = length % 2;
		}
	}
	data.waits = true;
}

/*
 * What the kernel did for each thread: lanes of events, the longest of all; `fn` made them, -1:
 * none that was recorded. `bytes` are -1 if it moves none; of waits, `woken` is -1 if no thread
 * ended it. `short`: those that are not there, in each cell.
 */
function readLanes(bytes) {
	const numbers = new Numbers(bytes);
	data.eventNames = Array.from({length: numbers.next()}, () => numbers.text());
	const before = numbers.next();
	for (const thread of data.facts.threads) {
		thread.lanes = [];
		for (const kind of laneKinds) {
			const count = numbers.next();
			const column = less => numbers.column(new Float64Array(count))
				.map(value => value - less);
			const lane = {kind, start: column(0), duration: column(0), name: column(0),
				fn: column(1), bytes: column(1)};
			if (kind === laneKinds[1])
				Object.assign(lane, {woken: column(1), waker: column(1),
					wakerThread: column(1)});
			for (let i = 0, last = -before; i < count; i++)
				last = lane.start[i] += last;
			const left = numbers.next();
			if (left) {
				const {cells} = data.time;
				lane.short = {count: new Float64Array(cells),
					ns: new Float64Array(cells)};
				for (let i = 0; i < cells; i++)
					if ((lane.short.count[i] = numbers.next()))
						lane.short.ns[i] = numbers.next();
			}
			if (count || left)
				thread.lanes.push(lane);
		}
	}
	data.lanes = data.facts.threads.some(thread => thread.lanes.length);
}

// Counters and energy: a value holds from its time to the next one, and the last time is the end.
function readMeters(bytes) {
	const numbers = new Numbers(bytes);
	data.meters = [];
	for (let name; (name = numbers.text());) {
		const meter = {name, unit: numbers.text(), note: numbers.text()};
		const count = numbers.next();
		meter.at = numbers.column(new Float64Array(count));
		meter.value = numbers.column(new Float64Array(count));
		for (let i = 0, last = -data.facts.start; i < count; i++)
			last = meter.at[i] += last;
		meter.most = meter.value.reduce((a, b) => Math.max(a, b), 1);
		data.meters.push(meter);
	}
}

// All that the first picture needs.
async function loadData() {
	const [text, paths] = await Promise.all([readBlock('facts'), readBlock('paths')]);
	useFacts(JSON.parse(new TextDecoder().decode(text)));
	data.paths = readPaths(paths);
}

// The rest.
async function loadMore() {
	readThreads(await readBlock('threads'));
	const time = await readBlock('time');
	if (time)
		readTimeline(time);
	const calls = {begun: readBegun, heat: readHeat, slowest: readSlowest};
	for (const name of Object.keys(calls))
		if (time)
			calls[name](await readBlock(name));
	const waits = await readBlock('waits');
	if (waits)
		readWaits(waits);
	const lanes = await readBlock('lanes');
	if (lanes)
		readLanes(lanes);
	for (const name of Object.keys(rowTables)) {
		const view = await readBlock(name);
		const rows = view && JSON.parse(new TextDecoder().decode(view));
		if (rows?.[name].length)
			data[name] = {rows: rows[name], left: rows.left_out};
	}
	const graph = await readBlock('graph');
	if (graph)
		readGraph(graph);
	const meters = await readBlock('meters');
	if (meters)
		readMeters(meters);
	const sources = await readBlock('sources');
	if (sources)
		data.sources = JSON.parse(new TextDecoder().decode(sources));
	const marks = await readBlock('marks');
	if (marks)
		readMarks(marks);
}
