// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Times without a processor or with a clock that stood still: what shares they are, and by how much
// times may be off for it.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyzer/profile/starvation.h"

// One tick is a nanosecond.
static const struct tp_timebase time_base = {.ns = 1, .ticks = 1, .known = true};
static const struct tp_off_list off;

static void assert_near(double value, double wanted)
{
	if (!(fabs(value - wanted) <= 1e-6 * wanted + 1e-9))
		fail_msg("%.9g is not %.9g", value, wanted);
}

static void what_is_known_of_processors(void **state)
{
	(void)state;
	struct tp_thread threads[] = {
	    {.number = 0,
		.has_cpu = true,
		.cpu_ns = 3000000,
		.has_delay = true,
		.delay_ns = 1000000},
	    {.number = 1, .has_cpu = true, .cpu_ns = 500000},
	    {.number = 2, .has_cpu = true, .cpu_ns = 3000000, .has_delay = true, .delay_ns = 0},
	};
	struct tp_tracefile trace = {.threads = threads, .thread_count = 3};
	struct tp_starvation it;
	tp_starvation_init(&it, &trace, &time_base, 10000000, NULL);
	assert_true(it.has_cpu && it.has_delay);
	assert_int_equal(it.cpu_ns, 6500000);
	assert_int_equal(it.delay_ns, 1000000);
	// Of the time of threads whose delay is known.
	assert_near(it.delay_share, 1.0 / 7);
	assert_near(it.delays, 1000000);
	assert_false(tp_starvation_is_news(&it));
	// Of one thread alone.
	tp_starvation_init(&it, &trace, &time_base, 10000000, &threads[0]);
	assert_int_equal(it.cpu_ns, 3000000);
	assert_near(it.delay_share, 0.25);
	tp_starvation_init(&it, &trace, &time_base, 10000000, &threads[1]);
	assert_true(it.has_cpu && !it.has_delay);
	assert_int_equal(it.delay_ns, 0);
	// The process has threads, too, of which nothing was recorded.
	trace.cpu.flags = TEEPERF_CPU_EXACT;
	trace.cpu.cpu_ns = 9000000;
	tp_starvation_init(&it, &trace, &time_base, 10000000, NULL);
	assert_int_equal(it.cpu_ns, 9000000);
	tp_starvation_init(&it, &trace, &time_base, 10000000, &threads[0]);
	assert_int_equal(it.cpu_ns, 3000000);
}

// Where each switch is known, times without a processor are no guess; a thread whose switches are
// not there, or one that was lost, makes them one.
static void switches_settle_it(void **state)
{
	(void)state;
	struct tp_thread threads[] = {
	    {.number = 0,
		.chunk_count = 1,
		.off = &off,
		.has_cpu = true,
		.has_delay = true,
		.cpu_ns = 95000000,
		.delay_ns = 5000000},
	    {.number = 1, .chunk_count = 1, .off = &off}, {.number = 2}, // without records
	};
	struct tp_tracefile trace = {.threads = threads, .thread_count = 3};
	struct tp_starvation it;
	tp_starvation_init(&it, &trace, &time_base, 100000000, NULL);
	assert_true(it.told);
	assert_near(tp_starvation_uncertainty(&it, &time_base, 1000000), 0);
	trace.sched.lost = 1;
	tp_starvation_init(&it, &trace, &time_base, 100000000, NULL);
	assert_false(it.told);
	// A twentieth of its time, give or take the square root of the number of waits of 4 ms in
	// that; never more than all waits.
	assert_near(tp_starvation_uncertainty(&it, &time_base, 1000000), 50000 + sqrt(5e4 * 4e6));
	assert_near(tp_starvation_uncertainty(&it, &time_base, 100), 100);
	assert_near(tp_starvation_uncertainty(&it, &time_base, 100000000), 5000000);
	trace.sched.lost = 0;
	threads[1].off = NULL;
	tp_starvation_init(&it, &trace, &time_base, 100000000, NULL);
	assert_false(it.told);
	// Where they waited for more than a tenth, any function may have had all of it.
	threads[0].delay_ns = 20000000;
	tp_starvation_init(&it, &trace, &time_base, 100000000, NULL);
	assert_near(tp_starvation_uncertainty(&it, &time_base, 1000000), 1000000);
	assert_near(tp_starvation_uncertainty(&it, &time_base, 30000000), 20000000);
	// It is of another thread.
	tp_starvation_init(&it, &trace, &time_base, 100000000, &threads[0]);
	assert_true(it.told);
}

static void clocks_that_stand_still(void **state)
{
	(void)state;
	struct tp_tracefile trace = {.has_clock = true,
	    .clock = {
		.kind = TEEPERF_CLOCK_SOFT_TSC, .starved_ns = 4000000, .max_gap_ns = 1000000}};
	struct tp_starvation it;
	tp_starvation_init(&it, &trace, &time_base, 100000000, NULL);
	assert_near(it.clock_share, 0.04);
	assert_near(it.clock_gaps, 4000000);
	// Of a quarter of the run: the square root of how many gaps it has.
	assert_near(
	    tp_starvation_uncertainty(&it, &time_base, 25000000), sqrt(1000000.0 * 4000000 / 4));
	// Not more than there is, and nothing with a clock of the processor.
	trace.clock.starved_ns = UINT64_MAX;
	tp_starvation_init(&it, &trace, &time_base, 100000000, NULL);
	assert_near(it.clock_share, 1);
	assert_true(tp_starvation_hides(&it));
	trace.clock.kind = TEEPERF_CLOCK_TSC;
	tp_starvation_init(&it, &trace, &time_base, 100000000, NULL);
	assert_near(it.clock_share, 0);
	assert_false(tp_starvation_hides(&it));
}

// From a share on of the time that it could run, and of the run, and if it is more than one turn of
// another program.
static void what_is_news(void **state)
{
	(void)state;
	struct tp_starvation it = {
	    .run = 14e6, .delays = 4000001, .delay_share = 0.7, .delay_ns = 4000001};
	assert_true(tp_starvation_is_news(&it));
	it.delay_ns--;
	assert_false(tp_starvation_is_news(&it));
	it.delay_ns++;
	it.run = 1e10;
	assert_false(tp_starvation_is_news(&it));
	it.delays = it.run * TP_STARVATION_HEAVY;
	it.delay_share = TP_STARVATION_HEAVY;
	assert_true(tp_starvation_is_news(&it));
	it.delay_share = TP_STARVATION_HEAVY / 1.001;
	assert_false(tp_starvation_is_news(&it));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_is_known_of_processors),
	    cmocka_unit_test(switches_settle_it),
	    cmocka_unit_test(clocks_that_stand_still),
	    cmocka_unit_test(what_is_news),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
