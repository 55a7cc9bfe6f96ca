// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Windows of a budget: calls belong to the stretch in which they begin, to the tick, and losses to
// all stretches in which they may have been.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/profile/estimates.h"
#include "analyzer/trace/text/dump_text.h"

// hot is off from 199 on, but in the window from 1000 to 1200.
static const char windows[] =
    "clock kind=tsc hz=1000000000\nselections\n\tselection 0 time=0 only=0\n"
    "\tselection 1 time=199 only=2\n\tselection 1 time=199 only=2 hash=0x335f24192ff5d0d4\n"
    "\tselection 2 time=1000 only=0\n\tselection 2 time=1000 only=0 hash=0x335f24192ff5d0d4\n"
    "\tselection 3 time=1200 only=2\n\tselection 3 time=1200 only=2 hash=0x335f24192ff5d0d4\n"
    "windows\n\twindow 2\n"
    "switches\n\toff 200\n\ton 200\n\toff 1001\n\ton 1001\n\toff 1201\n\ton 1201\n"
    "symbols\n\tsymbol 0x401000 main\n\tsymbol 0x401020 hot\nchunk time=0\n"
    "\t0 enter main\n\t10 enter hot\n\t20 exit hot\n\t9000 exit main\nend\n";

static struct tp_buf file;
static struct tp_tracefile trace;
static struct tp_analysis analysis;
static struct tp_estimates *estimates;
static struct tp_estimates_thread thread;
static struct tp_call_sink *sink;
static struct tp_err err;

static void begin(void)
{
	const struct tp_analysis_options options = {.workers = 1};
	bool failed = false;
	tp_buf_init(&file);
	if (tp_dump_assemble(windows, strlen(windows), "text", &file, &err))
		fail_msg("line %u: %s", err.line, err.what);
	assert_int_equal(tp_tracefile_from_memory(&trace, "trace", file.data, file.size, &err), 0);
	assert_int_equal(tp_analysis_init(&analysis, &trace, &options, &err), 0);
	estimates = tp_estimates_new(&analysis, &failed);
	assert_false(failed);
	assert_non_null(estimates);
	sink = tp_estimates_begin(&thread, estimates, &analysis.threads[0].profile);
}

static void end(void)
{
	tp_estimates_release(estimates);
	tp_analysis_release(&analysis);
	tp_tracefile_close(&trace);
	tp_buf_release(&file);
}

// Beside the window there are stretches twice as long.
static const uint64_t edges[] = {199, 600, 1000, 1200, 1600};
enum { EDGES = 5, WINDOW = 3 };

static void calls_at_the_edges(void **state)
{
	(void)state;
	begin();

	assert_int_equal(estimates->count, EDGES + 1);
	for (uint32_t i = 0; i < EDGES; i++) {
		assert_int_equal(estimates->stretches[i].ends, edges[i]);
		assert_int_equal(estimates->stretches[i].window, i == WINDOW ? 0 : UINT32_MAX);
	}
	// As many calls right before an edge as its number says, and one at it.
	for (uint32_t i = 0; i < EDGES; i++) {
		for (uint32_t j = 0; j <= i; j++)
			sink->enter(sink->context, 1, 1, edges[i] - 1);
		sink->enter(sink->context, 1, 1, edges[i]);
	}
	tp_estimates_finish(&thread);
	for (uint32_t i = 0; i <= EDGES; i++) {
		assert_int_equal(estimates->stretches[i].calls, (i < EDGES ? i + 1 : 0) + (i != 0));
		assert_int_equal(estimates->stretches[i].steady, estimates->stretches[i].calls);
		assert_false(estimates->stretches[i].lost);
	}
	end();
}

// Of hot in the window: what begins in it counts, when it ends or not.
static void calls_in_the_window(void **state)
{
	(void)state;
	begin();
	const struct tp_profile *profile = &analysis.threads[0].profile;
	uint32_t hot = 1;
	while (hot < profile->node_count && profile->nodes[hot].name != 0x401020)
		hot++;
	assert_true(hot < profile->node_count);
	static const uint64_t starts[] = {999, 1000, 1199, 1200};
	for (int i = 0; i < 4; i++) {
		struct tp_call call = {.node = hot,
		    .start = starts[i],
		    .chosen = 100 + (uint64_t)i,
		    .how = i == 2 ? TP_CALL_CUT : TP_CALL_RETURNED};
		sink->enter(sink->context, 1, hot, starts[i]);
		sink->leave(sink->context, &call);
	}
	tp_estimates_finish(&thread);
	uint32_t found = 0;
	for (uint64_t i = 0; i < estimates->call_count; i++) {
		const struct tp_window_calls *calls = &estimates->calls[i];
		if (calls->name != 0x401020 || calls->window == TP_WINDOW_PEAK)
			continue;
		assert_int_equal(calls->window, 0);
		assert_int_equal(calls->calls, 2);
		assert_int_equal(calls->ticks, 101 + 102);
		assert_int_equal(calls->cut, 102);
		found++;
	}
	assert_int_equal(found, 1);
	end();
}

// What was lost between two calls may be of all stretches from the one to the other.
static void losses(void **state)
{
	(void)state;
	static const bool lost[EDGES + 1] = {false, true, true, true, false, false};
	begin();
	sink->enter(sink->context, 1, 1, 100);
	sink->lost(sink->context, 0, 150);
	sink->enter(sink->context, 1, 1, 150);
	sink->lost(sink->context, 7, 300);
	sink->enter(sink->context, 1, 1, 1150);
	sink->enter(sink->context, 1, 1, 1700);
	tp_estimates_finish(&thread);
	for (uint32_t i = 0; i <= EDGES; i++)
		assert_int_equal(estimates->stretches[i].lost, lost[i]);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(calls_at_the_edges),
	    cmocka_unit_test(calls_in_the_window),
	    cmocka_unit_test(losses),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
