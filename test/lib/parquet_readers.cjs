// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// parquet_readers.cjs MODULES DIRECTORY: the calls of DIRECTORY/calls/run=*/thread=* by DuckDB and
// by hyparquet, whichever MODULES (a node_modules) has: lines "READER fn calls self sum_of_t0", by
// fn. Exit 77: it has neither.
const fs = require("fs");
const path = require("path");
const [modules, directory] = process.argv.slice(2);
const has = name => fs.existsSync(path.join(modules, name));

function callFiles() {
	const files = [];
	const calls = path.join(directory, "calls");
	for (const run of fs.readdirSync(calls))
		for (const thread of fs.readdirSync(path.join(calls, run)))
			files.push(path.join(calls, run, thread, "calls.parquet"));
	return files.sort();
}

async function duckdb() {
	const { DuckDBInstance } = require(path.join(modules, "@duckdb/node-api"));
	const db = await (await DuckDBInstance.create(":memory:")).connect();
	const ask = async sql => (await db.runAndReadAll(sql)).getRows();
	const calls = `read_parquet('${directory}/calls/run=*/thread=*/calls.parquet', ` +
		'hive_partitioning = true)';
	const sql = "SELECT fn, count(*), CAST(sum(self_raw_ns) AS BIGINT), " +
		"CAST(sum(start_ns) AS BIGINT) " +
		`FROM ${calls} GROUP BY fn ORDER BY fn`;
	for (const row of await ask(sql))
		console.log(["duckdb", ...row].join(" "));
	const joined = await ask(`SELECT count(*) FROM ${calls} c
		JOIN read_parquet('${directory}/functions/run=*/functions.parquet',
			hive_partitioning = true) f ON f.fn = c.fn AND f.run = c.run
		WHERE c.thread >= 0 AND c.how = 'returned'`);
	console.log("duckdb joined", joined[0][0].toString());
	// The statistics are believed: a group that cannot match is not read, so a wrong one would
	// lose rows.
	const [least] = await ask(`SELECT min(start_ns), max(start_ns), count(*) FROM ${calls}`);
	const [counted] = await ask(
		`SELECT count(*) FROM ${calls} WHERE start_ns BETWEEN ${least[0]} AND ${least[1]}`);
	if (counted[0] !== least[2])
		throw new Error(`range has ${counted[0]} of ${least[2]} calls`);
}

async function hyparquet() {
	const { parquetReadObjects,
		asyncBufferFromFile } = await import(path.join(modules, "hyparquet/src/node.js"));
	const { compressors } = await import(path.join(modules,
		"hyparquet-compressors/src/index.js"));
	const sums = new Map();
	for (const name of callFiles()) {
		const file = await asyncBufferFromFile(name);
		for (const row of await parquetReadObjects({ file, compressors })) {
			const sum = sums.get(row.fn) || [0n, 0n, 0n];
			sums.set(row.fn,
				[sum[0] + 1n, sum[1] + row.self_raw_ns, sum[2] + row.start_ns]);
		}
	}
	for (const fn of [...sums.keys()].sort((a, b) => a - b))
		console.log(["hyparquet", fn, ...sums.get(fn)].join(" "));
}

(async () => {
	let readers = 0;
	if (has("@duckdb/node-api") && ++readers)
		await duckdb();
	if (has("hyparquet") && has("hyparquet-compressors") && ++readers)
		await hyparquet();
	process.exit(readers ? 0 : 77);
})().catch(error => {
	console.error(error);
	process.exit(1);
});
