// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lists: which line decides, the refused lines and their places, and the index against a plain
// walk. One file above 600 lines: tables of cases, and the few functions that all of them use.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "allowlists/language/allowlist.h"
#include "allowlists/language/list.h"
#include "common/buf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct tp_allowlist *parse(const char *text)
{
	struct tp_allowlist *list;
	struct tp_err err;
	char line[1024];
	if (tp_allowlist_parse(&list, text, strlen(text), "x.allow", &err) != 0)
		fail_msg("%s", tp_err_format(&err, line, sizeof(line)));
	return list;
}

// Assert the verdict about a function, whose demangled name and source may be NULL.
static void expect(
    const char *text, const struct tp_subject *subject, enum tp_category category, uint32_t line)
{
	struct tp_allowlist *list = parse(text);
	const struct tp_verdict verdict = tp_allowlist_match(list, subject);
	if (verdict.category != category || verdict.line != line)
		fail_msg("%s by line %u, in:\n%s", tp_category_name(verdict.category), verdict.line,
		    text);
	assert_string_equal(verdict.file, "x.allow");
	tp_allowlist_free(list);
}

static void test_precedence(void **state)
{
	(void)state;
	const struct tp_subject main_c = {
	    .function = "main", .demangled = "main", .source = "src/main.c"};
	const struct tp_subject put = {
	    .function = "_ZN1A3putEi", .demangled = "A::put(int)", .source = "./a/put.cc"};
	const struct tp_subject unknown = {0};

	expect("", &main_c, TP_CATEGORY_SKIP, 0);
	expect("# only a comment\n\n", &main_c, TP_CATEGORY_SKIP, 0);
	expect("default:allow", &main_c, TP_CATEGORY_ALLOW, 1);
	expect("default:allow\ndefault:skip\n", &main_c, TP_CATEGORY_SKIP, 2);
	expect("fun:main\ndefault:allow\n", &main_c, TP_CATEGORY_ALLOW, 1);
	expect("default:force\nfun:main=skip\n", &main_c, TP_CATEGORY_SKIP, 2);

	// The last line wins, whatever its kind and however it is written.
	expect("fun:main\nfun:*=skip\n", &main_c, TP_CATEGORY_SKIP, 2);
	expect("fun:*=skip\nfun:main\n", &main_c, TP_CATEGORY_ALLOW, 2);
	expect("fun:main=force\nsrc:src/*=skip\n", &main_c, TP_CATEGORY_SKIP, 2);
	expect("src:src/*=skip\nfun:m*=force\n", &main_c, TP_CATEGORY_FORCE, 2);
	expect("name:A::put(*)=force\nfun:_ZN1A*\n", &put, TP_CATEGORY_ALLOW, 2);
	expect("fun:_ZN1A*\nname:A::put(*)=force\n", &put, TP_CATEGORY_FORCE, 2);
	expect("fun:main\nfun:main\nfun:other\n", &main_c, TP_CATEGORY_ALLOW, 2);

	expect("fun:*\nfun:main=count\n", &main_c, TP_CATEGORY_COUNT, 2);
	expect("default:count\nfun:other\n", &main_c, TP_CATEGORY_COUNT, 1);

	// Forbid wins from anywhere; of several the last is named.
	expect("fun:main=forbid\nfun:main\n", &main_c, TP_CATEGORY_FORBID, 1);
	expect("src:*=forbid\nfun:main=force\nname:main=forbid\n", &main_c, TP_CATEGORY_FORBID, 3);
	expect("name:main=forbid\nfun:main\nsrc:*=forbid\n", &main_c, TP_CATEGORY_FORBID, 3);

	expect("fun:*\nname:*\nsrc:*\n", &unknown, TP_CATEGORY_SKIP, 0);
	expect("fun:*\n", &main_c, TP_CATEGORY_ALLOW, 1);
	expect("fun:ma\nfun:mainx\nfun:mai\n", &main_c, TP_CATEGORY_SKIP, 0);

	// Sources lose a leading "./", and so do globs for them.
	expect("src:a/*", &put, TP_CATEGORY_ALLOW, 1);
	expect("src:./a/*", &put, TP_CATEGORY_ALLOW, 1);
	expect("fun:{main,_ZN1A3putEi}=force\n", &put, TP_CATEGORY_FORCE, 1);
}

