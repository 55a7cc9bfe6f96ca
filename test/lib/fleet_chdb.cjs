// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// fleet_chdb.cjs MODULES DOCUMENT SCHEMA STATEMENTS QUESTIONS: in the ClickHouse of the package
// chdb of MODULES (a node_modules) makes the tables of SCHEMA, runs the statements that 'fleet
// push' has sent (each ends in a NUL), twice, the ClickHouse statements of DOCUMENT, and those in
// the files NAME.sql of the folder QUESTIONS. Prints its version, and a line for each row of each
// query: its number, then the columns; those over files have "file" before it. The rows of NAME.sql
// go to the file NAME.rows beside it.
const fs = require("fs");
const path = require("path");
const [modules, document, schema, statements, questions] = process.argv.slice(2);
const { Session } = require(path.join(modules, "chdb"));

const session = new Session(path.resolve("chdb"));
const ask = statement => session.query(statement, "TabSeparated");
const parts = text => text.split(";").filter(part => part.trim());

console.log("version\t" + ask("SELECT version()").trim());
for (const statement of parts(fs.readFileSync(schema, "utf8")))
	ask(statement);
for (let i = 0; i < 2; i++)
	for (const statement of fs.readFileSync(statements, "utf8").split("\0")
			.filter(part => part))
		ask(statement);
const text = fs.readFileSync(document, "utf8");
const show = (name, rows) => rows.split("\n").filter(row => row)
	.forEach(row => console.log(name + "\t" + row));
let number = 0;
for (const [, block] of text.matchAll(/```sql clickhouse\n([^]*?)```/g))
	for (const statement of parts(block))
		show(++number, ask(statement));
number = 0;
for (const [, block] of text.matchAll(/```sql clickhouse files\n([^]*?)```/g))
	for (const statement of parts(block))
		show("file" + ++number, ask(statement));
for (const name of fs.readdirSync(questions).filter(name => name.endsWith(".sql")))
	fs.writeFileSync(path.join(questions, name.replace(/sql$/, "rows")),
		ask(fs.readFileSync(path.join(questions, name), "utf8").trim().replace(/;$/, "")));
session.cleanup();
