// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The table of a program's functions: names, calls and paths from traces, what events cost taken
// off, samples in all their forms, and guesses.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/trace/text/dump_text.h"
#include "allowlists/choose/workload.h"

#define CLOCK "clock kind=tsc hz=1000000000\n"

static struct tp_buf file;
static struct tp_tracefile trace;
static struct tp_analysis analysis;
static struct tp_workload workload;
static struct tp_err err;

static void add(const char *text, bool times)
{
	const struct tp_analysis_options options = {0};
	tp_buf_init(&file);
	if (tp_dump_assemble(text, strlen(text), "text", &file, &err))
		fail_msg("line %u: %s", err.line, err.what);
	assert_int_equal(tp_tracefile_from_memory(&trace, "trace", file.data, file.size, &err), 0);
	assert_int_equal(tp_analysis_init(&analysis, &trace, &options, &err), 0);
	assert_int_equal(tp_workload_add_trace(&workload, &analysis, times, &err), 0);
	tp_analysis_release(&analysis);
	tp_tracefile_close(&trace);
	tp_buf_release(&file);
}

static const struct tp_workload_function *function(const char *name)
{
	const uint32_t at = tp_workload_find(&workload, name);
	if (at == UINT32_MAX)
		fail_msg("there is no %s", name);
	return &workload.functions[at];
}

static int start(void **state)
{
	(void)state;
	tp_workload_init(&workload);
	return 0;
}

static int end(void **state)
{
	(void)state;
	tp_workload_release(&workload);
	return 0;
}

static void compensate(double event_ns, double in_ns)
{
	struct tp_cost cost = {.event_ns = event_ns, .event_in_ns = in_ns};
	bool believed;
	assert_int_equal(tp_workload_compensate(&workload, &cost, &believed), 0);
	assert_true(believed);
}

static void near(double is, double wanted)
{
	if (is < wanted * 0.999 || is > wanted * 1.001)
		fail_msg("%g is not near %g", is, wanted);
}

static const char nested[] =
    CLOCK "symbols\n	symbol 0x1000 f\n	symbol 0x2000 g\n	symbol 0x3000 h\n"
	  "chunk\n"
	  "	0 enter f\n	100 enter g\n	110 enter h\n	120 exit h\n	200 exit g\n"
	  "	300 enter g\n	400 exit g\n	1000 exit f\n"
	  "end\n";

static void events_are_taken_off(void **state)
{
	(void)state;
	add(nested, true);
	assert_int_equal(workload.function_count, 3);
	assert_int_equal(workload.pairs, 4);
	assert_int_equal(function("f")->calls, 1);
	assert_int_equal(function("f")->child_calls, 2);
	assert_int_equal(function("g")->calls, 2);
	assert_true(function("g")->raw_self_ns == 190);
	compensate(20, 8);
	// f: 800 - 1 * 8 - 2 * 12; g: 190 - 2 * 8 - 1 * 12; h: 10 - 8.
	assert_true(function("f")->self_ns == 768);
	assert_true(function("g")->self_ns == 162);
	assert_true(function("h")->self_ns == 2);
	assert_true(workload.time_ns == 1000 - 4 * 20);
	// The paths make up the functions.
	double sum = 0;
	for (uint32_t i = 0; i < workload.node_count; i++)
		sum += workload.nodes[i].self_ns;
	assert_true(sum > 931.999 && sum < 932.001);
}

static void nothing_becomes_negative(void **state)
{
	(void)state;
	add(nested, true);
	compensate(40, 30);
	assert_true(function("h")->self_ns == 0);
	assert_true(function("g")->self_ns == 190 - 60 - 10);
}

static void impossible_costs_are_not_believed(void **state)
{
	(void)state;
	add(nested, true);
	struct tp_cost cost = {.event_ns = 1000};
	bool believed;
	assert_int_equal(tp_workload_compensate(&workload, &cost, &believed), 0);
	assert_false(believed);
	assert_true(workload.time_ns == 50);
}