static void test_syntax(void **state)
{
	(void)state;
	const struct tp_subject equal = {
	    .function = "_ZN1AeqERKS_", .demangled = "A::operator==", .source = "a=b/c.c"};
	const struct tp_subject assign = {
	    .function = "_ZN1AaSERKS_", .demangled = "A::operator=(A const&)", .source = "x=skip"};

	expect("name:A::operator==\n", &equal, TP_CATEGORY_ALLOW, 1);
	expect("name:A::operator===skip\n", &equal, TP_CATEGORY_SKIP, 1);
	expect("name:A::operator=(*\n", &assign, TP_CATEGORY_ALLOW, 1);
	expect("name:A::operator=*=forbid\n", &assign, TP_CATEGORY_FORBID, 1);
	expect("src:a=b/*=force\n", &equal, TP_CATEGORY_FORCE, 1);
	expect("src:a=b/*\n", &equal, TP_CATEGORY_ALLOW, 1);
	expect("src:x\\=skip\n", &assign, TP_CATEGORY_ALLOW, 1);
	expect("src:x\\=skip = forbid\n", &assign, TP_CATEGORY_FORBID, 1);
	const struct tp_subject backslash = {.source = "x\\"};
	expect("src:x\\\\=force\n", &backslash, TP_CATEGORY_FORCE, 1);

	// Blanks, line ends, a byte order mark, no newline at the end.
	const struct tp_subject main_c = {
	    .function = "main", .demangled = "main", .source = "my file.c"};
	expect(
	    "\xef\xbb\xbf \t fun: main \t= skip \t\r\n\r\n# x\r\n", &main_c, TP_CATEGORY_SKIP, 1);
	expect("  # fun:main\n\nfun:main", &main_c, TP_CATEGORY_ALLOW, 3);
	expect("src:my file.c\n", &main_c, TP_CATEGORY_ALLOW, 1);

	// Sections of other tools, and ours.
	expect("[cfi]\nfun:main\ngarbage\n", &main_c, TP_CATEGORY_SKIP, 0);
	expect("[cfi]\nfun:*\n[teeperf]\nfun:main=force\n", &main_c, TP_CATEGORY_FORCE, 4);
	expect("[cfi]\nfun:*\n[*]\nfun:main=force\n", &main_c, TP_CATEGORY_FORCE, 4);
	expect("[{cfi,teeperf}]\nfun:main\n", &main_c, TP_CATEGORY_ALLOW, 2);
	expect("fun:main\n[address]\nfun:main=skip\n", &main_c, TP_CATEGORY_ALLOW, 1);
	expect("#!special-case-list-v2\nfun:main\n", &main_c, TP_CATEGORY_ALLOW, 2);
}

