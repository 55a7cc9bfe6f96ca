/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Where functions are in the source, by DWARF debug information. */
#ifndef TP_SYMBOL_DWARF_H
#define TP_SYMBOL_DWARF_H

#include "common/arena.h"
#include "common/err.h"

#include <stdbool.h>
#include <stdint.h>

enum { TP_SPLIT_PATH_MAX = 4096 };

/* Where to look. */
struct tp_dwarf_request {
	const char *path; /* of the ELF file with the debug information */
	const char
	    *module; /* of the program or library, beside which split files are; may be NULL */
	const char *const *debug_dirs; /* searched for split files */
	uint32_t debug_dir_count;
	uint32_t part;   /* of PARTS: look only at each PARTS-th unit, from this one on */
	uint32_t parts;  /* 0 is 1 */
	bool slowly;     /* leave all to libdwarf; for tests */
	bool leave_open; /* the process ends soon: do not tidy up */
};

struct tp_source_place {
	uint64_t address; /* of the function, as in the file; set by the caller */
	const char *file; /* NULL if it was not found; lives as long as the arena */
	uint64_t line;
	uint32_t unit; /* that told; if several do, the first one counts */
};

/* What else there is to say. */
struct tp_dwarf_notes {
	uint32_t missing;        /* units that were split off, and whose file was not found */
	char first_missing[256]; /* the name of the first one's */
	struct tp_err damage;    /* of some unit; code 0: none */
};

/*
 * Fill in file and line of the COUNT places, which are sorted by address, each address once. Only units whose
 * ranges hold one of them are gone through. Returns how many were found, or a negative tp_error:
 * TP_ERR_NOT_FOUND if there is no debug information. NOTES may be NULL.
 */
int64_t tp_symbol_dwarf_find(const struct tp_dwarf_request *request, struct tp_source_place *places,
    uint32_t count, struct tp_arena *arena, struct tp_dwarf_notes *notes, struct tp_err *err);

#endif
