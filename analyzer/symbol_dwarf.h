/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Where functions are in the source, by DWARF debug information. */
#ifndef TP_SYMBOL_DWARF_H
#define TP_SYMBOL_DWARF_H

#include "common/arena.h"
#include "common/err.h"

#include <stdint.h>

struct tp_source_place {
	uint64_t address; /* of the function, as in the file; set by the caller */
	const char *file; /* NULL if it was not found; lives as long as the arena */
	uint64_t line;
};

/*
 * Fill in file and line of the COUNT places, which are sorted by address, from the ELF file PATH.
 * Returns how many were found, or a negative tp_error.
 */
int64_t tp_symbol_dwarf_find(const char *path, struct tp_source_place *places, uint32_t count,
    struct tp_arena *arena, struct tp_err *err);

#endif
