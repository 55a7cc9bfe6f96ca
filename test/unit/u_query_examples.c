// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The queries that come with us, in a trace with as many paths as calls: the work grows with the
// calls, not with their square.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/trace/text/dump_text.h"
#include "analyzer/query/query.h"

#define DEPTH 2000
#define STEPS (DEPTH * 2000) // a query that is quadratic in DEPTH takes a hundred times as many

static uint32_t rows;
static char last[1024];

static bool columns(void *context, const char *const *names, uint32_t count)
{
	(void)context;
	(void)names;
	return count > 0;
}

static bool row(void *context, const struct tp_value *values, uint32_t count)
{
	(void)context;
	rows++;
	const struct tp_value *value = &values[count - 1];
	snprintf(last, sizeof(last), "%s", value->type == TP_VALUE_TEXT ? value->text : "");
	return true;
}

static void write_deep(struct tp_buf *text)
{
	tp_buf_add_string(text,
	    "clock kind=tsc hz=1000000000\ncommand\n\tstring \"/\"\n\tstring \"prog\"\n"
	    "symbols\n\tsymbol 0x401000 main\n\tsymbol 0x401010 d\nthreads\n"
	    "\tthread tid=1 name=\"one\"\nchunk thread=0 tid=1\n\t0 enter main\n");
	for (int i = 0; i < DEPTH; i++)
		tp_buf_addf(text, "\t%d enter d\n", i + 1);
	for (int i = 0; i < DEPTH; i++)
		tp_buf_addf(text, "\t%d exit d\n", 10 * DEPTH + i);
	tp_buf_addf(text, "\t%d exit main\nend\n", 20 * DEPTH);
}

static void recursion_is_not_quadratic(void **state)
{
	(void)state;
	static const char *const cases[] = {
	    "latency-by-history", "latency-by-caller", "inside", "concurrency", NULL};
	struct tp_buf text;
	struct tp_buf data;
	struct tp_tracefile trace;
	struct tp_analysis analysis;
	struct tp_query *query;
	struct tp_err err;
	tp_buf_init(&text);
	tp_buf_init(&data);
	write_deep(&text);
	assert_int_equal(tp_dump_assemble(text.data, text.size, "text", &data, &err), 0);
	assert_int_equal(tp_tracefile_from_memory(&trace, "deep", data.data, data.size, &err), 0);
	const struct tp_analysis_options analysis_options = {.workers = 1};
	assert_int_equal(tp_analysis_init(&analysis, &trace, &analysis_options, &err), 0);
	const struct tp_query_options options = {.step_limit = STEPS};
	assert_int_equal(tp_query_open(&query, &options, &err), 0);
	assert_int_equal(tp_query_add(query, NULL, &analysis, &err), 0);
	const struct tp_query_sink sink = {NULL, columns, row};
	const struct tp_query_parameter parameters[] = {{"function", "d"}};
	for (int i = 0; cases[i]; i++) {
		const struct tp_query_example *example = tp_query_examples;
		while (strcmp(example->name, cases[i]) != 0)
			example++;
		rows = 0;
		if (tp_query_run(query, example->sql, parameters, 1, &sink, &err))
			fail_msg("%s: %s", cases[i], err.what);
		assert_true(rows > 0);
		if (i == 0) {
			assert_int_equal(rows, 10);
			assert_string_equal(last, "main > d > d > d > d > d > d > d > d > d > d");
		}
	}
	tp_query_close(query);
	tp_analysis_release(&analysis);
	tp_tracefile_close(&trace);
	tp_buf_release(&data);
	tp_buf_release(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(recursion_is_not_quadratic),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