// 1000 calls of 7 to 9 ns: the shortest of them is what a pair takes inside.
static void the_inner_part_is_estimated(void **state)
{
	(void)state;
	struct tp_buf text;
	tp_buf_init(&text);
	tp_buf_add_string(&text, CLOCK "symbols\n	symbol 0x1000 f\nchunk\n");
	for (unsigned i = 0; i < 1000; i++)
		tp_buf_addf(&text, "	%u enter f\n	%u exit f\n", i * 20, i * 20 + 7 + i % 3);
	tp_buf_add_string(&text, "end\n");
	add(text.data, true);
	tp_buf_release(&text);
	struct tp_cost cost = {.event_ns = 15};
	bool believed;
	assert_int_equal(tp_workload_compensate(&workload, &cost, &believed), 0);
	assert_true(cost.event_in_ns == 7);
	// No call takes more than three quarters of a pair and does nothing: half of it is as good
	// a guess.
	cost = (struct tp_cost){.event_ns = 8};
	assert_int_equal(tp_workload_compensate(&workload, &cost, &believed), 0);
	assert_true(cost.event_in_ns == 4);
}

// Three threads of 100 pairs, of 100 ns each: the first two one after the other, the third beside
// them.
static void events_come_off_along_each_thread(void **state)
{
	(void)state;
	static struct tp_workload_thread threads[] = {
	    {.pairs = 100, .first_ns = 0, .last_ns = 20000},
	    {.pairs = 100, .first_ns = 20000, .last_ns = 40000},
	    {.pairs = 100, .first_ns = 0, .last_ns = 40000},
	};
	struct tp_workload some = {.thread_times = threads, .thread_time_count = 2};
	assert_true(tp_workload_events_ns(&some, 100) == 20000);
	some.thread_time_count = 3;
	assert_true(tp_workload_events_ns(&some, 100) == 20000); // half as many, at the same time
	threads[2].pairs = 400;
	assert_true(tp_workload_events_ns(&some, 100) == 40000);
	threads[2].last_ns = 10000;
	threads[2].pairs = 100;
	assert_true(tp_workload_events_ns(&some, 100) == 10000 + 5000 + 10000);
	threads[1].first_ns = 30000; // a gap, and more events than time
	assert_true(tp_workload_events_ns(&some, 100) == 10000 + 5000 + 10000);
	some.thread_time_count = 0;
	assert_true(tp_workload_events_ns(&some, 100) == 0);
}

// A worker waits 9.9 ms of 10 in `loop`, and works in two functions of short stretches; the main
// thread waits for it.
static const char waits[] =
    CLOCK "symbols\n	symbol 0x1000 main\n	symbol 0x2000 loop\n	symbol 0x3000 a\n"
	  "	symbol 0x4000 b\n"
	  "chunk thread=0\n	0 enter main\n	10000000 exit main\n"
	  "chunk thread=1\n	0 enter loop\n	60000 enter a\n	64000 exit a\n"
	  "	9900000 enter b\n	9906000 exit b\n	10000000 exit loop\n"
	  "end\n";

static void waiting_is_nobodys_own_time(void **state)
{
	(void)state;
	add(waits, true);
	assert_int_equal(workload.thread_time_count, 2);
	workload.cpu_ns = 400000;
	workload.thread_times[0].cpu_ns = 300000;
	workload.thread_times[1].cpu_ns = 100000;
	compensate(0.001, 0.0005);
	assert_true(workload.time_ns > 399999 && workload.time_ns < 400000);
	assert_int_equal(workload.waiting, 2);
	near(workload.waited_ns, 9700000 + 9900000);
	near(function("main")->self_ns, 300000);
	near(function("main")->sure_ns, 300000);
	near(function("a")->self_ns, 4000);
	near(function("b")->self_ns, 6000);
	near(function("b")->sure_ns, 6000);
	near(function("loop")->self_ns, 90000);
	near(function("loop")->sure_ns, 90000);
	double sum = 0;
	for (uint32_t i = 0; i < workload.node_count; i++)
		sum += workload.nodes[i].self_ns;
	near(sum, 400000);
}

