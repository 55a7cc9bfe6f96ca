// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The arithmetic of autotune: medians, errors, what to try next, which list to keep.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cli/tune/plan.h"

static void near(double is, double wanted)
{
	assert_true(is > wanted - 1e-9 && is < wanted + 1e-9);
}

static void test_medians(void **state)
{
	(void)state;
	near(tp_autotune_median((const double[]){5, 1, 3}, 3), 3);
	near(tp_autotune_median((const double[]){4, 1, 3, 2}, 4), 2.5);
	near(tp_autotune_median((const double[]){7}, 1), 7);
	near(tp_autotune_median(NULL, 0), 0);
}

static void test_overheads_are_of_neighbours(void **state)
{
	(void)state;
	// The machine gets slower: medians of both series would say 10 %, and so does each pair.
	const double native[] = {100, 200, 400, 800, 1600};
	const double other[] = {110, 220, 440, 880, 1600};
	const struct tp_autotune_overhead overhead = tp_autotune_overhead(native, other, 5);
	near(overhead.median, 0.1);
	near(overhead.low, 0);
	near(overhead.high, 0.1);
	near(overhead.error, 0); // more than half of the pairs agree

	const double spread[] = {100, 110, 120, 130, 140};
	const double flat[] = {100, 100, 100, 100, 100};
	const struct tp_autotune_overhead noisy = tp_autotune_overhead(flat, spread, 5);
	near(noisy.median, 0.2);
	// Deviations 0.2 0.1 0 0.1 0.2: their median is 0.1.
	assert_true(noisy.error > 0.0830 && noisy.error < 0.0832);
}

// A try of this prediction and measurement.
static struct tp_autotune_try tried(double factor, double predicted, double measured, double named)
{
	return (struct tp_autotune_try){
	    .factor = factor,
	    .predicted = predicted,
	    .measured = {measured, measured, measured, 0, 0},
	    .worth = named,
	    .named = named,
	};
}

static void test_over_the_budget_costs_more(void **state)
{
	(void)state;
	double factor = 0;
	const struct tp_autotune_try twice = tried(1, 0.05, 0.10, 0.5);
	assert_int_equal(tp_autotune_next(&twice, 1, 0.05, 0, 3, &factor), TP_AUTOTUNE_AGAIN);
	near(factor, 2.5); // with a margin
	const struct tp_autotune_try hardly = tried(2, 0.05, 0.0501, 0.5);
	assert_int_equal(tp_autotune_next(&hardly, 1, 0.05, 0, 3, &factor), TP_AUTOTUNE_AGAIN);
	near(factor, 2.8); // never the same list again
	assert_int_equal(tp_autotune_next(&hardly, 1, 0.05, 0, 1, &factor), TP_AUTOTUNE_TIRED);
	// A handful of events cannot be what it costs.
	const struct tp_autotune_try other = tried(1, 0.0001, 0.10, 0.5);
	assert_int_equal(tp_autotune_next(&other, 1, 0.05, 0, 3, &factor), TP_AUTOTUNE_NO_EVENTS);
}

static void test_what_recording_costs_is_not_of_events(void **state)
{
	(void)state;
	double factor = 0;
	// 2 % are fixed: 1 % of events became 4 %.
	const struct tp_autotune_try over = tried(1, 0.03, 0.06, 0.5);
	assert_int_equal(tp_autotune_next(&over, 1, 0.05, 0.02, 3, &factor), TP_AUTOTUNE_AGAIN);
	near(factor, 5);
	const struct tp_autotune_try under = tried(1, 0.05, 0.03, 0.5);
	assert_int_equal(tp_autotune_next(&under, 1, 0.05, 0.02, 3, &factor), TP_AUTOTUNE_AGAIN);
	near(factor, 1.0 / 3);
	// Nothing is left for events.
	assert_int_equal(
	    tp_autotune_next(&over, 1, 0.05, 0.055, 3, &factor), TP_AUTOTUNE_NO_EVENTS);
}

