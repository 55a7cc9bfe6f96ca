// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The verb of a statement, whatever stands before it.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/query/sql.h"

static void expect(const char *sql, const char *name, const char *at, bool writes)
{
	struct tp_sql_verb verb;
	tp_sql_verb_find(&verb, sql);
	assert_string_equal(verb.name, name);
	assert_int_equal(verb.writes, writes);
	if (at)
		assert_ptr_equal(sql + verb.offset, strstr(sql, at));
	else
		assert_int_equal(verb.offset, -1);
}

static void reads(void **state)
{
	(void)state;
	expect("SELECT 1", "SELECT", "SELECT", false);
	expect(" values (1)", "VALUES", "values", false);
	expect("PRAGMA table_list", "PRAGMA", "PRAGMA", false);
	expect("EXPLAIN QUERY PLAN SELECT 1", "SELECT", "SELECT", false);
	expect("WITH a(x) AS (SELECT 1) SELECT x FROM a", "SELECT", "SELECT x", false);
	expect("SELECT 'x'; DROP TABLE calls", "SELECT", "SELECT", false);
	expect("SELECT 1 AS \"update\"", "SELECT", "SELECT", false);
}

static void writes(void **state)
{
	(void)state;
	static const char *const verbs[] = {"INSERT", "REPLACE", "UPDATE", "DELETE", "REINDEX",
	    "ANALYZE", "VACUUM", "ATTACH", "DETACH", "BEGIN", "COMMIT", "END", "ROLLBACK",
	    "SAVEPOINT", "RELEASE", NULL};
	for (int i = 0; verbs[i]; i++)
		expect(verbs[i], verbs[i], verbs[i], true);
	expect("create table x(y)", "CREATE TABLE", "create", true);
	expect("CREATE TEMP VIEW x AS SELECT 1", "CREATE VIEW", "CREATE", true);
	expect("CREATE UNIQUE INDEX x ON y(z)", "CREATE INDEX", "CREATE", true);
	expect("CREATE VIRTUAL TABLE x USING y", "CREATE TABLE", "CREATE", true);
	expect("DROP TRIGGER x", "DROP TRIGGER", "DROP", true);
	expect("ALTER", "ALTER", "ALTER", true);
	expect("EXPLAIN DELETE FROM x", "DELETE", "DELETE", true);
	expect("-- SELECT\n/* SELECT; */ UPDATE x SET y = 1", "UPDATE", "UPDATE", true);
	expect("WITH [select](a) AS (SELECT ')'), b AS (VALUES(\"(\")) DELETE FROM x", "DELETE",
	    "DELETE", true);
	expect(
	    "WITH `a``b` AS (SELECT 'it''s (') INSERT INTO x VALUES (1)", "INSERT", "INSERT", true);
}

static void neither(void **state)
{
	(void)state;
	static const char *const cases[] = {"", " ", ";", "; SELECT 1", "SELEC 1", "SELECTED",
	    "-- only this", "/* open", "'SELECT", "WITH", "WITH x AS (DELETE", "EXPLAIN", "(",
	    ")))", NULL};
	for (int i = 0; cases[i]; i++)
		expect(cases[i], "", NULL, false);
}

static void having(void **state)
{
	(void)state;
	static const struct {
		const char *sql;
		bool names;
	} cases[] = {
	    {"SELECT sum(a) AS total FROM x GROUP BY b HAVING total > 1", true},
	    {"select total from x having 1 < TOTAL order by 1; select 2", true},
	    {"SELECT total FROM x GROUP BY total HAVING b > 1 ORDER BY total", false},
	    {"SELECT a FROM x HAVING sum(total) > 1 LIMIT total", false},
	    {"SELECT a FROM x HAVING x.total > 1", false},
	    {"SELECT a FROM x HAVING totals > 1 -- total", false},
	    {"SELECT total, 'HAVING total' FROM (SELECT 1 HAVING total)", false},
	    {"SELECT 1; SELECT 2 HAVING total", false},
	    {"SELECT a FROM x GROUP BY b HAVING (a > 1 OR (total > 1))", true},
	    {"SELECT a FROM x GROUP BY b HAVING NOT(total > 1)", true},
	    {"SELECT a FROM x GROUP BY b HAVING a > 1 AND \"Total\" > 1", true},
	    {"SELECT a FROM x GROUP BY b HAVING 1 IN ([total], 2)", true},
	    {"SELECT a FROM x GROUP BY b HAVING `total` > 1", true},
	    {"SELECT a FROM x GROUP BY b HAVING 'total' > a", false},
	    {"SELECT a FROM x GROUP BY b HAVING (max(total) > 1)", false},
	    {"SELECT a FROM x GROUP BY b HAVING max((total), 2) > 1", false},
	    {"SELECT a FROM x GROUP BY b HAVING total(a) > 1", false},
	    {"SELECT a FROM x GROUP BY b HAVING a IN (SELECT total FROM y)", false},
	    {"SELECT a FROM x GROUP BY b HAVING \"x\".\"total\" > 1 OR total . a > 1", false},
	    {"SELECT a FROM x GROUP BY b HAVING (SELECT 1)) total", false},
	    {"SELECT a FROM x HAVING \"total", false},
	    {"SELECT a FROM x HAVING \"", false},
	    {"HAVING", false},
	    {"", false},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (tp_sql_having_names(cases[i].sql, "total") != cases[i].names)
			fail_msg("%s", cases[i].sql);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(reads),
	    cmocka_unit_test(writes),
	    cmocka_unit_test(neither),
	    cmocka_unit_test(having),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
