// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The points that tie ticks to nanoseconds: their number stays bounded and their order kept.
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <teeperf/atomic.h>

#include "recorder/clock/counter_thread.h"
#include "recorder/clock/host_clock.h"

static struct tp_clock_log clock_log;

static void check_order(void)
{
	for (uint32_t i = 1; i < clock_log.count; i++) {
		assert_true(clock_log.points[i - 1].ticks <= clock_log.points[i].ticks);
		assert_true(
		    clock_log.points[i - 1].monotonic_ns <= clock_log.points[i].monotonic_ns);
	}
}

static void bounded(void **state)
{
	(void)state;
	tp_clock_log_init(&clock_log, TEEPERF_CLOCK_SOFT_MONOTONIC, NULL);
	assert_int_equal(clock_log.count, 1);
	const struct teeperf_trace_point first = clock_log.points[0];
	tp_clock_log_tick(&clock_log);
	assert_true(clock_log.count <= 2);
	// Make every look a point: more of them than there is room for, several times over.
	clock_log.interval_ns = 0;
	for (int i = 0; i < 4 * TP_CLOCK_POINTS; i++) {
		tp_clock_log_tick(&clock_log);
		assert_true(clock_log.count <= TP_CLOCK_POINTS);
	}
	assert_true(clock_log.count >= TP_CLOCK_POINTS / 2);
	assert_int_equal(clock_log.points[0].monotonic_ns, first.monotonic_ns);
	check_order();
	tp_clock_log_point(&clock_log);
	check_order();
}

static void thinned(void **state)
{
	(void)state;
	tp_clock_log_init(&clock_log, TEEPERF_CLOCK_SOFT_MONOTONIC, NULL);
	clock_log.interval_ns = 1;
	while (clock_log.count < TP_CLOCK_POINTS)
		tp_clock_log_point(&clock_log);
	const struct teeperf_trace_point second = clock_log.points[2];
	while (clock_log.count == TP_CLOCK_POINTS)
		tp_clock_log_tick(&clock_log);
	assert_int_equal(clock_log.count, TP_CLOCK_POINTS / 2 + 1);
	assert_int_equal(clock_log.points[1].monotonic_ns, second.monotonic_ns);
	assert_int_equal(clock_log.interval_ns, 2);
	check_order();
}

static void rate(void **state)
{
	(void)state;
	clock_log.count = 1;
	assert_int_equal(tp_clock_log_hz(&clock_log), 0);
	clock_log.points[0] = (struct teeperf_trace_point){1000, 5000};
	clock_log.points[1] = (struct teeperf_trace_point){4000, 6000};
	clock_log.count = 2;
	assert_int_equal(tp_clock_log_hz(&clock_log), 3000000000u);
	// Of a program that says what it likes.
	clock_log.points[1] = (struct teeperf_trace_point){UINT64_MAX, 5001};
	assert_int_equal(tp_clock_log_hz(&clock_log), 0);
	clock_log.points[1] = (struct teeperf_trace_point){4000, 4999};
	assert_int_equal(tp_clock_log_hz(&clock_log), 0);
	clock_log.points[1] = (struct teeperf_trace_point){999, 6000};
	assert_int_equal(tp_clock_log_hz(&clock_log), 0);
}

static void soft_clock(void **state)
{
	(void)state;
	struct tp_counter_thread counter;
	struct tp_err err;
	uint64_t word = 0;
	const uint32_t clock = TEEPERF_CLOCK_SOFT_MONOTONIC;
	const uint64_t before = tp_clock_ticks(clock);
	const struct tp_counter_options options = {
	    .word = &word, .clock = clock, .hz = 1000000000, .period_ns = TP_COUNTER_PERIOD_NS};
	assert_int_equal(tp_counter_thread_start(&counter, &options, &err), 0);
	tp_clock_gaps_begin(&counter.gaps, tp_clock_monotonic_ns());
	const uint64_t seen = __atomic_load_n(&word, __ATOMIC_RELAXED);
	assert_true(seen >= before);
	while (__atomic_load_n(&word, __ATOMIC_RELAXED) == seen)
		;
	tp_counter_thread_stop(&counter);
	assert_true(tp_load_relaxed(&counter.stores) >= 2);
	assert_true(word > seen && word <= tp_clock_ticks(clock));
	assert_true(tp_load_relaxed(&counter.gaps.max_ns) > 0);
}

