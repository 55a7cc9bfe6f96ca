/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What the functions of a trace are called and where their source is: from the trace's own symbols,
 * else from the modules' ELF files (names) and debug information (file and line).
 */
#ifndef TP_SYMBOLS_H
#define TP_SYMBOLS_H

#include "analyzer/tracefile.h"

/* All strings are without control characters and live as long as the arena that they were made in. */
struct tp_symbol {
	const char *name;    /* demangled; "module+0xOFFSET" or "0xLOW" if there is none */
	const char *linkage; /* as in the symbol table; "" if there is none */
	const char *module;  /* last component of the module's path, or "" */
	const char *file;    /* of the source, or "" */
	uint64_t line;       /* 0: unknown */
	uint64_t address;    /* in the module's file; the low half at run time without a module */
};

struct tp_symbol_options {
	const char *const *debug_dirs; /* searched for DIR/.build-id/xx/yyy.debug first */
	uint32_t debug_dir_count;
};

/*
 * Name the COUNT functions in NAMES (as in records, kind cleared, ascending): symbols[i] is that of
 * names[i]. What stands in the way (a module that has changed, no debug information) becomes a note.
 * 0 or TP_ERR_MEMORY.
 */
int tp_symbols_resolve(const struct tp_tracefile *trace, const struct tp_symbol_options *options,
    const uint32_t *names, uint32_t count, struct tp_symbol *symbols, struct tp_arena *arena,
    struct tp_problems *notes, struct tp_err *err);

#endif
