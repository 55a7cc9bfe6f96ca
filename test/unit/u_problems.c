// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The list of problems: the first ones are kept, all are counted.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/err.h"

static void the_first_are_kept(void **state)
{
	(void)state;
	static struct tp_problems problems;
	assert_int_equal(tp_problems_kept(&problems), 0);
	for (int i = 0; i < TP_PROBLEMS_KEPT + 5; i++)
		tp_problems_add_at(
		    &problems, TP_ERR_FORMAT, "file", (uint64_t)i, "number %d of %s", i, "many");
	assert_int_equal(problems.count, TP_PROBLEMS_KEPT + 5);
	assert_int_equal(tp_problems_kept(&problems), TP_PROBLEMS_KEPT);
	assert_string_equal(problems.kept[0].what, "number 0 of many");
	const struct tp_err *last = &problems.kept[TP_PROBLEMS_KEPT - 1];
	assert_string_equal(last->what, "number 31 of many");
	assert_string_equal(last->file, "file");
	assert_int_equal(last->offset, 31);
	assert_int_equal(last->code, TP_ERR_FORMAT);
}

static void a_percent_sign_is_text(void **state)
{
	(void)state;
	static struct tp_problems problems;
	tp_problems_add(&problems, TP_ERR_SYNTAX, NULL, "%s", "100%n%s");
	assert_string_equal(problems.kept[0].what, "100%n%s");
	assert_string_equal(problems.kept[0].file, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_first_are_kept),
	    cmocka_unit_test(a_percent_sign_is_text),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
