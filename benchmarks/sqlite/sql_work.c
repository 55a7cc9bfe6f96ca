// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What an application asks of SQLite, in memory: inserts, an index, point queries, a join with
// groups, a scan with LIKE, updates, deletes. sql_work ROWS prints the results.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "sqlite3.h"

enum { GROUPS = 100 };

static sqlite3 *db;

static void fail(const char *what)
{
	fprintf(stderr, "sql_work: %s: %s\n", what, sqlite3_errmsg(db));
	exit(1);
}

static void run(const char *sql)
{
	if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
		fail(sql);
}

static sqlite3_stmt *prepare(const char *sql)
{
	sqlite3_stmt *statement;
	if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK)
		fail(sql);
	return statement;
}

// Run a statement that returns nothing, with its bound values, and make it ready for the next.
static void step_done(sqlite3_stmt *statement)
{
	if (sqlite3_step(statement) != SQLITE_DONE)
		fail("step");
	sqlite3_reset(statement);
}

static void print_rows(const char *sql)
{
	sqlite3_stmt *statement = prepare(sql);
	int status;
	while ((status = sqlite3_step(statement)) == SQLITE_ROW) {
		for (int i = 0; i < sqlite3_column_count(statement); i++)
			printf(
			    "%s%s", i ? "|" : "", (const char *)sqlite3_column_text(statement, i));
		putchar('\n');
	}
	if (status != SQLITE_DONE)
		fail(sql);
	sqlite3_finalize(statement);
}

static uint32_t scramble(uint32_t x)
{
	x ^= x >> 16;
	x *= UINT32_C(0x7feb352d);
	x ^= x >> 15;
	x *= UINT32_C(0x846ca68b);
	return x ^ x >> 16;
}

static void insert_all(int rows)
{
	run("CREATE TABLE kind(id INTEGER PRIMARY KEY, name TEXT)");
	run("CREATE TABLE item(id INTEGER PRIMARY KEY, kind INTEGER, name TEXT, price REAL)");
	run("BEGIN");
	sqlite3_stmt *kind = prepare("INSERT INTO kind VALUES (?1, 'kind ' || ?1)");
	for (int i = 0; i < GROUPS; i++) {
		sqlite3_bind_int(kind, 1, i);
		step_done(kind);
	}
	sqlite3_finalize(kind);
	sqlite3_stmt *item = prepare("INSERT INTO item VALUES (?1, ?2, ?3, ?4)");
	for (int i = 0; i < rows; i++) {
		const uint32_t random = scramble((uint32_t)i);
		char name[32];
		snprintf(name, sizeof(name), "item %u", random % 1000000);
		sqlite3_bind_int(item, 1, i);
		sqlite3_bind_int(item, 2, (int)(random % GROUPS));
		sqlite3_bind_text(item, 3, name, -1, SQLITE_TRANSIENT);
		sqlite3_bind_double(item, 4, (double)(random % 10007) / 4);
		step_done(item);
	}
	sqlite3_finalize(item);
	run("COMMIT");
}

static void query_points(int rows)
{
	sqlite3_stmt *query = prepare("SELECT count(*), max(price) FROM item WHERE name = ?1");
	int found = 0;
	double price = 0;
	for (int i = 0; i < rows / 10; i++) {
		char name[32];
		snprintf(name, sizeof(name), "item %u", scramble((uint32_t)(i * 3)) % 1000000);
		sqlite3_bind_text(query, 1, name, -1, SQLITE_TRANSIENT);
		if (sqlite3_step(query) != SQLITE_ROW)
			fail("point query");
		found += sqlite3_column_int(query, 0);
		price += sqlite3_column_double(query, 1);
		sqlite3_reset(query);
	}
	sqlite3_finalize(query);
	printf("%d %.2f\n", found, price);
}

int main(int argc, char **argv)
{
	const int rows = argc > 1 ? atoi(argv[1]) : 0;
	if (rows < 10 || rows > 100000000) {
		fputs("usage: sql_work ROWS (at least 10)\n", stderr);
		return 129;
	}
	if (sqlite3_open(":memory:", &db) != SQLITE_OK)
		fail("open");
	insert_all(rows);
	run("CREATE INDEX by_name ON item(name)");
	query_points(rows);
	print_rows("SELECT k.name, count(*), sum(i.price) FROM item i JOIN kind k ON k.id = i.kind "
		   "GROUP BY k.name ORDER BY 3 DESC LIMIT 5");
	print_rows("SELECT count(*) FROM item WHERE name LIKE '%77%'");
	run("UPDATE item SET price = price * 1.5 WHERE kind < 20");
	run("DELETE FROM item WHERE kind >= 90");
	print_rows("SELECT count(*), sum(price), min(name) FROM item");
	sqlite3_close(db);
	return 0;
}
