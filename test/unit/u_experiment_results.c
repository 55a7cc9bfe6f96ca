// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Results of experiments: intervals of medians, files of runs that are whole or are none, and
// tables.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "analyzer/output/format/plain_table.h"
#include "experiment/run.h"
#include "experiment/statistics.h"
#include "experiment/system.h"

static void test_median(void **state)
{
	(void)state;
	assert_true(tp_sorted_median((const double[]){3}, 1) == 3);
	assert_true(tp_sorted_median((const double[]){1, 2}, 2) == 1.5);
	assert_true(tp_sorted_median((const double[]){1, 2, 9}, 3) == 2);
	assert_true(tp_sorted_median((const double[]){1.7e308, 1.7e308}, 2) == 1.7e308);
}

/*
 * The ends of the exact bootstrap distribution of the median of 1 ... n, for odd n from binomials:
 * P(median <= k) is P(Binomial(n, k/n) >= (n+1)/2); for even n by drawing all n^n samples. In each
 * case the probability at the neighbours is further from 2.5 % than 9,999 samples come by chance
 * (five standard deviations, 0.8 points).
 */
static void test_bootstrap(void **state)
{
	(void)state;
	static const struct {
		uint32_t count;
		double low;
		double high;
	} cases[] = {
	    {3, 1, 3}, {4, 1, 4}, {5, 1, 5}, {6, 1.5, 5.5}, {7, 2, 6}, {11, 3, 9}, {13, 4, 10}};
	double values[16];
	double low = 0;
	double high = 0;
	for (uint32_t i = 0; i < 16; i++)
		values[i] = i + 1;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		for (uint64_t seed = 0; seed < 5; seed++) {
			assert_true(tp_bootstrap_median(values, cases[i].count, seed, &low, &high));
			if (low != cases[i].low || high != cases[i].high)
				fail_msg("%u values: %g to %g, not %g to %g", cases[i].count, low,
				    high, cases[i].low, cases[i].high);
		}
	assert_false(tp_bootstrap_median(values, 2, 1, &low, &high));
	assert_false(tp_bootstrap_median(values, 0, 1, &low, &high));
	static const double same[] = {4, 4, 4, 4};
	assert_true(tp_bootstrap_median(same, 4, 1, &low, &high));
	assert_true(low == 4 && high == 4);
}

static void fill(struct tp_measured *measured)
{
	*measured = (struct tp_measured){.key = UINT64_C(0xfedcba9876543210),
	    .status = TP_RUN_TIMED_OUT,
	    .how = "killed after 2 s",
	    .started = "2026-11-23T12:00:00Z",
	    .position = 7};
	tp_measured_add(measured, "wall_time", "s", 0.1);
	tp_measured_add(measured, "L1-dcache misses/s", "count", 1e300);
	tp_measured_add(measured, "wall_time", "s", 5);
	tp_measured_add(measured, "nothing", "s", 0.0 / 0.0);
	tp_measured_note(measured, "%s", "a\tb\nc");
	tp_measured_note(measured, "%s", "a\tb\nc");
}

static void test_file(void **state)
{
	(void)state;
	char folder[] = "/tmp/u_experiment_XXXXXX";
	char path[64];
	struct tp_measured measured;
	struct tp_err err;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/" TP_RESULT_FILE, folder);
	assert_int_equal(tp_measured_read(&measured, folder, &err), TP_ERR_NOT_FOUND);
	tp_measured_release(&measured);
	fill(&measured);
	assert_int_equal(tp_measured_write(&measured, folder, &err), 0);
	tp_measured_release(&measured);
	assert_int_equal(tp_measured_read(&measured, folder, &err), 0);
	assert_true(measured.key == UINT64_C(0xfedcba9876543210));
	assert_int_equal(measured.status, TP_RUN_TIMED_OUT);
	assert_string_equal(measured.how, "killed after 2 s");
	assert_string_equal(measured.started, "2026-11-23T12:00:00Z");
	assert_int_equal(measured.position, 7);
	assert_int_equal(measured.metric_count, 2);
	assert_string_equal(measured.metrics[0].name, "wall_time");
	assert_true(measured.metrics[0].value == 0.1);
	assert_string_equal(measured.metrics[1].name, "L1_dcache_misses_s");
	assert_true(measured.metrics[1].value == 1e300);
	assert_int_equal(measured.note_count, 1);
	assert_string_equal(measured.notes[0], "a?b?c");
	tp_measured_release(&measured);
	// Cut anywhere, it is none.
	struct stat info;
	assert_int_equal(stat(path, &info), 0);
	for (off_t size = info.st_size - 1; size >= 0; size--) {
		assert_int_equal(truncate(path, size), 0);
		const int code = tp_measured_read(&measured, folder, &err);
		// The newline behind "end" says nothing.
		assert_int_equal(code, size == info.st_size - 1 ? 0 : TP_ERR_NOT_FOUND);
		tp_measured_release(&measured);
	}
	unlink(path);
	rmdir(folder);
}

