// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Selection by rank, against a sort; values that were counted and do not come, or come and were not
// counted; and pctl() through SQL, with whole, real and extreme numbers.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/trace/text/dump_text.h"
#include "analyzer/profile/percentiles.h"
#include "analyzer/query/query.h"

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

// ---- a trace that is not what it was

struct case_of {
	struct tp_buf file;
	struct tp_tracefile trace;
	struct tp_analysis analysis;
};

// As a file: one function, whose second call takes SECOND ticks.
static void make_file(struct tp_buf *file, unsigned second)
{
	char text[400];
	struct tp_err err;
	const int size = snprintf(text, sizeof(text),
	    "clock kind=tsc hz=1000000000\nsymbols\n\tsymbol 0x401000 f\nchunk\n"
	    "\t0 enter f\n\t1000 exit f\n\t2000 enter f\n\t%u exit f\n\t9000 enter f\n"
	    "\t10010 exit f\nend\n",
	    2000 + second);
	tp_buf_init(file);
	assert_int_equal(tp_dump_assemble(text, (size_t)size, "text", file, &err), 0);
}

static void make_case(struct case_of *of)
{
	struct tp_err err;
	const struct tp_analysis_options options = {.workers = 1};
	make_file(&of->file, 1020);
	assert_int_equal(
	    tp_tracefile_from_memory(&of->trace, "trace", of->file.data, of->file.size, &err), 0);
	assert_int_equal(tp_analysis_init(&of->analysis, &of->trace, &options, &err), 0);
	assert_int_equal(of->analysis.function_count, 1);
}

static void end_case(struct case_of *of)
{
	tp_analysis_release(&of->analysis);
	tp_tracefile_close(&of->trace);
	tp_buf_release(&of->file);
}

static void is_refused(const struct tp_analysis *analysis)
{
	struct tp_percentiles percentiles;
	struct tp_err err;
	assert_int_equal(tp_percentiles_init(&percentiles, analysis, NULL, &err), TP_ERR_FORMAT);
	assert_non_null(strstr(err.what, "it changed while it was read"));
	tp_percentiles_release(&percentiles);
}

enum { CALLS = 400, THREADS = 2 };

// Calls of two functions in two threads, in many buckets and each bucket of many values: the value
// of rank ceil(p * n) of all that there are.
static void is_the_nearest_rank(void **state)
{
	(void)state;
	static const double parts[TP_PERCENTILE_COUNT] = {0.5, 0.9, 0.99, 0.999};
	for (uint64_t calls = 1; calls <= CALLS; calls += calls < 20 ? 1 : 97) {
		uint64_t sorted[2][THREADS * CALLS];
		uint64_t count = 0;
		struct case_of of;
		struct tp_percentiles percentiles;
		struct tp_err err;
		struct tp_buf text;
		tp_buf_init(&text);
		tp_buf_add_string(&text,
		    "clock kind=tsc hz=1000000000\nsymbols\n\tsymbol 0x401000 f\n"
		    "\tsymbol 0x401010 g\n");
		for (int thread = 0; thread < THREADS; thread++) {
			uint64_t time = 0;
			tp_buf_addf(&text, "chunk thread=%d time=0\n", thread);
			for (uint64_t i = 0; i < calls; i++, count++)
				for (int f = 0; f < 2; f++) {
					const uint64_t ticks = 1000 + pick() % (f ? 9000 : 90);
					sorted[f][count] = ticks;
					tp_buf_addf(&text, "\t%llu enter %c\n\t%llu exit %c\n",
					    (unsigned long long)time, "fg"[f],
					    (unsigned long long)(time + ticks), "fg"[f]);
					time += ticks;
				}
		}
		tp_buf_add_string(&text, "end\n");
		tp_buf_init(&of.file);
		assert_int_equal(tp_dump_assemble(text.data, text.size, "text", &of.file, &err), 0);
		assert_int_equal(
		    tp_tracefile_from_memory(&of.trace, "trace", of.file.data, of.file.size, &err),
		    0);
		const struct tp_analysis_options options = {.workers = 1};
		assert_int_equal(tp_analysis_init(&of.analysis, &of.trace, &options, &err), 0);
		assert_int_equal(of.analysis.function_count, 2);
		assert_int_equal(tp_percentiles_init(&percentiles, &of.analysis, NULL, &err), 0);
		for (uint32_t i = 0; i < 2; i++) {
			const int f = of.analysis.functions[i].symbol.name[0] == 'g';
			const struct tp_function_percentiles *found = &percentiles.functions[i];
			qsort(sorted[f], count, sizeof(sorted[f][0]), compare);
			assert_true(found->exact);
			assert_int_equal(found->calls, count);
			for (int j = 0; j < TP_PERCENTILE_COUNT; j++) {
				uint64_t rank = 1;
				while ((double)rank < parts[j] * (double)count)
					rank++;
				assert_int_equal(found->values[j], sorted[f][rank - 1]);
			}
		}
		tp_percentiles_release(&percentiles);
		end_case(&of);
		tp_buf_release(&text);
	}
}

static void misses_no_value(void **state)
{
	(void)state;
	struct case_of of;
	struct tp_buf other;
	struct tp_percentiles percentiles;
	struct tp_err err;
	make_case(&of);
	assert_int_equal(tp_percentiles_init(&percentiles, &of.analysis, NULL, &err), 0);
	assert_true(percentiles.functions[0].exact);
	assert_int_equal(percentiles.functions[0].values[0], 1010);
	assert_int_equal(percentiles.functions[0].values[3], 1020);
	tp_percentiles_release(&percentiles);
	// The second call is another one now, so that a value of the thread does not come.
	make_file(&other, 5000);
	assert_int_equal(other.size, of.file.size);
	memcpy(of.file.data, other.data, other.size);
	tp_buf_release(&other);
	is_refused(&of.analysis);
	end_case(&of);
	// The function has a call that is no thread's: all values of threads come, and are too few.
	make_case(&of);
	struct tp_histogram *times = &of.analysis.functions[0].times;
	times->counts[tp_histogram_bucket(1010) - times->start]++;
	is_refused(&of.analysis);
	end_case(&of);
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
	    cmocka_unit_test(is_the_nearest_rank),
	    cmocka_unit_test(misses_no_value),
	    cmocka_unit_test(pctl_is_the_nearest_rank),
	    cmocka_unit_test(ends_what_does_not),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
