// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Hashes that are written down may never change: known values of FNV-1a, and what the pass and the
// recorder agree on.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/hash.h"

static void test_bytes(void **state)
{
	(void)state;
	// From the authors' page on FNV.
	assert_int_equal(tp_hash_text(""), UINT64_C(0xcbf29ce484222325));
	assert_int_equal(tp_hash_text("a"), UINT64_C(0xaf63dc4c8601ec8c));
	assert_int_equal(tp_hash_text("foobar"), UINT64_C(0x85944171f73967e8));
	assert_int_equal(tp_hash_text("\xff"), tp_hash_bytes(TEEPERF_HASH_START, "\xff", 1));
	const uint64_t half = tp_hash_bytes(TEEPERF_HASH_START, "foo", 3);
	assert_int_equal(tp_hash_bytes(half, "bar", 3), tp_hash_text("foobar"));
	assert_int_equal(tp_hash_bytes(half, NULL, 0), half);
}

static void test_strings(void **state)
{
	(void)state;
	const uint64_t one = tp_hash_string(tp_hash_string(TEEPERF_HASH_START, "ab"), "c");
	const uint64_t other = tp_hash_string(tp_hash_string(TEEPERF_HASH_START, "a"), "bc");
	assert_int_equal(one, tp_hash_bytes(TEEPERF_HASH_START, "ab\0c", 5));
	assert_int_not_equal(one, other);
}

static void test_names(void **state)
{
	(void)state;
	assert_int_equal(teeperf_name_hash("foobar", 6), UINT64_C(0x85944171f73967e8));
	assert_int_equal(teeperf_name_hash("foobar.llvm.1", 6), teeperf_name_hash("foobar", 6));
	// A name of FNV-1a 0, as published; 0 and 1 mean something else.
	static const char zero[] = "\xd5\x6b\xb9\x53\x42\x87\x08\x36";
	assert_int_equal(tp_hash_text(zero), 0);
	assert_int_equal(teeperf_name_hash(zero, 8), TEEPERF_HASH_FIRST);
}

// Neighbours do not meet: of 2^16 numbers, in as many places, most have one of their own.
static void test_numbers(void **state)
{
	(void)state;
	enum { COUNT = 1 << 16 };
	static uint8_t taken[COUNT];
	int used = 0;
	for (uint32_t i = 0; i < COUNT; i++) {
		uint8_t *place = &taken[tp_hash_pair(i >> 8, i & 255) & (COUNT - 1)];
		used += !*place;
		*place = 1;
	}
	assert_in_range(used, COUNT / 2, COUNT);
	assert_int_equal(tp_hash_pair(3, 4), tp_hash_number(UINT64_C(3) << 32 | 4));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_bytes),
	    cmocka_unit_test(test_strings),
	    cmocka_unit_test(test_names),
	    cmocka_unit_test(test_numbers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
