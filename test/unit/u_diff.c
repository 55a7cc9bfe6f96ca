// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Comparing runs: functions that have moved are the same, those of other modules are not; paths;
// rules.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <math.h>

#include "analyzer/profile/diff.h"
#include "analyzer/trace/text/dump_text.h"

#define RUNS 4

static struct tp_buf files[RUNS];
static struct tp_tracefile traces[RUNS];
static struct tp_analysis analyses[RUNS];
static const struct tp_analysis *runs[RUNS];
static struct tp_diff diff;
static struct tp_err err;

static void open_runs(const char *const *texts, uint32_t count, uint32_t before, bool by_path)
{
	const struct tp_analysis_options options = {0};
	for (uint32_t i = 0; i < count; i++) {
		tp_buf_init(&files[i]);
		if (tp_dump_assemble(texts[i], strlen(texts[i]), "text", &files[i], &err))
			fail_msg("line %u: %s", err.line, err.what);
		assert_int_equal(tp_tracefile_from_memory(
				     &traces[i], "trace", files[i].data, files[i].size, &err),
		    0);
		assert_int_equal(tp_analysis_init(&analyses[i], &traces[i], &options, &err), 0);
		runs[i] = &analyses[i];
	}
	assert_int_equal(tp_diff_init(&diff, runs, count, before, by_path, TP_TIME_WALL, &err), 0);
}

static void end(void)
{
	tp_diff_release(&diff);
	for (uint32_t i = 0; i < RUNS; i++) {
		tp_analysis_release(&analyses[i]);
		tp_tracefile_close(&traces[i]);
		tp_buf_release(&files[i]);
	}
}

static struct tp_diff_change change_of(const char *name, enum tp_diff_metric metric)
{
	for (uint32_t i = 0; i < diff.count; i++)
		if (strcmp(diff.items[i].name, name) == 0)
			return tp_diff_change(&diff, i, metric);
	fail_msg("no item '%s'", name);
	return (struct tp_diff_change){0};
}

#define HEAD "clock kind=tsc hz=1000000000\nsymbols\n"
// main 100, of which a 20 twice; and the same where a is elsewhere, slower, and called but once
static const char *const moved[] = {
    HEAD "	symbol 0x1000 main\n	symbol 0x2000 a\n	symbol 0x3000 old\n"
	 "chunk\n	0 enter main\n	10 enter a\n	30 exit a\n	40 enter a\n"
	 "	60 exit a\n	70 enter old\n	71 exit old\n	100 exit main\nend\n",
    HEAD "	symbol 0x7000 main\n	symbol 0x1000 a\n	symbol 0x2000 fresh\n"
	 "chunk\n	0 enter main\n	10 enter a\n	60 exit a\n	70 enter fresh\n"
	 "	75 exit fresh\n	200 exit main\nend\n",
};

static void functions(void **state)
{
	(void)state;
	open_runs(moved, 2, 1, false);
	assert_int_equal(diff.count, 4);
	struct tp_diff_change change = change_of("a", TP_DIFF_SELF);
	assert_true(change.before == 40 && change.after == 50 && change.relative == 0.25);
	assert_true(isnan(change.significance));
	change = change_of("a", TP_DIFF_CALLS);
	assert_true(change.before == 2 && change.after == 1 && change.relative == -0.5);
	change = change_of("main", TP_DIFF_INCLUSIVE);
	assert_true(change.before == 100 && change.after == 200 && change.relative == 1);
	change = change_of("old", TP_DIFF_SELF);
	assert_true(change.before == 1 && change.after == 0 && change.relative == -1);
	change = change_of("fresh", TP_DIFF_SELF);
	assert_true(change.before == 0 && change.after == 5 && isinf(change.relative));
	change = tp_diff_total(&diff);
	assert_true(change.before == 100 && change.after == 200);
	end();
}

static void means_of_several(void **state)
{
	(void)state;
	const char *const texts[] = {moved[0], moved[0], moved[1], moved[0]};
	open_runs(texts, 4, 2, false);
	const struct tp_diff_change change = change_of("a", TP_DIFF_SELF);
	assert_true(change.before == 40 && change.after == 45);
	assert_true(change.significance > 0.4 && change.significance < 0.6);
	end();
}

