// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shares and times as people write them, and texts that are neither.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/units.h"
#include "allowlists/choose/cost.h"

#include <teeperf/log.h>

static struct tp_err err;

static void check_near(double value, double wanted)
{
	assert_true(value > wanted * (1 - 1e-12) && value < wanted * (1 + 1e-12));
}

static void shares(void **state)
{
	(void)state;
	double share;
	assert_int_equal(tp_units_share("5%", &share, &err), 0);
	check_near(share, 0.05);
	assert_int_equal(tp_units_share("2.5 %", &share, &err), 0);
	check_near(share, 0.025);
	assert_int_equal(tp_units_share("10", &share, &err), 0);
	check_near(share, 0.1);
	static const char *const wrong[] = {
	    "", "%", "x", "-5%", "0%", "5%%", "5 percent", "1e99%", "1001%", "nan", "0x10", " 5"};
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(tp_units_share(wrong[i], &share, &err), TP_ERR_SYNTAX);
	assert_string_equal(err.what, "' 5' is not a share such as 5%");
}

static void times(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		double ns;
	} right[] = {{"15.5", 15.5}, {"15.5ns", 15.5}, {"3us", 3000}, {"2 ms", 2e6}, {"0.7s", 7e8}};
	double ns;
	for (size_t i = 0; i < sizeof(right) / sizeof(right[0]); i++) {
		assert_int_equal(tp_units_ns(right[i].text, &ns, &err), 0);
		check_near(ns, right[i].ns);
	}
	static const char *const wrong[] = {"", "s", "-1s", "0", "1m", "1sec", "1.2.3s", "inf"};
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(tp_units_ns(wrong[i], &ns, &err), TP_ERR_SYNTAX);
	assert_int_equal(tp_units_number("1.5", &ns, &err), 0);
	assert_int_equal(tp_units_number("1.5x", &ns, &err), TP_ERR_SYNTAX);
	assert_int_equal(tp_units_number("run.trace", &ns, &err), TP_ERR_SYNTAX);
}

static void costs(void **state)
{
	(void)state;
	struct tp_cost cost;
	tp_cost_init(&cost, TEEPERF_CLOCK_NONE, true);
	assert_int_equal(cost.source, TP_COST_CONSTANT);
	check_near(cost.event_ns, 1.4);
	tp_cost_init(&cost, TEEPERF_CLOCK_SOFT_MONOTONIC, true);
	check_near(cost.event_ns, 2.5);
	tp_cost_init(&cost, TEEPERF_CLOCK_TSC, false);
	check_near(cost.event_ns, 15.5);
	check_near(tp_cost_call_ns(&cost, TP_CATEGORY_ALLOW, 1), 15.5);
	check_near(tp_cost_call_ns(&cost, TP_CATEGORY_FORCE, 1), 15.5);
	check_near(tp_cost_call_ns(&cost, TP_CATEGORY_COUNT, 1), 1);
	check_near(tp_cost_call_ns(&cost, TP_CATEGORY_SAMPLE, 31), 1.5 + 0.5);
	assert_true(tp_cost_call_ns(&cost, TP_CATEGORY_SKIP, 1) == 0);
	assert_true(tp_cost_call_bytes(TP_CATEGORY_ALLOW, 1) == 16);
	assert_true(tp_cost_call_bytes(TP_CATEGORY_SAMPLE, 64) == 0.25);
	assert_true(tp_cost_call_bytes(TP_CATEGORY_COUNT, 1) == 0);
	check_near(TP_COST_CLOSED_NS, 1.4);
	cost.closed_ns = 2;
	check_near(tp_cost_call_ns(&cost, TP_CATEGORY_SKIP, 1), 2);
	// Of 60,000 instructions a function's code makes one in a thousand more, of which a quarter
	// costs; but no more than its calls can miss, and nothing where all fits the cache.
	struct tp_cost_code code = {.time_ns = 1e9, .instrs = 60000, .functions = 200};
	check_near(tp_cost_code_ns(&code, 1e9), 0.25 * 0.001 * 1e9);
	check_near(tp_cost_code_ns(&code, 100), 800);
	code.instrs = 6000;
	assert_true(tp_cost_code_ns(&code, 1e9) > 0);
	code.functions = 30;
	assert_true(tp_cost_code_ns(&code, 1e9) == 0);
	code = (struct tp_cost_code){.time_ns = 1e9, .functions = 1000};
	assert_true(tp_cost_code_ns(&code, 1e9) == 0);
	check_near(tp_cost_low(&cost), 0.35);
	check_near(tp_cost_high(&cost), 1);
	cost.source = TP_COST_IN_SITU;
	check_near(tp_cost_low(&cost), 0.8);
	check_near(tp_cost_high(&cost), 1.2);
}

// Of this machine's own clock the cost is measured: whatever it is, it is one.
static void calibration(void **state)
{
	(void)state;
#if defined(__x86_64__)
	struct tp_cost cost;
	tp_cost_init(&cost, TEEPERF_CLOCK_TSC, true);
	assert_int_equal(cost.source, TP_COST_CALIBRATED);
	assert_true(cost.event_ns > 0);
#else
	skip();
#endif
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(shares),
	    cmocka_unit_test(times),
	    cmocka_unit_test(costs),
	    cmocka_unit_test(calibration),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
