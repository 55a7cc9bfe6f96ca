// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Numbers with units: the rounding of each kind, where it changes its unit.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/units.h"

static void test_times(void **state)
{
	(void)state;
	char text[TP_TEXT_NUMBER];
	assert_string_equal(tp_text_ns(text, 999), "999 ns");
	assert_string_equal(tp_text_ns(text, 999949), "999.9 us");
	assert_string_equal(tp_text_ns(text, 999950), "1.000 ms");
	assert_string_equal(tp_text_ns_real(text, 12.34), "12.3 ns");
	assert_string_equal(tp_text_ns_real(text, 1234), "1.234 us");
	assert_string_equal(tp_text_ns_real(text, 1e30), "1000000000.0 s");
	assert_string_equal(tp_text_ns_fixed(text, 12.34), "12.3 ns");
	assert_string_equal(tp_text_ns_fixed(text, 1e3), "1.00 us");
	assert_string_equal(tp_text_ns_fixed(text, 999999), "1000.00 us");
	assert_string_equal(tp_text_ns_fixed(text, 2e6), "2.00 ms");
	assert_string_equal(tp_text_ns_fixed(text, 1.5e9), "1.500 s");
}

static void test_counts(void **state)
{
	(void)state;
	char text[TP_TEXT_NUMBER];
	assert_string_equal(tp_text_count(text, 0), "0");
	assert_string_equal(tp_text_count(text, 999), "999");
	assert_string_equal(tp_text_count(text, 1000), "1,000");
	assert_string_equal(tp_text_count(text, UINT64_MAX), "18,446,744,073,709,551,615");
	assert_string_equal(tp_text_count_short(text, 9999999), "9999999");
	assert_string_equal(tp_text_count_short(text, 10000000), "10.0 M");
	assert_string_equal(tp_text_bytes(text, 1023), "1023 B");
	assert_string_equal(tp_text_bytes(text, 1024), "1.0 KiB");
	assert_string_equal(tp_text_bytes(text, 100 * 1024 * 1024.0), "100 MiB");
	assert_string_equal(tp_text_bytes(text, 1e18), "909495 TiB");
}

static void test_shares(void **state)
{
	(void)state;
	char text[TP_TEXT_NUMBER];
	assert_string_equal(tp_text_share(text, 0), "0.0%");
	assert_string_equal(tp_text_share(text, 0.0099), "0.99%");
	assert_string_equal(tp_text_share(text, 0.00996), "1.0%");
	assert_string_equal(tp_text_share_exact(text, 0.05), "5%");
	assert_string_equal(tp_text_share_exact(text, 0.025), "2.5%");
}

// The report's page writes the same: test/page/viewer.test.cjs reads this file, too.
static void test_as_in_pages(void **state)
{
	(void)state;
	const char *source = getenv("TEEPERF_SOURCE");
	char path[4096], line[128], text[TP_TEXT_NUMBER];
	assert_non_null(source);
	snprintf(path, sizeof(path), "%s/test/unit/numbers.txt", source);
	FILE *file = fopen(path, "r");
	assert_non_null(file);
	int cases = 0;
	while (fgets(line, sizeof(line), file)) {
		if (line[0] == '#')
			continue;
		line[strcspn(line, "\n")] = '\0';
		char *number = strchr(line, ' ');
		assert_non_null(number);
		*number++ = '\0';
		char *wanted;
		const uint64_t value = strtoull(number, &wanted, 10);
		if (strcmp(line, "time") == 0)
			assert_string_equal(tp_text_ns(text, value), wanted + 1);
		else
			assert_string_equal(tp_text_count(text, value), wanted + 1);
		cases++;
	}
	fclose(file);
	assert_true(cases > 20);
}

static void test_words(void **state)
{
	(void)state;
	assert_string_equal(tp_plural(0), "s");
	assert_string_equal(tp_plural(1), "");
	assert_string_equal(tp_plural(2), "s");
	assert_string_equal(tp_by_count((UINT64_C(1) << 32) + 1, "is", "are"), "are");
	assert_string_equal(tp_by_count(1, "is", "are"), "is");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_times),
	    cmocka_unit_test(test_counts),
	    cmocka_unit_test(test_shares),
	    cmocka_unit_test(test_as_in_pages),
	    cmocka_unit_test(test_words),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
