// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pieces of 'fleet serve': which runs a set has, the test of two sets, quantiles, a link of paths
// that a file made up.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fleet/serve/store.h"

#include <math.h>

static struct tp_serve_store store;
static char directory[] = "/tmp/u_fleet_serve_XXXXXX";

static int set_up(void **state)
{
	char path[TP_FLEET_PATH];
	struct tp_err err;
	(void)state;
	if (!mkdtemp(directory))
		return -1;
	snprintf(path, sizeof(path), "%s/manifest", directory);
	return tp_fleet_make_folders(path, NULL) ||
	       tp_serve_store_init(&store, directory, UINT64_C(1) << 30, &err) ||
	       tp_serve_run(&store, NULL, &err,
		   "INSERT INTO runs(run_id, day, program, host, build_id, git_revision, labels, "
		   "start_unix_ns) VALUES"
		   "('one', '2026-11-25', 'p', 'h', 'aa', 'r1', "
		   "'{\"k\": \"v\", \"other\": \"a\\\"k\\\": \\\"x\\\"\"}', 1), "
		   "('two', '2026-11-26', 'p', 'i', 'bb', '', '{\"k\":\"w\"}', 2), "
		   "('three', '2026-11-27', 'q', 'h', 'aa', 'r1', 'no JSON', 3)");
}

static int tear_down(void **state)
{
	(void)state;
	tp_serve_store_release(&store);
	tp_fleet_remove(directory);
	return 0;
}

// The runs of a set, as bits.
static uint32_t chosen(const struct tp_serve_wish *wishes, uint32_t count)
{
	struct tp_err err;
	uint64_t hash[2];
	int64_t bits;
	if (tp_serve_choose(&store, 1, wishes, count, hash, &err))
		return 99;
	assert_int_equal(tp_serve_run(&store, &bits, &err,
			     "SELECT sum(1 << (run - 1)) FROM chosen WHERE side = 1"),
	    0);
	return (uint32_t)bits;
}

#define CHOSEN(...)                                         \
	chosen((const struct tp_serve_wish[]){__VA_ARGS__}, \
	    sizeof((const struct tp_serve_wish[]){__VA_ARGS__}) / sizeof(struct tp_serve_wish))

static void sets(void **state)
{
	(void)state;
	assert_int_equal(chosen(NULL, 0), 7);
	assert_int_equal(CHOSEN({"program", "p"}), 3);
	assert_int_equal(CHOSEN({"program", "p"}, {"program", "q"}), 7);
	assert_int_equal(CHOSEN({"program", "p"}, {"host", "h"}), 1);
	assert_int_equal(CHOSEN({"build", "r1"}), 5);
	assert_int_equal(CHOSEN({"build", "bb"}), 2);
	assert_int_equal(CHOSEN({"day", "2026-11-26"}), 2);
	assert_int_equal(CHOSEN({"day", "2026-11-26..2026-12-01"}), 6);
	assert_int_equal(CHOSEN({"run", "three"}), 4);
	assert_int_equal(CHOSEN({"not", "three"}), 3);
	assert_int_equal(CHOSEN({"host", "i"}, {"run", "three"}), 6);
	assert_int_equal(CHOSEN({"host", "h"}, {"not", "three"}), 1);
	assert_int_equal(CHOSEN({"run", "four"}), 99);
	assert_int_equal(CHOSEN({"day", "2026"}), 99);
	assert_int_equal(CHOSEN({"day", "2026-11-26..x"}), 99);
	assert_int_equal(CHOSEN({"label", "k"}), 99);
	// Labels are members, not parts of texts, with or without a blank.
	assert_int_equal(CHOSEN({"label", "k=v"}), 1);
	assert_int_equal(CHOSEN({"label", "k=w"}), 2);
	assert_int_equal(CHOSEN({"label", "k=x"}), 0);
	// Of one key any, of several keys all.
	assert_int_equal(CHOSEN({"label", "k=w"}, {"label", "k=v"}), 3);
	assert_int_equal(CHOSEN({"label", "k=w"}, {"label", "other=a\"k\": \"x\""}), 0);
	assert_int_equal(CHOSEN({"label", "k=v"}, {"label", "other=a\"k\": \"x\""}), 1);
	assert_int_equal(CHOSEN({"label", "other=a\"k\": \"x\""}), 1);
}

// The statement of SQL behind LINE, with these parameters.
static sqlite3_stmt *ask(const char *sql, const char *line, double quantile, double least)
{
	struct tp_err err;
	const struct {
		const char *name;
		double value;
	} values[] = {
	    {"$quantile", quantile}, {"$least", least}, {"$a", 1}, {"$b", 2}, {"$most", 200}};
	const char *at = strstr(sql, line);
	assert_non_null(at);
	sqlite3_stmt *statement = tp_serve_prepare(&store, at, NULL, &err);
	assert_non_null(statement);
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		const int place = sqlite3_bind_parameter_index(statement, values[i].name);
		if (place)
			sqlite3_bind_double(statement, place, values[i].value);
	}
	return statement;
}

