// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What views and exports share, and their limits: order, rows, depth, shares, deep and wide trees.
// The numbers of each view are in test/golden.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/trace/text/dump_text.h"
#include "analyzer/output/format/export.h"
#include "analyzer/output/format/flame_layout.h"
#include "analyzer/output/view.h"

static struct tp_buf file;
static struct tp_buf out;
static struct tp_tracefile trace;
static struct tp_analysis analysis;
static struct tp_err err;

static void open_trace(const char *text)
{
	const struct tp_analysis_options options = {0};
	tp_buf_init(&file);
	tp_buf_init(&out);
	if (tp_dump_assemble(text, strlen(text), "text", &file, &err))
		fail_msg("line %u: %s", err.line, err.what);
	assert_int_equal(tp_tracefile_from_memory(&trace, "trace", file.data, file.size, &err), 0);
	assert_int_equal(tp_analysis_init(&analysis, &trace, &options, &err), 0);
}

static void end(void)
{
	tp_analysis_release(&analysis);
	tp_tracefile_close(&trace);
	tp_buf_release(&file);
	tp_buf_release(&out);
}

static const char *show(const char *name, struct tp_view_options options)
{
	const struct tp_view *view = tp_view_find(name);
	assert_non_null(view);
	tp_buf_reset(&out);
	assert_int_equal(tp_view_render(view, &analysis, &options, &out, &err), 0);
	assert_false(out.failed);
	return out.data;
}

static const char *export_by(const char *name, enum tp_weight weight)
{
	const struct tp_export_options options = {.weight = weight};
	const struct tp_export *const *found = tp_exports();
	while (*found && strcmp((*found)->name, name) != 0)
		found++;
	assert_non_null(*found);
	tp_buf_reset(&out);
	assert_int_equal(tp_export_render(*found, &analysis, &options, &out, &err), 0);
	assert_false(out.failed);
	return out.data;
}

static const char *export(const char *name)
{
	return export_by(name, TP_WEIGHT_SELF);
}

// Not with strstr, which the address sanitizer makes quadratic.
static uint32_t count(const char *text, const char *what)
{
	const size_t size = strlen(what);
	uint32_t found = 0;
	for (; (text = strchr(text, what[0])); text++)
		found += strncmp(text, what, size) == 0;
	return found;
}

static const char three[] = "clock kind=tsc hz=1000000000\n"
			    "symbols\n	symbol 0x1000 b\n	symbol 0x2000 a\n"
			    "	symbol 0x3000 c\n"
			    "chunk\n"
			    "	0 enter b\n	2 enter a\n	12 exit a\n	12 enter a\n"
			    "	22 exit a\n	52 exit b\n"
			    "	60 enter c\n	92 exit c\n"
			    "end\n";

static void orders(void **state)
{
	(void)state;
	// self: b 32, c 32, a 20; inclusive: b 52, c 32, a 20; mean: b 52, c 32, a 10.
	static const struct {
		enum tp_sort sort;
		const char *order;
	} cases[] = {
	    {TP_SORT_SELF, "bca"}, // equal ones by name
	    {TP_SORT_INCLUSIVE, "bca"},
	    {TP_SORT_CALLS, "abc"},
	    {TP_SORT_MEAN, "bca"},
	    {TP_SORT_MIN, "bca"},
	    {TP_SORT_MAX, "bca"},
	    {TP_SORT_P50, "bca"},
	    {TP_SORT_P99, "bca"},
	    {TP_SORT_NAME, "abc"},
	};
	open_trace(three);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *text = show("top",
		    (struct tp_view_options){.sort = cases[i].sort, .format = TP_FORMAT_CSV});
		for (int j = 0; j < 3; j++) {
			text = strchr(text, '\n') + 1;
			assert_int_equal(text[0], cases[i].order[j]);
		}
	}
	end();
}