static void test_unclear_beside_the_budget(void **state)
{
	(void)state;
	struct tp_autotune_overhead measured = {.median = 0.06, .error = 0.004};
	assert_false(tp_autotune_unclear(&measured, 0.05));
	measured.error = 0.006;
	assert_true(tp_autotune_unclear(&measured, 0.05));
	measured.median = 0.04;
	assert_true(tp_autotune_unclear(&measured, 0.05));
	measured.median = 0.03;
	assert_false(tp_autotune_unclear(&measured, 0.05));
}

static void test_two_lists_show_a_line(void **state)
{
	(void)state;
	double factor = 0;
	// 3 % that no choice changes, and 0.8 of the budget.
	const struct tp_autotune_try tries[] = {
	    tried(1, 0.05, 0.07, 0.5), tried(1.6, 0.048, 0.054, 0.4)};
	assert_int_equal(tp_autotune_next(tries, 2, 0.05, 0, 3, &factor), TP_AUTOTUNE_AGAIN);
	near(factor, 0.05 / ((0.05 / 1.08 - 0.03) / 0.8));
	// More than the budget does not change.
	const struct tp_autotune_try flat[] = {
	    tried(1, 0.05, 0.07, 0.5), tried(2, 0.05, 0.069, 0.4)};
	assert_int_equal(tp_autotune_next(flat, 2, 0.05, 0, 3, &factor), TP_AUTOTUNE_AGAIN);
	near(factor, 10);
	// The second one cost more with less: noise, no line.
	const struct tp_autotune_try noise[] = {
	    tried(1, 0.05, 0.06, 0.5), tried(2, 0.05, 0.08, 0.4)};
	assert_int_equal(tp_autotune_next(noise, 2, 0.05, 0, 3, &factor), TP_AUTOTUNE_AGAIN);
	near(factor, 2 * 1.25 * 0.08 / 0.05);
}

static void test_between_two_lists(void **state)
{
	(void)state;
	double factor = 0;
	struct tp_autotune_try tries[] = {tried(1, 0.05, 0.02, 0.5), tried(0.4, 0.05, 0.08, 0.6)};
	assert_int_equal(tp_autotune_next(tries, 2, 0.05, 0, 3, &factor), TP_AUTOTUNE_AGAIN);
	assert_true(factor > 0.44 && factor < 0.95);
	tries[1] = tried(0.9, 0.05, 0.08, 0.6);
	assert_int_equal(tp_autotune_next(tries, 2, 0.05, 0, 3, &factor), TP_AUTOTUNE_DONE);
}

static void test_room_is_used_once(void **state)
{
	(void)state;
	double factor = 0;
	struct tp_autotune_try tries[2] = {tried(1, 0.05, 0.02, 0.5)};
	assert_int_equal(tp_autotune_next(tries, 1, 0.05, 0, 3, &factor), TP_AUTOTUNE_AGAIN);
	near(factor, 0.4);
	tries[1] = tried(0.4, 0.05, 0.01, 0.6);
	assert_int_equal(tp_autotune_next(tries, 2, 0.05, 0, 3, &factor), TP_AUTOTUNE_DONE);
	// The measured overhead may be too good to be true.
	tries[0] = tried(1, 0.05, 0.0, 0.5);
	assert_int_equal(tp_autotune_next(tries, 1, 0.05, 0, 3, &factor), TP_AUTOTUNE_AGAIN);
	near(factor, 0.25);
	tries[0].measured.high = 0.09;
	assert_int_equal(tp_autotune_next(tries, 1, 0.05, 0, 3, &factor), TP_AUTOTUNE_DONE);
	tries[0] = tried(1, 0.05, 0.045, 0.5);
	assert_int_equal(tp_autotune_next(tries, 1, 0.05, 0, 3, &factor), TP_AUTOTUNE_DONE);
	tries[0] = tried(1, 0.05, 0.02, 1);
	assert_int_equal(tp_autotune_next(tries, 1, 0.05, 0, 3, &factor), TP_AUTOTUNE_DONE);
	tries[0] = tried(1, 0, 0, 0);
	assert_int_equal(tp_autotune_next(tries, 1, 0.05, 0, 3, &factor), TP_AUTOTUNE_DONE);
}

