// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Decimal numbers, against printf.
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/output/format/digits.h"

static void check(uint64_t number)
{
	char text[64];
	char expected[64];
	*tp_digits(text, number) = '\0';
	snprintf(expected, sizeof(expected), "%" PRIu64, number);
	assert_string_equal(text, expected);
	assert_true(strlen(text) < TP_DIGITS_MAX);

	*tp_digits_fixed(text, number, 3) = '\0';
	snprintf(
	    expected, sizeof(expected), "%" PRIu64 ".%03" PRIu64, number / 1000, number % 1000);
	assert_string_equal(text, expected);
	assert_true(strlen(text) < TP_DIGITS_MAX);

	*tp_digits_fixed(text, number, 6) = '\0';
	snprintf(expected, sizeof(expected), "%" PRIu64 ".%06" PRIu64, number / 1000000,
	    number % 1000000);
	assert_string_equal(text, expected);
}

static void numbers_are_those_of_printf(void **state)
{
	(void)state;
	check(UINT64_MAX);
	for (uint64_t power = 1; power <= UINT64_MAX / 10; power *= 10)
		for (uint64_t by = 0; by < 3; by++)
			check(power - 1 + by);
}

static void text_is_copied_without_its_end(void **state)
{
	(void)state;
	char text[] = "......";
	assert_ptr_equal(tp_digits_text(text + 1, "abc"), text + 4);
	assert_string_equal(text, ".abc..");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(numbers_are_those_of_printf),
	    cmocka_unit_test(text_is_copied_without_its_end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
