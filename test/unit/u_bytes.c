// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The bounded cursor: what it yields at, before and beyond the end.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/bytes.h"

static void numbers_are_little_endian(void **state)
{
	(void)state;
	static const uint8_t data[] = {3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14};
	struct tp_bytes bytes;
	tp_bytes_init(&bytes, data, sizeof(data));
	assert_int_equal(tp_bytes_u32(&bytes), 0x06050403);
	assert_int_equal(tp_bytes_left(&bytes), 8);
	assert_true(tp_bytes_u64(&bytes) == UINT64_C(0x0e0d0c0b0a090807));
	assert_int_equal(tp_bytes_left(&bytes), 0);
	assert_false(bytes.underflow);
}

static void underflow_sticks_and_yields_zeroes(void **state)
{
	(void)state;
	static const uint8_t data[] = {0xff, 0xff, 0xff};
	struct tp_bytes bytes;
	tp_bytes_init(&bytes, data, sizeof(data));
	assert_int_equal(tp_bytes_u32(&bytes), 0);
	assert_true(bytes.underflow);
	// Nothing is left, not even what would have been enough for less.
	assert_int_equal(tp_bytes_left(&bytes), 0);
	assert_true(tp_bytes_u64(&bytes) == 0);
	uint8_t copy[2] = {7, 7};
	tp_bytes_copy(&bytes, copy, sizeof(copy));
	assert_int_equal(copy[0] | copy[1], 0);
	assert_non_null(tp_bytes_take(&bytes, 0));
	assert_true(bytes.underflow);
}

static void huge_sizes_do_not_wrap(void **state)
{
	(void)state;
	static const uint8_t data[8] = {0};
	struct tp_bytes bytes;
	tp_bytes_init(&bytes, data, sizeof(data));
	tp_bytes_u32(&bytes);
	assert_null(tp_bytes_take(&bytes, SIZE_MAX));
	assert_true(bytes.underflow);
	tp_bytes_init(&bytes, data, sizeof(data));
	tp_bytes_u32(&bytes);
	assert_null(tp_bytes_take(&bytes, SIZE_MAX - 3));
	assert_int_equal(bytes.at, sizeof(data));
}

static void strings_end_in_nul(void **state)
{
	(void)state;
	static const char data[] = {'a', 'b', 0, 0, 'c'};
	struct tp_bytes bytes;
	tp_bytes_init(&bytes, data, sizeof(data));
	assert_string_equal(tp_bytes_string(&bytes), "ab");
	assert_string_equal(tp_bytes_string(&bytes), "");
	assert_int_equal(bytes.at, 4);
	assert_null(tp_bytes_string(&bytes));
	assert_true(bytes.underflow);

	tp_bytes_init(&bytes, NULL, 0);
	assert_null(tp_bytes_string(&bytes));
	assert_true(bytes.underflow);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(numbers_are_little_endian),
	    cmocka_unit_test(underflow_sticks_and_yields_zeroes),
	    cmocka_unit_test(huge_sizes_do_not_wrap),
	    cmocka_unit_test(strings_end_in_nul),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
