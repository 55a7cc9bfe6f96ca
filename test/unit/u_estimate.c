// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Estimates of what functions did while they were off: by hand, and how often their intervals hold
// what was so.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analyzer/statistics/estimate.h"

static void assert_near(double value, double wanted, double within)
{
	if (!(fabs(value - wanted) <= within))
		fail_msg("%.9g is not %.9g +/- %g", value, wanted, within);
}

static const struct tp_estimate_cost nothing = {0, 0};

// Rates 2, 4, 3, 3: steps of 2, -1, 0. s^2 = (4 + 1 + 0) / 6, sum of squares of what they stand for
// 4 * 100.
static void by_hand(void **state)
{
	(void)state;
	const struct tp_estimate_sample samples[] = {
	    {10, 1, 2, 0, 0}, {10, 2, 8, 0, 0}, {10, 1, 3, 0, 0}, {10, 2, 6, 0, 0}};
	const struct tp_estimate all = tp_estimate_off(samples, 4, &nothing, 0);
	assert_near(all.value, 10 * (2 + 4 + 3 + 3), 1e-9);
	// 2 * 3^2 / (3 * 3 - 1) degrees of freedom
	assert_near(all.margin, tp_estimate_student(2.25) * sqrt(5.0 / 6 * 400), 1e-9);
	// Windows stand for different times.
	const struct tp_estimate_sample uneven[] = {
	    {1, 1, 2, 0, 0}, {2, 1, 4, 0, 0}, {30, 1, 3, 0, 0}};
	const struct tp_estimate some = tp_estimate_off(uneven, 3, &nothing, 0);
	assert_near(some.value, 2 + 8 + 90, 1e-9);
	assert_near(
	    some.margin, tp_estimate_student(1.6) * sqrt((4.0 + 1) / 4 * (1 + 4 + 900)), 1e-9);
}

// What was never seen in 20 windows, and was called twice in a tick when it was called most.
static void never_seen(void **state)
{
	(void)state;
	struct tp_estimate_sample samples[20];
	for (int i = 0; i < 20; i++)
		samples[i] = (struct tp_estimate_sample){99, 1, 0, 0, 0};
	const struct tp_estimate off = tp_estimate_off(samples, 20, &nothing, 2);
	assert_near(off.value, 0, 0);
	assert_near(off.margin, 20 * 99 / 21.0 * 2 * tp_estimate_student(2.0 * 19 * 19 / 56), 1e-6);
	assert_near(tp_estimate_off(samples, 20, &nothing, 0).margin, 0, 0);
}

// Windows that are alike: nothing but what an event costs is not known.
static void cost_in_interval(void **state)
{
	(void)state;
	const struct tp_estimate_sample samples[] = {
	    {10, 5, 10, 50, 0}, {10, 5, 10, 50, 0}, {10, 5, 10, 50, 0}};
	const struct tp_estimate_cost cost = {0.1, 0.0004};
	const struct tp_estimate off = tp_estimate_off(samples, 3, &cost, 0);
	assert_near(off.value, 60, 1e-9);
	// If an event costs 0.02 more, the 5 ticks are 4, and the value 75: by the slope 12.
	assert_near(off.margin, tp_estimate_student(1.6) * 12, 1e-9);
	// Times that are as full of events as the window: if these cost more, both are less, and
	// what they are of each other stays.
	const struct tp_estimate_sample full[] = {
	    {10, 5, 10, 50, 100}, {10, 5, 10, 50, 100}, {10, 5, 10, 50, 100}};
	assert_near(tp_estimate_off(full, 3, &cost, 0).value, 60, 1e-9);
	assert_near(tp_estimate_off(full, 3, &cost, 0).margin, 0, 1e-9);
}

// Of times, more may be taken off for events than there is.
static void never_negative(void **state)
{
	(void)state;
	const struct tp_estimate_sample samples[] = {
	    {10, 5, -3, 50, 40}, {10, 5, 1, 50, 0}, {10, 5, -4, 50, 45}};
	const struct tp_estimate_cost cost = {0.1, 0.0004};
	const struct tp_estimate off = tp_estimate_off(samples, 3, &cost, 0);
	assert_near(off.value, 0, 0);
	assert_true(off.margin > 0);
}

