// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Globs: a table of cases and of errors, and random globs against a slow matcher of another make.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "allowlists/language/glob.h"
#include "common/err.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int compile(struct tp_globs *globs, const char *text, struct tp_glob_error *error)
{
	return tp_globs_compile(globs, text, strlen(text), error);
}

static bool match(const struct tp_globs *globs, const char *text)
{
	return tp_globs_match(globs, text, strlen(text));
}

static void test_matches(void **state)
{
	(void)state;
	static const struct {
		const char *glob;
		const char *text;
		bool match;
	} cases[] = {
	    {"main", "main", true},
	    {"main", "main2", false},
	    {"main", "mai", false},
	    {"", "", true},
	    {"", "a", false},
	    {"*", "", true},
	    {"*", "a/b.c", true},
	    {"**", "abc", true},
	    {"a*", "a", true},
	    {"a*", "ba", false},
	    {"*a", "bba", true},
	    {"*a", "ab", false},
	    {"a*a", "a", false},
	    {"a*a", "aa", true},
	    {"ab*ba", "aba", false},
	    {"*b*", "abc", true},
	    {"*ab*ab", "abab", true},
	    {"*ab*ab", "xabyab", true},
	    {"*ab*ab", "xab", false},
	    {"a*b*c", "a-b-b-c", true},
	    {"a*bc*d", "abbcbd", true},
	    {"a*b?c*d", "abbxcd", true},
	    {"?", "", false},
	    {"?", "a", true},
	    {"?", "ab", false},
	    {"?*?", "a", false},
	    {"?*?", "ab", true},
	    {"*?x", "yx", true},
	    {"[abc]", "b", true},
	    {"[abc]", "d", false},
	    {"[a-c]x", "cx", true},
	    {"[a-c-]", "-", true},
	    {"[-a]", "-", true},
	    {"[a-]", "-", true},
	    {"[^a-c]", "d", true},
	    {"[^a-c]", "a", false},
	    {"[!a]", "b", true},
	    {"[!a]", "a", false},
	    {"[a!]", "!", true},
	    {"[]]", "]", true},
	    {"[]a]", "a", true},
	    {"[^]", "x", true},   // as in LLVM: an empty set, negated
	    {"[\\]", "\\", true}, // no escapes within a set
	    {"[*]", "*", true},
	    {"[*]", "a", false},
	    {"*[0-9]", "x7", true},
	    {"*[0-9]*", "x7y", true},
	    {"*[0-9]*z", "xyz", false},
	    {"[\xc0-\xff]", "\xe9", true},
	    {"\\*", "*", true},
	    {"\\*", "a", false},
	    {"a\\", "a\\", false},
	    {"\\a", "a", true},
	    {"{a,b}", "a", true},
	    {"{a,b}", "b", true},
	    {"{a,b}", "c", false},
	    {"{a,}x", "x", true},
	    {"{a,}x", "ax", true},
	    {"x{*,y}z", "x--z", true},
	    {"*.{c,cpp}", "a.cpp", true},
	    {"*.{c,cpp}", "a.cp", false},
	    {"{a,b}{1,2}", "b1", true},
	    {"{a,b}{1,2}", "1b", false},
	    {"{[,],\\,}", ",", true},
	    {"{[}],x}", "}", true},
	    {"a,b", "a,b", true},
	    {"a}", "a}", true},
	    {"\\{a,b\\}", "{a,b}", true},
	};
	struct tp_globs globs;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tp_glob_error error = {0};
		const int status = compile(&globs, cases[i].glob, &error);
		if ((status == 0 && match(&globs, cases[i].text)) != cases[i].match)
			fail_msg("'%s' and '%s': expected %d", cases[i].glob, cases[i].text,
			    cases[i].match);
		tp_globs_release(&globs);
	}
}

static void test_errors(void **state)
{
	(void)state;
	static const struct {
		const char *glob;
		size_t offset;
		const char *what;
	} cases[] = {
	    {"ab[", 2, "without ']'"},
	    {"a[]", 1, "without ']'"},
	    {"[a-z][b", 5, "without ']'"},
	    {"x[z-a]", 1, "ends before it starts"},
	    {"a\\", 1, "nothing after"},
	    {"a{b", 1, "without '}'"},
	    {"a{b,c", 1, "without '}'"},
	    {"{}", 0, "fewer than two"},
	    {"x{a}", 1, "fewer than two"},
	    {"{a,{b,c}}", 3, "within braces"},
	    {"{[a,b}", 1, "without ']'"},
	    {"{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}", 50, "more than 1024"},
	};
	struct tp_globs globs;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tp_glob_error error = {0};
		if (compile(&globs, cases[i].glob, &error) != TP_ERR_SYNTAX ||
		    error.offset != cases[i].offset || !strstr(error.what, cases[i].what))
			fail_msg("'%s': offset %zu, '%s'", cases[i].glob, error.offset,
			    error.what ? error.what : "no error");
		assert_int_equal(globs.count, 0);
	}
}

static void test_expansions(void **state)
{
	(void)state;
	struct tp_globs globs;
	struct tp_glob_error error;
	const char *ten = "{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}";
	assert_int_equal(compile(&globs, ten, &error), 0);
	assert_int_equal(globs.count, 1024);
	assert_true(tp_glob_match(globs.items[0], "aaaaaaaaaa", 10));
	assert_true(tp_glob_match(globs.items[1], "aaaaaaaaab", 10));
	assert_true(tp_glob_match(globs.items[1023], "bbbbbbbbbb", 10));
	tp_globs_release(&globs);

	// One group with too many globs.
	char wide[2 * TP_GLOB_EXPANSIONS_MAX + 4] = "{";
	for (int i = 0; i < TP_GLOB_EXPANSIONS_MAX; i++)
		strcat(wide, ",");
	strcat(wide, "}");
	assert_int_equal(compile(&globs, wide, &error), TP_ERR_SYNTAX);
	wide[strlen(wide) - 2] = '}';
	wide[strlen(wide) - 1] = '\0';
	assert_int_equal(compile(&globs, wide, &error), 0);
	assert_int_equal(globs.count, TP_GLOB_EXPANSIONS_MAX);
	tp_globs_release(&globs);
}

