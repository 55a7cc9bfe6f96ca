// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A trace, analysed: sums over threads, recursion, selection of a thread, losses, and any number of
// workers giving the same; counts, gaps, and runs without a clock.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/profile/analysis.h"
#include "analyzer/trace/marks.h"
#include "analyzer/trace/text/dump_text.h"
#include "analyzer/output/view.h"

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
	assert_string_equal(err.what, "unknown thread 2; --view threads lists them");
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
	// The larger of what the table and the records of a thread say, and what no thread knows
	// of; but what was before the log is no loss.
	assert_int_equal(analysis.lost, 10 + 8 + 1000);
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

static const struct tp_function *function_at(uint64_t address, bool low_half)
{
	for (uint32_t i = 0; i < analysis.function_count; i++)
		if (analysis.functions[i].key.address == address &&
		    analysis.functions[i].key.low_half == low_half)
			return &analysis.functions[i];
	fail_msg("no function at 0x%llx", (unsigned long long)address);
	return NULL;
}

static const struct tp_function *function_named(const char *name)
{
	for (uint32_t i = 0; i < analysis.function_count; i++)
		if (!strcmp(analysis.functions[i].symbol.name, name))
			return &analysis.functions[i];
	fail_msg("no function '%s'", name);
	return NULL;
}

// Counts belong to the function that records name only if that name means their address.
static void counts_find_their_function(void **state)
{
	(void)state;
	open_trace(
	    "modules\n"
	    "	module bias=0x555500000000 start=0x555500001000 end=0x555500003000 path=\"/a\"\n"
	    "	module bias=0x7fff00000000 start=0x7fff00002000 end=0x7fff00004000 path=\"/b\"\n"
	    "symbols\n	symbol 0x555500001000 f\n	symbol 0x555500002000 g\n"
	    "	symbol 0x7fff00002000 h\n	symbol 0x7fff00003000 i\n"
	    "chunk thread=0\n"
	    "	10 enter 0x1000\n	30 exit 0x1000\n"
	    "	40 enter 0x2000\n	45 exit 0x2000\n"
	    "	50 enter 0x9000\n	51 exit 0x9000\n"
	    "	counts 5\n	count f 7\n	count g 8\n	count h 9\n	count i 10\n"
	    "	count 0x9000 11\n"
	    "chunk thread=1\n	counts 2\n	count f 100\n	count 0x7fff00003004 3\n"
	    "end\n");
	analyse();
	const struct tp_function *f = function_named("f");
	assert_int_equal(f->calls, 108);
	assert_int_equal(f->counted, 107);
	assert_int_equal(f->total, 20);
	// 0x2000 may be g or h, 0x9000 is in no module: their records and their counts stay apart.
	assert_int_equal(function_at(0x2000, true)->calls, 1);
	assert_string_equal(function_at(0x2000, true)->symbol.name, "0x2000");
	assert_int_equal(function_named("g")->counted, 8);
	assert_string_equal(function_named("g")->symbol.module, "a");
	assert_int_equal(function_named("g")->symbol.address, 0x2000);
	assert_int_equal(function_named("h")->counted, 9);
	assert_string_equal(function_named("h")->symbol.module, "b");
	assert_int_equal(function_at(0x9000, true)->counted, 0);
	assert_int_equal(function_at(0x9000, false)->counted, 11);
	// Within i's 16 bytes, but not where it begins: the address is what tells functions apart.
	uint64_t counted = 0;
	for (uint32_t i = 0; i < analysis.function_count; i++)
		if (!strcmp(analysis.functions[i].symbol.name, "i"))
			counted = counted * 100 + analysis.functions[i].counted;
	assert_int_equal(counted, 1003);
	assert_int_equal(analysis.function_count, 8);
	assert_int_equal(analysis.counted_count, 5);
	assert_int_equal(analysis.counts.counted, 7 + 8 + 9 + 10 + 11 + 100 + 3);
	assert_int_equal(analysis.damage.count, 0);
	end();
}

