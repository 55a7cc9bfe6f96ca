// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// duckdb_run.cjs MODULES FILE: run the statements in FILE by the DuckDB in MODULES; each SELECT
// must give rows.
const fs = require("fs");
const path = require("path");
const [modules, file] = process.argv.slice(2);

(async () => {
	const { DuckDBInstance } = require(path.join(modules, "@duckdb/node-api"));
	const db = await (await DuckDBInstance.create(":memory:")).connect();
	for (const sql of fs.readFileSync(file, "utf8").split(";").map(text => text.trim())
			.filter(text => text)) {
		const rows = (await db.runAndReadAll(sql)).getRows();
		if (sql.startsWith("SELECT") && !rows.length)
			throw new Error("no rows: " + sql);
		if (sql.startsWith("SELECT"))
			console.log(`${rows.length} rows: ${sql.split("\n")[0]}`);
	}
})().catch(error => {
	console.error(error);
	process.exit(1);
});