static void test_best_is_within_and_names_most(void **state)
{
	(void)state;
	const struct tp_autotune_try tries[] = {tried(1, 0.05, 0.04, 0.5),
	    tried(1, 0.05, 0.06, 0.9), tried(1, 0.05, 0.05, 0.6), tried(1, 0.05, 0.01, 0.55)};
	assert_int_equal(tp_autotune_best(tries, 4, 0.05), 2);
	assert_int_equal(tp_autotune_best(tries, 2, 0.05), 0);
	assert_int_equal(tp_autotune_best(tries + 1, 1, 0.05), 0);
	assert_int_equal(tp_autotune_best(tries, 4, 0.001), 3);
}

static void test_what_cannot_be_told(void **state)
{
	(void)state;
	const double native[] = {100, 100, 100, 100, 100};
	// Of five rounds two are wild: -76 and +603 %.
	const double busy[] = {24, 101, 102, 103, 703};
	const struct tp_autotune_overhead wild = tp_autotune_overhead(native, busy, 5);
	near(wild.median, 0.02);
	near(wild.wild, 0.4);
	assert_false(tp_autotune_told(&wild, 0.05));
	// One of five may be: that is what a median is for.
	const double once[] = {99, 101, 102, 103, 703};
	const struct tp_autotune_overhead some = tp_autotune_overhead(native, once, 5);
	near(some.wild, 0.2);
	assert_true(tp_autotune_told(&some, 0.05));
	// What doubles a program is no wilder for that.
	const double slow[] = {1900, 2000, 2100, 2200, 2600};
	assert_true(tp_autotune_told(
	    &(struct tp_autotune_overhead){tp_autotune_overhead(native, slow, 5).median, 0, 0, 0.1,
		tp_autotune_overhead(native, slow, 5).wild},
	    0.05));
	// An error as large as the budget, unless it is clear all the same.
	struct tp_autotune_overhead measured = {.median = 0.03, .error = 0.02};
	assert_true(tp_autotune_told(&measured, 0.05));
	measured.error = 0.03;
	assert_false(tp_autotune_told(&measured, 0.05));
	measured.median = 0.5;
	assert_true(tp_autotune_told(&measured, 0.05));
	measured = (struct tp_autotune_overhead){.median = -0.3};
	assert_false(tp_autotune_told(&measured, 0.05));

	// Such a list is not kept if there is another, and nothing follows on it.
	double factor = 0;
	struct tp_autotune_try tries[] = {tried(1, 0.05, 0.9, 0.5), tried(2, 0.05, 0.04, 0.9)};
	tries[1].untold = true;
	assert_int_equal(tp_autotune_next(tries, 2, 0.05, 0, 3, &factor), TP_AUTOTUNE_UNTOLD);
	assert_int_equal(tp_autotune_best(tries, 2, 0.05), 0);
	tries[0].untold = true;
	assert_int_equal(tp_autotune_best(tries, 2, 0.05), 1);
	tries[1].untold = false;
	assert_int_equal(tp_autotune_best(tries, 2, 0.05), 1);
}

static void test_costs(void **state)
{
	(void)state;
	near(tp_autotune_cost(1e9, 2e9, 5e7, 10), 20);
	near(tp_autotune_cost(1e9, 0.9e9, 5e7, 10), 0); // faster with it: noise
	near(tp_autotune_cost(1e9, 2e9, 1e3, 10), 0);   // too few calls to tell
	near(tp_autotune_cost(1e9, 1e12, 5e7, 10), 300);
	near(tp_autotune_cost(1e9, 2e9, 0, 10), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_medians),
	    cmocka_unit_test(test_overheads_are_of_neighbours),
	    cmocka_unit_test(test_over_the_budget_costs_more),
	    cmocka_unit_test(test_what_recording_costs_is_not_of_events),
	    cmocka_unit_test(test_unclear_beside_the_budget),
	    cmocka_unit_test(test_two_lists_show_a_line),
	    cmocka_unit_test(test_between_two_lists),
	    cmocka_unit_test(test_room_is_used_once),
	    cmocka_unit_test(test_best_is_within_and_names_most),
	    cmocka_unit_test(test_what_cannot_be_told),
	    cmocka_unit_test(test_costs),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
