// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Chains of inlined functions in this very program.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/symbols/elf/file.h"
#include "analyzer/symbols/lines.h"

static inline __attribute__((always_inline)) int innermost(int x)
{
	__asm__ volatile("nop");
	return x * 3;
}
static inline __attribute__((always_inline)) int middle(int x)
{
	__asm__ volatile("nop");
	return innermost(x + 1) ^ x;
}
enum { CALL_INNERMOST = __LINE__ - 2 };
__attribute__((noinline, used)) static int around(int x)
{
	__asm__ volatile("nop");
	return middle(x) + 7;
}
enum { CALL_MIDDLE = __LINE__ - 2 };

static struct tp_arena arena;
static struct tp_err err;

static int64_t find(const char *path, struct tp_inline_chain *chains, uint32_t count)
{
	const struct tp_dwarf_request request = {.path = path};
	return tp_symbol_inlines_find(&request, chains, count, &arena, &err);
}

static bool ends_with(const char *text, const char *end)
{
	const size_t size = strlen(text);
	return size >= strlen(end) && strcmp(text + size - strlen(end), end) == 0;
}

// Each byte of the function: some are in it alone, some in middle, some in innermost.
static void chains_of_this_program(void **state)
{
	(void)state;
	struct tp_elf_file elf;
	assert_int_equal(around(1), (6 ^ 1) + 7);
	assert_int_equal(tp_elf_file_read(&elf, "/proc/self/exe", &err), 0);
	const struct tp_elf_symbol *symbol = NULL;
	for (uint32_t i = 0; i < elf.symbol_count; i++)
		if (strcmp(elf.symbols[i].name, "around") == 0)
			symbol = &elf.symbols[i];
	assert_non_null(symbol);
	assert_in_range(symbol->size, 4, 4096);
	const uint32_t count = (uint32_t)symbol->size;
	struct tp_inline_chain *chains = calloc(count, sizeof(*chains));
	assert_non_null(chains);
	for (uint32_t i = 0; i < count; i++)
		chains[i].address = symbol->address + i;
	tp_arena_init(&arena);
	const int64_t found = find("/proc/self/exe", chains, count);
	uint32_t depths[3] = {0};
	int64_t filled = 0;
	for (uint32_t i = 0; i < count; i++) {
		const struct tp_inlined *functions = chains[i].functions;
		assert_in_range(chains[i].count, 0, 2);
		depths[chains[i].count]++;
		filled += chains[i].count > 0;
		if (chains[i].count == 2) {
			assert_string_equal(functions[0].function, "innermost");
			assert_int_equal(functions[0].call_line, CALL_INNERMOST);
			assert_true(ends_with(functions[0].call_file, "u_symbol_inlines.c"));
		}
		if (chains[i].count) {
			assert_string_equal(functions[chains[i].count - 1].function, "middle");
			assert_int_equal(functions[chains[i].count - 1].call_line, CALL_MIDDLE);
		}
	}
	assert_int_equal(found, filled);
	assert_true(depths[0] && depths[1] && depths[2]);
	free(chains);
	tp_arena_release(&arena);
	tp_elf_file_release(&elf);
}

static void nothing_there(void **state)
{
	(void)state;
	struct tp_inline_chain chain = {.address = 1};
	tp_arena_init(&arena);
	assert_int_equal(find("/proc/self/exe", &chain, 1), 0);
	assert_int_equal(chain.count, 0);
	assert_int_equal(find("no-such-file", &chain, 1), TP_ERR_SYSTEM);
	assert_non_null(strstr(err.what, "cannot open it"));
	assert_int_equal(chain.count, 0);
	tp_arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(chains_of_this_program),
	    cmocka_unit_test(nothing_there),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
