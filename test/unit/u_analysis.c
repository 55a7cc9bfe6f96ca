// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A trace, analysed: sums over threads, recursion, selection of a thread, losses, and any number of
// workers giving the same.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/analysis.h"
#include "analyzer/dump_text.h"

static struct tp_buf file;
static struct tp_tracefile trace;
static struct tp_analysis analysis;
static struct tp_analysis_options options;
static struct tp_err err;

static void open_trace(const char *text)
{
	tp_buf_init(&file);
	memset(&options, 0, sizeof(options));
	if (tp_dump_assemble(text, strlen(text), "text", &file, &err))
		fail_msg("line %u: %s", err.line, err.what);
	assert_int_equal(tp_tracefile_from_memory(&trace, "trace", file.data, file.size, &err), 0);
}

static void analyse(void)
{
	if (tp_analysis_init(&analysis, &trace, &options, &err))
		fail_msg("%s", err.what);
}

static void end(void)
{
	tp_analysis_release(&analysis);
	tp_tracefile_close(&trace);
	tp_buf_release(&file);
}

static void check_function(uint32_t index, const char *name, uint64_t calls, uint64_t self,
    uint64_t inclusive, uint64_t total, uint64_t min, uint64_t max)
{
	const struct tp_function *function = &analysis.functions[index];
	assert_string_equal(function->symbol.name, name);
	assert_int_equal(function->calls, calls);
	assert_int_equal(function->self, self);
	assert_int_equal(function->inclusive, inclusive);
	assert_int_equal(function->total, total);
	assert_int_equal(function->min, min);
	assert_int_equal(function->max, max);
}

static void threads_are_summed(void **state)
{
	(void)state;
	for (uint32_t workers = 0; workers <= 5; workers++) {
		open_trace("symbols\n	symbol 0x1000 f\n	symbol 0x2000 g\n"
			   "chunk thread=0\n"
			   "	100 enter f\n	130 enter g\n	140 exit g\n	200 exit f\n"
			   "chunk thread=7\n"
			   "	50 enter g\n	55 exit g\n"
			   "chunk thread=9\n"
			   "	300 enter f\n	301 exit f\n"
			   "end\n");
		options.workers = workers;
		analyse();
		assert_int_equal(analysis.thread_count, 3);
		assert_int_equal(analysis.function_count, 2);
		check_function(0, "f", 2, 91, 101, 101, 1, 100);
		check_function(1, "g", 2, 15, 15, 15, 5, 10);
		assert_int_equal(analysis.self, 106);
		assert_int_equal(analysis.threads[0].busy, 100);
		assert_int_equal(analysis.threads[1].busy, 5);
		assert_int_equal(analysis.counts.events, 8);
		assert_int_equal(tp_analysis_duration_ns(&analysis), 251);
		end();
	}
}

// The inclusive time of a recursive function is that of its outermost calls; the mean is of all.
static void recursion_counts_once(void **state)
{
	(void)state;
	open_trace("symbols\n	symbol 0x1000 f\n	symbol 0x2000 g\n"
		   "chunk\n"
		   "	0 enter f\n	10 enter g\n	20 enter f\n	30 enter f\n"
		   "	40 exit f\n	50 exit f\n	60 exit g\n	100 exit f\n"
		   "	200 enter g\n	210 enter f\n	220 exit f\n	230 exit g\n"
		   "end\n");
	analyse();
	check_function(0, "f", 4, 50 + 20 + 10 + 10, 100 + 10, 100 + 30 + 10 + 10, 10, 100);
	check_function(1, "g", 2, 20 + 20, 50 + 30, 80, 30, 50);
	assert_int_equal(analysis.self, 130);
	end();
}

static void one_thread(void **state)
{
	(void)state;
	open_trace("chunk thread=1\n	1 enter 0x1000\n	3 exit 0x1000\n"
		   "chunk thread=4\n	1 enter 0x2000\n	9 exit 0x2000\nend\n");
	options.one_thread = true;
	options.thread = 4;
	analyse();
	assert_int_equal(analysis.thread_count, 1);
	assert_int_equal(analysis.function_count, 1);
	assert_int_equal(analysis.functions[0].key.address, 0x2000);
	tp_analysis_release(&analysis);
	options.thread = 2;
	assert_int_equal(tp_analysis_init(&analysis, &trace, &options, &err), TP_ERR_NOT_FOUND);
	assert_string_equal(err.what, "there is no thread 2; --view threads lists them");
	end();
}

static void losses_are_counted_once(void **state)
{
	(void)state;
	open_trace("threads\n	thread lost=10\n	thread tid=2 lost=3\n"
		   "chunk thread=0\n	lost 4\n	lost 5\n"
		   "chunk thread=1\n	lost 8\n"
		   "end lost-early=100 lost-overflow=1000\n");
	analyse();
	// The larger of what the table and the records of a thread say, and what no thread knows of.
	assert_int_equal(analysis.lost, 10 + 8 + 100 + 1000);
	assert_int_equal(analysis.counts.lost, 17);
	end();
}

struct seen {
	uint64_t calls, last, all;
};

static void see(void *context, uint64_t done, uint64_t all)
{
	struct seen *seen = context;
	seen->calls++;
	seen->last = done;
	seen->all = all;
}

static void progress_and_damage(void **state)
{
	(void)state;
	struct seen seen = {0};
	open_trace("chunk thread=0\n	1 enter 0x1000\n	2 exit 0x1000\n"
		   "chunk thread=1\n	1 enter 0x1000\n	2 exit 0x1000\n"
		   "chunk thread=1 sequence=1\n	3 enter 0x1000\n	4 exit 0x1000\n"
		   "end\n");
	options.progress = see;
	options.context = &seen;
	// The file shrinks behind our back: the last chunk is not there any more.
	trace.source.size = trace.threads[1].chunks[1].offset + 8;
	analyse();
	assert_int_equal(seen.calls, 3);
	assert_int_equal(seen.last, 3);
	assert_int_equal(seen.all, 3);
	assert_int_equal(analysis.functions[0].calls, 2);
	assert_int_equal(analysis.damage.count, 1);
	assert_int_equal(analysis.damage.kept[0].code, TP_ERR_TRUNCATED);
	assert_int_equal(analysis.damage.kept[0].offset, trace.threads[1].chunks[1].offset);
	end();
}

static void an_empty_trace(void **state)
{
	(void)state;
	open_trace("end\n");
	analyse();
	assert_int_equal(analysis.thread_count + analysis.function_count, 0);
	assert_int_equal(tp_analysis_duration_ns(&analysis), 0);
	assert_int_equal(analysis.notes.count, 0);
	end();
}

static void the_recorder_knows_the_duration(void **state)
{
	(void)state;
	open_trace(
	    "clock kind=tsc hz=500000000\nchunk\n	1 enter 0x1000\n	5 exit 0x1000\n"
	    "end start=1000 end=1500\n");
	analyse();
	assert_int_equal(tp_analysis_duration_ns(&analysis), 500);
	end();
	open_trace(
	    "clock kind=tsc hz=500000000\nchunk\n	1 enter 0x1000\n	5 exit 0x1000\n"
	    "end start=1500 end=1000\n");
	analyse();
	assert_int_equal(tp_analysis_duration_ns(&analysis), 8);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(threads_are_summed),
	    cmocka_unit_test(recursion_counts_once),
	    cmocka_unit_test(one_thread),
	    cmocka_unit_test(losses_are_counted_once),
	    cmocka_unit_test(progress_and_damage),
	    cmocka_unit_test(an_empty_trace),
	    cmocka_unit_test(the_recorder_knows_the_duration),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
