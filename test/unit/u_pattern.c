// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Globs for demangled names: what a template returns and its parameters may be left out, and no
// more.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/trace/text/dump_text.h"
#include "analyzer/profile/pattern.h"

static bool matches(const char *text, const char *name, const char *linkage)
{
	const struct tp_symbol symbol = {.name = name, .linkage = linkage};
	struct tp_pattern pattern;
	struct tp_err err;
	assert_int_equal(tp_pattern_init(&pattern, text, &err), 0);
	const bool found = tp_pattern_matches(&pattern, &symbol);
	tp_pattern_release(&pattern);
	return found;
}

static void results_may_be_left_out(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		const char *name;
		bool matches;
	} cases[] = {
	    {"apply*", "int apply<int, long>(int, long)", true},
	    {"apply<int, long>", "int apply<int, long>(int, long)", true},
	    {"apply<int, long>(int, long)", "int apply<int, long>(int, long)", true},
	    {"int apply*", "int apply<int, long>(int, long)", true},
	    {"*>(int, long)", "int apply<int, long>(int, long)", true},
	    {"long>*", "int apply<int, long>(int, long)", false},
	    {"b::f*", "std::map<int, a b> const& b::f<(c > d)>(int) const", true},
	    {"const& *", "std::map<int, a b> const& b::f<(c > d)>(int) const", false},
	    {"f<*", "decltype (a->b) f<int>(int)", true},
	    {"f<*", "decltype (a<b) f<int>(int)", true},
	    {"(anonymous namespace)::f*", "void (anonymous namespace)::f<int>(int)", true},
	    {"namespace)*", "void (anonymous namespace)::f<int>(int)", false},
	    {"bool", "A::operator bool()", false},
	    {"bool", "A::operator bool() const", false},
	    {"A::operator bool", "A::operator bool() const", true},
	    {"*", "bool operator< <int>(A<int> const&)", true},
	    {"<int>", "bool operator< <int>(A<int> const&)", false},
	    {"my_operator*", "int my_operator<int>(int)", true},
	    {"f*", "int >f<int>(int)", false}, // not well formed
	    {"f", "int ", false},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (matches(cases[i].text, cases[i].name, "_Z1x") != cases[i].matches)
			fail_msg("'%s' and '%s'", cases[i].text, cases[i].name);
	// What was not demangled is a name from its beginning to its end.
	assert_false(matches("b", "a b", "a b"));
	assert_false(matches("b", "a b", ""));
}

static void errors_offer_names(void **state)
{
	(void)state;
	static const char program[] =
	    "clock kind=tsc hz=1000000000\n"
	    "symbols\n\tsymbol 0x1000 main\n\tsymbol 0x2000 the_parse_url\n"
	    "\tsymbol 0x3000 Parse\n\tsymbol 0x4000 parse_all\n"
	    "\tsymbol 0x5000 reparse\n"
	    "chunk\n\t0 enter main\n\t1 enter the_parse_url\n\t2 enter Parse\n"
	    "\t3 enter parse_all\n\t4 enter reparse\nend\n";
	struct tp_buf file;
	struct tp_tracefile trace;
	struct tp_analysis analysis;
	struct tp_err err;
	tp_buf_init(&file);
	assert_int_equal(tp_dump_assemble(program, strlen(program), "text", &file, &err), 0);
	assert_int_equal(tp_tracefile_from_memory(&trace, "trace", file.data, file.size, &err), 0);
	assert_int_equal(
	    tp_analysis_init(&analysis, &trace, &(struct tp_analysis_options){0}, &err), 0);
	assert_int_equal(tp_pattern_fail("parse?", &analysis, &err), TP_ERR_NOT_FOUND);
	assert_non_null(strstr(err.what, "; similar names: 'Parse', 'reparse', 'parse_all'"));
	assert_null(strstr(err.what, "the_parse_url"));
	assert_int_equal(tp_pattern_fail("nothing*", &analysis, &err), TP_ERR_NOT_FOUND);
	assert_null(strstr(err.what, "there is"));
	assert_int_equal(tp_pattern_fail("*", &analysis, &err), TP_ERR_NOT_FOUND);
	assert_null(strstr(err.what, "there is"));
	tp_analysis_release(&analysis);
	tp_tracefile_close(&trace);
	tp_buf_release(&file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(results_may_be_left_out),
	    cmocka_unit_test(errors_offer_names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
