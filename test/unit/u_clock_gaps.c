// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// When a soft clock stood still: never for longer than the measurement lasts.
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "recorder/clock/counter_thread.h"

#define MS UINT64_C(1000000)

static struct tp_clock_gaps gaps;

static void only_inside(void **state)
{
	(void)state;
	tp_clock_gaps_init(&gaps);
	assert_false(tp_clock_gaps_note(&gaps, 90 * MS, 5 * MS));
	tp_clock_gaps_begin(&gaps, 100 * MS);
	// It began before the measurement did.
	assert_true(tp_clock_gaps_note(&gaps, 103 * MS, 9 * MS));
	assert_int_equal(gaps.starved_ns, 3 * MS);
	assert_true(tp_clock_gaps_note(&gaps, 106 * MS, 2 * MS));
	// It ends after it did.
	tp_clock_gaps_end(&gaps, 110 * MS);
	assert_true(tp_clock_gaps_note(&gaps, 130 * MS, 24 * MS));
	assert_false(tp_clock_gaps_note(&gaps, 150 * MS, 20 * MS));
	assert_int_equal(gaps.starved_ns, (3 + 2 + 4) * MS);
	assert_int_equal(gaps.starved_count, 3);
	assert_int_equal(gaps.max_ns, 4 * MS);
}

// A program that ends before the clock's thread has run again.
static void all_of_it(void **state)
{
	(void)state;
	tp_clock_gaps_init(&gaps);
	tp_clock_gaps_begin(&gaps, 100 * MS);
	tp_clock_gaps_end(&gaps, 101 * MS);
	assert_true(tp_clock_gaps_note(&gaps, 104 * MS, 8 * MS));
	assert_int_equal(gaps.starved_ns, 1 * MS);
	assert_int_equal(gaps.max_ns, 1 * MS);
}

static void never_twice(void **state)
{
	(void)state;
	tp_clock_gaps_init(&gaps);
	tp_clock_gaps_begin(&gaps, 100 * MS);
	assert_true(tp_clock_gaps_note(&gaps, 110 * MS, 10 * MS));
	assert_true(tp_clock_gaps_note(&gaps, 120 * MS, 11 * MS));
	assert_false(tp_clock_gaps_note(&gaps, 120 * MS, MS));
	assert_int_equal(gaps.starved_ns, 20 * MS);
	// Longer than there was time before.
	tp_clock_gaps_init(&gaps);
	tp_clock_gaps_begin(&gaps, 0);
	assert_true(tp_clock_gaps_note(&gaps, 5 * MS, UINT64_MAX));
	assert_int_equal(gaps.starved_ns, 5 * MS);
}

static void short_ones(void **state)
{
	(void)state;
	tp_clock_gaps_init(&gaps);
	tp_clock_gaps_begin(&gaps, 0);
	assert_true(tp_clock_gaps_note(&gaps, MS, TP_CLOCK_STARVED_NS));
	assert_int_equal(gaps.max_ns, TP_CLOCK_STARVED_NS);
	assert_int_equal(gaps.starved_ns, 0);
	assert_int_equal(gaps.starved_count, 0);
	assert_true(tp_clock_gaps_note(&gaps, 2 * MS, TP_CLOCK_STARVED_NS + 1));
	assert_int_equal(gaps.starved_ns, TP_CLOCK_STARVED_NS + 1);
	assert_int_equal(gaps.starved_count, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(only_inside),
	    cmocka_unit_test(all_of_it),
	    cmocka_unit_test(never_twice),
	    cmocka_unit_test(short_ones),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
