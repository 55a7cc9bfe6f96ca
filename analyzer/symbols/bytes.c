// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The bytes of a unit, for going through them without libdwarf (dies.h).
#include <dwarf.h>
#include <libdwarf.h>

#include "units.h"

#include <string.h>

#ifndef DW_AT_GNU_addr_base
#define DW_AT_GNU_addr_base 0x2133
#endif

// The bytes of a section that has the unit's part; NULL: it is not there.
static const uint8_t *section_of(
    const struct tp_whole_unit *whole, const char *name, const char *split_name, uint64_t *size)
{
	return tp_symbol_object_section((struct tp_symbol_object *)&whole->units->object,
	    tp_whole_unit_is_split(whole) ? split_name : name, size);
}

static void find_lists(const struct tp_whole_unit *whole, const struct tp_dwarf_units *main,
    uint64_t contribution, struct tp_rnglists *lists)
{
	Dwarf_Unsigned table = 0;
	Dwarf_Addr base = 0;
	if (whole->unit->version < 5)
		return;
	lists->data = section_of(whole, ".debug_rnglists", ".debug_rnglists.dwo", &lists->size);
	// What was split off has one table, behind a header; others say where theirs is.
	if (tp_whole_unit_is_split(whole))
		table = contribution + (whole->unit->offset_size == 8 ? 20 : 12);
	else
		tp_dwarf_units_number(
		    main->object.dbg, whole->skeleton, DW_AT_rnglists_base, &table);
	dwarf_lowpc(whole->skeleton, &base, NULL);
	lists->table = table;
	lists->base = base;
}

bool tp_whole_unit_bytes(const struct tp_whole_unit *whole, struct tp_dwarf_units *main,
    struct tp_dies_unit *bytes, struct tp_rnglists *lists)
{
	const struct tp_dwarf_unit *unit = whole->unit;
	struct Dwarf_Debug_Fission_Per_CU_s packed;
	uint64_t info_size;
	uint64_t size;
	Dwarf_Unsigned abbrevs = unit->abbrevs;
	Dwarf_Unsigned addresses;
	const uint8_t *info = section_of(whole, ".debug_info", ".debug_info.dwo", &info_size);
	const uint8_t *abbrev = section_of(whole, ".debug_abbrev", ".debug_abbrev.dwo", &size);
	memset(&packed, 0, sizeof(packed));
	*lists = (struct tp_rnglists){.unit = bytes};
	// In a .dwp file each unit has its part of the section. (Some releases of libdwarf have
	// added it.)
	if (!tp_whole_unit_is_split(whole) ||
	    dwarf_get_debugfission_for_die(whole->die, &packed, NULL) != DW_DLV_OK)
		memset(&packed, 0, sizeof(packed));
	if (packed.pcu_type && abbrevs < packed.pcu_offset[DW_SECT_ABBREV])
		abbrevs += packed.pcu_offset[DW_SECT_ABBREV];
	if (!info || !abbrev || abbrevs >= size || unit->end > info_size ||
	    unit->die >= unit->end || unit->header > unit->die)
		return false;
	*bytes = (struct tp_dies_unit){
	    .info = info,
	    .header = unit->header,
	    .first = unit->die,
	    .end = unit->end,
	    .abbrevs = abbrev + abbrevs,
	    .abbrevs_size = size - abbrevs,
	    .version = unit->version,
	    .address_size = (uint8_t)unit->address_size,
	    .offset_size = (uint8_t)unit->offset_size,
	};
	const Dwarf_Half base = unit->version < 5 ? DW_AT_GNU_addr_base : DW_AT_addr_base;
	const uint8_t *table = tp_symbol_object_section(&main->object, ".debug_addr", &size);
	if (table && tp_dwarf_units_number(main->object.dbg, whole->skeleton, base, &addresses) &&
	    addresses < size) {
		bytes->addresses = table + addresses;
		bytes->addresses_size = size - addresses;
	}
	find_lists(whole, main, packed.pcu_offset[DW_SECT_RNGLISTS], lists);
	return true;
}