static void paths(void **state)
{
	(void)state;
	static const char *const texts[] = {
	    HEAD "	symbol 0x1000 r\n	symbol 0x2000 a\n"
		 "chunk\n	0 enter r\n	10 enter r\n	20 exit r\n	30 enter a\n"
		 "	40 exit a\n	50 exit r\n	60 enter a\n	61 exit a\nend\n",
	    HEAD "	symbol 0x1000 r\n	symbol 0x2000 a\n"
		 "chunk\n	0 enter a\n	2 exit a\n	10 enter r\n	15 enter a\n"
		 "	40 exit a\n	50 exit r\nend\n",
	};
	open_runs(texts, 2, 1, true);
	// r, r;r, r;a, a; parents first
	assert_int_equal(diff.count, 4);
	for (uint32_t i = 0; i < diff.count; i++) {
		const uint32_t parent = diff.items[i].parent;
		assert_true(parent == UINT32_MAX || parent < i);
		const struct tp_diff_change change = tp_diff_change(&diff, i, TP_DIFF_INCLUSIVE);
		const bool is_a = diff.items[i].name[0] == 'a';
		if (is_a && parent == UINT32_MAX)
			assert_true(change.before == 1 && change.after == 2);
		else if (is_a)
			assert_true(change.before == 10 && change.after == 25);
		else if (parent == UINT32_MAX)
			assert_true(change.before == 50 && change.after == 40);
		else
			assert_true(change.before == 10 && change.after == 0);
	}
	end();
}

#define MODULES(first, second)                                           \
	"clock kind=tsc hz=1000000000\nmodules\n"                        \
	"\tmodule start=0x1000 end=0x2000 path=\"/nowhere/" first "\"\n" \
	"\tmodule start=0x5000 end=0x6000 path=\"/nowhere/" second "\"\n"
#define IN_MODULES                                        \
	"symbols\n\tsymbol 0x1010 f\n\tsymbol 0x5010 f\n" \
	"chunk\n\t0 enter 0x1010\n\t10 exit 0x1010\n\t10 enter 0x5010\n\t40 exit 0x5010\nend\n"

// The self time of f in a module on both sides.
static void check_module(const char *module, double before, double after)
{
	for (uint32_t i = 0; i < diff.count; i++) {
		if (strcmp(diff.items[i].module, module) != 0)
			continue;
		const struct tp_diff_change change = tp_diff_change(&diff, i, TP_DIFF_SELF);
		if (change.before == before && change.after == after)
			return;
		fail_msg("f in '%s' changes from %g to %g", module, change.before, change.after);
	}
	fail_msg("no module '%s'", module);
}

// The program's file may have been renamed, unless the second run has one of the first one's name
// that is something else.
static void renamed_programs(void **state)
{
	(void)state;
	const char *const renamed[] = {
	    MODULES("app", "libx.so") IN_MODULES, MODULES("app2", "libx.so") IN_MODULES};
	open_runs(renamed, 2, 1, false);
	assert_int_equal(diff.count, 2);
	check_module("app", 10, 10);
	check_module("libx.so", 30, 30);
	end();
	// The newer program loads the older one, which so keeps its functions.
	const char *const both[] = {
	    MODULES("app", "libx.so") IN_MODULES, MODULES("app2", "app") IN_MODULES};
	open_runs(both, 2, 1, false);
	assert_int_equal(diff.count, 3);
	check_module("app", 10, 30);
	check_module("app2", 0, 10);
	check_module("libx.so", 30, 0);
	end();
}

static void rules(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		double before;
		double after;
		bool forbidden;
	} cases[] = {
	    {"self>+5%", 100, 105, false},
	    {"self>+5%", 100, 105.1, true},
	    {"self>5%", 100, 106, true},
	    {"self>+5%", 100, 10, false},
	    {"self<-5%", 100, 90, true},
	    {"self<-5%", 100, 96, false},
	    {"self>+5%", 0, 1, true},
	    {"inclusive>+10us", 100, 10200, true},
	    {"inclusive>+10us", 100, 10100, false},
	    {"calls>+0", 1, 1, false},
	    {"calls>+0", 1, 2, true},
	    {"calls<0", 2, 1, true},
	    {"total>1ms", 0, 1000001, true},
	    {"op:x<y>:calls>+3", 0, 4, true},
	};
	static const char *const bad[] = {"", "self", "self>", ">5%", "self>x", "self>5",
	    "calls>5us", "time>5%", "self>5 %", "self>nan%", "self>0x5%", "a:total>5%", "self=5%",
	    "/(/:self>5%"};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tp_diff_rule rule;
		assert_int_equal(tp_diff_rule_init(&rule, cases[i].text, &err), 0);
		const struct tp_diff_change change = {.before = cases[i].before,
		    .after = cases[i].after,
		    .relative = cases[i].before > 0
				    ? (cases[i].after - cases[i].before) / cases[i].before
				    : INFINITY};
		if (tp_diff_rule_forbids(&rule, &change) != cases[i].forbidden)
			fail_msg("%s: %g to %g", cases[i].text, cases[i].before, cases[i].after);
		tp_diff_rule_release(&rule);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct tp_diff_rule rule;
		if (tp_diff_rule_init(&rule, bad[i], &err) != TP_ERR_SYNTAX)
			fail_msg("'%s' is taken", bad[i]);
		tp_diff_rule_release(&rule);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(functions),
	    cmocka_unit_test(means_of_several),
	    cmocka_unit_test(paths),
	    cmocka_unit_test(renamed_programs),
	    cmocka_unit_test(rules),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
