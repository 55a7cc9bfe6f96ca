// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lists of other tools: what each format becomes, which losses are reported, that decisions are the
// other tool's, and round trips. One file above 600 lines: a test is a list as text and what
// becomes of it, by the same few functions.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "allowlists/language/list.h"
#include "allowlists/convert/convert.h"
#include "allowlists/convert/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct tp_buf out;
static struct tp_buf warnings;
static struct tp_err err;

static void warn(const char *file, uint32_t line, const char *text)
{
	(void)file;
	tp_buf_addf(&warnings, "%u: %s\n", line, text);
}

static int convert(const char *format, const char *text, bool export)
{
	const struct tp_list_format *found = tp_list_format_find(format);
	const struct tp_list_input input = {text, strlen(text), "dir/x.list", warn};
	assert_non_null(found);
	tp_buf_reset(&out);
	tp_buf_reset(&warnings);
	return (export ? tp_list_export : tp_list_import)(found, &input, &out, &err);
}

static void check(const char *what, const char *got, const char *expected)
{
	if (strcmp(got, expected))
		fail_msg("%s:\n--- got\n%s--- expected\n%s", what, got, expected);
}

// Without the first line, which names the file.
static const char *body(void)
{
	const char *newline = strchr(out.data, '\n');
	assert_non_null(newline);
	return newline + 1;
}

static void imports(
    const char *format, const char *text, const char *expected, const char *expected_warnings)
{
	if (convert(format, text, false))
		fail_msg("%s: %u:%u: %s", format, err.line, err.column, err.what);
	check(format, body(), expected);
	check("warnings", warnings.data, expected_warnings);
}

static void exports(
    const char *format, const char *text, const char *expected, const char *expected_warnings)
{
	if (convert(format, text, true))
		fail_msg("%s: %u:%u: %s", format, err.line, err.column, err.what);
	check(format, out.data, expected);
	check("warnings", warnings.data, expected_warnings);
}

static void refuses(const char *format, const char *text, uint32_t line, uint32_t column)
{
	assert_int_equal(convert(format, text, false), TP_ERR_SYNTAX);
	assert_string_equal(err.file, "dir/x.list");
	if (err.line != line || err.column != column)
		fail_msg("%s: %u:%u: %s", format, err.line, err.column, err.what);
}

static void test_xray(void **state)
{
	(void)state;
	imports("xray",
	    "# head\n"
	    "\n"
	    "[always]\n"
	    "# hot\n"
	    "fun:hot*\n"
	    "fun:main=arg1\n"
	    "src:a/*.c\n"
	    "[never]\n"
	    "fun:hotter\n"
	    "type:foo\n"
	    "[*]\n"
	    "fun:both\n"
	    "[cfi]\n"
	    "fun:x\n",
	    "# head\n"
	    "default:skip\n"
	    "# As XRay's threshold, for functions that are not listed; "
	    "XRay counts machine instructions.\n"
	    "where:instrs>=200=allow\n"
	    "where:loops>0=allow\n"
	    "fun:hotter=skip\n"
	    "# hot\n"
	    "fun:hot*=allow\n"
	    "fun:both=allow\n"
	    "fun:main=allow\n"
	    "src:a/*.c=allow\n"
	    "# not imported, XRay looks at fun: and src: lines without a category only: type:foo\n",
	    "13: section '[cfi]' is not imported: it is not about 'always'\n"
	    "6: the first argument is not recorded (arg1)\n"
	    "10: 'type:foo' is not imported: XRay looks at fun: and src: lines without a category "
	    "only\n");
	// Regular expressions, of which '*' means '.*'.
	imports("xray", "#!special-case-list-v1\n[always]\nfun:a.b*\nfun:c|d\n",
	    "# not imported, a regular expression that no glob can express: "
	    "fun:c|d\ndefault:skip\n# As XRay's threshold, for functions that are not listed; "
	    "XRay counts "
	    "machine instructions.\nwhere:instrs>=200=allow\nwhere:loops>0=allow\nfun:a?b*=allow\n",
	    "4: 'fun:c|d' is not imported: a regular expression that no glob can express\n");
	refuses("xray", "[always]\nfun:a[b\n", 2, 6);
	refuses("xray", "[always\n", 1, 1);
	refuses("xray", "[always]\nfoo\n", 2, 1);
}

