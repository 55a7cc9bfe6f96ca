// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Filters of an analysis by functions, depth and time, on a tree small enough to see the numbers;
// and the tree of paths that is made of what they leave.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/profile/calls.h"
#include "analyzer/trace/text/dump_text.h"
#include "analyzer/profile/paths.h"
#include "analyzer/output/view.h"

/*
 * main 0-100: work(int) 10-50 with leaf 20-30 and 30-45; work(int) 60-90 with other 70-80, which
 * calls leaf 71-75. A second thread: leaf 0-40.
 */
static const char program[] =
    "clock kind=tsc hz=1000000000\n"
    "host\n\tline \"cost_in_ps=1000\"\n\tline \"cost_out_ps=500\"\n"
    "\tline \"cost_untimed_ps=1000\"\n"
    "symbols\n\tsymbol 0x1000 main\n\tsymbol 0x2000 _Z4worki\n\tsymbol 0x3000 leaf\n"
    "\tsymbol 0x4000 other\n"
    "chunk\n"
    "\t0 enter main\n\t10 enter _Z4worki\n\t20 enter leaf\n\t30 exit leaf\n\t30 enter leaf\n"
    "\t45 exit leaf\n\t50 exit _Z4worki\n\t60 enter _Z4worki\n\t70 enter other\n"
    "\t71 enter leaf\n\t75 exit leaf\n\t80 exit other\n\t90 exit _Z4worki\n\t100 exit main\n"
    "chunk thread=1\n\t0 enter leaf\n\t40 exit leaf\n"
    "end threads=2\n";

// work(int) is shorter than leaf inside of it by what recording 20 calls of other is believed to
// have cost.
static const char dear_calls[] =
    "clock kind=tsc hz=1000000000\n"
    "host\n\tline \"cost_in_ps=1000\"\n\tline \"cost_out_ps=500\"\n"
    "\tline \"cost_untimed_ps=1000\"\n"
    "symbols\n\tsymbol 0x1000 main\n\tsymbol 0x2000 _Z4worki\n\tsymbol 0x3000 leaf\n"
    "\tsymbol 0x4000 other\n"
    "chunk\n"
    "\t0 enter main\n\t10 enter _Z4worki\n\t11 enter leaf\n\t10011 exit leaf\n"
#define ONE "\t10011 enter other\n\t10011 exit other\n"
#define TWO ONE ONE
    TWO TWO TWO TWO TWO TWO TWO TWO TWO TWO "\t10012 exit _Z4worki\n\t10090 exit main\n"
    "end threads=1\n";

static const char *source = program;
static struct tp_buf file;
static struct tp_tracefile trace;
static struct tp_analysis analysis;
static struct tp_err err;
static char text[1024];

static int try_analysis(const struct tp_analysis_options *options)
{
	tp_buf_init(&file);
	if (tp_dump_assemble(source, strlen(source), "text", &file, &err))
		fail_msg("line %u: %s", err.line, err.what);
	assert_int_equal(tp_tracefile_from_memory(&trace, "trace", file.data, file.size, &err), 0);
	return tp_analysis_init(&analysis, &trace, options, &err);
}

static void end(void)
{
	tp_analysis_release(&analysis);
	tp_tracefile_close(&trace);
	tp_buf_release(&file);
}

// "main 1 100 25; " and so on for each path: calls, inclusive and self of it, indented by its
// depth.
static const char *paths_of(struct tp_analysis_options options)
{
	struct tp_paths paths;
	assert_int_equal(try_analysis(&options), 0);
	assert_int_equal(tp_paths_init(&paths, &analysis, &err), 0);
	size_t at = 0;
	text[0] = '\0';
	for (uint32_t i = 1; i < paths.count; i++) {
		const struct tp_path *path = &paths.items[i];
		assert_true(path->parent < i && path->last >= i && path->last < paths.count);
		assert_int_equal(path->depth, paths.items[path->parent].depth + 1);
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%.*s%s %d %d %d;",
		    (int)path->depth - 1, "......", analysis.functions[path->function].symbol.name,
		    (int)path->calls, (int)path->inclusive, (int)path->self);
		struct tp_histogram times = tp_paths_times(&paths, &analysis, i);
		assert_true(tp_histogram_total(&times) == path->calls);
		tp_histogram_release(&times);
	}
	tp_paths_release(&paths);
	end();
	return text;
}