static void student(void **state)
{
	(void)state;
	// Abramowitz and Stegun, table 26.10.
	assert_near(tp_estimate_student(1), 12.706, 1e-3);
	assert_near(tp_estimate_student(5), 2.571, 1e-3);
	assert_near(tp_estimate_student(11), 2.201, 2e-3);
	assert_near(tp_estimate_student(25), 2.060, 2e-3);
	assert_near(tp_estimate_student(1e9), 1.960, 1e-3);
	for (double df = 1; df < 200; df += 0.1)
		assert_true(tp_estimate_student(df) > tp_estimate_student(df + 0.1));
}

// Functions that are always on are called 10 times in a tick of the program's own, beside windows
// and in them.
static void cost_of_events(void **state)
{
	(void)state;
	// In a window of 10 ticks, 50 events of 0.1 leave 5; beside it, 20 of them leave 98 of 100.
	const struct tp_estimate_pace pace = {10, 50, 50, 100, 20, 980};
	const struct tp_estimate_pace paces[] = {pace, pace, pace, pace};
	struct tp_estimate_cost cost;
	assert_true(tp_estimate_cost(paces, 4, &nothing, &cost));
	assert_near(cost.ticks, 0.1, 1e-6);
	// All windows say the same. The count of steady calls is known to its root: 200 + 1, with a
	// lever of 4 * 10 * 50.
	assert_near(cost.variance, 201 / (2000.0 * 2000), 1e-9);
	// A guess counts by how good it is.
	const struct tp_estimate_cost guess = {0.2, cost.variance / 3};
	assert_true(tp_estimate_cost(paces, 4, &guess, &cost));
	assert_near(cost.ticks, 0.175, 1e-5);
	assert_near(cost.variance, guess.variance * 3 / 4, 1e-9);
	// Too few windows, or nothing in them that was always on: the guess, or nothing.
	assert_true(tp_estimate_cost(paces, 2, &guess, &cost));
	assert_near(cost.ticks, 0.2, 0);
	assert_false(tp_estimate_cost(paces, 2, &nothing, &cost));
	const struct tp_estimate_pace silent = {10, 50, 0, 100, 20, 0};
	const struct tp_estimate_pace silents[] = {silent, silent, silent};
	assert_false(tp_estimate_cost(silents, 3, &nothing, &cost));
	// Windows of 50, 40 and 60 steady calls, of 100 that would be: 0.1 a tick, and without one
	// of them 0.1, 0.09 and 0.11. The jackknife takes 2/3 of the sum of squares.
	const struct tp_estimate_pace odd[] = {
	    {10, 50, 50, 100, 0, 1000}, {10, 50, 40, 100, 0, 1000}, {10, 50, 60, 100, 0, 1000}};
	assert_true(tp_estimate_cost(odd, 3, &nothing, &cost));
	assert_near(cost.ticks, 0.1, 1e-9);
	assert_near(cost.variance, 2 / 3.0 * 2e-4 + 151 / (1500.0 * 1500), 1e-9);
	// One window in which all steady calls are, and others that have none: that is not known
	// well.
	const struct tp_estimate_pace most = {10, 50, 500, 100, 20, 9800};
	const struct tp_estimate_pace few = {10, 50, 10, 100, 20, 98};
	const struct tp_estimate_pace uneven[] = {most, few, few};
	assert_true(tp_estimate_cost(uneven, 3, &nothing, &cost));
	assert_true(sqrt(cost.variance) > 0.02);
	// Events cannot take more than a window has: many of them leave a fifth of it. That is no
	// reason to believe that they cost less in others.
	const struct tp_estimate_pace full = {10, 1000, 50, 100, 20, 980};
	const struct tp_estimate_pace fulls[] = {full, full, full};
	const struct tp_estimate_cost dear = {0.2, 1e-9};
	assert_true(tp_estimate_cost(fulls, 3, &dear, &cost));
	assert_near(cost.ticks, 0.199, 1e-3);
	assert_near(tp_estimate_own(10, 1000, cost.ticks), 2, 1e-9);
	assert_near(tp_estimate_own(10, 20, 0.2), 6, 1e-9);
	// Windows in which more is called than beside them: events cost nothing, not less.
	const struct tp_estimate_pace fast = {10, 50, 200, 100, 20, 980};
	const struct tp_estimate_pace fasts[] = {fast, fast, fast};
	assert_true(tp_estimate_cost(fasts, 3, &nothing, &cost));
	assert_near(cost.ticks, 0, 0);
}

