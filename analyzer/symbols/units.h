/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The compilation units of a file, and where those are that were split off into other files. */
#ifndef TP_SYMBOL_UNITS_H
#define TP_SYMBOL_UNITS_H

#include "analyzer/symbols/object.h"
#include "common/arena.h"

struct tp_dwarf_unit {
	Dwarf_Off die;    /* offset of its first entry in .debug_info */
	Dwarf_Off header; /* offset of its header */
	Dwarf_Off end;
	Dwarf_Off abbrevs; /* offset in .debug_abbrev, as the header says */
	Dwarf_Half version;
	Dwarf_Half address_size;
	Dwarf_Half offset_size;
	bool has_id;
	uint64_t id; /* of a skeleton, and of what was split off it */
};

struct tp_dwarf_units {
	struct tp_symbol_object object;
	struct tp_dwarf_unit *units;
	uint32_t count;
};

/*
 * Open the file PATH and list its units of code. PATH must outlive it, and it must not be moved. What stands
 * behind a damaged header is left out: then *DAMAGE is set (it may be NULL). 0 or a negative tp_error;
 * TP_ERR_NOT_FOUND without debug information. Close it in any case.
 */
int tp_dwarf_units_open(
    struct tp_dwarf_units *units, const char *path, struct tp_err *damage, struct tp_err *err);
void tp_dwarf_units_close(struct tp_dwarf_units *units);

/* The first entry of a unit, to be freed with dwarf_dealloc; NULL if it cannot be read. */
Dwarf_Die tp_dwarf_units_die(const struct tp_dwarf_units *units, const struct tp_dwarf_unit *unit);

/* A text attribute of DIE; NULL if it has none. Lives as long as the file is open. */
const char *tp_dwarf_units_text(Dwarf_Die die, Dwarf_Half attribute);

/* A number (or offset) of DIE; false if it has none. */
bool tp_dwarf_units_number(
    Dwarf_Debug dbg, Dwarf_Die die, Dwarf_Half attribute, Dwarf_Unsigned *value);

#endif
