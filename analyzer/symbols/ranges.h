/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The addresses of the code of an entry in DWARF. Include <dwarf.h> and <libdwarf.h> before it. */
#ifndef TP_SYMBOL_RANGES_H
#define TP_SYMBOL_RANGES_H

#include <stdbool.h>
#include <stdint.h>

/* Called for each range [low, high); true ends the search. */
typedef bool tp_range_fn(void *context, uint64_t low, uint64_t high);

enum tp_ranges {
	TP_RANGES_PASSED,     /* the function was called for all of them */
	TP_RANGES_ENDED,      /* it returned true */
	TP_RANGES_UNREADABLE, /* perhaps after some calls */
};

/*
 * Call CALL for each range of DIE: DW_AT_low_pc and DW_AT_high_pc, else DW_AT_ranges. UNIT is the entry
 * that has the unit's base address (the skeleton's of a split one), VERSION the unit's. An entry without
 * code has no range.
 */
enum tp_ranges tp_symbol_ranges(Dwarf_Debug dbg, Dwarf_Half version, Dwarf_Die unit, Dwarf_Die die,
    tp_range_fn *call, void *context);

#endif