// Calls and inclusive times of a function, -1 if it is not there.
static int function_of(const char *name, int *inclusive)
{
	for (uint32_t i = 0; i < analysis.function_count; i++)
		if (strcmp(analysis.functions[i].symbol.name, name) == 0) {
			*inclusive = (int)analysis.functions[i].inclusive;
			return (int)analysis.functions[i].calls;
		}
	return -1;
}

static const char *const leaf[] = {"leaf"};
static const char *const work[] = {"work"};

static void everything(void **state)
{
	(void)state;
	assert_string_equal(paths_of((struct tp_analysis_options){0}),
	    "main 1 100 30;.work(int) 2 70 35;..leaf 2 25 25;..other 1 10 6;...leaf 1 4 4;"
	    "leaf 1 40 40;");
}

static void by_function(void **state)
{
	(void)state;
	assert_string_equal(paths_of((struct tp_analysis_options){.focus = leaf, .focus_count = 1}),
	    "main 1 29 0;.work(int) 2 29 0;..leaf 2 25 25;..other 1 4 0;...leaf 1 4 4;"
	    "leaf 1 40 40;");
	assert_string_equal(
	    paths_of((struct tp_analysis_options){.ignore = leaf, .ignore_count = 1}),
	    "main 1 71 30;.work(int) 2 41 35;..other 1 6 6;");
	// A glob is for the whole name, without its parameters too; a regular expression for a
	// part.
	static const char *const regex[] = {"/^oth/"};
	assert_string_equal(
	    paths_of((struct tp_analysis_options){
		.focus = regex, .focus_count = 1, .ignore = leaf, .ignore_count = 1}),
	    "main 1 6 0;.work(int) 2 6 0;..other 1 6 6;");
	assert_string_equal(
	    paths_of((struct tp_analysis_options){.ignore = work, .ignore_count = 1}),
	    "main 1 30 30;leaf 1 40 40;");
	static const char *const mangled[] = {"_Z4w*"};
	assert_string_equal(
	    paths_of((struct tp_analysis_options){.ignore = mangled, .ignore_count = 1}),
	    "main 1 30 30;leaf 1 40 40;");
}

static void by_depth_and_time(void **state)
{
	(void)state;
	assert_string_equal(paths_of((struct tp_analysis_options){.depth = 2}),
	    "main 1 100 30;.work(int) 2 70 70;leaf 1 40 40;");
	assert_string_equal(
	    paths_of((struct tp_analysis_options){.depth = 3, .ignore = leaf, .ignore_count = 1}),
	    "main 1 71 30;.work(int) 2 41 35;..other 1 6 6;");
	assert_string_equal(
	    paths_of((struct tp_analysis_options){.depth = 2, .ignore = leaf, .ignore_count = 1}),
	    "main 1 71 30;.work(int) 2 41 41;");
	assert_string_equal(paths_of((struct tp_analysis_options){.least_ns = 11}),
	    "main 1 100 30;.work(int) 2 70 55;..leaf 1 15 15;leaf 1 40 40;");
	assert_string_equal(paths_of((struct tp_analysis_options){.from_ns = 25, .to_ns = 72}),
	    "main 1 47 10;.work(int) 2 37 15;..leaf 2 20 20;..other 1 2 1;...leaf 1 1 1;"
	    "leaf 1 15 15;");
	assert_string_equal(paths_of((struct tp_analysis_options){.from_ns = 95}), "main 1 5 5;");
	assert_string_equal(paths_of((struct tp_analysis_options){.from_ns = 200}), "");
}

