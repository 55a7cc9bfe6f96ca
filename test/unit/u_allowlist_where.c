// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Predicates of where: lines: which hold, and which are refused, with place and message.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "allowlists/language/list.h"

#include <stdio.h>
#include <string.h>

static const struct tp_facts facts = {
    .instrs = 20, .blocks = 3, .loops = 1, .depth = 2, .calls = 0, .linkage = "linkonce_odr"};

static void test_holds(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		bool holds;
	} cases[] = {
	    {"instrs<21", true},
	    {"instrs<20", false},
	    {"instrs<=20", true},
	    {"instrs<=19", false},
	    {"instrs>19", true},
	    {"instrs>20", false},
	    {"instrs>=20", true},
	    {"instrs>=21", false},
	    {"instrs=20", true},
	    {"instrs=21", false},
	    {"instrs!=21", true},
	    {"instrs!=20", false},
	    {"blocks=3", true},
	    {"loops=1", true},
	    {"depth=2", true},
	    {"calls=0", true},
	    {"blocks=2", false},
	    {"loops=2", false},
	    {"depth=1", false},
	    {"calls=1", false},
	    {"linkage=linkonce_odr", true},
	    {"linkage=linkonce", false},
	    {"linkage!=external", true},
	    {"linkage!=linkonce_odr", false},
	    {"instrs<21,loops=1,calls=0", true},
	    {"instrs<21,loops=1,calls=1", false},
	    {"instrs<20,loops=1,calls=0", false},
	    {" instrs  <  21 ,\tloops = 1 ", true},
	    {"instrs<999999999999999999", true},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tp_arena arena;
		struct tp_where_error error;
		tp_arena_init(&arena);
		const struct tp_where *where =
		    tp_where_parse(&arena, cases[i].text, strlen(cases[i].text), &error);
		if (!where)
			fail_msg("'%s': %s", cases[i].text, error.what);
		if (tp_where_holds(where, &facts) != cases[i].holds)
			fail_msg("'%s' does not give %d", cases[i].text, cases[i].holds);
		tp_arena_release(&arena);
	}
}

static void test_unknown_linkage(void **state)
{
	(void)state;
	struct tp_arena arena;
	struct tp_where_error error;
	const struct tp_facts unknown = {0};
	tp_arena_init(&arena);
	assert_false(tp_where_holds(tp_where_parse(&arena, "linkage=weak", 12, &error), &unknown));
	assert_true(tp_where_holds(tp_where_parse(&arena, "linkage!=weak", 13, &error), &unknown));
	tp_arena_release(&arena);
}

static void test_errors(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		size_t offset;
		const char *what;
	} cases[] = {
	    {"", 0, "unknown fact '' in where:"},
	    {"size<3", 0, "unknown fact 'size' in where:"},
	    {"instrs<3,", 9, "unknown fact '' in where:"},
	    {"instrs", 6, "missing comparison"},
	    {"instrs 3", 7, "missing comparison"},
	    {"instrs<", 7, "nothing to compare with; expected a number"},
	    {"linkage=", 8, "nothing to compare with; expected a linkage"},
	    {"instrs<3x", 7, "'3x' is not a number"},
	    {"instrs<-3", 7, "nothing to compare with"},
	    {"instrs<1000000000000000000", 7, "the number is too large"},
	    {"linkage=static", 8, "unknown linkage 'static'"},
	    {"linkage<weak", 7, "a linkage has no order"},
	    {"instrs<3;loops=0", 8, "expected ','"},
	    {"instrs<3 loops=0", 9, "expected ','"},
	    {"instrs<3=alow", 9, "unknown category"},
	    {"calls=1,calls=1,calls=1,calls=1,calls=1,calls=1,calls=1,calls=1,calls=1,calls=1,"
	     "calls=1,calls=1,calls=1,calls=1,calls=1,calls=1,calls=1",
		128, "more than 16 predicates"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tp_arena arena;
		struct tp_where_error error;
		tp_arena_init(&arena);
		assert_null(tp_where_parse(&arena, cases[i].text, strlen(cases[i].text), &error));
		if (error.offset != cases[i].offset ||
		    strncmp(error.what, cases[i].what, strlen(cases[i].what)) != 0)
			fail_msg("'%s': at %zu: %s", cases[i].text, error.offset, error.what);
		tp_arena_release(&arena);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_holds),
	    cmocka_unit_test(test_unknown_linkage),
	    cmocka_unit_test(test_errors),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
