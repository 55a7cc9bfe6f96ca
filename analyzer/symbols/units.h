/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What libdwarf reads: a file, through our own sections; its compilation units, and what was split
 * off them into .dwo files or packed into one .dwp file; the addresses of their entries. Include
 * <dwarf.h> and <libdwarf.h> before it.
 */
#ifndef TP_SYMBOL_UNITS_H
#define TP_SYMBOL_UNITS_H

#include "analyzer/symbols/dies.h"
#include "analyzer/symbols/lines.h"
#include "analyzer/symbols/elf/file.h"

/*
 * The two interfaces of libdwarf, that of Debian 12 (20210528) and the one since 0.x, differ here
 * and in object.c.
 */
#ifdef DW_LIBDWARF_VERSION_MAJOR
typedef Dwarf_Obj_Access_Interface_a tp_object_interface;
#else
typedef Dwarf_Obj_Access_Interface tp_object_interface;
#endif

struct tp_symbol_object {
	struct tp_elf_sections sections;
	Dwarf_Debug dbg; /* NULL: there is no debug information in the file */
	tp_object_interface interface;
	struct tp_err unpacking; /* what went wrong when a section was asked for; code 0: nothing */
};

/*
 * Open the file PATH, which must outlive it; it must not be moved meanwhile. 0, TP_ERR_NOT_FOUND
 * without debug information, or another negative tp_error. Close it in any case.
 */
int tp_symbol_object_open(struct tp_symbol_object *object, const char *path, struct tp_err *err);
void tp_symbol_object_close(struct tp_symbol_object *object);

/* The bytes of a section, unpacked; NULL and *SIZE 0 if it is not there. */
const uint8_t *tp_symbol_object_section(
    struct tp_symbol_object *object, const char *name, uint64_t *size);

/* ---- units */

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
 * Open the file PATH and list its units of code. PATH must outlive it, and it must not be moved.
 * What stands behind a damaged header is left out: then *DAMAGE is set (it may be NULL). 0 or a
 * negative tp_error; TP_ERR_NOT_FOUND without debug information. Close it in any case.
 */
int tp_dwarf_units_open(
    struct tp_dwarf_units *units, const char *path, struct tp_err *damage, struct tp_err *err);
void tp_dwarf_units_close(struct tp_dwarf_units *units);

/* The entry at this offset, to be freed with dwarf_dealloc; NULL if it cannot be read. */
Dwarf_Die tp_dwarf_units_die(const struct tp_dwarf_units *units, Dwarf_Off offset);

/* What DIE was made from or specified by, to be freed too; NULL: by nothing. */
Dwarf_Die tp_dwarf_units_origin(Dwarf_Debug dbg, Dwarf_Die die);

/* How many of those are followed, one from another. */
enum { TP_DWARF_REFERENCES_MAX = 8 };

/* A text attribute of DIE; NULL if it has none. Lives as long as the file is open. */
const char *tp_dwarf_units_text(Dwarf_Die die, Dwarf_Half attribute);

/* Whether DIE has an attribute that is a flag. */
bool tp_dwarf_units_has(Dwarf_Die die, Dwarf_Half attribute);

/* A number (or offset) of DIE; false if it has none. */
bool tp_dwarf_units_number(
    Dwarf_Debug dbg, Dwarf_Die die, Dwarf_Half attribute, Dwarf_Unsigned *value);

/* The same, of DIE or of what it was made from or specified by. */
bool tp_dwarf_units_find_number(
    Dwarf_Debug dbg, Dwarf_Die die, Dwarf_Half attribute, Dwarf_Unsigned *value);

/*
 * The name of a function as in a symbol table, else its plain one: DIE's own, or of what it was
 * made from or specified by; "" if there is none. Lives as long as the file is open. *IS_EXTERNAL:
 * other units know the function by that name; IS_EXTERNAL may be NULL.
 */
const char *tp_dwarf_units_name(Dwarf_Debug dbg, Dwarf_Die die, bool *is_external);

/* ---- split units */

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

/* A unit, and where its entries are. */
struct tp_whole_unit {
	Dwarf_Die skeleton;                 /* its first entry in the program's file */
	Dwarf_Die die;                      /* the same if it is not split */
	const struct tp_dwarf_units *units; /* the file that DIE is in */
	const struct tp_dwarf_unit *unit;
	char **files; /* by tp_whole_unit_files */
	Dwarf_Signed file_count;
};

/* UNIT of MAIN, as if it were not split. False: its first entry cannot be read. */
bool tp_whole_unit_open(struct tp_whole_unit *whole, const struct tp_dwarf_units *main,
    const struct tp_dwarf_unit *unit);
/*
 * If it is a skeleton, look for the rest of it: in PROGRAM.dwp; else in the file that it names,
 * where that says; below the folder of the program; in a --debug-dir. Its ID must be that of the
 * skeleton. The result lives until the next call; without one the unit stays as it is. False: the
 * file that was found cannot be read.
 */
bool tp_whole_unit_split(
    struct tp_whole_unit *whole, struct tp_split *split, const struct tp_dwarf_units *main);
/*
 * The names of its files: a split unit may have them itself, or leave them to its skeleton. False:
 * an error.
 */
bool tp_whole_unit_files(struct tp_whole_unit *whole);
/*
 * The name of the file with this NUMBER: they are from 1 on before DWARF 5, from 0 on since. NULL:
 * there is none. pre: tp_whole_unit_files.
 */
const char *tp_whole_unit_file(const struct tp_whole_unit *whole, Dwarf_Unsigned number);
static inline bool tp_whole_unit_is_split(const struct tp_whole_unit *whole)
{
	return whole->die != whole->skeleton;
}

/*
 * For dies.h: the unit's bytes, and its lists of addresses, which need *BYTES. Both live as long as
 * the files are open. False: something is missing.
 */
bool tp_whole_unit_bytes(const struct tp_whole_unit *whole, struct tp_dwarf_units *main,
    struct tp_dies_unit *bytes, struct tp_rnglists *lists);

void tp_split_release(struct tp_split *split);

/* ---- addresses */

/*
 * Call CALL for each range of DIE in the unit: DW_AT_low_pc and DW_AT_high_pc, else DW_AT_ranges.
 * An entry without code has no range.
 */
enum tp_ranges tp_symbol_ranges(
    const struct tp_whole_unit *whole, Dwarf_Die die, tp_range_fn *call, void *context);

#endif
