// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The symbols section of a trace: lines of address, size, name, file and line.
#include "module.h"

#include "common/array.h"
#include "common/err.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define FIELDS 5

// A whole number that is all of TEXT.
static bool parse_number(const char *text, int base, uint64_t *value)
{
	char *end;
	// strtoull would also take blanks, a sign and 0x.
	if (!isxdigit((unsigned char)text[0]) || text[1] == 'x' || text[1] == 'X')
		return false;
	errno = 0;
	*value = strtoull(text, &end, base);
	return *end == '\0' && errno == 0;
}

static bool parse_line(char *line, struct tp_text_symbol *symbol)
{
	char *fields[FIELDS];
	for (int i = 0; i < FIELDS; i++) {
		fields[i] = line;
		line = line ? strchr(line, '\t') : NULL;
		if (line)
			*line++ = '\0';
		else if (i + 1 < FIELDS)
			return false;
	}
	symbol->name = fields[2];
	symbol->file = fields[3];
	return !line && fields[2][0] && parse_number(fields[0], 16, &symbol->address) &&
	       parse_number(fields[1], 16, &symbol->size) &&
	       parse_number(fields[4], 10, &symbol->line);
}

static int compare(const void *a, const void *b)
{
	const uint32_t x = (uint32_t)((const struct tp_text_symbol *)a)->address;
	const uint32_t y = (uint32_t)((const struct tp_text_symbol *)b)->address;
	return TP_COMPARE(x, y);
}

static int compare_full(const void *a, const void *b)
{
	const struct tp_text_symbol *x = *(struct tp_text_symbol *const *)a;
	const struct tp_text_symbol *y = *(struct tp_text_symbol *const *)b;
	return TP_COMPARE(x->address, y->address);
}

int tp_symbol_text_parse(struct tp_symbol_text *table, const char *text, struct tp_arena *arena)
{
	*table = (struct tp_symbol_text){0};
	size_t lines = 1;
	for (const char *at = text; (at = strchr(at, '\n')); at++)
		lines++;
	char *copy = tp_arena_copy(arena, text, strlen(text));
	table->symbols = tp_arena_alloc(arena, lines * sizeof(*table->symbols));
	table->by_address = tp_arena_alloc(arena, lines * sizeof(struct tp_text_symbol *));
	if (!copy || !table->symbols || !table->by_address)
		return TP_ERR_MEMORY;
	uint32_t number = 0;
	for (char *line = copy; *line;) {
		char *next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		else
			next = line + strlen(line);
		number++;
		if (parse_line(line, &table->symbols[table->count]))
			table->count++;
		else if (table->bad_lines++ == 0)
			table->first_bad_line = number;
		line = next;
	}
	qsort(table->symbols, table->count, sizeof(*table->symbols), compare);
	for (uint32_t i = 0; i < table->count; i++)
		table->by_address[i] = &table->symbols[i];
	qsort(table->by_address, table->count, sizeof(struct tp_text_symbol *), compare_full);
	return 0;
}

static const struct tp_text_symbol *if_within(const struct tp_text_symbol *symbol, uint64_t offset)
{
	return offset == 0 || offset < symbol->size ? symbol : NULL;
}

const struct tp_text_symbol *tp_symbol_text_find(const struct tp_symbol_text *table, uint32_t low)
{
	const uint32_t first = TP_LOWER_BOUND(
	    0, table->count, middle, (uint32_t)table->symbols[middle].address <= low);
	if (!first)
		return NULL;
	const struct tp_text_symbol *symbol = &table->symbols[first - 1];
	return if_within(symbol, low - (uint32_t)symbol->address);
}

const struct tp_text_symbol *tp_symbol_text_find_full(
    const struct tp_symbol_text *table, uint64_t address)
{
	const uint32_t first =
	    TP_LOWER_BOUND(0, table->count, middle, table->by_address[middle]->address <= address);
	if (!first)
		return NULL;
	const struct tp_text_symbol *symbol = table->by_address[first - 1];
	return if_within(symbol, address - symbol->address);
}
