// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gaps from switches, and switches that contradict themselves: none of them is believed then.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/trace/switches.h"

#define OFF(time) ((uint64_t)(time) << 1)
#define ON(time) ((uint64_t)(time) << 1 | 1)

static struct tp_gaps gaps;
static struct tp_problems problems;
static struct tp_arena arena;

static void begin(const uint64_t *words, size_t count)
{
	// Unaligned, as a section's payload may be.
	char bytes[8 * 8 + 1];
	assert_true(count * 8 < sizeof(bytes));
	if (count)
		memcpy(bytes + 1, words, count * 8);
	memset(&problems, 0, sizeof(problems));
	tp_arena_init(&arena);
	assert_int_equal(tp_gaps_init(&gaps, bytes + 1, count, "trace", 64, &problems, &arena), 0);
}

static void check(
    const uint64_t *words, size_t count, const struct tp_gap *expected, uint32_t found)
{
	begin(words, count);
	assert_int_equal(problems.count, 0);
	assert_int_equal(gaps.count, found);
	for (uint32_t i = 0; i < found; i++) {
		assert_int_equal(gaps.items[i].from, expected[i].from);
		assert_int_equal(gaps.items[i].to, expected[i].to);
	}
	tp_arena_release(&arena);
}

static void gaps_between_switches(void **state)
{
	(void)state;
	static const uint64_t words[] = {ON(5), OFF(10), ON(20), OFF(20), ON(20), OFF(INT64_MAX)};
	static const struct tp_gap off_at_first[] = {
	    {0, 5}, {10, 20}, {20, 20}, {INT64_MAX, UINT64_MAX}};
	static const struct tp_gap on_at_first[] = {{10, 20}, {20, 20}};
	check(words, 6, off_at_first, 4);
	check(words + 1, 4, on_at_first, 2);
	check(words, 1, off_at_first, 1);
	check(words, 0, NULL, 0);
}

static void contradictions(void **state)
{
	(void)state;
	static const struct {
		uint64_t words[3];
		const char *what;
	} cases[] = {
	    {{OFF(10), ON(9), OFF(12)},
		"switches section is not used: switch 1 is at 9, before its predecessor at 10"},
	    {{OFF(10), OFF(11), ON(12)},
		"switches section is not used: switch 1 is to off, like the one before it"},
	    {{ON(10), OFF(11), OFF(12)},
		"switches section is not used: switch 2 is to off, like the one before it"},
	    {{ON(10), ON(11), OFF(12)},
		"switches section is not used: switch 1 is to on, like the one before it"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		begin(cases[i].words, 3);
		assert_int_equal(gaps.count, 0);
		assert_int_equal(problems.count, 1);
		assert_int_equal(problems.kept[0].offset, 64);
		assert_string_equal(problems.kept[0].file, "trace");
		assert_string_equal(problems.kept[0].what, cases[i].what);
		tp_arena_release(&arena);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(gaps_between_switches),
	    cmocka_unit_test(contradictions),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
