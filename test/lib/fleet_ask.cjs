// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// fleet_ask.cjs MODULES SQL NAME=VALUE ROWS: runs the question in the file SQL over ./fleet by the
// @duckdb/node-api of MODULES, with the parameter, others NULL, and compares its rows with those of
// the JSON file ROWS.
const fs = require("fs");
const path = require("path");
const [modules, file, parameter, expected] = process.argv.slice(2);

(async () => {
	const { DuckDBInstance } = require(path.join(modules, "@duckdb/node-api"));
	const db = await (await DuckDBInstance.create(":memory:")).connect();
	for (const table of ["runs", "functions", "histograms"])
		await db.run(`CREATE VIEW ${table} AS SELECT * FROM ` +
			`read_parquet('fleet/${table}/day=*/program=*/run=*/*.parquet', ` +
			"hive_partitioning = true, union_by_name = true)");
	const sql = fs.readFileSync(file, "utf8");
	const statement = await db.prepare(sql);
	const [name, value] = parameter.split("=");
	for (let i = 1; i <= statement.parameterCount; i++)
		if (statement.parameterName(i) === name)
			statement.bindVarchar(i, value);
		else
			statement.bindNull(i);
	const rows = (await statement.runAndReadAll()).getRowObjectsJson();
	const wanted = JSON.parse(fs.readFileSync(expected, "utf8").replace(/:(-?\d{16,})/g,
		':"$1"'));
	const same = (a, b) => a === b || String(a) === String(b) ||
		(a !== null && b !== null && Math.abs(a - b) <= 1e-9 * Math.abs(b) + 0.1000001);
	if (rows.length !== wanted.length)
		throw new Error(`${file}: ${rows.length} rows, and ${wanted.length} of teeperf`);
	rows.forEach((row, i) => {
		for (const key of Object.keys(wanted[i]))
			if (!same(row[key], wanted[i][key]))
				throw new Error(`${file}: row ${i}: ${key} is ${row[key]}, ` +
					`and ${wanted[i][key]} of teeperf`);
	});
	console.log(`${file}: ${rows.length} rows`);
})().catch(error => {
	console.error(error);
	process.exit(1);
});