static void run(const char *sql)
{
	struct tp_err err;
	assert_int_equal(tp_serve_run(&store, NULL, &err, "%s", sql), 0);
}

// That of run one; -1: it has none.
static int64_t quantile_of(double quantile)
{
	sqlite3_stmt *statement = ask(tp_serve_sql_history, "-- rows runs", quantile, 0);
	assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
	const int last = sqlite3_column_count(statement) - 1;
	assert_string_equal(sqlite3_column_name(statement, last), "quantile_ns");
	const int64_t found = sqlite3_column_type(statement, last) == SQLITE_NULL
				  ? -1
				  : sqlite3_column_int64(statement, last);
	sqlite3_finalize(statement);
	return found;
}

static void quantiles(void **state)
{
	(void)state;
	run("INSERT INTO sum_functions(set_id, fn_key, calls, timed_calls) VALUES(0, 1, 100, 100)");
	assert_int_equal(quantile_of(0.5), -1);
	run("INSERT INTO sum_buckets(set_id, fn_key, bucket, value_ns, calls) VALUES"
	    "(0, 1, 1, 10, 98), (0, 1, 2, 20, 1), (0, 1, 3, 30, 1)");
	assert_int_equal(quantile_of(0.5), 10);
	assert_int_equal(quantile_of(0.98), 10);
	assert_int_equal(quantile_of(0.99), 20);
	assert_int_equal(quantile_of(1), 30);
}

static void limits(void **state)
{
	int64_t sum = INT64_MAX - 2;
	(void)state;
	tp_serve_add(&sum, 2);
	assert_true(sum == INT64_MAX);
	tp_serve_add(&sum, 1);
	assert_true(sum == INT64_MAX);
}

// One function in both sets: of N runs, with this mean and sum of squared differences from it.
static const char *verdict(int n, double mean, double spread, int other_n, double other_mean,
    double other_spread, double least, double *t)
{
	static char found[20];
	char sql[400];
	snprintf(sql, sizeof(sql),
	    "DELETE FROM sum_functions WHERE set_id > 0; INSERT INTO sum_functions(set_id, fn_key, "
	    "function, calls, self_ns, wall_n, wall_mean, wall_spread, cpu_n) VALUES"
	    "(1, 1, 'f', 1, 1000, %d, %f, %f, 0), (2, 1, 'f', 1, 1000, %d, %f, %f, 0)",
	    n, mean, spread, other_n, other_mean, other_spread);
	run(sql);
	sqlite3_stmt *statement = ask(tp_serve_sql_compare, "-- rows functions", 0, least);
	assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
	for (int i = 0; i < sqlite3_column_count(statement); i++) {
		const char *name = sqlite3_column_name(statement, i);
		if (strcmp(name, "verdict") == 0)
			snprintf(found, sizeof(found), "%s",
			    (const char *)sqlite3_column_text(statement, i));
		if (strcmp(name, "t") == 0)
			*t = sqlite3_column_type(statement, i) == SQLITE_NULL
				 ? NAN
				 : sqlite3_column_double(statement, i);
	}
	assert_int_equal(sqlite3_step(statement), SQLITE_DONE);
	sqlite3_finalize(statement);
	return found;
}

static void comparisons(void **state)
{
	double t;
	(void)state;
	// Five values of variance 2.5 on each side: the standard error is 1, with 8 degrees of
	// freedom 2.306 are needed.
	assert_string_equal(verdict(5, 10, 10, 5, 12.2, 10, 5, &t), "same");
	assert_true(fabs(t - 2.2) < 1e-9);
	assert_string_equal(verdict(5, 10, 10, 5, 12.4, 10, 5, &t), "slower");
	assert_string_equal(verdict(5, 12.4, 10, 5, 10, 10, 5, &t), "faster");
	assert_string_equal(verdict(5, 10, 10, 5, 12.4, 10, 25, &t), "same");
	assert_string_equal(verdict(4, 10, 10, 5, 12.4, 10, 5, &t), "few runs");
	// Nothing varies.
	assert_string_equal(verdict(5, 10, 0, 5, 12, 0, 5, &t), "slower");
	assert_true(isnan(t));
	assert_string_equal(verdict(5, 10, 0, 5, 10, 0, 5, &t), "same");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(sets),
	    cmocka_unit_test(quantiles),
	    cmocka_unit_test(limits),
	    cmocka_unit_test(comparisons),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
