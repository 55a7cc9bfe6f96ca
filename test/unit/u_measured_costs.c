// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What recording a function costs, from a trace in which it was left out of windows: the cost that
// was put into the times comes out, is taken off in another trace, and gives way to the constants
// where it is not known any better.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/profile/measured_costs.h"
#include "analyzer/trace/text/dump_text.h"
#include "recorder/drain/calibration.h"

#include <teeperf/abi.h>

enum { WINDOWS = 60, WINDOW = 1000, CALLS = 2, LEAF = 40 };

static struct tp_err err;

static void begin(struct tp_buf *text, bool calibrated)
{
	tp_buf_init(text);
	tp_buf_addf(text,
	    "clock kind=tsc hz=1000000000\n"
	    "host\n"
	    "\tline \"cost_in_ps=10000\"\n\tline \"cost_out_ps=10000\"\n"
	    "\tline \"cost_untimed_ps=10000\"\n"
	    "\tline \"cost_in_off_ps=10000\"\n\tline \"cost_out_off_ps=10000\"\n%s",
	    calibrated ? "\tline \"calibrate=on\"\n" : "");
}

static void add_functions(struct tp_buf *text)
{
	tp_buf_add_string(text,
	    "command\n\tstring \"/\"\n\tstring \"prog\"\n"
	    "symbols\n\tsymbol 0x401000 caller\n\tsymbol 0x401010 f\n\tsymbol 0x401020 other\n"
	    "chunk time=1000\n");
}

// A call of `caller` from TIME on, which works for OWN and calls f so often, for LEAF each; a
// record's two events cost COST.
static uint64_t add_call(struct tp_buf *text, uint64_t time, uint64_t own, bool leaf, uint64_t cost)
{
	tp_buf_addf(text, "\t%llu enter caller\n", (unsigned long long)time);
	time += own;
	for (int i = 0; i < CALLS; i++) {
		if (leaf)
			tp_buf_addf(text, "\t%llu enter f\n\t%llu exit f\n",
			    (unsigned long long)time + cost / 4,
			    (unsigned long long)time + cost / 4 + LEAF + cost / 2);
		time += LEAF + (leaf ? cost : 0);
	}
	tp_buf_addf(text, "\t%llu exit caller\n", (unsigned long long)time);
	return time;
}

/*
 * Windows of which f is left out of each fifth, and its recording costs COST. What the caller does
 * besides becomes more from window to window, as programs do, and by up to NOISE more.
 */
static void measure(struct tp_measured_costs *costs, uint64_t cost, uint64_t noise)
{
	struct tp_buf text;
	struct tp_buf file;
	struct tp_tracefile trace;
	struct tp_analysis analysis;
	begin(&text, true);
	tp_buf_add_string(&text, "selections\n\tselection 0 time=0 only=0\n");
	for (int i = 1; i <= WINDOWS; i++) {
		tp_buf_addf(&text, "\tselection %d time=%d only=2\n", i, i * WINDOW);
		if (i > 1 && i % 5 <= 1)
			tp_buf_addf(&text, "\tselection %d time=%d only=2 hash=0x%llx\n", i,
			    i * WINDOW, (unsigned long long)teeperf_name_hash("f", 1));
	}
	add_functions(&text);
	uint64_t random = 1;
	for (uint64_t i = 1; i <= WINDOWS; i++) {
		random = random * 6364136223846793005u + 1442695040888963407u;
		const uint64_t own = 100 + i + (noise ? (random >> 33) % noise : 0);
		const uint64_t time = add_call(&text, i * WINDOW + 10, own, i % 5 != 0, cost);
		// Over the border of two windows: nobody knows how long it would have been.
		tp_buf_addf(&text, "\t%llu enter caller\n\t%llu exit caller\n",
		    (unsigned long long)time + 5, (unsigned long long)(i + 1) * WINDOW + 5);
	}
	tp_buf_add_string(&text, "end\n");
	tp_buf_init(&file);
	if (tp_dump_assemble(text.data, text.size, "text", &file, &err))
		fail_msg("line %u: %s", err.line, err.what);
	assert_int_equal(tp_tracefile_from_memory(&trace, "trace", file.data, file.size, &err), 0);
	const struct tp_analysis_options options = {.workers = 1};
	assert_int_equal(tp_analysis_init(&analysis, &trace, &options, &err), 0);
	assert_int_equal(tp_measured_costs_init(costs, &analysis, &err), 0);
	tp_analysis_release(&analysis);
	tp_tracefile_close(&trace);
	tp_buf_release(&file);
	tp_buf_release(&text);
}

