// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ticks to nanoseconds: which rate counts, rounding, and numbers that do not fit.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyzer/trace/timebase.h"

static struct tp_timebase make(
    uint32_t kind, uint64_t hz, uint32_t count, const struct teeperf_trace_point *points)
{
	const struct teeperf_trace_clock clock = {.kind = kind, .hz = hz, .point_count = count};
	struct tp_timebase base;
	tp_timebase_init(&base, &clock, points);
	return base;
}

static void points_beat_the_nominal_rate(void **state)
{
	(void)state;
	const struct teeperf_trace_point points[] = {{1000, 50}, {77, 60}, {4000, 1050}};
	const struct tp_timebase base = make(TEEPERF_CLOCK_TSC, 1, 3, points);
	assert_true(base.known);
	assert_int_equal(tp_timebase_ns(&base, 3000), 1000);
	// To the nearest, halves up.
	assert_int_equal(tp_timebase_ns(&base, 1), 0);
	assert_int_equal(tp_timebase_ns(&base, 2), 1);
}

static void the_nominal_rate_without_two_points(void **state)
{
	(void)state;
	const struct teeperf_trace_point one[] = {{1000, 50}};
	const struct teeperf_trace_point still[] = {{1000, 50}, {1000, 90}};
	const struct teeperf_trace_point back[] = {{1000, 50}, {900, 90}};
	const struct teeperf_trace_point frozen[] = {{1000, 50}, {2000, 50}};
	const struct teeperf_trace_point *const cases[] = {one, still, back, frozen};
	for (uint32_t i = 0; i < 4; i++) {
		const struct tp_timebase base =
		    make(TEEPERF_CLOCK_TSC, UINT64_C(2000000000), i ? 2 : 1, cases[i]);
		assert_true(base.known);
		assert_int_equal(tp_timebase_ns(&base, 10), 5);
	}
}

static void ticks_without_any_rate(void **state)
{
	(void)state;
	const struct teeperf_trace_point points[] = {{0, 0}, {10, 1000}};
	struct tp_timebase base = make(TEEPERF_CLOCK_SOFT_COUNT, 0, 0, NULL);
	assert_false(base.known);
	assert_int_equal(tp_timebase_ns(&base, 123), 123);
	// Without a clock all times are 0, whatever else the section says.
	base = make(TEEPERF_CLOCK_NONE, 1000, 2, points);
	assert_false(base.known);
	assert_int_equal(tp_timebase_ns(&base, 123), 123);
}

// Points of time: by the points' line, before the first of them too.
static void points_of_time(void **state)
{
	(void)state;
	const struct teeperf_trace_point points[] = {{1000, 500}, {3000, 1500}};
	struct tp_timebase base = make(TEEPERF_CLOCK_TSC, 0, 2, points);
	assert_true(base.has_origin);
	assert_int_equal(tp_timebase_at(&base, 1000), 500);
	assert_int_equal(tp_timebase_at(&base, 5000), 2500);
	assert_int_equal(tp_timebase_at(&base, 400), 200);
	assert_int_equal(tp_timebase_at(&base, 0), 0);
	assert_true(tp_timebase_at(&base, UINT64_MAX) == (UINT64_MAX - 1000) / 2 + 1 + 500);
	const struct teeperf_trace_point early[] = {{1000, 5}, {2000, UINT64_MAX}};
	base = make(TEEPERF_CLOCK_TSC, 0, 2, early);
	assert_int_equal(tp_timebase_at(&base, 0), 0);
	assert_true(tp_timebase_at(&base, 3000) == UINT64_MAX);
	base = make(TEEPERF_CLOCK_TSC, 500000000, 0, NULL);
	assert_false(base.has_origin);
	assert_int_equal(tp_timebase_at(&base, 7), 14);
}

static void big_numbers(void **state)
{
	(void)state;
	struct tp_timebase base = make(TEEPERF_CLOCK_TSC, 1, 0, NULL);
	assert_true(tp_timebase_ns(&base, UINT64_MAX) == UINT64_MAX);
	assert_true(tp_timebase_ns(&base, 18446744073) == UINT64_C(18446744073000000000));
	assert_true(tp_timebase_ns(&base, 18446744074) == UINT64_MAX);
	base = make(TEEPERF_CLOCK_TSC, UINT64_MAX, 0, NULL);
	assert_int_equal(tp_timebase_ns(&base, UINT64_MAX), 1000000000);
	const struct teeperf_trace_point points[] = {{0, 0}, {UINT64_MAX, UINT64_MAX}};
	base = make(TEEPERF_CLOCK_TSC, 0, 2, points);
	assert_true(tp_timebase_ns(&base, UINT64_MAX) == UINT64_MAX);
	assert_true(tp_timebase_ns(&base, UINT64_MAX - 1) == UINT64_MAX - 1);
}

static void clocks_have_names(void **state)
{
	(void)state;
	assert_string_equal(teeperf_clock_name(TEEPERF_CLOCK_NONE), "none");
	assert_string_equal(teeperf_clock_name(TEEPERF_CLOCK_SOFT_COUNT), "soft-count");
	assert_string_equal(teeperf_clock_name(TEEPERF_CLOCK_TSC_ORDERED), "tsc-ordered");
	assert_string_equal(teeperf_clock_name(TEEPERF_CLOCK_TSC_ORDERED + 1), "unknown");
	assert_string_equal(teeperf_clock_name(UINT32_MAX), "unknown");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(points_beat_the_nominal_rate),
	    cmocka_unit_test(the_nominal_rate_without_two_points),
	    cmocka_unit_test(ticks_without_any_rate),
	    cmocka_unit_test(points_of_time),
	    cmocka_unit_test(big_numbers),
	    cmocka_unit_test(clocks_have_names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
