// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lists the compilation units of a file.
#include <dwarf.h>
#include <libdwarf.h>

#include "units.h"

#include "common/array.h"

#include <stdlib.h>
#include <string.h>

#ifndef DW_AT_GNU_dwo_id
#define DW_AT_GNU_dwo_id 0x2131
#endif

const char *tp_dwarf_units_text(Dwarf_Die die, Dwarf_Half attribute)
{
	char *text;
	return dwarf_die_text(die, attribute, &text, NULL) == DW_DLV_OK ? text : NULL;
}

bool tp_dwarf_units_number(Dwarf_Debug dbg, Dwarf_Die die, Dwarf_Half name, Dwarf_Unsigned *value)
{
	Dwarf_Attribute attribute;
	Dwarf_Signed number;
	Dwarf_Off offset;
	bool found = true;
	if (dwarf_attr(die, name, &attribute, NULL) != DW_DLV_OK)
		return false;
	// gcc puts what many entries share into their abbreviation (DW_FORM_implicit_const), which
	// libdwarf takes for signed.
	if (dwarf_formudata(attribute, value, NULL) == DW_DLV_OK)
		;
	else if (dwarf_formsdata(attribute, &number, NULL) == DW_DLV_OK && number >= 0)
		*value = (Dwarf_Unsigned)number;
	else if (dwarf_global_formref(attribute, &offset, NULL) == DW_DLV_OK)
		*value = offset;
	else
		found = false;
	dwarf_dealloc(dbg, attribute, DW_DLA_ATTR);
	return found;
}

Dwarf_Die tp_dwarf_units_die(const struct tp_dwarf_units *units, Dwarf_Off offset)
{
	Dwarf_Die die;
	return dwarf_offdie_b(units->object.dbg, offset, true, &die, NULL) == DW_DLV_OK ? die
											: NULL;
}

Dwarf_Die tp_dwarf_units_origin(Dwarf_Debug dbg, Dwarf_Die die)
{
	static const Dwarf_Half references[] = {DW_AT_abstract_origin, DW_AT_specification};
	Dwarf_Die origin = NULL;
	for (int i = 0; i < 2 && !origin; i++) {
		Dwarf_Attribute attribute;
		Dwarf_Off offset;
		if (dwarf_attr(die, references[i], &attribute, NULL) != DW_DLV_OK)
			continue;
		if (dwarf_global_formref(attribute, &offset, NULL) == DW_DLV_OK)
			dwarf_offdie_b(dbg, offset, true, &origin, NULL);
		dwarf_dealloc(dbg, attribute, DW_DLA_ATTR);
	}
	return origin;
}

static bool add_unit(struct tp_dwarf_units *units, uint32_t *room, const struct tp_dwarf_unit *unit)
{
	if (!TP_GROW(units->units, *room, units->count + UINT64_C(1)))
		return false;
	units->units[units->count++] = *unit;
	return true;
}

// Where its first entry is, and the ID that DWARF 4 has as an attribute.
static bool look_at_die(struct tp_dwarf_units *units, struct tp_dwarf_unit *unit)
{
	Dwarf_Debug dbg = units->object.dbg;
	Dwarf_Die die;
	Dwarf_Off length;
	Dwarf_Unsigned id;
	if (dwarf_siblingof_b(dbg, NULL, true, &die, NULL) != DW_DLV_OK)
		return false;
	const bool found =
	    dwarf_dieoffset(die, &unit->die, NULL) == DW_DLV_OK &&
	    dwarf_die_CU_offset_range(die, &unit->header, &length, NULL) == DW_DLV_OK;
	if (found && unit->version < 5 && tp_dwarf_units_number(dbg, die, DW_AT_GNU_dwo_id, &id)) {
		unit->id = id;
		unit->has_id = true;
	}
	dwarf_dealloc(dbg, die, DW_DLA_DIE);
	return found;
}

static int list(struct tp_dwarf_units *units, struct tp_err *damage, struct tp_err *err)
{
	const char *path = units->object.sections.path;
	Dwarf_Debug dbg = units->object.dbg;
	uint32_t room = 0;
	for (;;) {
		struct tp_dwarf_unit unit = {0};
		Dwarf_Sig8 id = {0};
		Dwarf_Unsigned end = 0;
		Dwarf_Half type = 0;
		Dwarf_Error error = NULL;
		const int status = dwarf_next_cu_header_d(dbg, true, NULL, &unit.version,
		    &unit.abbrevs, &unit.address_size, &unit.offset_size, NULL, &id, NULL, &end,
		    &type, &error);
		if (status == DW_DLV_ERROR && damage)
			tp_err_set(damage, TP_ERR_FORMAT, path, TP_ERR_NO_OFFSET,
			    "its debug information cannot be read: %s", dwarf_errmsg(error));
		if (status == DW_DLV_ERROR)
			dwarf_dealloc(dbg, error, DW_DLA_ERROR);
		if (status != DW_DLV_OK)
			return 0;
		unit.end = end;
		if (type == DW_UT_skeleton || type == DW_UT_split_compile) {
			memcpy(&unit.id, &id, sizeof(unit.id));
			unit.has_id = true;
		}
		if (type == DW_UT_type || type == DW_UT_split_type)
			continue;
		if (!look_at_die(units, &unit)) {
			if (damage && !damage->code)
				tp_err_set(damage, TP_ERR_FORMAT, path, TP_ERR_NO_OFFSET,
				    "libdwarf cannot read a part of its debug information: it is "
				    "damaged, or memory ran out");
			continue;
		}
		if (!add_unit(units, &room, &unit))
			return tp_err_set(
			    err, TP_ERR_MEMORY, path, TP_ERR_NO_OFFSET, "no memory for its units");
	}
}

int tp_dwarf_units_open(
    struct tp_dwarf_units *units, const char *path, struct tp_err *damage, struct tp_err *err)
{
	units->units = NULL;
	units->count = 0;
	const int code = tp_symbol_object_open(&units->object, path, err);
	return code ? code : list(units, damage, err);
}

void tp_dwarf_units_close(struct tp_dwarf_units *units)
{
	free(units->units);
	units->units = NULL;
	units->count = 0;
	tp_symbol_object_close(&units->object);
}
