// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the check of a list finds, and what it says about it.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "list_fixture.h"
#include "allowlists/check/check.h"

/* The findings of LIST for PROGRAM as "LINE kind severity: what | remedy\n". */
static struct tp_buf findings(
    const char *program, const char *list, const struct tp_list_check_options *options)
{
	static const struct tp_list_check_options none;
	struct fixture fixture;
	struct tp_list_check check;
	struct tp_buf text;
	tp_buf_init(&text);
	fixture_init(&fixture, program, list);
	assert_int_equal(
	    tp_list_check_init(&check, &fixture.use, options ? options : &none, NULL), 0);
	uint32_t counts[TP_SEVERITY_ERROR + 1] = {0};
	for (uint32_t i = 0; i < check.count; i++) {
		const struct tp_finding *finding = &check.findings[i];
		const uint32_t line = finding->line == TP_LINE_NONE
					  ? 0
					  : tp_allowlist_line(fixture.list, finding->line).line;
		tp_buf_addf(&text, "%u %s %s: %s | %s\n", line, tp_finding_kind_name(finding->kind),
		    tp_severity_name(finding->severity), finding->what,
		    finding->remedy ? finding->remedy : "");
		counts[finding->severity]++;
	}
	assert_memory_equal(counts, check.counts, sizeof(counts));
	tp_list_check_release(&check);
	fixture_release(&fixture);
	return text;
}

static void expect(const char *list, const char *wanted)
{
	struct tp_buf got = findings(FIXTURE_PROGRAM, list, NULL);
	if (strcmp(got.data, wanted) != 0)
		fail_msg("of\n%sit says\n%snot\n%s", list, got.data, wanted);
	tp_buf_release(&got);
}

static void clean(void **state)
{
	(void)state;
	expect("fun:parse\nsrc:src/lexer.cc=count\nname:run\n", "");
	expect("default:allow\nfun:digit=skip\nfun:unused=forbid\n", "");
	expect("src:*\n",
	    "1 partly-inlined note: 1 of the 9 functions that match were also inlined elsewhere, "
	    "and calls there are not recorded: 'parse_line' into 'parse' | \n");
}

static void gone(void **state)
{
	(void)state;
	expect("fun:parse\nfun:digit\n",
	    "2 inlined warning: 'digit' was inlined into 'parse' (3 times) and 'parse_line' and is "
	    "no longer a function of its own: nothing is recorded | write 'fun:digit=force' to "
	    "keep it from being inlined, or list the functions that contain it: 'fun:parse', "
	    "'fun:parse_line'\n");
	expect("fun:parse\nfun:digit=force\n",
	    "2 inlined warning: 'digit' was inlined into 'parse' (3 times) and 'parse_line' and is "
	    "no longer a function of its own: nothing is recorded | it was compiled without this "
	    "line, or is declared always_inline\n");
	expect("fun:parse\nfun:unused=count\n",
	    "2 removed warning: 'unused' was removed by the compiler: nothing is recorded | it is "
	    "not called, or was inlined completely: '=force' keeps its calls, if there are any\n");
	expect("fun:parse\nfun:{digit,unused}\n",
	    "2 inlined warning: all 2 functions that match were inlined or removed: 'digit' into "
	    "'parse' (3 times) and 'parse_line'; and 1 more | '=force' keeps functions from being "
	    "inlined, at a cost\n");
	expect("fun:parse_line\n",
	    "1 partly-inlined warning: 'parse_line' was also inlined into 'parse': calls there are "
	    "not recorded | write 'fun:parse_line=force' to keep it from being inlined, or list "
	    "the functions that contain it: 'fun:parse'\n");
}

static void ambiguous(void **state)
{
	(void)state;
	expect("fun:init=count\n",
	    "1 ambiguous warning: 2 functions are named 'init': src/lexer.cc:7, src/parse.c:6 | to "
	    "select one, add its source: 'fun:init@src:src/lexer.cc=count'\n");
	expect("fun:init@src:src/parse.c\n", "");
	expect("fun:ini*\n", "");
}

static void shadowed(void **state)
{
	(void)state;
	expect("fun:parse=count\nsrc:*/parse.c=skip\nname:run\n",
	    "1 shadowed warning: this line has no effect: line 2, 'src:*/parse.c=skip', decides "
	    "about the function that it matches | the last line that matches decides: move this "
	    "one down, or remove it\n");
	expect("fun:parse\nfun:par?e\n",
	    "1 shadowed note: this line has no effect: line 2, 'fun:par?e', says the same about "
	    "the "
	    "function that it matches | \n");
	expect("fun:parse=forbid\nname:run\nfun:parse\n",
	    "3 shadowed warning: this line has no effect: line 1, 'fun:parse=forbid', decides "
	    "about the function that it matches | 'forbid' overrides every other line\n");
	expect("fun:parse=sample/16\nfun:par?e=sample/32\n",
	    "1 shadowed warning: this line has no effect: line 2, 'fun:par?e=sample/32', decides "
	    "about the function that it matches | the last line that matches decides: move this "
	    "one down, or remove it\n");
}