// Two functions that may have waited: 5 ms of 16 had a processor, and neither can have had less
// than none.
static void who_waited_cannot_be_told(void **state)
{
	(void)state;
	add(CLOCK "symbols\n	symbol 0x1000 f\n	symbol 0x2000 g\n"
		  "chunk\n	0 enter f\n	6000000 enter g\n	16000000 exit g\n"
		  "	16000000 exit f\nend\n",
	    true);
	workload.cpu_ns = 5000000;
	workload.thread_times[0].cpu_ns = 5000000;
	compensate(0.001, 0.0005);
	near(function("f")->self_ns,
	    2500000); // as much as the other one: the most is taken off the largest
	near(function("g")->self_ns, 2500000);
	assert_true(function("f")->sure_ns == 0);
	assert_true(function("g")->sure_ns == 0);
	// A little waiting leaves something sure.
	tp_workload_release(&workload);
	tp_workload_init(&workload);
	add(CLOCK "symbols\n	symbol 0x1000 f\n	symbol 0x2000 g\n"
		  "chunk\n	0 enter f\n	6000000 enter g\n	16000000 exit g\n"
		  "	16000000 exit f\nend\n",
	    true);
	workload.cpu_ns = 15000000;
	workload.thread_times[0].cpu_ns = 15000000;
	compensate(0.001, 0.0005);
	near(function("g")->self_ns, 9000000);
	near(function("g")->sure_ns, 9000000);
	near(function("f")->self_ns, 6000000);
	near(function("f")->sure_ns, 5000000);
}

// Preempted half of the time: all functions alike.
static void preemption_is_off_all_alike(void **state)
{
	(void)state;
	add(CLOCK "symbols\n	symbol 0x1000 f\n	symbol 0x2000 g\n"
		  "chunk\n	0 enter f\n	6000000 enter g\n	16000000 exit g\n"
		  "	16000000 exit f\nend\n",
	    true);
	workload.cpu_ns = 8000000;
	workload.thread_times[0].cpu_ns = 8000000;
	workload.thread_times[0].delay_ns = 8000000;
	compensate(0.001, 0.0005);
	near(function("f")->self_ns, 3000000);
	near(function("g")->self_ns, 5000000);
	near(function("g")->sure_ns, 5000000);
	near(workload.delayed_ns, 8000000);
}

// One call of 10 was recorded: the others' time is its caller's.
static void sampled_functions_are_scaled_up(void **state)
{
	(void)state;
	add(CLOCK "symbols\n	symbol 0x1000 f\n	symbol 0x2000 g\n"
		  "chunk\n	0 enter f\n	100 enter g\n	150 exit g\n	1000 exit f\n"
		  "	counts 1\n	sampled g 10\nend\n",
	    true);
	assert_int_equal(function("g")->calls, 10);
	assert_int_equal(function("g")->timed, 1);
	compensate(20, 10);
	assert_true(function("g")->self_ns == 400);
	assert_true(function("f")->self_ns == 950 - 10 - 10 - 360);
}

static void exact_calls_replace_others(void **state)
{
	(void)state;
	add(nested, true);
	add("symbols\n	symbol 0x1000 f\n	symbol 0x2000 g\n	symbol 0x4000 k\n"
	    "chunk\n	counts 3\n	count f 7\n	count g 90\n	count k 5\nend\n",
	    false);
	assert_int_equal(function("f")->calls, 7);
	assert_int_equal(function("g")->calls, 90);
	assert_int_equal(function("h")->calls, 0);
	assert_int_equal(function("k")->calls, 5);
	assert_int_equal(function("g")->timed, 2);
	assert_true(workload.measured_ns == 1000);
}

static void names(void **state)
{
	(void)state;
	add(CLOCK "symbols\n	symbol 0x1000 _ZN3fooC2Ev file=\"foo.cc\" line=3\n"
		  "	symbol 0x3000 same\n	symbol 0x4000 same\n"
		  "chunk\n	0 enter _ZN3fooC2Ev\n	5 exit _ZN3fooC2Ev\n"
		  "	6 enter 0x2000\n	8 exit 0x2000\n"
		  "	10 enter 0x3000\n	11 exit 0x3000\n	12 enter 0x4000\n"
		  "	13 exit 0x4000\n"
		  "end\n",
	    true);
	assert_string_equal(function("_ZN3fooC2Ev")->demangled, "foo::foo()");
	assert_string_equal(function("_ZN3fooC2Ev")->file, "foo.cc");
	assert_int_equal(function("_ZN3fooC2Ev")->line, 3);
	assert_true(function("0x2000")->nameless);
	assert_int_equal(function("same")->definitions, 2);
	assert_int_equal(function("same")->calls, 2);
	for (unsigned i = 0; i < 1000; i++) {
		char name[32];
		snprintf(name, sizeof(name), "f%u.cold.%u", i % 500, i % 500);
		assert_true(tp_workload_add(&workload, name) != UINT32_MAX);
	}
	assert_int_equal(workload.function_count, 503);
	assert_int_equal(tp_workload_find_clone(&workload, "same.part.0.cold"),
	    tp_workload_find(&workload, "same"));
	assert_int_equal(tp_workload_find_clone(&workload, "f7.cold.7.isra.0"),
	    tp_workload_find(&workload, "f7.cold.7"));
	assert_int_equal(tp_workload_find_clone(&workload, "sam"), UINT32_MAX);
	assert_int_equal(tp_workload_find_clone(&workload, ".same"), UINT32_MAX);
	assert_int_equal(tp_workload_find_clone(&workload, ""), UINT32_MAX);
}

