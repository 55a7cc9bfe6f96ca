// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Numbers and their indices: many, the same again, 0 and the largest, more than there may be.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "analyzer/import/original_log.h"

static void each_has_an_index(void **state)
{
	(void)state;
	struct tp_number_set set;
	tp_number_set_init(&set, UINT32_MAX);
	for (int round = 0; round < 2; round++) {
		assert_int_equal(tp_number_set_add(&set, 0), 0);
		assert_int_equal(tp_number_set_add(&set, UINT64_MAX), 1);
		for (uint32_t i = 0; i < 50000; i++)
			assert_int_equal(tp_number_set_add(&set, (uint64_t)(i + 1) << 24), i + 2);
	}
	assert_int_equal(set.count, 50002);
	assert_int_equal(set.items[1], UINT64_MAX);
	assert_int_equal(set.failed, 0);
	tp_number_set_release(&set);
}

static void no_more_than_allowed(void **state)
{
	(void)state;
	struct tp_number_set set;
	tp_number_set_init(&set, 100);
	for (uint32_t i = 0; i < 100; i++)
		assert_int_equal(tp_number_set_add(&set, 7 * i), i);
	assert_int_equal(tp_number_set_add(&set, 1), TP_NUMBER_NONE);
	assert_int_equal(tp_number_set_add(&set, 7 * 99), 99);
	assert_int_equal(set.count, 100);
	assert_int_equal(set.failed, 0);
	tp_number_set_release(&set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(each_has_an_index),
	    cmocka_unit_test(no_more_than_allowed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
