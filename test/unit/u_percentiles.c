// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Selection by rank, against a sort; and pctl() through SQL, with whole, real and extreme numbers.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/percentiles.h"
#include "query/query.h"

static uint64_t seed = 1;

static uint64_t pick(void)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return seed ^ seed >> 29;
}

static int compare(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a;
	const uint64_t y = *(const uint64_t *)b;
	return x < y ? -1 : x > y;
}

static void selects_what_a_sort_does(void **state)
{
	(void)state;
	uint64_t values[500];
	uint64_t sorted[500];
	for (int round = 0; round < 300; round++) {
		const uint32_t bits = (uint32_t)round % 64;
		const uint64_t count = 1 + pick() % 500;
		for (uint64_t i = 0; i < count; i++)
			sorted[i] = values[i] = pick() & ((UINT64_C(1) << bits) - 1);
		qsort(sorted, count, sizeof(*sorted), compare);
		const uint64_t rank = pick() % count;
		assert_int_equal(tp_select_value(values, count, rank, bits), sorted[rank]);
		assert_int_equal(tp_select_value(values, count, 0, bits), sorted[0]);
		assert_int_equal(
		    tp_select_value(values, count, count - 1, bits), sorted[count - 1]);
	}
}

// ---- SQL

static char answer[256];

static bool columns(void *context, const char *const *names, uint32_t count)
{
	(void)context;
	(void)names;
	return count == 1;
}

static bool row(void *context, const struct tp_value *values, uint32_t count)
{
	(void)context;
	assert_int_equal(count, 1);
	switch (values->type) {
	case TP_VALUE_NULL:
		strcpy(answer, "null");
		break;
	case TP_VALUE_INTEGER:
		snprintf(answer, sizeof(answer), "%lld", (long long)values->integer);
		break;
	case TP_VALUE_REAL:
		snprintf(answer, sizeof(answer), "%.17g", values->real);
		break;
	default:
		snprintf(answer, sizeof(answer), "%s", values->text);
	}
	return true;
}

static const char *ask(struct tp_query *query, const char *sql)
{
	const struct tp_query_sink sink = {NULL, columns, row};
	struct tp_err err;
	strcpy(answer, "nothing");
	if (tp_query_run(query, sql, NULL, 0, &sink, &err))
		snprintf(answer, sizeof(answer), "%.200s", err.what);
	return answer;
}

static void pctl_is_the_nearest_rank(void **state)
{
	(void)state;
	static const char *const cases[][2] = {
	    {"SELECT pctl(column1, 0.5) FROM (VALUES (3), (1), (2), (4))", "2"},
	    {"SELECT pctl(column1, 0.51) FROM (VALUES (3), (1), (2), (4))", "3"},
	    {"SELECT pctl(column1, 0) FROM (VALUES (3), (1), (2), (4))", "1"},
	    {"SELECT pctl(column1, 1) FROM (VALUES (3), (1), (2), (4))", "4"},
	    {"SELECT pctl(column1, 0.5) FROM (VALUES (NULL), (7), ('x'), (NULL))", "7"},
	    {"SELECT pctl(column1, 0.5) FROM (VALUES (NULL))", "null"},
	    {"SELECT pctl(1, 0.5) WHERE 0", "null"},
	    {"SELECT pctl(column1, 0.5) FROM (VALUES (-5), (3), (-9223372036854775808))", "-5"},
	    {"SELECT pctl(column1, 1) FROM (VALUES (-5), (9223372036854775807), "
	     "(-9223372036854775808))",
		"9223372036854775807"},
	    {"SELECT pctl(column1, 0) FROM (VALUES (-5), (9223372036854775807), "
	     "(-9223372036854775808))",
		"-9223372036854775808"},
	    {"SELECT pctl(column1, 0.6) FROM (VALUES (-5), (9223372036854775807), "
	     "(-9223372036854775808))",
		"-5"},
	    // Beyond 2^53 whole numbers stay what they are.
	    {"SELECT pctl(column1, 1) FROM (VALUES (9007199254740993), (1))", "9007199254740993"},
	    {"SELECT pctl(column1, 0.5) FROM (VALUES (-1.5), (2), (0.25))", "0.25"},
	    {"SELECT pctl(column1, 0) FROM (VALUES (-1.5), (2), (-1e300))",
		"-1.0000000000000001e+300"},
	    {"SELECT pctl(column1, 1) FROM (VALUES (1), (2.5), (9e999), (-9e999))", "inf"},
	};
	struct tp_query *query;
	struct tp_err err;
	const struct tp_query_options options = {0};
	assert_int_equal(tp_query_open(&query, &options, &err), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(ask(query, cases[i][0]), cases[i][1]);
	assert_non_null(strstr(ask(query, "SELECT pctl(1, 1.5)"), "from 0 to 1"));
	assert_non_null(strstr(
	    ask(query, "SELECT pctl(column1, column1 / 10.0) FROM (VALUES (1), (2))"), "the same"));
	assert_string_equal(ask(query, "SELECT human(1500)"), "1.500 us");
	assert_string_equal(ask(query, "SELECT human(-20)"), "-20 ns");
	assert_string_equal(ask(query, "SELECT human(NULL)"), "null");
	assert_string_equal(ask(query, "SELECT ns(5)"), "null"); // of no trace
	tp_query_close(query);
}

// What no end would come of ends, by steps or by Ctrl-C.
static void ends_what_does_not(void **state)
{
	(void)state;
	struct tp_query *query;
	struct tp_err err;
	const struct tp_query_options options = {.step_limit = 1000000};
	assert_int_equal(tp_query_open(&query, &options, &err), 0);
	assert_string_equal(
	    ask(query, "WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r) "
		       "SELECT sum(x) FROM r"),
	    "interrupted");
	assert_string_equal(ask(query, "SELECT 5"), "5");
	tp_query_close(query);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(selects_what_a_sort_does),
	    cmocka_unit_test(pctl_is_the_nearest_rank),
	    cmocka_unit_test(ends_what_does_not),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