static void test_errors(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		const char *message;
	} cases[] = {
	    {"func:a", "x.allow:1:1: unknown prefix 'func:'; did you mean 'fun:'?"},
	    {"\n FUN:a", "x.allow:2:2: unknown prefix 'FUN:'; did you mean 'fun:'?"},
	    {"demangled:a", "x.allow:1:1: unknown prefix 'demangled:'; did you mean 'name:'?"},
	    {":a", "x.allow:1:1: unknown prefix ':'; expected"},
	    {"fun:a\nfun:b=alow\n", "x.allow:2:7: unknown category 'alow'; expected allow"},
	    {"name:a=Skip", "x.allow:1:8: unknown category 'Skip'"},
	    {"fun:\n", "x.allow:1:5: nothing to match"},
	    {"fun: =skip\n", "x.allow:1:6: nothing to match"},
	    {"fun:a # why", "x.allow:1:7: a comment after a rule"},
	    {"fun:ab[", "x.allow:1:7: '[' without ']'"},
	    {"  src:./ab[", "x.allow:1:11: '[' without ']'"},
	    {"fun:x{a", "x.allow:1:6: '{' without '}'"},
	    {"fun:a\\", "x.allow:1:6: nothing after '\\'"},
	    {"default:maybe", "x.allow:1:9: invalid default 'maybe'"},
	    {"default:sample/0", "x.allow:1:9: invalid default 'sample/0'"},
	    {"fun:a=sample/0", "x.allow:1:7: invalid sampling 'sample/0'"},
	    {"fun:a=sample/1000001", "x.allow:1:7: invalid sampling 'sample/1000001'"},
	    {"fun:a=sample/9999999999", "x.allow:1:7: invalid sampling 'sample/9999999999'"},
	    {"fun:a=sample/", "x.allow:1:7: invalid sampling 'sample/'"},
	    {"fun:a=sampled", "x.allow:1:7: invalid sampling 'sampled'"},
	    {"fun:a@src:", "x.allow:1:11: nothing to match"},
	    {"fun:@src:a", "x.allow:1:5: nothing to match"},
	    {"fun:a@src:b[", "x.allow:1:12: '[' without ']'"},
	    {"fun:a[@src:b", "x.allow:1:6: '[' without ']'"},
	    {"fun:a@where:size<3", "x.allow:1:13: unknown fact 'size' in where:"},
	    {"where:instrs<20,loops=0=alow", "x.allow:1:25: unknown category"},
	    {"where:loops=0=force", "x.allow:1:15: where: looks at functions after inlining"},
	    {"fun:a@where:loops=0=force", "x.allow:1:21: where: looks at functions after"},
	    {"!fun:a=skip", "x.allow:1:8: '!' already says skip"},
	    {"Files:a",
		"x.allow:1:1: unknown prefix 'Files:'; expected fun:, src:, name:, mainfile:"},
	    {"module:a", "x.allow:1:1: unknown prefix 'module:'; did you mean 'mod:'?"},
	    {"std::sort", "x.allow:1:1: 'std' looks like a demangled name; expected 'name:'"},
	    {"main=skip", "x.allow:1:1: 'main=skip' has no prefix"},
	    {"a[", "x.allow:1:1: '[' without ']'"},
	    {"[always]\nfun:\n", "x.allow:2:5: nothing to match"},
	    {"default:", "x.allow:1:9: invalid default ''"},
	    {"[x", "x.allow:1:1: not a section header"},
	    {"[]", "x.allow:1:1: not a section header"},
	    {"[{a]", "x.allow:1:2: '{' without '}'"},
	    {"#!special-case-list-v1", "x.allow:1:1: regular expressions"},
	    {"fun:a\x01", "x.allow:1:6: byte 0x01 in the list"},
	    {"#\x7f", "x.allow:1:2: byte 0x7f in the list"},
	    {"fun:a\rfun:b\n", "x.allow:1:6: byte 0x0d in the list"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tp_allowlist *list = (struct tp_allowlist *)-1;
		struct tp_err err;
		char message[1024];
		assert_int_equal(tp_allowlist_parse(
				     &list, cases[i].text, strlen(cases[i].text), "x.allow", &err),
		    TP_ERR_SYNTAX);
		assert_null(list);
		tp_err_format(&err, message, sizeof(message));
		if (strncmp(message, cases[i].message, strlen(cases[i].message)) != 0)
			fail_msg("'%s': %s", cases[i].text, message);
	}
	struct tp_allowlist *list;
	struct tp_err err;
	assert_int_equal(
	    tp_allowlist_parse(&list, "fun:a\0b\n", 8, "x.allow", &err), TP_ERR_SYNTAX);
	assert_int_equal(err.column, 6);
	// The caller may not want to know why.
	assert_int_equal(tp_allowlist_parse(&list, "fun:", 4, "x.allow", NULL), TP_ERR_SYNTAX);
}