static void test_clang(void **state)
{
	(void)state;
	imports("profile-list",
	    "default:skip\n"
	    "function:b*=allow\n"
	    "function:b1=forbid\n"
	    "source:x.c=skip\n"
	    "!fun:c\n"
	    "fun:d\n"
	    "fun:e=skip\n",
	    "default:skip\n"
	    "src:x.c=skip\n"
	    "fun:d=allow\n"
	    "fun:c=skip\n"
	    "fun:b1=skip\n"
	    "fun:b*=allow\n"
	    "# not imported, Clang ignores it in a profile list, or it is about another kind of "
	    "instrumentation: fun:e=skip\n",
	    "7: 'fun:e=skip' is not imported: Clang ignores it in a profile list, or it is about "
	    "another kind of instrumentation\n");
	imports("profile-list", "[llvm]\nfunction:a=skip\n", "default:allow\nfun:a=skip\n", "");
	imports("profile-list", "fun:a\n", "default:skip\nfun:a=allow\n", "");
	imports("profile-list", "default:allow\nfun:a\n", "default:allow\nfun:a=allow\n", "");

	imports("sancov", "src:*\nfun:a*\n", "default:skip\nfun:a*=allow\n", "");
	imports("sancov", "src:x.c\nsrc:y/*\nfun:a\nfun:b\n",
	    "default:skip\n"
	    "fun:a@mainfile:x.c=allow\n"
	    "fun:a@mainfile:y/*=allow\n"
	    "fun:b@mainfile:x.c=allow\n"
	    "fun:b@mainfile:y/*=allow\n",
	    "");
	imports("sancov", "src:x.c\nfun:*\n", "default:skip\nmainfile:x.c=allow\n", "");
	imports("sancov", "fun:a\n",
	    "default:skip\n# not imported, Clang instruments nothing for it: fun:a\n",
	    "0: without a line 'src:' Clang instruments nothing; 'src:*' selects all\n"
	    "1: 'fun:a' is not imported: Clang instruments nothing for it\n");
	imports("sancov-ignore", "fun:a\nsrc:x.c\n",
	    "default:allow\nmainfile:x.c=skip\nfun:a=skip\n", "");
}

static void test_exports(void **state)
{
	(void)state;
	static const char list[] = "# head\n"
				   "\n"
				   "default:skip\n"
				   "# both\n"
				   "fun:{a,b}*=force\n"
				   "fun:ab=count\n"
				   "name:N::f=allow\n"
				   "fun:x@src:y.c=allow\n"
				   "[cfi]\n"
				   "type:foo\n";
	exports("xray", list,
	    "#!special-case-list-v2\n# head\n# not exported, it supports linkage names only: "
	    "name:N::f=allow\n# not exported, it does not support several conditions in a line: "
	    "fun:x@src:y.c=allow\n# not exported, its section belongs to another tool: "
	    "type:foo\n[always]\n# both\nfun:{a,b}*\n[never]\nfun:*\nfun:ab\n",
	    "5: 'force' becomes 'allow': XRay does not keep a function from being inlined\n6: "
	    "'count' becomes 'skip': XRay would record every call\n7: 'name:N::f=allow' is not "
	    "exported to XRay: it supports linkage names only\n8: 'fun:x@src:y.c=allow' is not "
	    "exported to XRay: it does not support several conditions in a line\n10: 'type:foo' is "
	    "not exported to XRay: its section belongs to another tool\n6: 'fun:ab=count' decides "
	    "over line 5 here, but not in XRay, where that line wins\n");
	exports("profile-list", "default:allow\nsrc:a.c=skip\nfun:f=allow\nfun:g=forbid\nfun:g\n",
	    "#!special-case-list-v2\n"
	    "default:allow\n"
	    "source:./a.c=skip\n"
	    "source:a.c=skip\n"
	    "function:f=allow\n"
	    "function:g=allow\n"
	    "function:g=skip\n",
	    "4: 'fun:g=forbid' decides over line 5 here, but not in -fprofile-list, where that "
	    "line wins\n");
	exports("sancov", "fun:f\n", "#!special-case-list-v2\nsrc:*\nfun:f\n", "");
	exports(
	    "sancov", "mainfile:f.c\n", "#!special-case-list-v2\nfun:*\nsrc:./f.c\nsrc:f.c\n", "");
	exports(
	    "sancov-ignore", "default:allow\nfun:f=skip\n", "#!special-case-list-v2\nfun:f\n", "");
	assert_int_equal(convert("xray", "fum:a\n", true), TP_ERR_SYNTAX);
	assert_int_equal(err.line, 1);
}

