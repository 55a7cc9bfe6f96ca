/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the functions of one module are called and where their source is. */
#ifndef TP_SYMBOL_MODULE_H
#define TP_SYMBOL_MODULE_H

#include "analyzer/symbols/files.h"
#include "common/arena.h"

/* A function of a module. All strings live as long as the arena, and hold no control characters. */
struct tp_module_symbol {
	uint64_t address;    /* as in the module's file; set by the caller */
	const char *linkage; /* the name in the symbol table, byte for byte; NULL: not found */
	const char *name;    /* demangled, clean; NULL: not found */
	const char *file;    /* of the source; NULL: not found */
	uint64_t line;
};

/*
 * Fill in the COUNT symbols, which are sorted by address, each address once. What is there already
 * stays. What stands in the way becomes a note. 0 or TP_ERR_MEMORY.
 */
int tp_symbol_module_find(const struct teeperf_module *module,
    const struct tp_symbol_options *options, struct tp_module_symbol *symbols, uint32_t count,
    struct tp_arena *arena, struct tp_problems *notes);

/* A clean copy of TEXT (common/clean.h); NULL if memory runs out. */
const char *tp_symbol_keep(struct tp_arena *arena, const char *text);

/* TEXT, a name as in a symbol table, as people write it; clean. NULL if memory runs out. */
const char *tp_symbol_readable(struct tp_arena *arena, const char *text);

#endif