static void check_sampled(
    const char *name, uint64_t calls, uint64_t timed, uint64_t self, uint64_t scaled)
{
	const struct tp_function *function = function_named(name);
	assert_int_equal(function->calls, calls);
	assert_int_equal(tp_function_timed(function), timed);
	assert_int_equal(function->self, self);
	assert_int_equal(tp_function_scaled(function, function->self), scaled);
}

// What the threads have is what the functions add up to.
static void check_threads(uint64_t first, uint64_t second)
{
	uint64_t calls = 0;
	for (uint32_t i = 0; i < analysis.function_count; i++)
		calls += analysis.functions[i].calls;
	assert_int_equal(analysis.threads[0].call_count, first);
	assert_int_equal(analysis.threads[1].call_count, second);
	assert_int_equal(calls, first + second);
}

// Nothing tells which of the calls without records are below a, or took long: as many as of those
// with some.
static void filtered_samples_are_scaled(void **state)
{
	(void)state;
	static const char text[] =
	    "clock kind=tsc hz=1000000000\n"
	    "symbols\n	symbol 0x1000 main\n	symbol 0x2000 a\n	symbol 0x3000 b\n"
	    "	symbol 0x4000 leaf\n	symbol 0x5000 only\n	symbol 0x6000 rare\n"
	    "chunk\n	0 enter main\n	10 enter a\n	12 enter leaf\n	14 exit leaf\n"
	    "	16 enter leaf\n	18 exit leaf\n	20 enter leaf\n	22 exit leaf\n"
	    "	30 exit a\n	40 enter b\n	42 enter leaf\n	50 exit leaf\n"
	    "	60 exit b\n	100 exit main\n"
	    "	counts 3\n	sampled leaf 40\n	count only 9\n	sampled rare 3\n"
	    "chunk thread=1\n	0 enter b\n	1 enter leaf\n	9 exit leaf\n	10 exit b\n"
	    "	counts 1\n	sampled leaf 5\n"
	    "end\n";
	const char *const a = "a";
	const char *const b = "b";
	const char *const leaf = "leaf";
	open_trace(text);
	analyse();
	check_sampled("leaf", 45, 5, 22, 198);
	check_sampled("only", 9, 0, 0, 0);
	check_sampled("rare", 3, 0, 0, 0);
	check_threads(55, 6);
	assert_int_equal(analysis.sampled_count, 2);
	assert_int_equal(analysis.counted_count, 2);
	assert_int_equal(analysis.left_out_count, 0);
	end();
	for (uint32_t i = 0; i < 2; i++) {
		open_trace(text);
		options.focus = &b;
		options.focus_count = i;
		options.ignore = &a;
		options.ignore_count = !i;
		analyse();
		// Of 5 recorded calls 2 are not below a, of 45 in all.
		check_sampled("leaf", 18, 2, 16, 144);
		assert_int_equal(function_named("leaf")->sampled, 18);
		check_threads(11, 10);
		assert_int_equal(analysis.function_count, 3);
		assert_int_equal(analysis.sampled_count, 1);
		assert_int_equal(analysis.counted_count, 0);
		assert_int_equal(analysis.left_out_count, 2);
		end();
	}
	open_trace(text);
	options.least_ns = 3;
	analyse();
	check_sampled("leaf", 18, 2, 16, 144);
	check_threads(12, 10);
	end();
	for (uint32_t i = 0; i < 2; i++) {
		open_trace(text);
		options.ignore = &leaf;
		options.ignore_count = !i;
		options.depth = i;
		analyse();
		assert_int_equal(analysis.function_count, i ? 2 : 3);
		assert_int_equal(analysis.sampled_count, 0);
		assert_int_equal(analysis.left_out_count, 2);
		check_threads(i ? 1 : 3, 1);
		end();
	}
	// In a range nothing is known of the calls outside; the counts stand behind it.
	for (uint64_t to = 45; to <= 1000; to += 955) {
		open_trace(text);
		options.to_ns = to;
		analyse();
		check_sampled("leaf", 5, 5, to == 45 ? 17 : 22, to == 45 ? 17 : 22);
		assert_int_equal(analysis.sampled_count, 0);
		assert_int_equal(analysis.counted_count, 0);
		assert_int_equal(analysis.left_out_count, 1);
		assert_int_equal(analysis.unscaled_count, 2);
		check_threads(7, 2);
		end();
	}
}