static void formats(const char *text, const char *expected)
{
	const struct tp_list_input input = {text, strlen(text), "x.allow", warn};
	tp_buf_reset(&out);
	if (tp_list_fmt(&input, &out, &err))
		fail_msg("%u:%u: %s", err.line, err.column, err.what);
	check("fmt", out.data, expected);
	char *first = strdup(out.data);
	const struct tp_list_input again = {first, strlen(first), "x.allow", warn};
	tp_buf_reset(&out);
	assert_int_equal(tp_list_fmt(&again, &out, &err), 0);
	check("fmt again", out.data, expected);
	free(first);
}

static void test_fmt(void **state)
{
	(void)state;
	formats("", "");
	// Bare lines stay so: sanitizers do not see lines with a category.
	formats("\n\n#  c\r\n function:a* \n\n\nsource: b.c\n\n", "#  c\nfun:a*\n\nsrc:b.c\n");
	formats("fun:a\n!fun:b\n", "fun:a=allow\nfun:b=skip\n");
	formats("fun:a\nfun:b = sample\n", "fun:a=allow\nfun:b=sample/64\n");
	formats("where: instrs < 20 , loops = 0 = skip\n", "where:instrs<20,loops=0=skip\n");
	formats("function: a @src: b.c@mainfile:c.c\n", "fun:a@src:b.c@mainfile:c.c=allow\n");
	formats("name:A::operator==\nname:B::operator==(*=count\n",
	    "name:A::operator===allow\nname:B::operator==(*=count\n");
	formats("default: sample/7\nfun:x\\=skip\n", "default:sample/7\nfun:x\\=skip=allow\n");
	formats("fun:a\n# of s\n[s]\n type:x \n fun: y\n[teeperf]\nfun:z=skip\n",
	    "fun:a\n# of s\n[s]\ntype:x\nfun: y\n\n[teeperf]\nfun:z=skip\n");
	const struct tp_list_input bad = {"fun:a\nfun:[\n", 12, "x.allow", warn};
	tp_buf_reset(&out);
	assert_int_equal(tp_list_fmt(&bad, &out, &err), TP_ERR_SYNTAX);
	assert_int_equal(err.line, 2);
	assert_int_equal(out.size, 0);
}

/*
 * ---- random ones ------------------------------------------------------------------------------
 */

static uint32_t seed = 1;

static uint32_t next(uint32_t below)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % below;
}

static void random_text(char *text, size_t size, const char *alphabet)
{
	const size_t length = next((uint32_t)size);
	for (size_t i = 0; i < length; i++)
		text[i] = alphabet[next((uint32_t)strlen(alphabet))];
	text[length] = '\0';
}

static bool is_in(const struct tp_allowlist *list, const char *name, const char *file)
{
	const struct tp_subject subject = {
	    .function = name, .demangled = name, .source = file, .main_file = file};
	const enum tp_category category = tp_allowlist_match(list, &subject).category;
	return category == TP_CATEGORY_ALLOW || category == TP_CATEGORY_FORCE;
}

