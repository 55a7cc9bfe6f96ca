/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Which functions were inlined at an address, and where they were called. */
#ifndef TP_SYMBOL_INLINES_H
#define TP_SYMBOL_INLINES_H

#include "analyzer/symbols/dwarf.h"

/* A function that was inlined. Strings have no control characters, and live as long as the arena. */
struct tp_inlined {
	const char *function;  /* demangled */
	const char *call_file; /* where it was called, in the function around it; "" if unknown */
	uint64_t call_line;    /* 0: unknown */
};

/* The functions at an address, innermost first: each was called in the next one, the last one in the
 * function that the address belongs to. */
struct tp_inline_chain {
	uint64_t address; /* as in the file; set by the caller */
	struct tp_inlined *functions;
	uint32_t count;
};

/* Nesting that is followed. */
enum { TP_INLINES_MAX = 256 };

/*
 * Fill in the COUNT chains, which are sorted by address. Returns how many are not empty, or a negative
 * tp_error. Runs in a process of its own, as tp_symbol_lines_find does.
 */
int64_t tp_symbol_inlines_find(const struct tp_dwarf_request *request,
    struct tp_inline_chain *chains, uint32_t count, struct tp_arena *arena, struct tp_err *err);

#endif