// The displayed number decides: calls that were not recorded count as well.
static void samples_are_sorted_by_what_they_stand_for(void **state)
{
	(void)state;
	open_trace("symbols\n	symbol 0x1000 all\n	symbol 0x2000 leaf\n"
		   "chunk\n	0 enter all\n	10 exit all\n	20 enter leaf\n	25 exit leaf\n"
		   "	counts 1\n	sampled leaf 3\nend\n");
	analyse();
	const struct tp_function *all = function_named("all");
	const struct tp_function *leaf = function_named("leaf");
	assert_true(tp_view_compare(TP_SORT_SELF, leaf, all) < 0);
	assert_true(tp_view_compare(TP_SORT_INCLUSIVE, leaf, all) < 0);
	assert_true(tp_view_compare(TP_SORT_MAX, leaf, all) > 0);
	end();
}

static void impossible_counts_are_damage(void **state)
{
	(void)state;
	static const char *const texts[] = {
	    "	counts 2\n	count f 1\n	5 enter 0x3000\n", // beyond the chunk, by a word
	    "	counts 257\n	count f 1\n	5 enter 0x3000\n",
	    "	counts 4294967295\n",
	};
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		char text[400];
		snprintf(text, sizeof(text),
		    "symbols\n	symbol 0x2000 f\nchunk\n	1 enter 0x1000\n%s"
		    "chunk sequence=1\n	9 exit 0x1000\n	counts 1\nend\n",
		    texts[i]);
		open_trace(text);
		analyse();
		// What stands before and behind is used.
		assert_int_equal(analysis.function_count, 1);
		assert_int_equal(analysis.functions[0].self, 8);
		assert_int_equal(analysis.counts.bad_counts, 2);
		assert_int_equal(analysis.damage.count, 1);
		assert_int_equal(
		    analysis.damage.kept[0].offset, trace.threads[0].chunks[0].offset + 8);
		assert_string_equal(analysis.damage.kept[0].what,
		    "the chunk counts more functions than it or a record can hold; the rest of "
		    "it is not used (thread 0 has 2 such records)");
		end();
	}
}

// The most that one record may have.
static void many_counts(void **state)
{
	(void)state;
	struct tp_buf text;
	tp_buf_init(&text);
	tp_buf_add_string(&text, "chunk\n	counts 256\n");
	for (uint32_t i = 0; i < 256; i++)
		tp_buf_addf(&text, "	count %u %u\n", 0x1000 + 4 * (i % 200), i);
	tp_buf_add_string(&text, "	1 enter 0x1000\n	2 exit 0x1000\nend\n");
	open_trace(text.data);
	tp_buf_release(&text);
	analyse();
	assert_int_equal(analysis.function_count, 200);
	assert_int_equal(analysis.counts.counted, 255 * 128);
	assert_int_equal(function_at(0x1000, true)->calls, 0 + 200 + 1);
	assert_int_equal(function_at(0x1004, false)->calls, 1 + 201);
	assert_int_equal(analysis.damage.count, 0);
	end();
}

static uint64_t recorded(const char *facts)
{
	char text[400];
	snprintf(text, sizeof(text),
	    "%s\nchunk\n	1000 enter 0x1000\n	3000 exit 0x1000\nend start=100 end=2100\n",
	    facts);
	open_trace(text);
	analyse();
	const uint64_t ns = tp_analysis_recorded_ns(&analysis);
	end();
	return ns;
}

static void what_was_recorded_of_the_run(void **state)
{
	(void)state;
	const char *points =
	    "clock hz=5\n	point 1000 600\n	point 2000 1100\nswitches\n";
	char text[300];
	static const struct {
		const char *switches;
		uint64_t ns; // of 2000; two ticks are one nanosecond, and the run begins at tick 0
	} cases[] = {
	    {"", 2000},
	    {"off 1000\non 1500\n", 1750},
	    {"off 1000\non 1500\noff 2000\n", 1750 - 1000},
	    {"on 100\noff 200\non 300\n", 2000 - 50 - 50},
	    {"on 9000\n", 0},
	    {"off 0\n", 0},
	    {"off 9000\non 9500\n", 2000},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		snprintf(text, sizeof(text), "%s%s", points, cases[i].switches);
		assert_int_equal(recorded(text), cases[i].ns);
	}
	// Without points the run is taken to be the time from the first event to the last.
	assert_int_equal(
	    recorded("clock hz=1000000000\nswitches\noff 1500\non 2000\noff 2900"), 2000 - 600);
	assert_int_equal(recorded("clock hz=1000000000\nswitches\non 1200"), 2000 - 200);
}