static void empty(void **state)
{
	(void)state;
	expect("fun:parse=skip\n",
	    "0 empty warning: nothing is instrumented: the list selects none of the program's 7 "
	    "functions"
	    " | functions are instrumented if the last line that matches them says allow, "
	    "sample, count or force, or 'default:allow' does\n");
	expect("default:count\n", "");
}

static void near_misses(void **state)
{
	(void)state;
	static const struct {
		const char *line;
		const char *remedy;
	} cases[] = {
	    {"fun:pasre", "did you mean 'fun:parse' (src/parse.c:10)?"},
	    {"fun:parse_lines", "did you mean 'fun:parse_line' (src/parse.c:20)?"},
	    {"fun:_ZN5Lexer4nextEl",
		"did you mean 'fun:_ZN5Lexer4nextEi', which is Lexer::next(int) "
		"(src/lexer.cc:30)?"},
	    {"fun:run", "fun: takes linkage names: 'fun:_Z3runv' is run()"},
	    {"fun:next", "fun: takes linkage names: 'fun:_ZN5Lexer4nextEi' is Lexer::next(int)"},
	    {"fun:Lexer::next",
		"fun: takes linkage names: 'fun:_ZN5Lexer4nextEi' is Lexer::next(int)"},
	    {"fun:Lexer::n*", "fun: takes linkage names; 'name:Lexer::n*' matches 2 functions by "
			      "their demangled names"},
	    {"fun:^parse.*$", "lists have globs, not regular expressions: 'fun:parse*' matches 2 "
			      "functions"},
	    {"fun:(parse|digit)", "lists have globs, not regular expressions: 'fun:{parse,digit}' "
				  "matches 2 functions"},
	    {"name:Lexer::nxet", "did you mean 'name:Lexer::next(int)' (src/lexer.cc:30)?"},
	    {"src:parse.c", "the whole path must match: 'src:*/parse.c' matches src/parse.c"},
	    {"src:/build/proj/src/lex*",
		"paths are those of the compiler's command line: 'src:src/lex*' matches "
		"src/lexer.cc"},
	    {"fun:init@src:main.c", "'fun:init' alone matches 2 functions: init in src/lexer.cc"},
	    {"fun:ab", ""},
	    {"fun:something_else", ""},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char list[128];
		snprintf(list, sizeof(list), "%s\nfun:parse\n", cases[i].line);
		struct tp_buf got = findings(FIXTURE_PROGRAM, list, NULL);
		const char *remedy = strstr(got.data, " | ");
		char wanted[256];
		snprintf(wanted, sizeof(wanted), " | %s\n", cases[i].remedy);
		if (strncmp(got.data, "1 no-match warning: ", 20) != 0 || !remedy ||
		    strcmp(remedy, wanted) != 0)
			fail_msg("of '%s' it says '%s'", cases[i].line, got.data);
		tp_buf_release(&got);
	}
}

static void suspicious(void **state)
{
	(void)state;
	expect("name:*[abi:cxx11]*\n",
	    "1 suspicious warning: in a glob, '[abi:' starts a set of letters, of which one "
	    "matches | to match the name, write a backslash before '[' and ']'\n1 partly-inlined "
	    "note: 1 of the 7 functions that match were also inlined elsewhere, and calls there "
	    "are not recorded: 'parse_line' into 'parse' | \n");
	expect("name:*\\[abi:cxx11\\]*\n", "");
}

// Findings that need no program, and those of lists that are meant for it.
static bool is_shared(const char *file)
{
	return strcmp(file, "test.allow") == 0;
}

static void options(void **state)
{
	(void)state;
	struct tp_buf got = findings("", "fun:nothing\nname:a[abi:cxx11]\n", NULL);
	assert_string_equal(got.data,
	    "2 suspicious warning: in a glob, '[abi:' starts a set of letters, of which one "
	    "matches | to match the name, write a backslash before '[' and ']'\n");
	tp_buf_release(&got);
	struct tp_list_check_options options = {.is_general = is_shared};
	got = findings(FIXTURE_PROGRAM, "fun:nothing\nfun:digit\nfun:parse\n", &options);
	assert_true(strncmp(got.data, "2 inlined", 9) == 0);
	tp_buf_release(&got);
	options.lenient[TP_FINDING_INLINED] = true;
	got = findings(FIXTURE_PROGRAM, "fun:nothing\nfun:digit\nfun:parse\n", &options);
	assert_string_equal(got.data, "");
	tp_buf_release(&got);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(clean),
	    cmocka_unit_test(gone),
	    cmocka_unit_test(ambiguous),
	    cmocka_unit_test(shadowed),
	    cmocka_unit_test(empty),
	    cmocka_unit_test(near_misses),
	    cmocka_unit_test(suspicious),
	    cmocka_unit_test(options),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
