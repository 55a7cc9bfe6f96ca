// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How far names are from one another.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "list_fixture.h"
#include "allowlists/check/explained.h"
#include "allowlists/check/check.h"
#include "common/spelling.h"

// The same by the definition: every cell.
static uint32_t slow_distance(const char *a, const char *b)
{
	uint32_t cells[32][32];
	const size_t a_size = strlen(a);
	const size_t b_size = strlen(b);
	for (size_t i = 0; i <= a_size; i++) {
		for (size_t j = 0; j <= b_size; j++) {
			if (i == 0 || j == 0) {
				cells[i][j] = (uint32_t)(i + j);
				continue;
			}
			uint32_t best = cells[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
			if (cells[i - 1][j] + 1 < best)
				best = cells[i - 1][j] + 1;
			if (cells[i][j - 1] + 1 < best)
				best = cells[i][j - 1] + 1;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    cells[i - 2][j - 2] + 1 < best)
				best = cells[i - 2][j - 2] + 1;
			cells[i][j] = best;
		}
	}
	return cells[a_size][b_size];
}

static void random_word(char *word)
{
	const int size = rand() % 9;
	for (int i = 0; i < size; i++)
		word[i] = (char)('a' + rand() % 3);
	word[size] = '\0';
}

static void distances(void **state)
{
	(void)state;
	assert_int_equal(tp_spelling_distance("parse", "parse", 0), 0);
	assert_int_equal(tp_spelling_distance("parse", "pasre", 3), 1);
	assert_int_equal(tp_spelling_distance("parse", "spare", 3), 2);
	assert_int_equal(tp_spelling_distance("", "abc", 3), 3);
	assert_int_equal(tp_spelling_distance("", "abcd", 3), 4);
	srand(1);
	for (int i = 0; i < 20000; i++) {
		char a[16];
		char b[16];
		random_word(a);
		random_word(b);
		const uint32_t most = (uint32_t)(rand() % 5);
		const uint32_t slow = slow_distance(a, b);
		const uint32_t wanted = slow > most ? most + 1 : slow;
		if (tp_spelling_distance(a, b, most) != wanted)
			fail_msg("'%s' and '%s' at most %u: %u, not %u", a, b, most,
			    tp_spelling_distance(a, b, most), wanted);
	}
}

static void find(
    const struct tp_inventory *inventory, const char *word, enum tp_found_by by, const char *names)
{
	struct tp_found found;
	struct tp_buf text;
	tp_buf_init(&text);
	assert_int_equal(tp_function_find(&found, inventory, word, NULL), 0);
	for (uint32_t i = 0; i < found.count; i++)
		tp_buf_addf(&text, "%s ", inventory->functions[found.functions[i]].demangled);
	if (found.by != by || strcmp(text.data, names) != 0)
		fail_msg("'%s' is found by %d: %s", word, found.by, text.data);
	tp_buf_release(&text);
	tp_found_release(&found);
}

static void finding(void **state)
{
	(void)state;
	struct tp_inventory inventory;
	fixture_inventory(&inventory, FIXTURE_PROGRAM);
	find(&inventory, "parse", TP_FOUND_LINKAGE, "parse ");
	find(&inventory, "init", TP_FOUND_LINKAGE, "init init ");
	find(&inventory, "_Z3runv", TP_FOUND_LINKAGE, "run() ");
	find(&inventory, "run", TP_FOUND_NAME, "run() ");
	find(&inventory, "Lexer::next(int)", TP_FOUND_NAME, "Lexer::next(int) ");
	find(&inventory, "Lexer::next", TP_FOUND_NAME, "Lexer::next(int) ");
	find(&inventory, "par*", TP_FOUND_GLOB, "parse parse_line ");
	find(&inventory, "*::n*", TP_FOUND_GLOB, "Lexer::name[abi:cxx11]() Lexer::next(int) ");
	find(&inventory, "Lexer", TP_FOUND_PART, "Lexer::name[abi:cxx11]() Lexer::next(int) ");
	find(&inventory, "[abi:", TP_FOUND_PART, "Lexer::name[abi:cxx11]() ");
	find(&inventory, "nowhere", TP_FOUND_NOTHING, "");
	assert_string_equal(tp_list_nearest(&inventory, "Lexer::nxet")->name, "_ZN5Lexer4nextEi");
	assert_null(tp_list_nearest(&inventory, "nowhere"));
	tp_inventory_release(&inventory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(distances),
	    cmocka_unit_test(finding),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