static struct tp_allowlist *parse(const char *text)
{
	struct tp_allowlist *list;
	if (tp_allowlist_parse(&list, text, strlen(text), "list", &err))
		fail_msg("%u:%u: %s in:\n%s", err.line, err.column, err.what, text);
	return list;
}

// Lists that are exported without a warning, and imported again, decide the same.
static void test_round_trips(void **state)
{
	static const char *const formats[] = {"xray", "profile-list"};
	(void)state;
	uint32_t whole[2] = {0};
	for (int i = 0; i < 3000; i++) {
		struct tp_buf text;
		tp_buf_init(&text);
		tp_buf_addf(&text, "default:%s\n", next(2) ? "allow" : "skip");
		for (uint32_t k = next(5); k > 0; k--) {
			char glob[5];
			random_text(glob, sizeof(glob), "ab*?");
			tp_buf_addf(&text, "%s:%s%s=%s\n", next(3) ? "fun" : "src", glob, "a",
			    next(5) ? next(2) ? "allow" : "skip" : "forbid");
		}
		struct tp_allowlist *before = parse(text.data);
		for (size_t f = 0; f < 2; f++) {
			assert_int_equal(convert(formats[f], text.data, true), 0);
			if (warnings.size)
				continue;
			char *exported = strdup(out.data);
			assert_int_equal(convert(formats[f], exported, false), 0);
			struct tp_allowlist *after = parse(out.data);
			whole[f]++;
			for (int n = 0; n < 30; n++) {
				char name[5];
				char file[5];
				random_text(name, sizeof(name), "ab");
				random_text(file, sizeof(file), "ab");
				if (is_in(before, name, file) != is_in(after, name, file))
					fail_msg(
					    "%s, of %s in %s:\n%s--- exported\n%s--- imported\n%s",
					    formats[f], name, file, text.data, exported, out.data);
			}
			tp_allowlist_free(after);
			free(exported);
		}
		tp_allowlist_free(before);
		tp_buf_release(&text);
	}
	assert_true(whole[0] > 500 && whole[1] > 500);
}

// The canonical form decides the same.
static void test_fmt_keeps_meaning(void **state)
{
	static const char *const pieces[] = {"fun:a*", "function: ?b ", "!src:b", "source:a",
	    "name:b*=count", "fun:a@src:b", "fun: b @src: a = skip", "default: allow", "", "# c",
	    "[x]", "[teeperf]", "fun:a=forbid", "[*]"};
	(void)state;
	for (int i = 0; i < 3000; i++) {
		struct tp_buf text;
		tp_buf_init(&text);
		for (uint32_t k = next(7); k > 0; k--)
			tp_buf_addf(
			    &text, "%s\n", pieces[next(sizeof(pieces) / sizeof(pieces[0]))]);
		const struct tp_list_input input = {text.data, text.size, "x.allow", warn};
		tp_buf_reset(&out);
		assert_int_equal(tp_list_fmt(&input, &out, &err), 0);
		struct tp_allowlist *before = parse(text.data);
		struct tp_allowlist *after = parse(out.data);
		for (int n = 0; n < 20; n++) {
			char name[4];
			char file[4];
			random_text(name, sizeof(name), "ab");
			random_text(file, sizeof(file), "ab");
			if (is_in(before, name, file) != is_in(after, name, file))
				fail_msg("%s in %s:\n%s---\n%s", name, file, text.data, out.data);
		}
		tp_allowlist_free(before);
		tp_allowlist_free(after);
		tp_buf_release(&text);
	}
}

static int release(void **state)
{
	(void)state;
	tp_buf_release(&out);
	tp_buf_release(&warnings);
	return 0;
}

static int init(void **state)
{
	(void)state;
	tp_buf_init(&out);
	tp_buf_init(&warnings);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_xray),
	    cmocka_unit_test(test_clang),
	    cmocka_unit_test(test_exports),
	    cmocka_unit_test(test_fmt),
	    cmocka_unit_test(test_round_trips),
	    cmocka_unit_test(test_fmt_keeps_meaning),
	};
	return cmocka_run_group_tests(tests, init, release);
}