static void test_kinds(void **state)
{
	(void)state;
	const struct tp_facts facts = {
	    .instrs = 30, .blocks = 4, .loops = 1, .depth = 1, .calls = 2, .linkage = "internal"};
	const struct tp_subject put = {.function = "_ZN1A3putEi.llvm.77.part.0",
	    .demangled = "A::put(int) const",
	    .source = "a/put.h",
	    .main_file = "./a/put.cc",
	    .module = "/usr/lib/libput.so.1",
	    .facts = &facts};

	expect("function:_ZN1A*\n", &put, TP_CATEGORY_ALLOW, 1);
	expect("source:a/put.h\n", &put, TP_CATEGORY_ALLOW, 1);
	expect("mainfile:a/put.cc\nsrc:a/put.cc=skip\n", &put, TP_CATEGORY_ALLOW, 1);
	expect("mainfile:./a/*.cc=count\n", &put, TP_CATEGORY_COUNT, 1);
	expect("mod:libput.so*\n", &put, TP_CATEGORY_ALLOW, 1);
	expect("mod:/usr/lib/*=sample\n", &put, TP_CATEGORY_SAMPLE, 1);
	expect("mod:libput\n", &put, TP_CATEGORY_SKIP, 0);

	// Names of copies, with any of their suffixes.
	expect("fun:_ZN1A3putEi\n", &put, TP_CATEGORY_ALLOW, 1);
	expect("fun:_ZN1A3putEi.llvm.77\n", &put, TP_CATEGORY_ALLOW, 1);
	expect("fun:_ZN1A3putEi.llvm.77.part.0\n", &put, TP_CATEGORY_ALLOW, 1);
	expect("fun:_ZN1A3putEi.llvm\n", &put, TP_CATEGORY_SKIP, 0);
	expect("fun:*Ei\n", &put, TP_CATEGORY_ALLOW, 1);

	expect("name:A::put\n", &put, TP_CATEGORY_ALLOW, 1);
	expect("name:A::put(*)*\n", &put, TP_CATEGORY_ALLOW, 1);
	expect("name:A::put(int)\n", &put, TP_CATEGORY_SKIP, 0);
	// A copy by a name that does not show of what, as LLVM 14 to 16 give to those of function
	// specialisation.
	const struct tp_subject copy = {.function = "fold.1",
	    .demangled = "fold.1",
	    .origin = "fold",
	    .origin_demangled = "fold"};
	expect("fun:fold\n", &copy, TP_CATEGORY_ALLOW, 1);
	expect("name:fold\n", &copy, TP_CATEGORY_ALLOW, 1);
	expect("fun:fold\nfun:fold.1=skip\n", &copy, TP_CATEGORY_SKIP, 2);
	expect("fun:fold.1=skip\nfun:fold\n", &copy, TP_CATEGORY_ALLOW, 2);
	expect("fun:fold.1\n", &copy, TP_CATEGORY_ALLOW, 1);
	expect("fun:fold.2\n", &copy, TP_CATEGORY_SKIP, 0);

	expect("where:instrs<31,loops>=1,depth<=1,linkage=internal\n", &put, TP_CATEGORY_ALLOW, 1);
	expect("where:instrs<30\n", &put, TP_CATEGORY_SKIP, 0);
	expect("where:instrs>29,loops=0\n", &put, TP_CATEGORY_SKIP, 0);
	expect("where: blocks != 4 = count\n", &put, TP_CATEGORY_SKIP, 0);
	expect("where: calls = 2 = count\n", &put, TP_CATEGORY_COUNT, 1);
	expect("where:linkage!=external=forbid\nfun:*\n", &put, TP_CATEGORY_FORBID, 1);
	expect("fun:*\nwhere:loops>0=count\nwhere:loops>1=skip\n", &put, TP_CATEGORY_COUNT, 2);

	// Both parts must match, whichever comes first.
	expect("fun:_ZN*@src:a/*\n", &put, TP_CATEGORY_ALLOW, 1);
	expect("fun:_ZN*@src:b/*\n", &put, TP_CATEGORY_SKIP, 0);
	expect("src:a/*@fun:_ZN*=skip\ndefault:allow\n", &put, TP_CATEGORY_SKIP, 1);
	expect("src:b/*@fun:_ZN*=skip\ndefault:allow\n", &put, TP_CATEGORY_ALLOW, 2);
	expect("where:loops>0@fun:_ZN{1A,2BB}*@mod:lib*=sample/7\n", &put, TP_CATEGORY_SAMPLE, 1);
	expect("where:loops>1@fun:_ZN{1A,2BB}*@mod:lib*\n", &put, TP_CATEGORY_SKIP, 0);
	expect("fun:x\\@src:y=count\n", &(struct tp_subject){.function = "x@src:y"},
	    TP_CATEGORY_COUNT, 1);
	expect("fun:x@@V1\n", &(struct tp_subject){.function = "x@@V1"}, TP_CATEGORY_ALLOW, 1);

	// Nothing is known of the rest.
	const struct tp_subject bare = {.function = "_ZN1A3putEi"};
	expect("where:loops>=0\nmod:*\nmainfile:*\nname:*\nsrc:*\n", &bare, TP_CATEGORY_SKIP, 0);
	expect("fun:*@where:loops>=0\n", &bare, TP_CATEGORY_SKIP, 0);
}

// Assert what the warnings of a list begin with, NULL behind the last.
static void expect_warnings(const char *text, const char *const *messages)
{
	struct tp_allowlist *list = parse(text);
	uint32_t count = 0;
	for (; messages[count]; count++) {
		char message[TP_ERR_TEXT_SIZE] = "none";
		if (count < tp_allowlist_warning_count(list))
			tp_err_format(tp_allowlist_warning(list, count), message, sizeof(message));
		if (strncmp(message, messages[count], strlen(messages[count])) != 0)
			fail_msg("'%s', not '%s'", message, messages[count]);
	}
	assert_int_equal(tp_allowlist_warning_count(list), count);
	tp_allowlist_free(list);
}

