// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// fleet_duckdb.cjs MODULES DOCUMENT: runs the DuckDB statements of DOCUMENT in this folder, by the
// @duckdb/node-api of MODULES (a node_modules). Prints a line for each row of each query: its
// number, then the columns. Then looks for each key through the statistics.
const fs = require("fs");
const path = require("path");
const [modules, document] = process.argv.slice(2);

(async () => {
	const { DuckDBInstance } = require(path.join(modules, "@duckdb/node-api"));
	const db = await (await DuckDBInstance.create(":memory:")).connect();
	const text = fs.readFileSync(document, "utf8");
	let number = 0;
	for (const [, block] of text.matchAll(/```sql duckdb\n([^]*?)```/g))
		for (const statement of block.split(";").filter(part => part.trim())) {
			const rows = (await db.runAndReadAll(statement)).getRows();
			if (/^\s*CREATE/.test(statement))
				continue;
			number++;
			for (const row of rows)
				console.log([number, ...row].join("\t"));
		}
	const ask = async sql => (await db.runAndReadAll(sql)).getRows();
	// Statistics are believed: a wrong one would lose rows.
	for (const [table, key] of [["functions", "fn_key"], ["histograms", "fn_key"],
			["profile", "path_key"]]) {
		const keys = await ask(
			`SELECT ${key}, count(*) FROM ${table} GROUP BY ALL ORDER BY ALL LIMIT 50`);
		for (const [value, count] of keys) {
			const [found] = await ask(
				`SELECT count(*) FROM ${table} WHERE ${key} = ${value}`);
			if (found[0] !== count)
				throw new Error(
					`${table}: ${found[0]} of ${count} rows of ${value}`);
		}
	}
	const [both] = await ask("SELECT count(*), count(DISTINCT run_id), min(day)::VARCHAR, " +
		"count(DISTINCT program) FROM runs");
	console.log(["runs", ...both].join("\t"));
	const facts = await ask("SELECT DISTINCT decode(value) FROM " +
		"parquet_kv_metadata('fleet/*/day=*/program=*/run=*/*.parquet') " +
		"WHERE decode(key) = 'teeperf.schema'");
	console.log(["schema", ...facts.map(row => row[0])].join("\t"));
})().catch(error => {
	console.error(error);
	process.exit(1);
});
