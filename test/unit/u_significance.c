// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Welch's t-test against values that were integrated numerically, and the incomplete beta function
// where it is known in closed form.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "analyzer/profile/diff.h"

static void assert_near(double value, double expected)
{
	if (!(fabs(value - expected) <= 1e-9))
		fail_msg("%.12g is not %.12g", value, expected);
}

static void known_values(void **state)
{
	(void)state;
	static const struct {
		double a[16];
		double b[16];
		uint32_t a_count;
		uint32_t b_count;
		double p;
	} cases[] = {
	    {{27.5, 21.0, 19.0, 23.6, 17.0, 17.9, 16.9, 20.1, 21.9, 22.6, 23.1, 19.6, 19.0, 21.7,
		 21.4},
		{27.1, 22.0, 20.8, 23.4, 23.4, 23.5, 25.8, 22.0, 24.8, 20.2, 21.9, 22.1, 22.9, 20.5,
		    24.4},
		15, 15, 0.021378001462792},
	    {{3.0, 4.0, 1.0, 2.1}, {490.2, 340.0, 433.9}, 4, 3, 0.010751561149785},
	    {{1, 2, 3}, {2, 3, 5}, 3, 3, 0.284627178761380},
	    {{10, 10.5}, {12, 13}, 2, 2, 0.091710339},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_near(tp_significance_welch(
				cases[i].a, cases[i].a_count, cases[i].b, cases[i].b_count),
		    cases[i].p);
		assert_near(tp_significance_welch(
				cases[i].b, cases[i].b_count, cases[i].a, cases[i].a_count),
		    cases[i].p);
	}
}

static void few_or_equal_values(void **state)
{
	(void)state;
	static const double one[] = {1, 1};
	static const double two[] = {2, 2};
	static const double some[] = {1, 3};
	assert_true(isnan(tp_significance_welch(one, 1, two, 2)));
	assert_true(isnan(tp_significance_welch(one, 2, two, 1)));
	assert_true(tp_significance_welch(one, 2, one, 2) == 1);
	assert_true(tp_significance_welch(one, 2, two, 2) == 0);
	assert_near(tp_significance_welch(some, 2, two, 2), 1);
}

static void beta(void **state)
{
	(void)state;
	for (int i = 0; i <= 10; i++) {
		const double x = i / 10.0;
		assert_near(tp_significance_beta(x, 1, 1), x);
		assert_near(tp_significance_beta(x, 3, 1), x * x * x);
		assert_near(tp_significance_beta(x, 2, 2), x * x * (3 - 2 * x));
		// the arcsine distribution
		assert_near(tp_significance_beta(x, 0.5, 0.5), 2 / M_PI * asin(sqrt(x)));
		assert_near(
		    tp_significance_beta(x, 7.5, 0.5) + tp_significance_beta(1 - x, 0.5, 7.5), 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(known_values),
	    cmocka_unit_test(few_or_equal_values),
	    cmocka_unit_test(beta),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