// What recording calls has cost comes off all the same, though they are part of their callers.
static void costs_of_short_calls(void **state)
{
	(void)state;
	assert_string_equal(paths_of((struct tp_analysis_options){.compensate = true}),
	    "main 1 89 28;.work(int) 2 61 31;..leaf 2 23 23;..other 1 7 4;...leaf 1 3 3;"
	    "leaf 1 39 39;");
	assert_string_equal(
	    paths_of((struct tp_analysis_options){.compensate = true, .least_ns = 50}),
	    "main 1 90 90;");
	assert_string_equal(
	    paths_of((struct tp_analysis_options){.compensate = true, .least_ns = 10}),
	    "main 1 90 28;.work(int) 2 62 48;..leaf 1 14 14;leaf 1 39 39;");
}

// A call is never shorter than one that it made: costs come off the time in which they lie, as far
// as that goes.
static void costs_of_a_caller(void **state)
{
	(void)state;
	source = dear_calls;
	assert_string_equal(
	    paths_of((struct tp_analysis_options){.compensate = true, .least_ns = 9980}),
	    "main 1 10085 86;.work(int) 1 9999 0;..leaf 1 9999 9999;");
	source = program;
}

static void functions_follow(void **state)
{
	(void)state;
	int inclusive = 0;
	assert_int_equal(
	    try_analysis(&(struct tp_analysis_options){.ignore = work, .ignore_count = 1}), 0);
	assert_int_equal(function_of("main", &inclusive), 1);
	assert_int_equal(inclusive, 30);
	assert_int_equal(function_of("other", &inclusive), -1);
	assert_int_equal(function_of("leaf", &inclusive), 1);
	assert_int_equal(inclusive, 40);
	end();
}

static void bad_patterns(void **state)
{
	(void)state;
	static const char *const none[] = {"nothing"};
	static const char *const broken[] = {"/(/"};
	assert_int_equal(
	    try_analysis(&(struct tp_analysis_options){.focus = none, .focus_count = 1}),
	    TP_ERR_NOT_FOUND);
	assert_non_null(strstr(err.what, "'nothing'"));
	end();
	assert_int_equal(
	    try_analysis(&(struct tp_analysis_options){.focus = broken, .focus_count = 1}),
	    TP_ERR_SYNTAX);
	end();
}

static void on_leave(void *context, const struct tp_call *call)
{
	uint64_t *sums = context;
	sums[0]++;
	sums[1] += call->self;
	assert_true(call->node && analysis.threads[0].profile.nodes[call->node].function);
}

// Own times of calls that only lead to the focus do not count: as in the sums.
static void calls_out_of_focus(void **state)
{
	(void)state;
	uint64_t sums[2] = {0, 0};
	struct tp_call_sink sink = {.context = sums, .leave = on_leave};
	assert_int_equal(
	    try_analysis(&(struct tp_analysis_options){.focus = leaf, .focus_count = 1}), 0);
	assert_int_equal(tp_calls_each(&analysis, 0, &sink, &err), 0);
	assert_int_equal(sums[0], 7);
	assert_int_equal(sums[1], 29);
	end();
}

static void calls_are_filtered(void **state)
{
	(void)state;
	uint64_t sums[2] = {0, 0};
	struct tp_call_sink sink = {.context = sums, .leave = on_leave};
	assert_int_equal(try_analysis(&(struct tp_analysis_options){0}), 0);
	assert_int_equal(tp_calls_each(&analysis, 0, &sink, &err), 0);
	assert_int_equal(sums[0], 7);
	assert_int_equal(sums[1], 100);
	end();
	assert_int_equal(try_analysis(&(struct tp_analysis_options){
			     .depth = 2, .ignore = leaf, .ignore_count = 1, .from_ns = 60}),
	    0);
	sums[0] = sums[1] = 0;
	assert_int_equal(tp_calls_each(&analysis, 0, &sink, &err), 0);
	assert_int_equal(sums[0], 2);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(everything),
	    cmocka_unit_test(by_function),
	    cmocka_unit_test(by_depth_and_time),
	    cmocka_unit_test(costs_of_short_calls),
	    cmocka_unit_test(costs_of_a_caller),
	    cmocka_unit_test(functions_follow),
	    cmocka_unit_test(bad_patterns),
	    cmocka_unit_test(calls_are_filtered),
	    cmocka_unit_test(calls_out_of_focus),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