static void test_xray(void **state)
{
	(void)state;
	const struct tp_subject f = {.function = "f", .source = "a/f.c"};

	expect("[always]\nfun:f\n", &f, TP_CATEGORY_ALLOW, 2);
	expect("default:allow\n[never]\nfun:f\n", &f, TP_CATEGORY_SKIP, 3);
	expect("[xray_always_instrument]\nfun:f\n", &f, TP_CATEGORY_ALLOW, 2);
	expect("default:allow\n[xray_never_instrument]\nfun:f\n", &f, TP_CATEGORY_SKIP, 3);
	// Its own rule, whatever the order: sources first, and [always] first.
	expect("[always]\nfun:f\n[never]\nfun:*\n", &f, TP_CATEGORY_ALLOW, 2);
	expect("[never]\nfun:*\n[always]\nfun:f\n", &f, TP_CATEGORY_ALLOW, 4);
	expect("[always]\nfun:f\n[never]\nsrc:a/*\n", &f, TP_CATEGORY_SKIP, 4);
	expect("[never]\nsrc:a/*\nfun:f\n[always]\nsrc:*\n", &f, TP_CATEGORY_ALLOW, 5);
	expect("[always]\nfun:f\nfun:f=arg1\n", &f, TP_CATEGORY_ALLOW, 3);
	// One of them speaks for all, and counts like any other line.
	expect("fun:f=count\n[never]\nfun:f\n", &f, TP_CATEGORY_SKIP, 3);
	expect("[never]\nfun:f\n[*]\nfun:f=count\n", &f, TP_CATEGORY_COUNT, 4);
	expect("[never]\nsrc:*\n[*]\nfun:f=count\n[always]\nfun:f\n", &f, TP_CATEGORY_COUNT, 4);
	expect("fun:f=forbid\n[always]\nfun:f\n", &f, TP_CATEGORY_FORBID, 1);
	// An '@' is nothing special there.
	expect("[always]\nfun:f@src:a/*\n", &f, TP_CATEGORY_SKIP, 0);

	expect_warnings("[always]\nfun:f\n[never]\nsrc:f\n fun:f\n[always]\nfun:g=arg1\n",
	    (const char *[]){"x.allow:5:6: 'fun:f' is also in [always]", NULL});
	expect_warnings("[never]\nfun:g\nfun:f\n[always]\nfun:g=arg1\n",
	    (const char *[]){"x.allow:2:5: 'fun:g' is also in [always]", NULL});
	expect_warnings("[always]\nname:f\n!fun:f\nfunction:f\nfun:a=arg2\nsrc:a=arg1\nmain\nx:y\n",
	    (const char *[]){"x.allow:2:1: the line is skipped, as XRay does",
		"x.allow:3:1: the line is skipped, as XRay does",
		"x.allow:4:1: the line is skipped, as XRay does",
		"x.allow:5:6: the line is skipped, as XRay does",
		"x.allow:6:6: the line is skipped, as XRay does",
		"x.allow:7:1: the line is skipped: it has no prefix",
		"x.allow:8:1: the line is skipped: 'x:'", NULL});
}

static void test_profile_lists(void **state)
{
	(void)state;
	const struct tp_subject f = {.function = "f", .source = "a/f.c"};

	expect("[clang]\nfunction:f\n", &f, TP_CATEGORY_ALLOW, 2);
	expect("[clang]\ndefault:allow\n!fun:f\n", &f, TP_CATEGORY_SKIP, 3);
	expect("[clang]\ndefault:allow\n!src:a/*\n", &f, TP_CATEGORY_SKIP, 3);
	expect("[llvm]\nfunction:f\n", &f, TP_CATEGORY_SKIP, 0);
	// A file that speaks to us by name does not mean us elsewhere.
	expect("[clang]\nfun:f\n[teeperf]\nfun:g\n", &f, TP_CATEGORY_SKIP, 0);
	expect("[clang]\nfun:f\n[*]\nfun:g\n", &f, TP_CATEGORY_ALLOW, 2);
	expect("default:forbid\nfun:f\n", &f, TP_CATEGORY_ALLOW, 2);
	expect("default:forbid\n", &f, TP_CATEGORY_SKIP, 1);

	expect_warnings("!fun:f\nfun:g\n",
	    (const char *[]){"x.allow:1:1: '!' is deprecated; expected 'fun:GLOB=skip'", NULL});
	expect_warnings("default:forbid\nfun:g\n",
	    (const char *[]){"x.allow:1:9: default:forbid is read as default:skip", NULL});
	expect_warnings("function:f=skip\n",
	    (const char *[]){"x.allow:1:1: no line instruments anything", NULL});
	expect_warnings(
	    "[llvm]\nfun:f\n", (const char *[]){"x.allow:1:1: no line instruments anything", NULL});
	expect_warnings("default:allow\nfunction:f=skip\n", (const char *[]){NULL});
	expect_warnings("# nothing\n", (const char *[]){NULL});
	expect_warnings("[clang]\nfun:a=x\nfoo:a\nb\nfun:a\n",
	    (const char *[]){"x.allow:2:7: the line is skipped: 'x' is a category of other tools",
		"x.allow:3:1: the line is skipped: 'foo:'",
		"x.allow:4:1: the line is skipped: it has no prefix", NULL});
}