// Functions that were only counted have no times: they come behind those that have, by calls.
static void what_has_no_times_comes_last(void **state)
{
	(void)state;
	static const struct {
		enum tp_sort sort;
		const char *order;
	} cases[] = {
	    {TP_SORT_SELF, "afdceb"},
	    {TP_SORT_INCLUSIVE, "afdceb"},
	    {TP_SORT_MEAN, "fadceb"},
	    {TP_SORT_MIN, "fadceb"},
	    {TP_SORT_MAX, "fadceb"},
	    {TP_SORT_CALLS, "dcaefb"},
	    {TP_SORT_NAME, "abcdef"},
	};
	open_trace(
	    "clock kind=tsc hz=1000000000\n"
	    "symbols\n	symbol 0x1000 a\n	symbol 0x2000 b\n	symbol 0x3000 c\n"
	    "	symbol 0x4000 d\n	symbol 0x5000 e\n	symbol 0x6000 f\n"
	    "chunk\n"
	    "	0 enter a\n	2 exit a\n	2 enter a\n	4 exit a\n	5 enter f\n	8 "
	    "exit f\n"
	    "	counts 5\n	count b 0\n	count c 5\n	count d 6\n	count e "
	    "1\n	count a 2\n"
	    "end\n");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *text = show("top",
		    (struct tp_view_options){.sort = cases[i].sort, .format = TP_FORMAT_CSV});
		for (int j = 0; j < 6; j++) {
			text = strchr(text, '\n') + 1;
			assert_int_equal(text[0], cases[i].order[j]);
		}
	}
	end();
}

static void without_a_clock_calls_decide(void **state)
{
	(void)state;
	open_trace("clock kind=none\n"
		   "chunk\n	0 enter 0x1000\n	0 enter 0x2000\n	0 exit 0x2000\n"
		   "	0 enter 0x2000\n	0 exit 0x2000\n	0 exit 0x1000\nend\n");
	for (int sort = TP_SORT_SELF; sort <= TP_SORT_P99; sort++) {
		const struct tp_view_options csv = {
		    .sort = (enum tp_sort)sort, .format = TP_FORMAT_CSV};
		assert_non_null(strstr(show("top", csv),
		    ",inclusive_estimated_pm_ns\n0x2000,2,,,,,,,0,,0x2000,2,,,,,"));
	}
	// Half a percent of no time leaves nothing out.
	const struct tp_view_options tree = {.format = TP_FORMAT_CSV, .min_share = 0.005};
	assert_int_equal(count(show("tree", tree), "\n"), 1 + 2);
	assert_string_equal(
	    export_by("folded", TP_WEIGHT_CALLS), "program;0x1000 1\nprogram;0x1000;0x2000 2\n");
	assert_string_equal(export("folded"), "");
	end();
}

static void limits(void **state)
{
	(void)state;
	open_trace(three);
	struct tp_view_options options = {.format = TP_FORMAT_CSV, .limit = 2};
	assert_int_equal(count(show("top", options), "\n"), 1 + 2);
	assert_int_equal(count(show("tree", options), "\n"), 1 + 2);
	options.limit = 0;
	assert_int_equal(count(show("tree", options), "\n"), 1 + 3);
	options.min_share = 0.3; // a has 20 of 84
	assert_int_equal(count(show("tree", options), "\n"), 1 + 2);
	options = (struct tp_view_options){.limit = 1};
	assert_non_null(strstr(show("top", options), "(2 more: --limit 0 shows all)\n"));
	options = (struct tp_view_options){.min_share = 0.3};
	assert_non_null(strstr(show("tree", options), "(1 lighter branches left out:"));
	end();
}

static void tables_of_views_end(void **state)
{
	(void)state;
	uint32_t views = 0;
	uint32_t exports = 0;
	for (; tp_views()[views]; views++)
		assert_ptr_equal(tp_view_find(tp_views()[views]->name), tp_views()[views]);
	while (tp_exports()[exports])
		exports++;
	assert_true(views >= 3);
	assert_true(exports >= 2);
	assert_null(tp_view_find("to"));
}

static void what_limits_the_numbers_is_said(void **state)
{
	(void)state;
	open_trace("threads\n	thread lost=1234\n"
		   "chunk\n	5 enter 0x1000\n	4 exit 0x2000\n	empty\nend\n");
	tp_view_add_header(&analysis, true, &out);
	assert_string_equal(out.data,
	    "lost       1,234 events: times and counts are too low\nunmatched  1 exit without a "
	    "call\nunmatched  1 time that runs backwards\nunmatched  1 word was never "
	    "written\nopen       1 call had not ended: times until their thread or the "
	    "recording ended count: thread 0 in 0x1000; see --view stacks\nunit      "
	    " ticks: the rate of the clock is not known\n");
	end();
	open_trace(three);
	tp_view_add_header(&analysis, true, &out);
	assert_string_equal(out.data, "");
	end();
}

static void switches_that_are_missing(void **state)
{
	(void)state;
	static const char said[] =
	    "missed     1,234 switches were too quick to be recorded: calls near ";
	open_trace("host\n	line \"switches_missed=1234\"\nclock hz=1000000000\n"
		   "chunk\n	0 enter 0x1000\n	5 exit 0x1000\nend\n");
	tp_view_add_header(&analysis, true, &out);
	assert_memory_equal(out.data, said, sizeof(said) - 1);
	end();
}