static void test_tables(void **state)
{
	(void)state;
	static const struct tp_plain_column columns[] = {
	    {"name", TP_PLAIN_TEXT}, {"count", TP_PLAIN_INTEGER}, {"value", TP_PLAIN_REAL}};
	static const struct tp_plain_value values[] = {{true, 0, "a,b"}, {true, 3, ""},
	    {true, 0.1, ""}, {false, 0, ""}, {false, 0, ""}, {true, 1.0 / 3, ""}, {true, 0, "=1+1"},
	    {true, 0, ""}, {false, 0, ""}};
	const struct tp_plain_table table = {"t", columns, 3, values, 3};
	struct tp_buf out;
	tp_buf_init(&out);
	tp_plain_csv(&table, &out);
	assert_string_equal(
	    out.data, "name,count,value\n\"a,b\",3,0.1\n,,0.33333333333333331\n'=1+1,0,\n");
	tp_buf_release(&out);
}

static double figure(const struct tp_measured *measured, const char *name)
{
	for (uint32_t i = 0; i < measured->metric_count; i++)
		if (strcmp(measured->metrics[i].name, name) == 0)
			return measured->metrics[i].value;
	return -1;
}

// A request is sequential if it begins where the one before it on its device ended.
static void test_system(void **state)
{
	(void)state;
	static const uint32_t DEVICE = UINT32_C(4000) << 20 | 7;
	static const uint32_t OTHER = UINT32_C(4001) << 20;
	static const struct teeperf_system_event events[] = {
	    {.kind = TEEPERF_SYSTEM_BLOCK,
		.number = DEVICE,
		.argument = 100,
		.result = 1024,
		.duration_ns = 10},
	    {.kind = TEEPERF_SYSTEM_BLOCK,
		.number = OTHER,
		.argument = 102,
		.result = 512,
		.detail = 1},
	    {.kind = TEEPERF_SYSTEM_BLOCK,
		.number = DEVICE,
		.argument = 102,
		.result = 512,
		.detail = 1,
		.duration_ns = 20},
	    {.kind = TEEPERF_SYSTEM_BLOCK,
		.number = DEVICE,
		.argument = 102,
		.result = 512,
		.duration_ns = 30},
	    {.kind = TEEPERF_SYSTEM_BLOCK, .number = DEVICE, .argument = 0, .detail = 2},
	    {.kind = TEEPERF_SYSTEM_FAULT},
	};
	struct tp_system_sums sums = {0};
	struct tp_measured measured = {0};
	tp_system_sums_add(&sums, events, 3);
	tp_system_sums_add(&sums, events + 3, sizeof(events) / sizeof(events[0]) - 3);
	tp_system_sums_report(&sums, 1, &measured);
	assert_true(figure(&measured, "block_4000_7_read_bytes") == 1536);
	assert_true(figure(&measured, "block_4000_7_written_bytes") == 512);
	assert_true(figure(&measured, "block_4000_7_sequential") == 1);
	assert_true(figure(&measured, "block_4000_7_random") == 2);
	assert_true(figure(&measured, "block_4000_7_mean") > 19.9e-9 &&
		    figure(&measured, "block_4000_7_mean") < 20.1e-9);
	assert_true(figure(&measured, "block_4001_0_random") == 1);
	assert_true(figure(&measured, "system_read_calls") == 0);
	assert_true(figure(&measured, "system_read_mean") == -1);
	assert_int_equal(measured.note_count, 1);
	tp_measured_release(&measured);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_median),
	    cmocka_unit_test(test_bootstrap),
	    cmocka_unit_test(test_file),
	    cmocka_unit_test(test_tables),
	    cmocka_unit_test(test_system),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