static void test_other_lists(void **state)
{
	(void)state;
	const struct tp_subject f = {
	    .function = "_Z1fi", .demangled = "f(int)", .source = "/opt/x/a/f.c"};

	// AFL++: functions by either name, files by the end of their path.
	expect("_Z1fi\n", &f, TP_CATEGORY_ALLOW, 1);
	expect("f(*\n", &f, TP_CATEGORY_ALLOW, 1);
	expect("  f\t# why\n", &f, TP_CATEGORY_ALLOW, 1);
	expect("Z1fi\n", &f, TP_CATEGORY_SKIP, 0);
	expect("a/f.c\n", &f, TP_CATEGORY_ALLOW, 1);
	expect("f.c#\n", &f, TP_CATEGORY_ALLOW, 1);
	expect("b/f.c\n", &f, TP_CATEGORY_SKIP, 0);
	expect("{f,g}\n", &(struct tp_subject){.function = "{f,g}"}, TP_CATEGORY_ALLOW, 1);
	expect_warnings("f\ng.c\n",
	    (const char *[]){"x.allow:1:1: a line without a prefix is read as in AFL++", NULL});

	// Sanitizers.
	expect_warnings("global:x\ntype:y=init\nsrc:*=sanitize\nfun:f\n[address]\nfun:g\n",
	    (const char *[]){"x.allow:1:1: the line is skipped: 'global:'",
		"x.allow:2:1: the line is skipped: 'type:'",
		"x.allow:3:7: the line is skipped: 'sanitize' is a category of other tools", NULL});

	// Sections that were meant for us.
	expect_warnings("fun:f\n[teperf]\nfun:g\n[Always]\n[nver]\n[cfi]\n[leak]\n",
	    (const char *[]){
		"x.allow:2:2: section '[teperf]' is not read; did you mean '[teeperf]'",
		"x.allow:4:2: section '[Always]' is not read; did you mean '[always]'",
		"x.allow:5:2: section '[nver]' is not read; did you mean '[never]'", NULL});
}

static void test_many_warnings(void **state)
{
	(void)state;
	struct tp_buf text;
	tp_buf_init(&text);
	for (int i = 0; i < 2 * TP_ALLOWLIST_WARNINGS_MAX; i++)
		tp_buf_add_string(&text, "type:x\n");
	struct tp_allowlist *list = parse(text.data);
	assert_int_equal(tp_allowlist_warning_count(list), TP_ALLOWLIST_WARNINGS_MAX);
	tp_allowlist_free(list);
	tp_buf_release(&text);
}

static void collect(void *context, uint32_t index)
{
	tp_buf_addf(context, " %u", index);
}

// Assert which lines match, as " INDEX INDEX".
static void expect_matches(const char *text, const struct tp_subject *subject, const char *expected)
{
	struct tp_allowlist *list = parse(text);
	struct tp_buf found;
	tp_buf_init(&found);
	tp_allowlist_matches(list, subject, collect, &found);
	assert_string_equal(found.data, expected);
	tp_buf_release(&found);
	tp_allowlist_free(list);
}

static void test_lines(void **state)
{
	(void)state;
	struct tp_allowlist *list =
	    parse("# x\n fun: a\\*b =sample/8 \r\ndefault:count\n[cfi]\nfun:c\n"
		  "[*]\nname:d\nfun:e@src:f\nfun:g*\nfun:{h,i}\nwhere:loops>0=skip\n");
	assert_int_equal(tp_allowlist_line_count(list), 6);
	struct tp_allowlist_line line = tp_allowlist_line(list, 0);
	assert_string_equal(line.file, "x.allow");
	assert_int_equal(line.line, 2);
	assert_int_equal(line.column, 7);
	assert_string_equal(line.text, "fun: a\\*b =sample/8");
	assert_string_equal(line.exact, "a*b");
	assert_true(line.names_only);
	assert_int_equal(line.category, TP_CATEGORY_SAMPLE);
	assert_int_equal(line.sample, 8);
	line = tp_allowlist_line(list, 1);
	assert_null(line.exact);
	assert_true(line.names_only);
	assert_int_equal(line.sample, 1);
	for (uint32_t i = 2; i < 6; i++)
		assert_null(tp_allowlist_line(list, i).exact);
	assert_false(tp_allowlist_line(list, 2).names_only);
	assert_true(tp_allowlist_line(list, 3).names_only);
	assert_false(tp_allowlist_line(list, 5).names_only);
	const struct tp_verdict verdict = tp_allowlist_default(list);
	assert_int_equal(verdict.category, TP_CATEGORY_COUNT);
	assert_int_equal(verdict.line, 3);
	assert_string_equal(verdict.file, "x.allow");
	tp_allowlist_free(list);

	const struct tp_facts facts = {.loops = 1};
	const struct tp_subject f = {
	    .function = "f.cold", .demangled = "f()", .source = "a/f.c", .facts = &facts};
	expect_matches("fun:f\nfun:g\nsrc:a/*=forbid\nname:f\nwhere:loops=1=skip\nfun:{f,f*}\n"
		       "fun:*@src:b/*\n[never]\nfun:*\n[always]\nsrc:*\n",
	    &f, " 0 2 3 4 5 7 8");
	expect_matches("fun:g\n", &f, "");

	// More than are collected at a time.
	struct tp_buf text;
	struct tp_buf expected;
	tp_buf_init(&text);
	tp_buf_init(&expected);
	for (uint32_t i = 0; i < 200; i++) {
		tp_buf_add_string(&text, i % 3 == 2 ? "fun:g\n" : i % 3 ? "fun:f\n" : "src:*f.c\n");
		if (i % 3 != 2)
			tp_buf_addf(&expected, " %u", i);
	}
	expect_matches(text.data, &f, expected.data);
	tp_buf_release(&text);
	tp_buf_release(&expected);
}