static void why_a_trace_is_empty(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		const char *why;
	} cases[] = {
	    {"end attach=0\n",
		"the program is not built with 'teeperf cc', or its allowlist selects nothing"},
	    {"host\n	line \"on_start=off\"\nend\n",
		"recording was never switched on: see teeperf-ctl(1)"},
	    {"host\n	line \"on_start=on\"\nend\n", "no instrumented function was called"},
	    {"host\n	line \"on_start=off\"\nswitches\n	on 5\nend\n",
		"no instrumented function was called"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char line[200];
		open_trace(cases[i].text);
		tp_view_add_header(&analysis, true, &out);
		const int size = snprintf(line, sizeof(line), "empty      %s\n", cases[i].why);
		assert_memory_equal(out.data, line, (size_t)size);
		end();
	}
	// Counts alone are not nothing.
	open_trace("clock hz=1000000000\nchunk\n	counts 1\n	count 0x1000 5\nend\n");
	tp_view_add_header(&analysis, true, &out);
	assert_null(strstr(out.data, "empty"));
	end();
}

// A tick may be longer than a call: the mean is still that of the calls.
static void means_of_slow_clocks(void **state)
{
	(void)state;
	open_trace("clock kind=soft-count hz=1000000\n"
		   "chunk\n	0 enter 0x1000\n	1 exit 0x1000\n	1 enter 0x1000\n"
		   "	exit 0x1000\n	1 enter 0x1000\n	1 exit 0x1000\n"
		   "	1 enter 0x1000\n	1 exit 0x1000\n"
		   "	1 enter 0x2000\n	1 exit 0x2000\nend\n");
	const struct tp_view_options options = {.sort = TP_SORT_MEAN};
	const char *text = show("top", options);
	const char *first = strstr(text, "250 ns");
	assert_non_null(first);
	assert_non_null(strstr(first, "0x2000"));
	end();
}

// The health of a soft clock: shown of each, a warning only if it matters.
static void the_health_of_the_clock(void **state)
{
	(void)state;
	static const struct {
		const char *clock;
		const char *health;
		const char *trouble;
	} cases[] = {
	    {"kind=tsc hz=1000000000 stores=5 max-gap=6 starved=900000", "", ""},
	    {"kind=soft-tsc hz=1000000000 period=100 stores=5 max-gap=200 starved=0",
		"clock      soft-tsc, 1000 MHz, stored every 100 ns, longest gap 200 ns, starved "
		"0% of the run\n",
		""},
	    {"kind=soft-monotonic hz=1000000000 stores=5 max-gap=20000 starved=9900",
		"clock      soft-monotonic, 1000 MHz, stored without a pause, longest gap 20.00 "
		"us, starved 0.99% of the run\n",
		""},
	    {"kind=soft-tsc hz=1000000000 period=100 stores=5 max-gap=20000 starved=10000",
		"clock      soft-tsc, 1000 MHz, stored every 100 ns, longest gap 20.00 us, starved "
		"1% of the run\n",
		"coarse     times are coarse for 1% of the run: the clock's thread had no "
		"processor for up to 20.00 us; reserve one for it, or use a hardware clock\n"},
	    {"kind=soft-tsc hz=1000000000 period=100 stores=5 max-gap=1 "
	     "starved=18446744073709551615",
		"clock      soft-tsc, 1000 MHz, stored every 100 ns, longest gap 1 ns, starved "
		"100% of the run\n",
		"coarse     times are coarse for 100% of the run: the clock's thread had no "
		"processor for up to 1 ns; reserve one for it, or use a hardware clock\n"},
	    {"kind=soft-tsc hz=1000000000 period=100",
		"clock      soft-tsc, 1000 MHz, stored every 100 ns, health unknown\n", ""},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[300];
		snprintf(text, sizeof(text),
		    "clock %s\nchunk\n	0 enter 0x1000\n	5 exit 0x1000\nend start=1 "
		    "end=1000001\n",
		    cases[i].clock);
		open_trace(text);
		tp_view_add_health(&analysis, &out);
		assert_string_equal(out.data, cases[i].health);
		tp_buf_reset(&out);
		tp_view_add_header(&analysis, true, &out);
		assert_string_equal(out.data, cases[i].trouble);
		end();
	}
}

