// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums of counted calls by address, through many addresses that share halves.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyzer/replay/stack.h"

#define ADDRESSES 5000

static uint64_t address_of(uint32_t index)
{
	// Low halves and high halves repeat; 0 is an address like any other.
	return (uint64_t)(index % 7) << 32 | index / 7 * 4;
}

static void sums_by_address(void **state)
{
	(void)state;
	struct tp_call_counts counts = {0};
	for (uint32_t round = 1; round <= 3; round++)
		for (uint32_t i = 0; i < ADDRESSES; i++)
			assert_true(tp_call_counts_add(&counts, address_of(i), i * round));
	assert_int_equal(counts.count, ADDRESSES);
	for (uint32_t i = 0; i < ADDRESSES; i++) {
		assert_int_equal(counts.items[i].address, address_of(i));
		assert_int_equal(counts.items[i].calls, (uint64_t)i * 6);
	}
	tp_call_counts_release(&counts);
	assert_int_equal(counts.count, 0);
}

static void the_largest_number_is_kept(void **state)
{
	(void)state;
	struct tp_call_counts counts = {0};
	assert_true(tp_call_counts_add(&counts, 16, UINT64_MAX - 1));
	assert_true(tp_call_counts_add(&counts, 16, 1));
	assert_int_equal(counts.items[0].calls, UINT64_MAX);
	assert_true(tp_call_counts_add(&counts, 16, UINT64_MAX));
	assert_int_equal(counts.items[0].calls, UINT64_MAX);
	tp_call_counts_release(&counts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(sums_by_address),
	    cmocka_unit_test(the_largest_number_is_kept),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