static void a_run_without_a_clock(void **state)
{
	(void)state;
	open_trace("clock kind=none\nswitches\n	off 0\n	on 0\n"
		   "chunk\n	0 enter 0x1000\n	0 exit 0x1000\n	0 exit 0x2000\nend\n");
	analyse();
	// Nothing tells on which side of the gap records are: all are kept.
	assert_true(analysis.timeless);
	assert_int_equal(analysis.counts.events, 3);
	assert_int_equal(analysis.counts.dropped, 0);
	assert_int_equal(analysis.counts.early, 1);
	assert_int_equal(analysis.counts.unmatched_exits, 0);
	assert_int_equal(analysis.functions[0].calls, 1);
	end();
	open_trace("chunk\n	0 enter 0x1000\n	5 exit 0x1000\nend\n");
	analyse();
	// A trace without its clock section is another thing.
	assert_false(analysis.timeless);
	assert_int_equal(analysis.functions[0].self, 5);
	end();
}

// Threads of which the replay knows that they have no marks are not read again for them; one that
// was chosen is all.
static void marks_are_counted(void **state)
{
	(void)state;
	struct tp_marks marks;
	open_trace(
	    "chunk\n\t10 enter 0x401000\n\t20 exit 0x401000\n"
	    "chunk thread=1 tid=2\n\t5 phase-end \"gone\"\n"
	    "chunk thread=2 tid=3\n\t1 enter 0x401000\n\t2 mark \"one\"\n\t3 phase-begin \"two\"\n"
	    "chunk thread=2 tid=3 sequence=1\n\t4 phase-end \"two\"\n\t30 exit 0x401000\n");
	for (int one = 0; one < 2; one++) {
		options.one_thread = one;
		options.thread = 2;
		analyse();
		assert_int_equal(analysis.counts.marks, 2);
		assert_int_equal(analysis.counts.phase_ends, one ? 1 : 2);
		assert_int_equal(analysis.threads[one ? 0 : 2].counts.phase_ends, 1);
		assert_int_equal(tp_analysis_marks(&analysis, &marks, &err), 0);
		assert_int_equal(marks.count, one ? 2 : 3);
		assert_string_equal(marks.items[0].name, "one");
		assert_string_equal(marks.items[1].name, "two");
		assert_int_equal(marks.items[1].end, 4);
		tp_marks_release(&marks);
		tp_analysis_release(&analysis);
	}
	// With a range the replay has not seen all.
	options = (struct tp_analysis_options){.from_ns = 1, .to_ns = 2};
	analyse();
	assert_int_equal(tp_analysis_marks(&analysis, &marks, &err), 0);
	assert_int_equal(marks.count, 3);
	tp_marks_release(&marks);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(marks_are_counted),
	    cmocka_unit_test(threads_are_summed),
	    cmocka_unit_test(recursion_counts_once),
	    cmocka_unit_test(one_thread),
	    cmocka_unit_test(losses_are_counted_once),
	    cmocka_unit_test(progress_and_damage),
	    cmocka_unit_test(counts_find_their_function),
	    cmocka_unit_test(filtered_samples_are_scaled),
	    cmocka_unit_test(samples_are_sorted_by_what_they_stand_for),
	    cmocka_unit_test(impossible_counts_are_damage),
	    cmocka_unit_test(many_counts),
	    cmocka_unit_test(what_was_recorded_of_the_run),
	    cmocka_unit_test(a_run_without_a_clock),
	    cmocka_unit_test(an_empty_trace),
	    cmocka_unit_test(the_recorder_knows_the_duration),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
