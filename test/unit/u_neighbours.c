// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Callers and callees: sums by hand, recursion, threads; and that all functions' edges are the same
// from both sides.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/profile/around/neighbours.h"
#include "analyzer/trace/text/dump_text.h"

static struct tp_buf file;
static struct tp_tracefile trace;
static struct tp_analysis analysis;
static struct tp_paths paths;
static struct tp_neighbours neighbours;
static struct tp_err err;

static void begin(const char *text)
{
	const struct tp_analysis_options options = {0};
	tp_buf_init(&file);
	if (tp_dump_assemble(text, strlen(text), "text", &file, &err))
		fail_msg("line %u: %s", err.line, err.what);
	assert_int_equal(tp_tracefile_from_memory(&trace, "trace", file.data, file.size, &err), 0);
	assert_int_equal(tp_analysis_init(&analysis, &trace, &options, &err), 0);
	assert_int_equal(tp_paths_init(&paths, &analysis, &err), 0);
	assert_int_equal(tp_neighbours_init(&neighbours, &analysis, &paths, &err), 0);
}

static void end(void)
{
	tp_neighbours_release(&neighbours);
	tp_paths_release(&paths);
	tp_analysis_release(&analysis);
	tp_tracefile_close(&trace);
	tp_buf_release(&file);
}

static uint32_t function(const char *name)
{
	for (uint32_t i = 0; i < analysis.function_count; i++)
		if (strcmp(analysis.functions[i].symbol.name, name) == 0)
			return i;
	fail_msg("there is no %s", name);
	return 0;
}

static void is(uint32_t item, const char *name, uint64_t calls, uint64_t inclusive, uint64_t self)
{
	const struct tp_neighbour *found = &neighbours.items[item];
	assert_true(item < neighbours.count);
	assert_int_equal(found->function, name ? function(name) : analysis.function_count);
	assert_int_equal(found->calls, calls);
	assert_int_equal(found->inclusive, inclusive);
	assert_int_equal(found->self, self);
}

static const char mutual[] = "clock kind=tsc hz=1000000000\n"
			     "symbols\n	symbol 0x1000 a\n	symbol 0x2000 b\n"
			     "chunk\n"
			     "	0 enter a\n	10 enter b\n	20 enter a\n	30 enter b\n"
			     "	40 exit b\n	60 exit a\n	90 exit b\n	100 exit a\n"
			     "	100 enter b\n	105 exit b\n"
			     "end\n";

static void test_by_hand(void **state)
{
	(void)state;
	begin(mutual);
	tp_neighbours_find(&neighbours, function("b"), true);
	assert_int_equal(neighbours.count, 2);
	is(0, "a", 2, 80, 50); // the call in the call counts once
	assert_int_equal(neighbours.items[0].total, 90);
	is(1, NULL, 1, 5, 5);
	tp_neighbours_find(&neighbours, function("b"), false);
	assert_int_equal(neighbours.count, 1);
	is(0, "a", 1, 40, 30);
	tp_neighbours_find(&neighbours, function("a"), true);
	assert_int_equal(neighbours.count, 2);
	is(0, NULL, 1, 100, 20);
	is(1, "b", 1, 40, 30);
	// What stands for the start of threads has callees, too.
	tp_neighbours_find(&neighbours, analysis.function_count, false);
	assert_int_equal(neighbours.count, 2);
	end();
}

static void test_both_sides(void **state)
{
	(void)state;
	begin(mutual);
	uint64_t by_callers = 0;
	uint64_t by_callees = 0;
	uint64_t calls = 0;
	for (uint32_t i = 0; i < analysis.function_count; i++) {
		calls += analysis.functions[i].calls;
		tp_neighbours_find(&neighbours, i, true);
		for (uint32_t j = 0; j < neighbours.count; j++)
			by_callers += neighbours.items[j].calls;
	}
	for (uint32_t i = 0; i <= analysis.function_count; i++) {
		tp_neighbours_find(&neighbours, i, false);
		for (uint32_t j = 0; j < neighbours.count; j++)
			by_callees += neighbours.items[j].calls;
	}
	assert_int_equal(by_callers, calls);
	assert_int_equal(by_callees, calls);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_by_hand),
	    cmocka_unit_test(test_both_sides),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