static void test_limits(void **state)
{
	(void)state;
	struct tp_allowlist *list;
	struct tp_err err;
	// 1024 globs a line: the 1025th line exceeds what one kind may hold.
	struct tp_buf text;
	tp_buf_init(&text);
	for (int i = 0; i < 1025; i++)
		tp_buf_add_string(&text, "fun:{,}{,}{,}{,}{,}{,}{,}{,}{,}{,}\n");
	assert_false(text.failed);
	assert_int_equal(
	    tp_allowlist_parse(&list, text.data, text.size, "x.allow", &err), TP_ERR_LIMIT);
	assert_int_equal(err.line, 1025);
	tp_buf_release(&text);

	char *large = malloc(TP_ALLOWLIST_BYTES_MAX + 1);
	assert_non_null(large);
	memset(large, '\n', TP_ALLOWLIST_BYTES_MAX + 1);
	assert_int_equal(
	    tp_allowlist_parse(&list, large, TP_ALLOWLIST_BYTES_MAX + 1, "x.allow", &err),
	    TP_ERR_LIMIT);
	assert_int_equal(
	    tp_allowlist_parse(&list, large, TP_ALLOWLIST_BYTES_MAX, "x.allow", &err), 0);
	tp_allowlist_free(list);
	free(large);
}

static int load(struct tp_allowlist **list, const char *path, struct tp_err *err)
{
	return tp_allowlist_load(list, &path, 1, err);
}

static void test_load(void **state)
{
	(void)state;
	char path[] = "u_allowlist.XXXXXX";
	const int fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "fun:main\nfun:b[\n", 16), 16);
	struct tp_allowlist *list;
	struct tp_err err;
	assert_int_equal(load(&list, path, &err), TP_ERR_SYNTAX);
	assert_null(list);
	assert_string_equal(err.file, path);
	assert_int_equal(err.line, 2);
	assert_int_equal(ftruncate(fd, 9), 0);
	assert_int_equal(load(&list, path, &err), 0);
	const struct tp_subject subject = {.function = "main"};
	const struct tp_verdict verdict = tp_allowlist_match(list, &subject);
	assert_int_equal(verdict.category, TP_CATEGORY_ALLOW);
	assert_string_equal(verdict.file, path);
	tp_allowlist_free(list);

	// Several: as one list, in their order.
	char other[] = "u_allowlist.XXXXXX";
	const int other_fd = mkstemp(other);
	assert_true(other_fd >= 0);
	assert_int_equal(write(other_fd, "[cfi]\nfun:main=skip\n[*]\nfun:m*=count\n", 37), 37);
	close(other_fd);
	assert_int_equal(tp_allowlist_load(&list, (const char *[]){path, other}, 2, &err), 0);
	assert_int_equal(tp_allowlist_match(list, &subject).category, TP_CATEGORY_COUNT);
	assert_int_equal(tp_allowlist_match(list, &subject).line, 4);
	assert_string_equal(tp_allowlist_match(list, &subject).file, other);
	tp_allowlist_free(list);
	assert_int_equal(tp_allowlist_load(&list, (const char *[]){other, path}, 2, &err), 0);
	assert_int_equal(tp_allowlist_match(list, &subject).category, TP_CATEGORY_ALLOW);
	assert_string_equal(tp_allowlist_match(list, &subject).file, path);
	tp_allowlist_free(list);
	assert_int_equal(tp_allowlist_load(&list, NULL, 0, &err), 0);
	assert_int_equal(tp_allowlist_match(list, &subject).category, TP_CATEGORY_SKIP);
	tp_allowlist_free(list);
	assert_int_equal(unlink(other), 0);
	assert_int_equal(
	    tp_allowlist_load(&list, (const char *[]){path, other}, 2, &err), TP_ERR_SYSTEM);
	assert_string_equal(err.file, other);

	assert_int_equal(ftruncate(fd, TP_ALLOWLIST_BYTES_MAX + 1), 0);
	assert_int_equal(load(&list, path, &err), TP_ERR_LIMIT);
	close(fd);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(load(&list, path, &err), TP_ERR_SYSTEM);
	assert_non_null(strstr(err.what, "No such file"));
	assert_int_equal(load(&list, "/", &err), TP_ERR_SYSTEM);
	assert_non_null(strstr(err.what, "Is a directory"));
	tp_allowlist_free(NULL);
}

