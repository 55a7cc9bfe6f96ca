/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A file that libdwarf reads, through our own sections. The two interfaces of libdwarf, that of Debian 12
 * (20210528) and the one since 0.x, differ here and only here.
 * Include <dwarf.h> and <libdwarf.h> before it.
 */
#ifndef TP_SYMBOL_OBJECT_H
#define TP_SYMBOL_OBJECT_H

#include "analyzer/symbols/elf/sections.h"

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
 * Open the file PATH, which must outlive it; it must not be moved meanwhile. 0, TP_ERR_NOT_FOUND without debug
 * information, or another negative tp_error. Close it in any case.
 */
int tp_symbol_object_open(struct tp_symbol_object *object, const char *path, struct tp_err *err);
void tp_symbol_object_close(struct tp_symbol_object *object);

/* The bytes of a section, unpacked; NULL and *SIZE 0 if it is not there. */
const uint8_t *tp_symbol_object_section(
    struct tp_symbol_object *object, const char *name, uint64_t *size);

#endif