static void a_command_line_does_not_steer_the_terminal(void **state)
{
	(void)state;
	open_trace("command\n	string \"/\"\n	string \"prog\"\n"
		   "	string \"\\x1b[2J\\x0a\\x7f\"\nend exit-kind=2 exit-value=9\n");
	tp_view_add_header(&analysis, false, &out);
	static const char expected[] = "program    prog ?[2J?? (killed by signal 9)\n";
	assert_memory_equal(out.data, expected, sizeof(expected) - 1);
	end();
}

// A path of a hundred thousand calls, and a node with as many children.
static void deep_and_wide_trees(void **state)
{
	(void)state;
	enum { SIZE = 100000, CHUNK_CALLS = 4000 };
	for (int wide = 0; wide < 2; wide++) {
		struct tp_buf text;
		tp_buf_init(&text);
		for (uint32_t i = 0; i < SIZE; i++) {
			if (i % CHUNK_CALLS == 0)
				tp_buf_addf(&text, "chunk sequence=%u\n", i / CHUNK_CALLS);
			const uint32_t name = 4096 + 4 * (wide ? i : i % 3);
			tp_buf_addf(&text, "%u enter %u\n", i, name);
			if (wide)
				tp_buf_addf(&text, "exit %u\n", name);
		}
		tp_buf_add_string(&text, "end\n");
		open_trace(text.data);
		tp_buf_release(&text);
		const struct tp_view_options csv = {.format = TP_FORMAT_CSV};
		assert_int_equal(count(show("tree", csv), "\n"), 1 + SIZE);
		// All callers of all calls of the deep one would be 5,000,000,000 rows.
		const struct tp_view_options some = {.format = TP_FORMAT_CSV, .limit = 10};
		assert_int_equal(count(show("inverted", some), "\n"), 1 + 10);
		const struct tp_view *view = tp_view_find("inverted");
		if (!wide) {
			tp_buf_reset(&out);
			assert_int_equal(
			    tp_view_render(view, &analysis, &csv, &out, &err), TP_ERR_LIMIT);
		}
		const struct tp_view_options one = {
		    .format = TP_FORMAT_CSV, .function = wide ? "0x1000" : "0x100?"};
		// Each has one caller and one callee, but the first also begins the thread.
		assert_int_equal(count(show("function", one), "\n"), wide ? 3 : 1 + 9 + 1);
		// Of the deep one as many rows as are drawn, of the wide one the root alone.
		const char *svg = export("flamegraph");
		assert_int_equal(count(svg, "class=\"frame\""), wide ? 1 : 600);
		assert_non_null(
		    strstr(svg, wide ? "; 100,000 branches too narrow or deep to be drawn"
				     : "; 1 branch too narrow or deep to be drawn"));
		end();
	}
}

static void flame_graphs_of_nothing(void **state)
{
	(void)state;
	open_trace("end\n");
	const char *svg = export("flamegraph");
	assert_int_equal(count(svg, "class=\"frame\""), 1);
	assert_int_equal(count(svg, "nan"), 0);
	assert_int_equal(count(svg, "inf<"), 0);
	assert_string_equal(export("folded"), "");
	end();
	// A call that took no time at all.
	open_trace("chunk\n	5 enter 0x1000\n	5 exit 0x1000\nend\n");
	svg = export("flamegraph");
	assert_int_equal(count(svg, "class=\"frame\""), 1);
	assert_int_equal(count(svg, "nan"), 0);
	end();
}

// The style is XML text, and the script stands in a CDATA section.
static void style_and_script_can_stand_in_xml(void **state)
{
	(void)state;
	assert_null(strpbrk(tp_flame_style, "<&"));
	assert_null(strstr(tp_flame_script, "]]>"));
	assert_null(strstr(tp_flame_script, "http:"));
	assert_null(strstr(tp_flame_script, "innerHTML"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(orders),
	    cmocka_unit_test(what_has_no_times_comes_last),
	    cmocka_unit_test(without_a_clock_calls_decide),
	    cmocka_unit_test(limits),
	    cmocka_unit_test(tables_of_views_end),
	    cmocka_unit_test(what_limits_the_numbers_is_said),
	    cmocka_unit_test(switches_that_are_missing),
	    cmocka_unit_test(why_a_trace_is_empty),
	    cmocka_unit_test(means_of_slow_clocks),
	    cmocka_unit_test(the_health_of_the_clock),
	    cmocka_unit_test(a_command_line_does_not_steer_the_terminal),
	    cmocka_unit_test(deep_and_wide_trees),
	    cmocka_unit_test(flame_graphs_of_nothing),
	    cmocka_unit_test(style_and_script_can_stand_in_xml),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
