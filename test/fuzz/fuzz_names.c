// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Any text as a mangled name, and as the symbols section of a trace: names keep a size that can be
// shown, and each symbol is at the address that it claims.
// Runs: 1 of 4.
#include "analyzer/symbols/module.h"
#include "common/linkage_name.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_name(const char *name)
{
	char *text = tp_demangle(name);
	if (text && (strlen(text) > TP_DEMANGLE_MAX || strncmp(name, "_Z", 2) != 0))
		abort();
	free(text);
}

static void check_found(const struct tp_text_symbol *symbol, uint64_t offset)
{
	if (symbol && (!symbol->name[0] || (offset && offset >= symbol->size)))
		abort();
}

static void check_table(const char *text)
{
	struct tp_arena arena;
	struct tp_symbol_text table;
	tp_arena_init(&arena);
	if (tp_symbol_text_parse(&table, text, &arena))
		abort();
	for (uint32_t i = 0; i < table.count; i++) {
		const struct tp_text_symbol *symbol = &table.symbols[i];
		const uint64_t address = symbol->address + (i % 3 ? symbol->size / 2 : 0);
		const struct tp_text_symbol *found = tp_symbol_text_find_full(&table, address);
		check_found(found, found ? address - found->address : 0);
		if (found && found->address > address)
			abort();
		found = tp_symbol_text_find(&table, (uint32_t)address);
		check_found(found, found ? (uint32_t)address - (uint32_t)found->address : 0);
		// Its own address finds it, or one that has the same.
		found = tp_symbol_text_find_full(&table, symbol->address);
		if (!found || found->address != symbol->address)
			abort();
		check_name(symbol->name);
	}
	tp_arena_release(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 3);
	if (!text)
		return 0;
	memcpy(text, "_Z", 2);
	memcpy(text + 2, data, size);
	text[size + 2] = '\0';
	check_name(text);
	check_table(text + 2);
	free(text);
	return 0;
}