// ---- how often intervals hold what was so

static uint64_t seed;

static double random_part(void)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (double)(seed >> 11) / (double)(UINT64_C(1) << 53);
}

enum { STEPS = 20000, WINDOW = 10 };

/*
 * A program that is in one of two phases, each for LENGTH steps in the mean, in which a function is
 * called 8 times a step, and in the other one so often as CALM says; it is in the first one for
 * PART of the time. Windows of 10 steps. Whether the interval holds the calls outside of them.
 */
static bool holds(uint32_t windows, double length, double calm, double part)
{
	static double rates[STEPS];
	struct tp_estimate_sample samples[128];
	bool busy = true;
	double left = 0;
	double truth = 0;
	for (uint32_t i = 0; i < STEPS; i++) {
		if (left <= 0) {
			busy = random_part() < part;
			left = -length * log(1 - random_part());
		}
		left--;
		rates[i] = busy ? 8 : calm;
		truth += rates[i];
	}
	const double gap = (double)STEPS / windows;
	uint32_t count = 0;
	double at = gap * random_part();
	for (; count < 128 && at + WINDOW < STEPS; at += gap * (0.75 + 0.5 * random_part())) {
		double calls = 0;
		for (uint32_t i = 0; i < WINDOW; i++)
			calls += rates[(uint32_t)at + i];
		truth -= calls;
		samples[count++] = (struct tp_estimate_sample){gap - WINDOW, WINDOW, calls, 0, 0};
	}
	double sum = 0;
	for (uint32_t i = 0; i < count; i++)
		sum += samples[i].off;
	for (uint32_t i = 0; i < count; i++)
		samples[i].off *= (STEPS - count * (double)WINDOW) / sum;
	const struct tp_estimate off = tp_estimate_off(samples, count, &nothing, 8);
	return fabs(off.value - truth) <= off.margin;
}

// Of 1,000 intervals of 95 % at least 900 are to hold it, also with few windows and phases of any
// length. Not by chance: the numbers are the same each time.
static void intervals_hold(void **state)
{
	(void)state;
	static const struct {
		uint32_t windows;
		double length;
		double calm;
		double part;
	} cases[] = {{60, 50, 1, 0.5}, {60, 500, 1, 0.5}, {60, 5, 1, 0.5}, {60, 5000, 1, 0.5},
	    {20, 100, 1, 0.5}, {20, 100, 0, 0.5}, {8, 100, 1, 0.5}, {5, 300, 1, 0.5},
	    // What most windows do not see.
	    {60, 100, 0, 0.02}, {20, 100, 0, 0.04}, {8, 50, 0, 0.1}};
	seed = 1;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int held = 0;
		for (int round = 0; round < 1000; round++)
			held +=
			    holds(cases[i].windows, cases[i].length, cases[i].calm, cases[i].part);
		print_message("%2u windows, phases of %4.0f steps: %.1f %% of intervals hold\n",
		    cases[i].windows, cases[i].length, held / 10.0);
		assert_in_range(held, 900, 1000);
	}
}

// Where events may be most of the windows, these tell nothing; windows without calls do not count.
static void events_that_hide_a_function(void **state)
{
	(void)state;
	struct tp_estimate_sample samples[] = {
	    {.time = 60, .amount = 5, .events = 20},
	    {.time = 100, .events = 0},
	};
	struct tp_estimate_cost cost = {.ticks = 2, .variance = 0};
	assert_true(tp_estimate_tells(samples, 2, &cost));
	cost.variance = 0.5; // at most 3.41 each
	assert_true(tp_estimate_tells(samples, 2, &cost));
	cost.variance = 0.6; // at most 3.55 each
	assert_false(tp_estimate_tells(samples, 2, &cost));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(events_that_hide_a_function),
	    cmocka_unit_test(by_hand),
	    cmocka_unit_test(never_seen),
	    cmocka_unit_test(cost_in_interval),
	    cmocka_unit_test(never_negative),
	    cmocka_unit_test(student),
	    cmocka_unit_test(cost_of_events),
	    cmocka_unit_test(intervals_hold),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
