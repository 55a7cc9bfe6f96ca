// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which functions were recorded when: lists that all functions are on and off in turn, more often
// than is kept.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analyzer/trace/selections.h"
#include "common/err.h"

#include <string.h>
#include <teeperf/abi.h>
#include <teeperf/trace.h>

static struct tp_selections selections;
static struct tp_problems problems;
static struct tp_arena arena;

/*
 * At first the program records all but FUNCTIONS functions, then these alone, then all but these,
 * ...: CHANGES times, at 100, 200 and so on. One of them is "a".
 */
static void alternate(uint32_t functions, uint32_t changes)
{
	const size_t count = (size_t)functions + 1 + changes;
	struct teeperf_trace_selection *entries = calloc(count, sizeof(*entries));
	assert_non_null(entries);
	entries[0].only = TEEPERF_ONLY_REST;
	for (uint32_t i = 1; i <= functions; i++)
		entries[i] = (struct teeperf_trace_selection){.only = TEEPERF_ONLY_REST,
		    .hash = i == 1 ? teeperf_name_hash("a", 1) : i * UINT64_C(1000003)};
	for (uint32_t i = 1; i <= changes; i++)
		entries[functions + i] = (struct teeperf_trace_selection){.time = UINT64_C(100) * i,
		    .number = i,
		    .only = i % 2 ? TEEPERF_ONLY_LISTED : TEEPERF_ONLY_REST};
	problems = (struct tp_problems){0};
	tp_arena_init(&arena);
	assert_int_equal(
	    tp_selections_init(&selections, entries, count, "t", 0, &problems, &arena), 0);
	free(entries);
}

static void long_lists_are_used(void **state)
{
	(void)state;
	alternate(2000, 1000); // 2 million moves
	assert_int_equal(problems.count, 0);
	assert_int_equal(selections.count, 1000);
	const struct tp_selected *a = tp_selections_of(&selections, "a");
	assert_non_null(a);
	assert_null(tp_selections_of(&selections, "b"));
	assert_false(tp_selected_at(a, 50));
	assert_true(tp_selected_at(a, 99950));
	assert_false(tp_selected_at(&selections.rest, 99950));
	assert_false(tp_selected_at(a, 100050));
	assert_true(tp_selected_at(&selections.rest, 100050));
	tp_arena_release(&arena);
}

// The kept part is right, and behind it no record is attributed to a function that was off.
static void too_many_end(void **state)
{
	(void)state;
	alternate(4000, 2001); // 8 million moves
	assert_int_equal(problems.count, 1);
	assert_non_null(strstr(problems.kept[0].what, "all calls end at each of them"));
	assert_in_range(selections.count, 1000, 2000);
	const uint64_t last = selections.times[selections.count - 1];
	assert_int_equal(last, UINT64_C(100) * selections.count);
	const struct tp_selected *a = tp_selections_of(&selections, "a");
	assert_non_null(a);
	assert_int_equal(tp_selected_at(a, last + 50), selections.count % 2);
	assert_int_equal(tp_selected_at(&selections.rest, last + 50), !(selections.count % 2));
	assert_true(tp_selected_at(a, last + 150));
	assert_true(tp_selected_at(a, last + 250));
	assert_true(tp_selected_at(&selections.rest, last + 150));
	assert_true(tp_selected_at(&selections.rest, last + 250));
	assert_int_equal(tp_selected_moves(a, last + 150), a->count);
	tp_arena_release(&arena);
}

// Spans are what the lists of moves say at each time, also of functions that share a place.
static void spans_agree(void **state)
{
	(void)state;
	static const uint32_t asked[] = {16, 32, 16 + (1 << 20), 48, 16 + (1 << 28), 64};
	alternate(20, 7);
	const struct tp_selected *a = tp_selections_of(&selections, "a");
	const struct tp_selected_name items[] = {
	    {16, a}, {48, &selections.rest}, {16 + (1 << 20), &selections.rest}};
	const struct tp_selected_names names = {items, 3};
	struct tp_selected_spans *spans = calloc(1, sizeof(*spans));
	assert_non_null(spans);
	spans->names = &names;
	uint64_t random = 1;
	for (uint32_t i = 0; i < 200000; i++) {
		random = random * 6364136223846793005u + 1442695040888963407u;
		const uint64_t time = (random >> 40) % 900;
		const uint32_t name = asked[(random >> 33) % 6];
		const struct tp_selected *selected = tp_selected_find(&names, name);
		const struct tp_selected_span *span = tp_selected_span(spans, name, time);
		assert_int_equal(span->name, name);
		assert_int_equal(span->among, selected != NULL);
		assert_int_equal(span->on, !selected || tp_selected_at(selected, time));
		const uint32_t moves = selected ? tp_selected_moves(selected, time) : 0;
		assert_int_equal(span->until,
		    selected && moves < selected->count ? selected->moves[moves] : UINT64_MAX);
		assert_int_equal(span->since, moves ? selected->moves[moves - 1] : 0);
	}
	free(spans);
	tp_arena_release(&arena);
}

// Windows at 100 to 200, 300 to 400: of selections that are there, and have an end. What does not
// ascend is not used.
static void windows_have_ends(void **state)
{
	(void)state;
	const struct teeperf_trace_window entries[] = {{1, 0}, {3, 0}, {4, 0}, {9, 0}};
	const struct teeperf_trace_window twice[] = {{3, 0}, {3, 0}};
	const struct teeperf_trace_window first[] = {{0, 0}};
	struct tp_windows windows;
	alternate(2, 4);
	assert_int_equal(
	    tp_windows_init(&windows, &selections, entries, 4, "t", 0, &problems, &arena), 0);
	assert_int_equal(windows.count, 2);
	assert_int_equal(windows.items[0].from, 100);
	assert_int_equal(windows.items[0].to, 200);
	assert_int_equal(windows.items[1].selection, 3);
	assert_int_equal(windows.items[1].to, 400);
	assert_int_equal(problems.count, 0);
	assert_int_equal(
	    tp_windows_init(&windows, &selections, twice, 2, "t", 0, &problems, &arena), 0);
	assert_int_equal(windows.count, 0);
	assert_int_equal(
	    tp_windows_init(&windows, &selections, first, 1, "t", 0, &problems, &arena), 0);
	assert_int_equal(windows.count, 0);
	assert_int_equal(problems.count, 2);
	tp_arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(long_lists_are_used),
	    cmocka_unit_test(too_many_end),
	    cmocka_unit_test(spans_agree),
	    cmocka_unit_test(windows_have_ends),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
