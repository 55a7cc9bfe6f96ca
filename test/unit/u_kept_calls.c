// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Of many calls those that are kept are the first of all of them sorted, however they come.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analyzer/profile/around/kept_calls.h"

enum { CALLS = 5000 };

static void keep(uint64_t most, bool slowest)
{
	struct tp_kept_calls kept = {.most = most, .slowest = slowest};
	struct tp_kept_calls all = {.slowest = slowest};
	uint64_t seed = most + slowest;
	for (uint32_t i = 0; i < CALLS; i++) {
		seed = seed * UINT64_C(6364136223846793005) + 1;
		const struct tp_kept_call call = {
		    .call = {.id = i + 1, .start = seed >> 50, .duration = seed >> 40 & 255},
		    .thread = (uint32_t)(seed >> 30 & 3),
		};
		tp_kept_calls_add(&kept, &call);
		tp_kept_calls_add(&all, &call);
	}
	tp_kept_calls_sort(&kept);
	tp_kept_calls_sort(&all);
	assert_int_equal(all.count, CALLS);
	assert_int_equal(kept.seen, CALLS);
	assert_int_equal(kept.count, most && most < CALLS ? most : CALLS);
	assert_true(!most || kept.capacity <= 4 * most + 16);
	for (uint64_t i = 0; i < kept.count; i++)
		assert_int_equal(kept.items[i].call.id, all.items[i].call.id);
	free(kept.items);
	free(all.items);
}

static void test_kept(void **state)
{
	(void)state;
	static const uint64_t most[] = {0, 1, 2, 7, 100, 2500, 4999, 5000, 5001, 100000};
	for (size_t i = 0; i < sizeof(most) / sizeof(most[0]); i++) {
		keep(most[i], false);
		keep(most[i], true);
	}
}

static void test_inside(void **state)
{
	(void)state;
	const struct tp_call outer = {.id = 10, .start = 100, .end = 200, .depth = 3};
	const struct tp_call in = {.id = 11, .start = 100, .end = 200, .depth = 4};
	const struct tp_call before = {.id = 9, .start = 100, .end = 100, .depth = 4};
	const struct tp_call beside = {.id = 12, .start = 200, .end = 200, .depth = 3};
	const struct tp_call after = {.id = 12, .start = 150, .end = 201, .depth = 4};
	assert_true(tp_call_is_inside(&outer, &outer));
	assert_true(tp_call_is_inside(&in, &outer));
	assert_false(tp_call_is_inside(&before, &outer));
	assert_false(tp_call_is_inside(&beside, &outer));
	assert_false(tp_call_is_inside(&after, &outer));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_kept),
	    cmocka_unit_test(test_inside),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
