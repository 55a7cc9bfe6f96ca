// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The checksum of sections: XXH3-64's published values, so that the format does not hang on one
// library's whim.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/chunks/checksum.h"

static void published_values(void **state)
{
	(void)state;
	assert_int_equal(tp_checksum(NULL, 0), 0x38d394c2);
	assert_int_equal(tp_checksum("a", 1), 0x1e964e1f);
	assert_int_equal(tp_checksum("abc", 3), 0x892f3950);
}

// Each single bit of a chunk's worth of bytes matters.
static void each_bit_counts(void **state)
{
	(void)state;
	static uint8_t data[65536];
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * 7 + i / 256);
	const uint32_t whole = tp_checksum(data, sizeof(data));
	for (size_t bit = 0; bit < sizeof(data) * 8; bit += 997) {
		data[bit / 8] ^= (uint8_t)(1 << bit % 8);
		assert_int_not_equal(tp_checksum(data, sizeof(data)), whole);
		data[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	assert_int_equal(tp_checksum(data, sizeof(data)), whole);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(published_values),
	    cmocka_unit_test(each_bit_counts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
