// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The symbols section: good and malformed lines, and which symbol holds an address.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/symbols/module.h"

static struct tp_arena arena;
static struct tp_symbol_text table;

static void parse(const char *text)
{
	tp_arena_init(&arena);
	assert_int_equal(tp_symbol_text_parse(&table, text, &arena), 0);
}

static void symbols_are_found(void **state)
{
	(void)state;
	parse("401010\t8\tb\tdir/b.c\t12\n"
	      "7f0000401000\t10\ta\t\t0\n"
	      "401040\t0\tc\tc.c\t18446744073709551615\n");
	assert_int_equal(table.count, 3);
	assert_int_equal(table.bad_lines, 0);
	// By the low half of the address, from the symbol's first byte to its last.
	assert_null(tp_symbol_text_find(&table, 0x400fff));
	assert_string_equal(tp_symbol_text_find(&table, 0x401000)->name, "a");
	assert_string_equal(tp_symbol_text_find(&table, 0x40100f)->name, "a");
	const struct tp_text_symbol *b = tp_symbol_text_find(&table, 0x401017);
	assert_string_equal(b->name, "b");
	assert_string_equal(b->file, "dir/b.c");
	assert_int_equal(b->line, 12);
	assert_null(tp_symbol_text_find(&table, 0x401018));
	// One without a size is found by its address alone.
	assert_true(tp_symbol_text_find(&table, 0x401040)->line == UINT64_MAX);
	assert_null(tp_symbol_text_find(&table, 0x401041));
	assert_null(tp_symbol_text_find(&table, UINT32_MAX));
	tp_arena_release(&arena);
}

static void malformed_lines_are_counted(void **state)
{
	(void)state;
	static const char *const lines[] = {
	    "",
	    "401000",
	    "401000\t10\ta\tfile",          // a field is missing
	    "401000\t10\ta\tfile\t1\tmore", // one too many
	    "401000\t10\t\tfile\t1",        // no name
	    "40100g\t10\ta\tfile\t1",
	    " 401000\t10\ta\tfile\t1",
	    "-1\t10\ta\tfile\t1",
	    "401000\t\ta\tfile\t1",
	    "401000\t10\ta\tfile\t",
	    "401000\t10\ta\tfile\tff",
	    "10000000000000000\t10\ta\tfile\t1", // 2^64
	    "0x401000\t10\ta\tfile\t1",
	    "401000\t10\ta\tfile\t18446744073709551616",
	};
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		char text[200] = "401000\t4\tgood\t\t0\n";
		strcat(text, lines[i]);
		strcat(text, "\n402000\t4\tbetter\t\t0");
		parse(text);
		assert_int_equal(table.bad_lines, 1);
		assert_int_equal(table.first_bad_line, 2);
		assert_int_equal(table.count, 2);
		assert_string_equal(tp_symbol_text_find(&table, 0x402003)->name, "better");
		tp_arena_release(&arena);
	}
}

// Addresses that share their low half are distinct if they are known whole.
static void whole_addresses(void **state)
{
	(void)state;
	parse("555600002000\t10\tlast\t\t0\n401000\t0\tfirst\t\t0\n"
	      "555500002000\t10\tmiddle\t\t0\n");
	assert_int_equal(table.count, 3);
	assert_string_equal(tp_symbol_text_find_full(&table, 0x401000)->name, "first");
	assert_null(tp_symbol_text_find_full(&table, 0x401001));
	assert_null(tp_symbol_text_find_full(&table, 0x400fff));
	assert_string_equal(tp_symbol_text_find_full(&table, 0x55550000200f)->name, "middle");
	assert_null(tp_symbol_text_find_full(&table, 0x555500002010));
	assert_string_equal(tp_symbol_text_find_full(&table, 0x555600002000)->name, "last");
	assert_null(tp_symbol_text_find_full(&table, 0x2000));
	tp_arena_release(&arena);
}

static void an_empty_section(void **state)
{
	(void)state;
	parse("");
	assert_int_equal(table.count, 0);
	assert_int_equal(table.bad_lines, 0);
	assert_null(tp_symbol_text_find(&table, 0));
	tp_arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(symbols_are_found),
	    cmocka_unit_test(malformed_lines_are_counted),
	    cmocka_unit_test(whole_addresses),
	    cmocka_unit_test(an_empty_section),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
