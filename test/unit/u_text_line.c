// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lines of the text form: words, strings, options, and the first error of each kind.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/trace/text/line.h"

static struct tp_line line;
static struct tp_err err;
static const char *rest;
static size_t rest_size;

static void begin(const char *text)
{
	tp_line_init(&line, "file", &err);
	rest = text;
	rest_size = strlen(text);
	assert_true(tp_line_next(&line, &rest, &rest_size));
}

static void end_with(uint32_t number, const char *what)
{
	tp_line_finish(&line);
	assert_int_equal(line.code, what ? TP_ERR_SYNTAX : 0);
	if (what) {
		assert_string_equal(err.what, what);
		assert_string_equal(err.file, "file");
		assert_int_equal(err.line, number);
	}
	tp_line_release(&line);
}

static void words_and_options(void **state)
{
	(void)state;
	begin("\tone key=7 two # three\nnext");
	assert_string_equal(tp_line_peek(&line), "one");
	assert_string_equal(tp_line_word(&line), "one");
	assert_int_equal(tp_line_option(&line, "key", 1, 100), 7);
	assert_int_equal(tp_line_option(&line, "other", 1, 100), 1);
	assert_string_equal(tp_line_word(&line), "two");
	assert_null(tp_line_peek(&line));
	tp_line_finish(&line);
	assert_true(tp_line_next(&line, &rest, &rest_size));
	assert_int_equal(line.number, 2);
	assert_string_equal(tp_line_word(&line), "next");
	assert_false(tp_line_next(&line, &rest, &rest_size));
	end_with(0, NULL);
}

static void what_is_left_over_is_an_error(void **state)
{
	(void)state;
	begin("\n");
	assert_true(rest_size == 0);
	end_with(0, NULL);
	begin("a b");
	tp_line_word(&line);
	end_with(1, "unknown word 'b'");
	begin("a key=1 key=2");
	tp_line_word(&line);
	assert_int_equal(tp_line_option(&line, "key", 0, 9), 1);
	end_with(1, "unknown word 'key=2'");
	begin("# only a comment");
	assert_string_equal(tp_line_word(&line), "");
	end_with(1, "the line ends too early");
}

static void numbers(void **state)
{
	(void)state;
	static const struct {
		const char *word;
		uint64_t max;
		bool good;
		uint64_t value;
	} cases[] = {
	    {"0", 0, true, 0},
	    {"1", 0, false, 0},
	    {"9", 5, false, 0}, // a digit above the limit
	    {"0xf", 14, false, 0},
	    {"255", 255, true, 255},
	    {"256", 255, false, 0},
	    {"0xFf", 255, true, 255},
	    {"18446744073709551615", UINT64_MAX, true, UINT64_MAX},
	    {"18446744073709551616", UINT64_MAX, false, 0},
	    {"0xffffffffffffffff", UINT64_MAX, true, UINT64_MAX},
	    {"0x10000000000000000", UINT64_MAX, false, 0},
	    {"", 9, false, 0},
	    {"0x", 9, false, 0},
	    {"-1", 9, false, 0},
	    {"+1", 9, false, 0},
	    {"1a", 99, false, 0},
	    {"a", 99, false, 0},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t value = 0;
		assert_int_equal(tp_line_parse(cases[i].word, cases[i].max, &value), cases[i].good);
		assert_true(value == cases[i].value);
	}
	begin("300");
	assert_int_equal(tp_line_number(&line, 255), 0);
	end_with(1, "'300' is not a number, or too large");
	begin("x key=0x");
	tp_line_word(&line);
	tp_line_option(&line, "key", 3, 255);
	end_with(1, "key: '0x' is not a number, or too large");
}

static void check_string(const char *text, const char *expected, size_t size, const char *error)
{
	struct tp_buf out;
	tp_buf_init(&out);
	begin(text);
	tp_line_string(&line, &out);
	if (!error) {
		assert_int_equal(out.size, size);
		assert_memory_equal(out.data, expected, size);
	}
	end_with(1, error);
	tp_buf_release(&out);
}

static void strings(void **state)
{
	(void)state;
	check_string("word", "word", 4, NULL);
	check_string("\"two words # no comment\"", "two words # no comment", 22, NULL);
	check_string("\"\"", "", 0, NULL);
	check_string("\"\\\"\\\\\\x00\\xfF\"", "\"\\\0\xff", 4, NULL);
	check_string("\"\\n\"", NULL, 0, "an escape is one of \\\" \\\\ \\xHH");
	check_string("\"\\x0\"", NULL, 0, "an escape is one of \\\" \\\\ \\xHH");
	check_string("\"open", NULL, 0, "the string does not end");
	check_string("\"a\"b", NULL, 0, "text follows the string");
}

static void strings_of_limited_size(void **state)
{
	(void)state;
	char name[5] = "";
	begin("name=\"a=b\" abcd");
	tp_line_option_string(&line, "name", name, sizeof(name));
	assert_string_equal(name, "a=b");
	tp_line_word_or_string(&line, name, sizeof(name));
	assert_string_equal(name, "abcd");
	tp_line_option_string(&line, "none", name, sizeof(name));
	assert_string_equal(name, "abcd");
	end_with(0, NULL);
	begin("abcde");
	tp_line_word_or_string(&line, name, sizeof(name));
	end_with(1, "the string has 5 bytes, at most 4 fit");
}

static void hexadecimal_bytes(void **state)
{
	(void)state;
	uint8_t to[2] = {0};
	begin("x");
	tp_line_word(&line);
	assert_int_equal(tp_line_hex(&line, "00fF", to, 2), 2);
	assert_int_equal(to[1], 0xff);
	assert_int_equal(tp_line_hex(&line, "", to, 2), 0);
	assert_int_equal(line.code, 0);
	assert_int_equal(tp_line_hex(&line, "0", to, 2), 0);
	end_with(1, "expected at most 2 bytes in hexadecimal");
	begin("x");
	tp_line_word(&line);
	tp_line_hex(&line, "001122", to, 2);
	end_with(1, "expected at most 2 bytes in hexadecimal");
}

static void bad_lines(void **state)
{
	(void)state;
	char many[4 * TP_LINE_WORDS] = "";
	for (int i = 0; i <= TP_LINE_WORDS; i++)
		strcat(many, "a ");
	begin(many);
	end_with(1, "more than 32 words");
	tp_line_init(&line, NULL, &err);
	rest = "a\0b";
	rest_size = 3;
	assert_true(tp_line_next(&line, &rest, &rest_size));
	assert_int_equal(line.code, TP_ERR_SYNTAX);
	assert_string_equal(err.what, "the line has a NUL byte");
	assert_string_equal(err.file, "text");
	// The first error sticks.
	tp_line_fail(&line, "another");
	assert_string_equal(err.what, "the line has a NUL byte");
	tp_line_release(&line);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(words_and_options),
	    cmocka_unit_test(what_is_left_over_is_an_error),
	    cmocka_unit_test(numbers),
	    cmocka_unit_test(strings),
	    cmocka_unit_test(strings_of_limited_size),
	    cmocka_unit_test(hexadecimal_bytes),
	    cmocka_unit_test(bad_lines),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