// Counting: each store adds one, points carry the count, and their rate is the counter's.
static void counted(void **state)
{
	(void)state;
	static const uint64_t periods[] = {0, 1000};
	for (int i = 0; i < 2; i++) {
		struct tp_counter_thread counter;
		struct tp_err err;
		uint64_t word = 0;
		const struct tp_counter_options options = {
		    .word = &word, .clock = TEEPERF_CLOCK_SOFT_COUNT, .period_ns = periods[i]};
		assert_int_equal(tp_counter_thread_start(&counter, &options, &err), 0);
		const uint64_t start = tp_clock_monotonic_ns();
		tp_clock_gaps_begin(&counter.gaps, start);
		tp_clock_log_init(&clock_log, TEEPERF_CLOCK_SOFT_COUNT, &counter.stores);
		const uint64_t enough = clock_log.points[0].ticks + 5000;
		while (__atomic_load_n(&word, __ATOMIC_RELAXED) < enough)
			;
		tp_clock_log_point(&clock_log);
		tp_counter_thread_stop(&counter);
		assert_int_equal(tp_load_relaxed(&counter.stores), word);
		assert_int_equal(clock_log.count, 2);
		assert_true(clock_log.points[0].ticks >= 1);
		assert_true(
		    clock_log.points[1].ticks >= enough - 1 && clock_log.points[1].ticks <= word);
		assert_true(tp_clock_log_hz(&clock_log) > 0);
		assert_true((tp_load_relaxed(&counter.gaps.starved_ns) > 0) ==
			    (tp_load_relaxed(&counter.gaps.starved_count) > 0));
		assert_true(
		    tp_load_relaxed(&counter.gaps.starved_ns) <= tp_clock_monotonic_ns() - start);
	}
}

// Without a clock there are points, so that the run's length is known, but no ticks.
static void none(void **state)
{
	(void)state;
	tp_clock_log_init(&clock_log, TEEPERF_CLOCK_NONE, NULL);
	tp_clock_log_point(&clock_log);
	assert_int_equal(clock_log.points[1].ticks, 0);
	assert_true(clock_log.points[1].monotonic_ns >= clock_log.points[0].monotonic_ns);
	assert_int_equal(tp_clock_log_hz(&clock_log), 0);
	assert_int_equal(tp_clock_stated_hz(TEEPERF_CLOCK_NONE), 0);
}

static void choices(void **state)
{
	(void)state;
	static const struct {
		enum tp_clock_choice choice;
		uint32_t clock;
	} cases[] = {
	    {TP_CLOCK_CHOICE_NONE, TEEPERF_CLOCK_NONE},
	    {TP_CLOCK_CHOICE_COUNT, TEEPERF_CLOCK_SOFT_COUNT},
	};
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint32_t clock = 99;
		struct tp_err err;
		assert_int_equal(tp_clock_choose(cases[i].choice, &clock, &err), 0);
		assert_int_equal(clock, cases[i].clock);
	}
	uint32_t clock = 0;
	struct tp_err err;
	assert_int_equal(tp_clock_choose(TP_CLOCK_CHOICE_SOFT, &clock, &err), 0);
	assert_true(TEEPERF_CLOCK_IS_SOFT(clock) && clock != TEEPERF_CLOCK_SOFT_COUNT);
	assert_false(TEEPERF_CLOCK_IS_SOFT(TEEPERF_CLOCK_TSC_ORDERED));
	const int refused = tp_clock_choose(TP_CLOCK_CHOICE_ORDERED, &clock, &err);
#if defined(__x86_64__)
	if (!refused)
		assert_int_equal(clock, TEEPERF_CLOCK_TSC_ORDERED);
	assert_int_equal(!refused, tp_clock_has_steady_counter());
#else
	assert_int_not_equal(refused, 0);
#endif
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(bounded),
	    cmocka_unit_test(thinned),
	    cmocka_unit_test(rate),
	    cmocka_unit_test(soft_clock),
	    cmocka_unit_test(counted),
	    cmocka_unit_test(none),
	    cmocka_unit_test(choices),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
