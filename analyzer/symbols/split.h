/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Debug information that was split off into .dwo files, or packed into one .dwp file. */
#ifndef TP_SYMBOL_SPLIT_H
#define TP_SYMBOL_SPLIT_H

#include "analyzer/symbols/dwarf.h"
#include "analyzer/symbols/units.h"

/* The files that are open. All zero at first. */
struct tp_split {
	const struct tp_dwarf_request *request;
	struct tp_dwarf_units dwp;
	struct tp_dwarf_units dwo; /* the last one */
	char dwp_path[TP_SPLIT_PATH_MAX];
	char dwo_path[TP_SPLIT_PATH_MAX];
	bool looked_for_dwp;
	bool has_dwp;
	bool has_dwo;
	uint32_t missing; /* units whose file was not found */
	char first_missing[TP_SPLIT_PATH_MAX];
};

enum tp_split_answer { TP_SPLIT_NONE, TP_SPLIT_FOUND, TP_SPLIT_MISSING };

/*
 * Whether UNIT of MAIN, whose first entry is DIE, is a skeleton (else TP_SPLIT_NONE), and where the rest of
 * it is: in PROGRAM.dwp; else in the file that it names, where that says; below the folder of the program;
 * in a --debug-dir. Its ID must be that of the skeleton. What is returned lives until the next call.
 */
enum tp_split_answer tp_split_find(struct tp_split *split, const struct tp_dwarf_units *main,
    const struct tp_dwarf_unit *unit, Dwarf_Die die, const struct tp_dwarf_units **found_units,
    const struct tp_dwarf_unit **found);

void tp_split_release(struct tp_split *split);

#endif