static void test_needs(void **state)
{
	(void)state;
	struct tp_allowlist *list = parse("fun:a\nsrc:b\ndefault:allow\n[cfi]\nname:c\n");
	assert_false(tp_allowlist_needs(list, TP_NEEDS_NAMES));
	assert_false(tp_allowlist_needs(list, TP_NEEDS_FACTS));
	assert_false(tp_allowlist_needs(list, TP_NEEDS_MODULE));
	tp_allowlist_free(list);
	list = parse("name:c\n");
	assert_true(tp_allowlist_needs(list, TP_NEEDS_NAMES));
	assert_false(tp_allowlist_needs(list, TP_NEEDS_FACTS));
	tp_allowlist_free(list);
	list = parse("fun:c@where:loops>0\nmod:x\n");
	assert_false(tp_allowlist_needs(list, TP_NEEDS_NAMES));
	assert_true(tp_allowlist_needs(list, TP_NEEDS_FACTS));
	assert_true(tp_allowlist_needs(list, TP_NEEDS_MODULE));
	tp_allowlist_free(list);
	assert_string_equal(tp_category_name(TP_CATEGORY_FORBID), "forbid");
}

static uint64_t random_state = 1;

static uint32_t pick(uint32_t count)
{
	random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(random_state >> 33) % count;
}

// The rule as allowlist.h states it, line by line without an index.
static struct tp_verdict walk(const struct tp_allowlist *list, const char *name)
{
	struct tp_verdict verdict = {.category = TP_CATEGORY_SKIP};
	bool forbidden = false;
	for (uint32_t i = 0; i < list->entry_count; i++) {
		const struct tp_entry *entry = &list->entries[i];
		const bool matches = tp_globs_match(&entry->first.globs, name, strlen(name));
		if (!matches || (forbidden && entry->line.category != TP_CATEGORY_FORBID))
			continue;
		forbidden |= entry->line.category == TP_CATEGORY_FORBID;
		verdict.category = entry->line.category;
		verdict.line = entry->line.line;
	}
	return verdict;
}

static void test_index(void **state)
{
	(void)state;
	static const char *const parts[] = {"a", "b", "ab", "_Z", "*", "?", "[ab]", "{a,b}"};
	static const char *const categories[] = {"", "=skip", "=force", "=forbid"};
	uint32_t decided[4] = {0};
	for (uint32_t round = 0; round < 300; round++) {
		struct tp_buf text;
		tp_buf_init(&text);
		for (uint32_t lines = pick(40); lines; lines--) {
			tp_buf_add_string(&text, "fun:");
			for (uint32_t n = 1 + pick(5); n; n--)
				tp_buf_add_string(&text, parts[pick(8)]);
			tp_buf_addf(&text, "%s\n", categories[pick(8) ? pick(3) : 3]);
		}
		struct tp_allowlist *list = parse(text.data);
		for (uint32_t i = 0; i < 100; i++) {
			char name[64] = "";
			for (uint32_t n = pick(7); n; n--)
				strcat(name, parts[pick(4)]);
			const struct tp_subject subject = {.function = name};
			const struct tp_verdict verdict = tp_allowlist_match(list, &subject);
			const struct tp_verdict expected = walk(list, name);
			if (verdict.category != expected.category || verdict.line != expected.line)
				fail_msg("'%s': %s by line %u, expected line %u, in:\n%s", name,
				    tp_category_name(verdict.category), verdict.line, expected.line,
				    text.data);
			decided[verdict.category]++;
		}
		tp_allowlist_free(list);
		tp_buf_release(&text);
	}
	for (int i = 0; i < 4; i++)
		assert_true(decided[i] > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_precedence),
	    cmocka_unit_test(test_syntax),
	    cmocka_unit_test(test_errors),
	    cmocka_unit_test(test_kinds),
	    cmocka_unit_test(test_xray),
	    cmocka_unit_test(test_profile_lists),
	    cmocka_unit_test(test_other_lists),
	    cmocka_unit_test(test_many_warnings),
	    cmocka_unit_test(test_lines),
	    cmocka_unit_test(test_limits),
	    cmocka_unit_test(test_load),
	    cmocka_unit_test(test_needs),
	    cmocka_unit_test(test_index),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
