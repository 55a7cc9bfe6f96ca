// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Control sequences of a terminal are removed, letters stay.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/clean.h"

static void text_is_cleaned(void **state)
{
	(void)state;
	static const struct {
		const char *from;
		const char *to;
	} cases[] = {
	    {"", ""},
	    {"plain ~", "plain ~"},
	    {"a\x1b[2Jb\n\t\x7f", "a?[2Jb???"},
	    // CSI in UTF-8, and as a single byte: at the end, behind letters, behind half a letter.
	    {"a\xc2\x9b"
	     "2J",
		"a??2J"},
	    {"a\x9b"
	     "2J",
		"a?2J"},
	    {"\x9b", "?"},
	    {"\xc3\xa9\x9b"
	     "2J",
		"\xc3\xa9?2J"},
	    {"\xe2\x82\x9b", "\xe2\x82\x9b"},
	    {"\xe2\x9b", "??"},
	    {"\xe2\x9b"
	     "2J",
		"??2J"},
	    {"\x80\x9f", "??"},
	    // Letters that hold such bytes: U+00DB, U+045B, U+26D4, U+1F6D1; and U+00A0, which is
	    // no control.
	    {"\xc3\x9b", "\xc3\x9b"},
	    {"\xd1\x9b", "\xd1\x9b"},
	    {"\xe2\x9b\x94", "\xe2\x9b\x94"},
	    {"\xf0\x9f\x9b\x91", "\xf0\x9f\x9b\x91"},
	    {"\xc2\xa0", "\xc2\xa0"},
	    // More bytes than the character needs, a surrogate, behind the last character.
	    {"\xc0\x9b", "??"},
	    {"\xc1\x9b", "??"},
	    {"\xe0\x82\x9b", "???"},
	    {"\xf0\x80\x82\x9b", "????"},
	    {"\xed\xa0\x9b", "???"},
	    {"\xf4\x90\x9b\x9b", "????"},
	    {"\xf5\x9b", "??"},
	    // Latin-1, which is not UTF-8.
	    {"\xe9t\xe9", "?t?"},
	    {"\xff\x9b", "??"},
	    // Marks, embeddings, overrides and isolates of direction; separators of lines and
	    // paragraphs.
	    {"a\xe2\x80\xae"
	     "b",
		"a???b"},
	    {"\xe2\x80\xaa\xe2\x80\xad\xe2\x81\xa6\xe2\x81\xa9", "????????????"},
	    {"\xe2\x80\x8e\xe2\x80\x8f\xd8\x9c\xe2\x80\xa8\xe2\x80\xa9", "??????????????"},
	    // What XML has no place for, U+FFFE and U+FFFF, and their neighbour, U+FFFD.
	    {"\xef\xbf\xbe\xef\xbf\xbf\xef\xbf\xbd", "??????\xef\xbf\xbd"},
	    // Neighbours of all these: a joiner, a hyphen, a narrow space, an Arabic letter.
	    {"\xe2\x80\x8d\xe2\x80\x90\xe2\x80\xaf\xd8\x9b",
		"\xe2\x80\x8d\xe2\x80\x90\xe2\x80\xaf\xd8\x9b"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[32];
		strcpy(text, cases[i].from);
		tp_clean(text, strlen(text));
		assert_string_equal(text, cases[i].to);
		struct tp_buf buf;
		tp_buf_init(&buf);
		tp_buf_add_clean(&buf, cases[i].from);
		assert_string_equal(buf.data, cases[i].to);
		tp_buf_release(&buf);
	}
}

// Whatever comes, it keeps its size, and cleaning it again changes nothing.
static void twice_is_once(void **state)
{
	(void)state;
	uint32_t random = 1;
	for (int i = 0; i < 200000; i++) {
		char text[9];
		for (int j = 0; j < 8; j++) {
			random = random * 1664525 + 1013904223;
			text[j] = (char)(random >> 24 ? random >> 24 : 1);
		}
		text[8] = '\0';
		tp_clean(text, 8);
		assert_int_equal(strlen(text), 8);
		char again[9];
		strcpy(again, text);
		tp_clean(again, 8);
		assert_string_equal(again, text);
		for (const unsigned char *at = (const unsigned char *)text; *at;) {
			const size_t size = tp_clean_character(at);
			assert_true(size && !tp_clean_unfit(at, size));
			at += size;
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(text_is_cleaned), cmocka_unit_test(twice_is_once)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