static void test_prefix(void **state)
{
	(void)state;
	struct tp_globs globs;
	struct tp_glob_error error;
	assert_int_equal(compile(&globs, "a\\*b*c", &error), 0);
	assert_int_equal(globs.items[0]->prefix_size, 3);
	assert_memory_equal(globs.items[0]->prefix, "a*b", 3);
	assert_false(globs.items[0]->literal);
	tp_globs_release(&globs);
	assert_int_equal(compile(&globs, "a\\*", &error), 0);
	assert_true(globs.items[0]->literal);
	tp_globs_release(&globs);
}

// Would take 2^60 steps if each star were tried against each rest.
static void test_many_stars(void **state)
{
	(void)state;
	char glob[256] = "";
	for (int i = 0; i < 60; i++)
		strcat(glob, "*a");
	strcat(glob, "*b*c");
	char text[20001];
	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	text[sizeof(text) - 2] = 'c';
	struct tp_globs globs;
	struct tp_glob_error error;
	assert_int_equal(compile(&globs, glob, &error), 0);
	assert_false(match(&globs, text));
	text[sizeof(text) - 4] = 'b';
	assert_true(match(&globs, text));
	tp_globs_release(&globs);
}

/*
 * The reference: reads the glob's text directly, tries every way, knows braces by trying each part
 * with the rest. Only for short texts; expects a glob without syntax errors.
 */
static bool slow(const char *glob, const char *text);

static const char *slow_skip(const char *at)
{
	if (*at == '\\')
		return at + 2;
	return *at == '[' ? strchr(at + 2, ']') + 1 : at + 1;
}

static bool slow_set(const char *set, const char *end, unsigned char byte)
{
	const bool negated = *set == '^' || *set == '!';
	bool found = false;
	for (set += negated; set < end; set++) {
		if (set + 2 < end && set[1] == '-') {
			found |= byte >= (unsigned char)set[0] && byte <= (unsigned char)set[2];
			set += 2;
		} else {
			found |= byte == (unsigned char)*set;
		}
	}
	return found != negated;
}

static bool slow_braces(const char *glob, const char *text)
{
	const char *close = glob + 1;
	while (*close != '}')
		close = slow_skip(close);
	for (const char *part = glob + 1; part <= close;) {
		const char *end = part;
		while (end != close && *end != ',')
			end = slow_skip(end);
		char rest[256];
		snprintf(rest, sizeof(rest), "%.*s%s", (int)(end - part), part, close + 1);
		if (slow(rest, text))
			return true;
		part = end + 1;
	}
	return false;
}

static bool slow(const char *glob, const char *text)
{
	switch (*glob) {
	case '\0':
		return *text == '\0';
	case '*':
		return slow(glob + 1, text) || (*text && slow(glob, text + 1));
	case '?':
		return *text && slow(glob + 1, text + 1);
	case '{':
		return slow_braces(glob, text);
	case '[':
		return *text && slow_set(glob + 1, strchr(glob + 2, ']'), (unsigned char)*text) &&
		       slow(slow_skip(glob), text + 1);
	case '\\':
		return glob[1] == *text && slow(glob + 2, text + 1);
	default:
		return *glob == *text && slow(glob + 1, text + 1);
	}
}

static uint64_t random_state;

static uint32_t pick(uint32_t count)
{
	random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(random_state >> 33) % count;
}

static void random_text(char *text, const char *const *parts, uint32_t part_count, uint32_t most)
{
	text[0] = '\0';
	for (uint32_t i = pick(most + 1); i; i--)
		strcat(text, parts[pick(part_count)]);
}

static void test_random(void **state)
{
	(void)state;
	static const char *const glob_parts[] = {"a", "b", "*", "?", "[ab]", "[^a]", "[b-c]", "{",
	    "}", ",", "\\*", "c", "{a,b}", "{*a,c}", "[,}]"};
	static const char *const text_parts[] = {"a", "b", "c", "*", ",", "}", "ab", "{"};
	struct tp_globs globs;
	uint32_t valid = 0;
	uint32_t matched = 0;
	for (uint32_t i = 0; i < 40000; i++) {
		random_state = i;
		char glob[64];
		random_text(glob, glob_parts, sizeof(glob_parts) / sizeof(glob_parts[0]), 8);
		struct tp_glob_error error;
		if (compile(&globs, glob, &error) != 0) {
			tp_globs_release(&globs);
			continue;
		}
		valid++;
		for (uint32_t t = 0; t < 8; t++) {
			char text[32];
			random_text(
			    text, text_parts, sizeof(text_parts) / sizeof(text_parts[0]), 6);
			const bool expected = slow(glob, text);
			matched += expected;
			if (match(&globs, text) != expected)
				fail_msg("'%s' and '%s': expected %d", glob, text, expected);
		}
		tp_globs_release(&globs);
	}
	// The comparison is only worth something if both outcomes are frequent.
	assert_true(valid > 20000);
	assert_true(matched > 10000);
	assert_true(valid * 8 - matched > 10000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_matches),
	    cmocka_unit_test(test_errors),
	    cmocka_unit_test(test_expansions),
	    cmocka_unit_test(test_prefix),
	    cmocka_unit_test(test_many_stars),
	    cmocka_unit_test(test_random),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
