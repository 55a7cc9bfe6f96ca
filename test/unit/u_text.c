// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pieces of output: numbers, quoting, tables.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/output/text.h"

static void times_have_four_digits(void **state)
{
	(void)state;
	static const struct {
		uint64_t ns;
		const char *text;
	} cases[] = {
	    {0, "0 ns"},
	    {999, "999 ns"},
	    {1000, "1.000 us"},
	    {9999, "9.999 us"},
	    {12345, "12.35 us"},
	    {99994, "99.99 us"},
	    {99996, "100.0 us"},
	    {999949, "999.9 us"},
	    {999950, "1.000 ms"}, // not 1000.0 us
	    {999999999, "1.000 s"},
	    {UINT64_C(86400000000000), "86400.0 s"},
	    {UINT64_MAX, "18446744073.7 s"},
	};
	char text[TP_TEXT_NUMBER];
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(tp_text_ns(text, cases[i].ns), cases[i].text);
}

static void counts_have_groups(void **state)
{
	(void)state;
	char text[TP_TEXT_NUMBER];
	assert_string_equal(tp_text_count(text, 0), "0");
	assert_string_equal(tp_text_count(text, 999), "999");
	assert_string_equal(tp_text_count(text, 1000), "1,000");
	assert_string_equal(tp_text_count(text, 123456), "123,456");
	assert_string_equal(tp_text_count(text, UINT64_MAX), "18,446,744,073,709,551,615");
}

static void check(
    void (*add)(struct tp_buf *, const char *), const char *text, const char *expected)
{
	struct tp_buf buf;
	tp_buf_init(&buf);
	add(&buf, text);
	assert_string_equal(buf.data, expected);
	tp_buf_release(&buf);
}

static void quoting(void **state)
{
	(void)state;
	check(tp_text_add_csv, "plain name", "plain name");
	check(tp_text_add_csv, "", "");
	check(tp_text_add_csv, "f(int, int)", "\"f(int, int)\"");
	check(tp_text_add_csv, "operator\"\"_x", "\"operator\"\"\"\"_x\"");
	check(tp_text_add_csv, "a\nb", "\"a\nb\"");
	check(tp_text_add_csv, "a\x1b[2J\r\xff\xe2\x80\xae,",
	    "\"a?[2J??"
	    "???,\"");
	// What a spreadsheet would take for a formula, and numbers, which it may.
	check(tp_text_add_csv, "=HYPERLINK(\"x\")", "\"'=HYPERLINK(\"\"x\"\")\"");
	check(tp_text_add_csv, "-[Shape draw]", "'-[Shape draw]");
	check(tp_text_add_csv, "+1-1", "'+1-1");
	check(tp_text_add_csv, "@SUM(A1)", "'@SUM(A1)");
	check(tp_text_add_csv, "-3.25", "-3.25");
	check(tp_text_add_csv, "-", "'-");
	check(tp_text_add_tsv, "a\tb\nc\rd\\e", "a\\tb\\nc\\rd\\\\e");
	check(tp_text_add_tsv, "=a\x1b\t", "'=a?\\t");
	check(tp_text_add_tsv, "", "");
	check(tp_json_quote, "\xe2\x80\xae\xc2\x9b\xd8\x9c", "\"\\u202e\\u009b\\u061c\"");
	check(tp_text_add_xml, "<\xe2\x80\xae\x1b\xff>", "&lt;???&gt;");
	check(tp_json_quote, "a\"b\\c", "\"a\\\"b\\\\c\"");
	check(tp_json_quote, "\x01\n\x7f", "\"\\u0001\\u000a\\u007f\"");
	check(tp_text_add_xml, "operator<<&\">'", "operator&lt;&lt;&amp;&quot;&gt;'");
	check(tp_text_add_xml, "\x1b[31m", "?[31m");
}

// Names come from the traced program: each malformed byte is replaced, the rest stays.
static void utf8(void **state)
{
	(void)state;
	check(tp_json_quote, "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80",
	    "\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\"");
	static const char *const bad[] = {
	    "\x80",         // a continuation alone
	    "\xff",         // never valid
	    "\xc0\xaf",     // overlong
	    "\xe0\x9f\xbf", // overlong
	    "\xed\xa0\x80", // a surrogate
	    "\xf4\x90\x80\x80",
	    "\xe2\x82", // the string ends inside
	};
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char expected[64] = "\"";
		char marks[16] = "";
		for (size_t j = 0; j < strlen(bad[i]); j++) {
			strcat(expected, "\\ufffd");
			strcat(marks, "?");
		}
		strcat(expected, "\"");
		check(tp_json_quote, bad[i], expected);
		check(tp_text_add_xml, bad[i], marks);
	}
	assert_int_equal(tp_text_width("a\xc3\xa4\xe2\x82\xac"), 3);
}

static void render(uint32_t width, bool color, const char *expected)
{
	static const char *const cells[] = {"calls", "function", "source", "1",
	    "\xc3\xa4 rather long name of it", "a.c:1", "22", "b", ""};
	struct tp_table table;
	struct tp_buf out;
	tp_buf_init(&out);
	tp_table_init(&table, "rll", 1);
	table.width = width;
	table.color = color;
	for (size_t i = 0; i < sizeof(cells) / sizeof(cells[0]); i++)
		tp_table_add(&table, cells[i]);
	tp_table_render(&table, &out);
	assert_string_equal(out.data, expected);
	tp_table_release(&table);
	tp_buf_release(&out);
}