static int read_samples(struct tp_samples *samples, const char *text)
{
	FILE *to = fopen("samples.txt", "w");
	assert_non_null(to);
	fputs(text, to);
	fclose(to);
	for (uint32_t i = 0; i < workload.function_count; i++)
		workload.functions[i].samples = 0;
	return tp_samples_read(samples, &workload, "samples.txt", &err);
}

static void samples_as_text(void **state)
{
	(void)state;
	struct tp_samples samples;
	add(CLOCK "symbols\n	symbol 0x1000 _ZN3fooC2Ev\n	symbol 0x3000 f\n"
		  "chunk\n	0 enter _ZN3fooC2Ev\n	5 exit _ZN3fooC2Ev\n"
		  "	6 enter f\n	8 exit f\nend\n",
	    true);
	assert_int_equal(
	    read_samples(&samples, "# comment\n\nf\t10\n_ZN3fooC2Ev\t 5\n\r\nlibc\t5\n"), 0);
	assert_int_equal(samples.all, 20);
	assert_int_equal(samples.known, 15);
	tp_samples_apply(&samples, &workload, 1000);
	assert_true(function("f")->self_ns == 500);
	assert_true(function("_ZN3fooC2Ev")->self_ns == 250);
	assert_int_equal(function("f")->quality, TP_QUALITY_SAMPLED);
	assert_int_equal(
	    read_samples(&samples, "main;f 3\nmain;f;foo::foo() 4\nmain;f.cold 2\n"), 0);
	assert_int_equal(function("f")->samples, 5);
	assert_int_equal(function("_ZN3fooC2Ev")->samples, 4);
	// Of two bodies with one demangled name the one that runs.
	const uint32_t other = tp_workload_add(&workload, "_ZN3fooC1Ev");
	workload.functions[other].demangled = "foo::foo()";
	assert_int_equal(read_samples(&samples, "foo::foo() 4\n"), 0);
	assert_int_equal(function("_ZN3fooC2Ev")->samples, 4);
	workload.functions[other].calls = 9;
	assert_int_equal(read_samples(&samples, "foo::foo() 4\n"), 0);
	assert_int_equal(function("_ZN3fooC1Ev")->samples, 4);
	static const char *const wrong[] = {
	    "f\n", "f x\n", "f -1\n", "5\n", "f 99999999999999999999\n", "f 1 \n", "\t5\n"};
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		assert_int_equal(read_samples(&samples, wrong[i]), TP_ERR_SYNTAX);
		assert_int_equal(err.line, 1);
	}
	assert_int_equal(read_samples(&samples, ""), TP_ERR_NOT_FOUND);
	assert_int_equal(read_samples(&samples, "x 1\n"), TP_ERR_NOT_FOUND);
	assert_int_equal(tp_samples_read(&samples, &workload, "missing.txt", &err), TP_ERR_SYSTEM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(events_are_taken_off, start, end),
	    cmocka_unit_test_setup_teardown(nothing_becomes_negative, start, end),
	    cmocka_unit_test_setup_teardown(impossible_costs_are_not_believed, start, end),
	    cmocka_unit_test_setup_teardown(the_inner_part_is_estimated, start, end),
	    cmocka_unit_test_setup_teardown(events_come_off_along_each_thread, start, end),
	    cmocka_unit_test_setup_teardown(waiting_is_nobodys_own_time, start, end),
	    cmocka_unit_test_setup_teardown(who_waited_cannot_be_told, start, end),
	    cmocka_unit_test_setup_teardown(preemption_is_off_all_alike, start, end),
	    cmocka_unit_test_setup_teardown(sampled_functions_are_scaled_up, start, end),
	    cmocka_unit_test_setup_teardown(exact_calls_replace_others, start, end),
	    cmocka_unit_test_setup_teardown(names, start, end),
	    cmocka_unit_test_setup_teardown(samples_as_text, start, end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