static const struct tp_function *find(const struct tp_analysis *analysis, const char *name)
{
	for (uint32_t i = 0; i < analysis->function_count; i++)
		if (!strcmp(analysis->functions[i].symbol.raw, name))
			return &analysis->functions[i];
	fail_msg("there is no %s", name);
	return NULL;
}

static void costs_come_out(void **state)
{
	(void)state;
	static const uint64_t each[] = {4, 28, 40};
	for (size_t i = 0; i < sizeof(each) / sizeof(each[0]); i++) {
		struct tp_measured_costs costs;
		measure(&costs, each[i], 0);
		assert_int_equal(costs.count, 1);
		assert_null(tp_measured_costs_find(&costs, "caller"));
		assert_null(tp_measured_costs_find(&costs, ""));
		const struct tp_measured_cost *cost = tp_measured_costs_find(&costs, "f");
		assert_non_null(cost);
		// Half of it in the call, as the constants have it; the caller's change from window
		// to window is a tick.
		const double ps = cost->in_ps + cost->out_ps;
		assert_true(cost->in_ps == cost->out_ps);
		assert_true(
		    ps > (double)each[i] * 1000 - 1000 && ps < (double)each[i] * 1000 + 1000);
		assert_true(cost->in_off_ps < 10000 && cost->out_off_ps < 10000);
		tp_measured_costs_release(&costs);
	}
}

static void noise_leaves_the_constants(void **state)
{
	(void)state;
	struct tp_measured_costs costs;
	measure(&costs, 28, 300);
	assert_int_equal(costs.count, 0);
	tp_measured_costs_release(&costs);
}

static void they_are_taken_off(void **state)
{
	(void)state;
	struct tp_measured_costs costs;
	struct tp_buf text;
	struct tp_buf file;
	struct tp_tracefile trace;
	struct tp_analysis with;
	struct tp_analysis without;
	measure(&costs, 28, 0);
	begin(&text, false);
	add_functions(&text);
	uint64_t time = 1000;
	for (int i = 0; i < 100; i++)
		time = add_call(&text, time + 10, 200, true, 28);
	tp_buf_add_string(&text, "end\n");
	tp_buf_init(&file);
	if (tp_dump_assemble(text.data, text.size, "text", &file, &err))
		fail_msg("line %u: %s", err.line, err.what);
	assert_int_equal(tp_tracefile_from_memory(&trace, "trace", file.data, file.size, &err), 0);
	struct tp_analysis_options options = {.workers = 1, .compensate = true};
	assert_int_equal(tp_analysis_init(&without, &trace, &options, &err), 0);
	options.costs = &costs;
	assert_int_equal(tp_analysis_init(&with, &trace, &options, &err), 0);
	const struct tp_function *f = find(&with, "f");
	const struct tp_function *caller = find(&with, "caller");
	assert_int_equal(find(&without, "f")->self, 200 * (LEAF + 14 - 10));
	// Within the tick of costs_come_out.
	assert_in_range(f->self, 200 * LEAF - 100, 200 * LEAF + 100);
	assert_in_range(f->max, LEAF - 1, LEAF + 1);
	assert_in_range(caller->self, 100 * 200 - 1000 - 100, 100 * 200 - 1000 + 100);
	assert_true(f->uncertainty < find(&without, "f")->uncertainty);
	assert_true(caller->uncertainty < find(&without, "caller")->uncertainty);
	assert_int_equal(caller->inclusive, caller->self + f->self);
	tp_measured_costs_release(&costs);
	// Not a trace of '--calibrate'.
	assert_int_equal(tp_measured_costs_init(&costs, &without, &err), TP_ERR_NOT_FOUND);
	assert_non_null(strstr(err.what, "--calibrate"));
	tp_analysis_release(&with);
	tp_analysis_release(&without);
	tp_tracefile_close(&trace);
	tp_buf_release(&file);
	tp_buf_release(&text);
}

// Each number of differences has the order statistics that a table of the sign test gives for 95 %.
static void intervals_are_those_of_the_sign_test(void **state)
{
	(void)state;
	static const struct {
		size_t count;
		size_t rank; // of the interval's lower end, from 1 on
	} known[] = {{6, 1}, {8, 1}, {9, 2}, {12, 3}, {20, 6}, {25, 8}, {50, 18}, {100, 40}};
	double d[2000];
	double median;
	double off;
	assert_false(tp_measured_costs_median(d, 0, &median, &off));
	for (size_t i = 0; i < 5; i++)
		d[i] = (double)i;
	assert_false(tp_measured_costs_median(d, 5, &median, &off));
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		const size_t count = known[i].count;
		for (size_t j = 0; j < count; j++)
			d[j] = (double)(count - j);
		assert_true(tp_measured_costs_median(d, count, &median, &off));
		assert_true(median == (double)(count + 1) / 2);
		assert_true(off == median - (double)known[i].rank);
	}
	for (size_t j = 0; j < 2000; j++)
		d[j] = (double)j;
	assert_true(tp_measured_costs_median(d, 2000, &median, &off));
	assert_true(off > 43 && off < 46); // half of 1.96 times the root of 2000
}