static void tables(void **state)
{
	(void)state;
	render(0, false,
	    "calls  function                  source\n"
	    "    1  \xc3\xa4 rather long name of it  a.c:1\n"
	    "   22  b\n");
	// Cut to the terminal, whose width counts letters and not bytes.
	render(32, false,
	    "calls  function           source\n"
	    "    1  \xc3\xa4 rather…me of it  a.c:1\n"
	    "   22  b\n");
	tp_text_use_ascii(true);
	render(32, false,
	    "calls  function           source\n"
	    "    1  \xc3\xa4 rathe..me of it  a.c:1\n"
	    "   22  b\n");
	tp_text_use_ascii(false);
	// Never below what can be read.
	render(5, true,
	    "\033[1mcalls\033[0m  \033[1mfunction\033[0m          \033[1msource\033[0m\n"
	    "    1  \xc3\xa4 rathe…me of it  a.c:1\n"
	    "   22  b\n");
}

static void wrap(const char *text, uint32_t width, const char *expected)
{
	struct tp_buf out;
	tp_buf_init(&out);
	tp_text_add_wrapped(&out, text, width, 2);
	assert_string_equal(out.data, expected);
	tp_buf_release(&out);
}

static void wrapped(void **state)
{
	(void)state;
	wrap("", 10, "");
	wrap("\n", 10, "\n");
	wrap("a bc def\nx\n", 0, "a bc def\nx\n");
	wrap("a bc def\nx\n", 8, "a bc def\nx\n");
	wrap("a bc def\nx\n", 7, "a bc\n  def\nx\n");
	wrap("a bc def gh", 5, "a bc\n  def\n  gh\n");
	wrap("abcdefgh ij", 5, "abcdefgh\n  ij\n");
	wrap("ab cdefghij", 5, "ab\n  cdefghij\n");
	wrap("\xc3\xa4\xc3\xa4\xc3\xa4 b", 5, "\xc3\xa4\xc3\xa4\xc3\xa4 b\n");
}

// Without a terminal a long cell is whole, and moves only its own row.
static void long_cells(void **state)
{
	(void)state;
	char name[101];
	memset(name, 'x', 100);
	name[100] = '\0';
	const char *const cells[] = {"function", "source", name, "a.c:1", "b", "b.c:1"};
	struct tp_table table;
	struct tp_buf out;
	char expected[512];
	tp_buf_init(&out);
	tp_table_init(&table, "ll", 0);
	for (size_t i = 0; i < sizeof(cells) / sizeof(cells[0]); i++)
		tp_table_add(&table, cells[i]);
	tp_table_render(&table, &out);
	snprintf(expected, sizeof(expected), "%-80s  source\n%s  a.c:1\n%-80s  b.c:1\n", "function",
	    name, "b");
	assert_string_equal(out.data, expected);
	tp_table_release(&table);
	tp_buf_release(&out);
}

static void render_columns(uint32_t width, const char *list, const char *expected)
{
	static const char *const cells[] = {
	    "calls", "p50", "function", "source", "10", "20 ns", "a", "a.c:1"};
	static const uint8_t ranks[] = {0, 1, 0, 2};
	struct tp_table table;
	struct tp_buf out;
	struct tp_err err;
	tp_buf_init(&out);
	tp_table_init(&table, "rrll", 2);
	table.width = width;
	table.ranks = ranks;
	for (size_t i = 0; i < sizeof(cells) / sizeof(cells[0]); i++)
		tp_table_add(&table, cells[i]);
	const int code = tp_table_choose(&table, list, &err);
	assert_int_equal(code, expected ? 0 : TP_ERR_NOT_FOUND);
	if (expected) {
		tp_table_render(&table, &out);
		assert_string_equal(out.data, expected);
	}
	tp_table_release(&table);
	tp_buf_release(&out);
}

// Those that matter least are left out where there is no room, or those that were not asked for.
static void tables_choose_columns(void **state)
{
	(void)state;
	render_columns(0, NULL, "calls    p50  function  source\n   10  20 ns  a         a.c:1\n");
	render_columns(30, NULL, "calls    p50  function  source\n   10  20 ns  a         a.c:1\n");
	render_columns(29, NULL, "calls    p50  function\n   10  20 ns  a\n");
	render_columns(20, NULL, "calls  function\n   10  a\n");
	render_columns(5, NULL, "calls  function\n   10  a\n");
	render_columns(20, "source,calls", "source  calls\na.c:1      10\n");
	render_columns(0, "p50", "  p50\n20 ns\n");
	render_columns(0, "p5", NULL);
	render_columns(0, "", NULL);
	render_columns(0, "p50,", NULL);
	render_columns(0, "p50,,calls", NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(times_have_four_digits),
	    cmocka_unit_test(counts_have_groups),
	    cmocka_unit_test(quoting),
	    cmocka_unit_test(utf8),
	    cmocka_unit_test(tables),
	    cmocka_unit_test(wrapped),
	    cmocka_unit_test(long_cells),
	    cmocka_unit_test(tables_choose_columns),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
