// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Error reports: filled-in fields, cut-off texts, and the resulting line.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/err.h"

#include <errno.h>
#include <string.h>

static void test_format(void **state)
{
	(void)state;
	struct tp_err err;
	char text[1024];
	assert_int_equal(
	    tp_err_set_at(&err, TP_ERR_FORMAT, "t.trace", 4096, "chunk of %u bytes", 7), -3);
	assert_int_equal(err.code, TP_ERR_FORMAT);
	assert_string_equal(
	    tp_err_format(&err, text, sizeof(text)), "'t.trace' at offset 4096: chunk of 7 bytes");
	tp_err_set_at(&err, TP_ERR_FORMAT, "t.trace", 0, "x");
	assert_string_equal(tp_err_format(&err, text, sizeof(text)), "'t.trace' at offset 0: x");
	tp_err_set(&err, TP_ERR_LIMIT, "t.trace", "too large");
	assert_string_equal(tp_err_format(&err, text, sizeof(text)), "'t.trace': too large");
	tp_err_set(&err, TP_ERR_MEMORY, NULL, "out of memory");
	assert_string_equal(tp_err_format(&err, text, sizeof(text)), "out of memory");
	assert_int_equal(
	    tp_err_set_line(&err, TP_ERR_SYNTAX, "a.allow", 3, 9, "unknown '%s'", "x"), -6);
	assert_int_equal(err.line, 3);
	assert_int_equal(err.column, 9);
	assert_string_equal(tp_err_format(&err, text, sizeof(text)), "a.allow:3:9: unknown 'x'");
	// A place in a text does not stay behind in the next error.
	tp_err_set_at(&err, TP_ERR_FORMAT, "t", 1, "x");
	assert_int_equal(err.line, 0);
	assert_int_equal(tp_err_system(&err, ENOENT, "f", "cannot open %s", "it"), TP_ERR_SYSTEM);
	assert_string_equal(tp_err_format(&err, text, sizeof(text)),
	    "'f': cannot open it: No such file or directory");
}

static void test_long(void **state)
{
	(void)state;
	struct tp_err err;
	char path[400];
	memset(path, 'd', sizeof(path));
	memcpy(path + sizeof(path) - 7, "x.allow", 7);
	char name[sizeof(path) + 1] = "";
	memcpy(name, path, sizeof(path));
	char what[2000];
	memset(what, 'w', sizeof(what) - 1);
	what[sizeof(what) - 1] = '\0';

	tp_err_set_at(&err, TP_ERR_FORMAT, name, 1, "%s", what);
	assert_int_equal(strlen(err.file), sizeof(err.file) - 1);
	assert_string_equal(err.file + sizeof(err.file) - 8, "x.allow");
	assert_int_equal(strlen(err.what), sizeof(err.what) - 1);
	// A path that just fits is whole.
	name[sizeof(err.file) - 1] = '\0';
	tp_err_set_at(&err, TP_ERR_FORMAT, name, 1, "x");
	assert_string_equal(err.file, name);
	// No room left for the system's text.
	tp_err_system(&err, ENOENT, "f", "%s", what);
	assert_int_equal(strlen(err.what), sizeof(err.what) - 1);
	char small[8];
	assert_string_equal(tp_err_format(&err, small, sizeof(small)), "'f': ww");
}

static void test_unwanted(void **state)
{
	(void)state;
	assert_int_equal(tp_err_set_at(NULL, TP_ERR_LIMIT, "f", 0, "x"), TP_ERR_LIMIT);
	assert_int_equal(tp_err_set_line(NULL, TP_ERR_SYNTAX, "f", 1, 1, "x"), TP_ERR_SYNTAX);
	assert_int_equal(tp_err_system(NULL, EIO, "f", "x"), TP_ERR_SYSTEM);
}

static void expect_excerpt(const char *line, uint32_t column, const char *expected)
{
	struct tp_err err;
	char text[TP_ERR_TEXT_SIZE];
	tp_err_set_line(&err, TP_ERR_SYNTAX, "x", 1, column, "bad");
	tp_err_set_excerpt(&err, line, strlen(line));
	tp_err_render(&err, text, sizeof(text));
	assert_memory_equal(text, "x:1:", 4);
	assert_string_equal(strstr(text, "bad"), expected);
}

static void test_excerpts(void **state)
{
	(void)state;
	expect_excerpt("fun:a[", 6, "bad\n  fun:a[\n       ^");
	expect_excerpt("fun:a[", 1, "bad\n  fun:a[\n  ^");
	// Behind the end, where something is missing; and farther, which must do no harm.
	expect_excerpt("fun:", 5, "bad\n  fun:\n      ^");
	expect_excerpt("fun:", 99, "bad\n  fun:\n      ^");
	expect_excerpt("", 1, "bad");
	// Control characters take one column each, and characters of several bytes do, too.
	expect_excerpt("\ta\x01[", 4, "bad\n   a [\n     ^");
	expect_excerpt("\xc3\xa4\xc3\xb6[", 5, "bad\n  \xc3\xa4\xc3\xb6[\n    ^");

	// The excerpt of a long line is the part around the place.
	char line[301];
	memset(line, 'a', sizeof(line) - 1);
	line[sizeof(line) - 1] = '\0';
	line[199] = '[';
	struct tp_err err;
	tp_err_set_line(&err, TP_ERR_SYNTAX, "x", 1, 200, "bad");
	tp_err_set_excerpt(&err, line, sizeof(line) - 1);
	assert_int_equal(strlen(err.excerpt), sizeof(err.excerpt) - 1);
	assert_int_equal(err.excerpt[err.caret], '[');
	memset(line, 0xc3, sizeof(line) - 1);
	for (size_t i = 1; i < sizeof(line) - 1; i += 2)
		line[i] = (char)0xa4;
	for (uint32_t column = 1; column < sizeof(line); column += 2) {
		tp_err_set_line(&err, TP_ERR_SYNTAX, "x", 1, column, "bad");
		tp_err_set_excerpt(&err, line, sizeof(line) - 1);
		assert_int_equal((unsigned char)err.excerpt[0], 0xc3);
		assert_int_equal(strlen(err.excerpt) % 2, 0);
		assert_int_equal(err.caret % 2, 0);
	}

	// If the bytes are not characters, the cut at the end may include the place.
	memset(line, 0xa1, sizeof(line) - 1);
	tp_err_set_line(&err, TP_ERR_SYNTAX, "x", 1, 200, "bad");
	tp_err_set_excerpt(&err, line, sizeof(line) - 1);
	assert_true(err.caret <= strlen(err.excerpt));

	// It does not stay behind in the next error, and needs a place.
	tp_err_set_line(&err, TP_ERR_SYNTAX, "x", 1, 1, "bad");
	assert_string_equal(err.excerpt, "");
	tp_err_set_at(&err, TP_ERR_SYNTAX, "x", 1, "bad");
	tp_err_set_excerpt(&err, "abc", 3);
	assert_string_equal(err.excerpt, "");
	tp_err_set_excerpt(NULL, "abc", 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_format),
	    cmocka_unit_test(test_long),
	    cmocka_unit_test(test_unwanted),
	    cmocka_unit_test(test_excerpts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
