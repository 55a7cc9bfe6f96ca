// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ask.cjs MODULES FLEET QUESTION: seconds that DuckDB, with two threads, takes for the question in
// the file QUESTION over the folder FLEET; five times, with the files in memory. DuckDB is the
// @duckdb/node-api of MODULES, a node_modules. Prints JSON.
const fs = require("fs");
const path = require("path");
const [modules, fleet, question] = process.argv.slice(2);

(async () => {
	const { DuckDBInstance, version } = require(path.join(modules, "@duckdb/node-api"));
	const db = await (await DuckDBInstance.create(":memory:", { threads: "2" })).connect();
	for (const table of ["runs", "functions", "paths", "profile", "histograms"])
		await db.run(`CREATE VIEW ${table} AS SELECT * FROM ` +
			`read_parquet('${fleet}/${table}/day=*/program=*/run=*/*.parquet', ` +
			"hive_partitioning = true, union_by_name = true)");
	const statement = await db.prepare(fs.readFileSync(question, "utf8"));
	for (let i = 1; i <= statement.parameterCount; i++)
		statement.bindNull(i);
	const seconds = [];
	let rows = 0;
	for (let i = 0; i < 5; i++) {
		const start = process.hrtime.bigint();
		rows = (await statement.runAndReadAll()).getRows().length;
		seconds.push(Number(process.hrtime.bigint() - start) / 1e9);
	}
	console.log(JSON.stringify({ seconds, rows, version: version() }));
})().catch(error => {
	console.error(error);
	process.exit(1);
});