// In each block of windows each function is left out once; in the next one with others.
static void windows_share_the_functions(void **state)
{
	(void)state;
	enum { FUNCTIONS = 21 };
	uint64_t hashes[FUNCTIONS];
	for (uint32_t i = 0; i < FUNCTIONS; i++)
		hashes[i] = 1000 + i;
	const uint64_t never[] = {7, 2000};
	for (uint32_t kind = TEEPERF_ONLY_ALL; kind <= TEEPERF_ONLY_REST; kind++) {
		const bool listed = kind == TEEPERF_ONLY_LISTED;
		const bool rest = kind == TEEPERF_ONLY_REST;
		const struct tp_region_only functions = {
		    .kind = TEEPERF_ONLY_LISTED, .hashes = hashes, .count = FUNCTIONS};
		const struct tp_region_only base = {.kind = (enum teeperf_only)kind,
		    .hashes = listed ? hashes : never,
		    .count = listed ? FUNCTIONS
			     : rest ? 2
				    : 0};
		struct tp_calibration calibration;
		uint32_t together = 0; // blocks in which the first two are left out at once
		assert_int_equal(tp_calibration_init(&calibration, &base, &functions, &err), 0);
		for (uint32_t block = 0; block < 40; block++) {
			uint32_t left_out[FUNCTIONS] = {0};
			uint32_t window_of[FUNCTIONS] = {0};
			for (uint32_t i = 0; i < TP_CALIBRATION_SHARE; i++) {
				const struct tp_region_only only =
				    tp_calibration_next(&calibration);
				bool on_list[FUNCTIONS] = {false};
				uint32_t others = 0;
				assert_int_equal(
				    only.kind, listed ? TEEPERF_ONLY_LISTED : TEEPERF_ONLY_REST);
				for (uint32_t j = 0; j < only.count; j++) {
					assert_true(!j || only.hashes[j - 1] < only.hashes[j]);
					if (only.hashes[j] - 1000 < FUNCTIONS)
						on_list[only.hashes[j] - 1000] = true;
					else
						others++;
				}
				assert_int_equal(others, rest ? 2 : 0);
				for (uint32_t j = 0; j < FUNCTIONS; j++)
					if (on_list[j] != listed) {
						left_out[j]++;
						window_of[j] = i;
					}
			}
			for (uint32_t j = 0; j < FUNCTIONS; j++)
				assert_int_equal(left_out[j], 1);
			together += window_of[0] == window_of[1];
		}
		assert_in_range(together, 0, 20);
		tp_calibration_release(&calibration);
	}
}

// Functions on the list without events are in each window: they are counted or sampled.
static void what_has_no_events_stays_on(void **state)
{
	(void)state;
	const uint64_t listed[] = {100, 200, 300, 400};
	const uint64_t timed[] = {200, 400};
	const struct tp_region_only base = {
	    .kind = TEEPERF_ONLY_LISTED, .hashes = (uint64_t *)(uintptr_t)listed, .count = 4};
	const struct tp_region_only functions = {
	    .kind = TEEPERF_ONLY_LISTED, .hashes = (uint64_t *)(uintptr_t)timed, .count = 2};
	struct tp_calibration calibration;
	assert_int_equal(tp_calibration_init(&calibration, &base, &functions, &err), 0);
	uint32_t all = 0;
	for (uint32_t i = 0; i < 2 * TP_CALIBRATION_SHARE; i++) {
		const struct tp_region_only next = tp_calibration_next(&calibration);
		bool has[2] = {false, false};
		for (uint32_t j = 0; j < next.count; j++) {
			has[0] |= next.hashes[j] == 100;
			has[1] |= next.hashes[j] == 300;
			assert_true(!j || next.hashes[j - 1] < next.hashes[j]);
		}
		assert_true(has[0] && has[1]);
		all += next.count;
	}
	// Each of the two was left out once in each block.
	assert_int_equal(all, 2 * TP_CALIBRATION_SHARE * 4 - 2 * 2);
	tp_calibration_release(&calibration);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(costs_come_out),
	    cmocka_unit_test(noise_leaves_the_constants),
	    cmocka_unit_test(they_are_taken_off),
	    cmocka_unit_test(intervals_are_those_of_the_sign_test),
	    cmocka_unit_test(windows_share_the_functions),
	    cmocka_unit_test(what_has_no_events_stays_on),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
