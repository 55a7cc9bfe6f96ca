/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The symbols section of a trace (trace.h): lines of address, size, name, file and line. */
#ifndef TP_SYMBOL_TEXT_H
#define TP_SYMBOL_TEXT_H

#include "common/arena.h"

#include <stdint.h>

struct tp_text_symbol {
	uint64_t address;
	uint64_t size;
	const char *name;
	const char *file; /* "" if unknown */
	uint64_t line;    /* 0 if unknown */
};

struct tp_symbol_text {
	struct tp_text_symbol *symbols;     /* by the low half of the address */
	struct tp_text_symbol **by_address; /* the same by the whole address */
	uint32_t count;
	uint32_t bad_lines;
	uint32_t first_bad_line;
};

/* Parse TEXT; everything lives in the arena. 0 or TP_ERR_MEMORY. Malformed lines are counted. */
int tp_symbol_text_parse(struct tp_symbol_text *table, const char *text, struct tp_arena *arena);
/* The symbol that contains the address with this low half, or NULL. */
const struct tp_text_symbol *tp_symbol_text_find(const struct tp_symbol_text *table, uint32_t low);
/* The symbol that contains the address, or NULL. */
const struct tp_text_symbol *tp_symbol_text_find_full(
    const struct tp_symbol_text *table, uint64_t address);

#endif
