// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The compilation units of a file, and the addresses of the code of their entries.
#include <dwarf.h>
#include <libdwarf.h>

#include "units.h"

#include "common/array.h"

#include <stdlib.h>
#include <string.h>

#ifndef DW_AT_GNU_dwo_id
#define DW_AT_GNU_dwo_id 0x2131
#endif
#ifndef DW_AT_GNU_ranges_base
#define DW_AT_GNU_ranges_base 0x2132
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

bool tp_dwarf_units_has(Dwarf_Die die, Dwarf_Half attribute)
{
	Dwarf_Bool has = false;
	return dwarf_hasattr(die, attribute, &has, NULL) == DW_DLV_OK && has;
}

// Go from AT, which was found from DIE, to what it was made from. NULL: there is no more.
static Dwarf_Die next_origin(Dwarf_Debug dbg, Dwarf_Die die, Dwarf_Die at)
{
	Dwarf_Die next = tp_dwarf_units_origin(dbg, at);
	if (at != die)
		dwarf_dealloc(dbg, at, DW_DLA_DIE);
	return next;
}

bool tp_dwarf_units_find_number(
    Dwarf_Debug dbg, Dwarf_Die die, Dwarf_Half name, Dwarf_Unsigned *value)
{
	Dwarf_Die at = die;
	bool found = false;
	for (int step = 0; step < TP_DWARF_REFERENCES_MAX && at; step++) {
		found = tp_dwarf_units_number(dbg, at, name, value);
		if (found)
			break;
		at = next_origin(dbg, die, at);
	}
	if (at && at != die)
		dwarf_dealloc(dbg, at, DW_DLA_DIE);
	return found;
}

const char *tp_dwarf_units_name(Dwarf_Debug dbg, Dwarf_Die die, bool *is_external)
{
	const char *plain = NULL;
	const char *linkage = NULL;
	bool external = false;
	Dwarf_Die at = die;
	for (int step = 0; step < TP_DWARF_REFERENCES_MAX && at; step++) {
		if (!linkage)
			linkage = tp_dwarf_units_text(at, DW_AT_linkage_name);
		if (!linkage)
			linkage = tp_dwarf_units_text(at, DW_AT_MIPS_linkage_name);
		if (!plain)
			plain = tp_dwarf_units_text(at, DW_AT_name);
		external = external || tp_dwarf_units_has(at, DW_AT_external);
		at = next_origin(dbg, die, at);
	}
	if (at && at != die)
		dwarf_dealloc(dbg, at, DW_DLA_DIE);
	if (is_external)
		*is_external = external;
	return linkage ? linkage : plain ? plain : "";
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
			tp_err_set(damage, TP_ERR_FORMAT, path,
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
				tp_err_set(damage, TP_ERR_FORMAT, path,
				    "libdwarf cannot read a part of its debug information: it is "
				    "damaged, or memory ran out");
			continue;
		}
		if (!add_unit(units, &room, &unit))
			return tp_err_memory(err, path);
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

// ---- addresses

// DW_AT_low_pc and DW_AT_high_pc, the latter as an address.
static bool low_and_high(Dwarf_Die die, Dwarf_Addr *low, Dwarf_Addr *high)
{
	Dwarf_Half form;
	enum Dwarf_Form_Class class;
	if (dwarf_lowpc(die, low, NULL) != DW_DLV_OK ||
	    dwarf_highpc_b(die, high, &form, &class, NULL) != DW_DLV_OK)
		return false;
	if (class == DW_FORM_CLASS_CONSTANT)
		*high += *low;
	return true;
}

// What one call works on.
struct job {
	Dwarf_Debug dbg;
	Dwarf_Die unit;
	bool is_split;
	tp_range_fn *call;
	void *context;
};

// DW_AT_ranges as DWARF 5 has it.
static enum tp_ranges each_rnglist(
    const struct job *job, Dwarf_Attribute attribute, Dwarf_Half form)
{
	Dwarf_Unsigned value = 0;
	Dwarf_Off offset = 0;
	if (form == DW_FORM_rnglistx) {
		if (dwarf_formudata(attribute, &value, NULL) != DW_DLV_OK)
			return TP_RANGES_UNREADABLE;
	} else if (dwarf_global_formref(attribute, &offset, NULL) == DW_DLV_OK) {
		value = offset;
	} else {
		return TP_RANGES_UNREADABLE;
	}
	Dwarf_Rnglists_Head head;
	Dwarf_Unsigned count;
	Dwarf_Unsigned unused;
	if (dwarf_rnglists_get_rle_head(attribute, form, value, &head, &count, &unused, NULL) !=
	    DW_DLV_OK)
		return TP_RANGES_UNREADABLE;
	enum tp_ranges result = TP_RANGES_PASSED;
	for (Dwarf_Unsigned i = 0; i < count && result == TP_RANGES_PASSED; i++) {
		unsigned length;
		unsigned code;
		Dwarf_Unsigned raw[2];
		Dwarf_Unsigned range[2];
		Dwarf_Bool unavailable = false;
		if (dwarf_get_rnglists_entry_fields_a(head, i, &length, &code, &raw[0], &raw[1],
			&unavailable, &range[0], &range[1], NULL) != DW_DLV_OK)
			result = TP_RANGES_UNREADABLE;
		else if (code == DW_RLE_end_of_list || code == DW_RLE_base_address ||
			 code == DW_RLE_base_addressx)
			continue;
		else if (unavailable)
			result = TP_RANGES_UNREADABLE;
		else if (job->call(job->context, range[0], range[1]))
			result = TP_RANGES_ENDED;
	}
	dwarf_dealloc_rnglists_head(head);
	return result;
}

// Make *DBG and *OFFSET, which are those of a split unit, refer to its list of addresses: the list
// is in the program, and *OFFSET counts from the skeleton's DW_AT_GNU_ranges_base. Debian's
// libdwarf does not add that, and newer ones add it only if dwarf_get_ranges_b gets an entry.
static bool find_list(const struct job *job, Dwarf_Debug *dbg, Dwarf_Off *offset)
{
	Dwarf_Unsigned base = 0;
	if (dwarf_get_tied_dbg(job->dbg, dbg, NULL) != DW_DLV_OK || !*dbg)
		return false;
	tp_dwarf_units_number(*dbg, job->unit, DW_AT_GNU_ranges_base, &base);
	*offset += base;
	return true;
}

// DW_AT_ranges as DWARF 3 and 4 have it.
static enum tp_ranges each_old_range(
    const struct job *job, Dwarf_Die die, Dwarf_Attribute attribute)
{
	Dwarf_Debug dbg = job->dbg;
	Dwarf_Off offset;
	Dwarf_Ranges *ranges;
	Dwarf_Signed count;
	Dwarf_Unsigned size;
	if (dwarf_global_formref(attribute, &offset, NULL) != DW_DLV_OK ||
	    (job->is_split && !find_list(job, &dbg, &offset)) ||
	    dwarf_get_ranges_b(dbg, offset, job->is_split ? NULL : die, &offset, &ranges, &count,
		&size, NULL) != DW_DLV_OK)
		return TP_RANGES_UNREADABLE;
	Dwarf_Addr base = 0;
	dwarf_lowpc(job->unit, &base, NULL);
	enum tp_ranges result = TP_RANGES_PASSED;
	for (Dwarf_Signed i = 0; i < count && result == TP_RANGES_PASSED; i++) {
		const Dwarf_Ranges *range = &ranges[i];
		if (range->dwr_type == DW_RANGES_ADDRESS_SELECTION)
			base = range->dwr_addr2;
		else if (range->dwr_type == DW_RANGES_ENTRY &&
			 job->call(job->context, base + range->dwr_addr1, base + range->dwr_addr2))
			result = TP_RANGES_ENDED;
	}
	dwarf_dealloc(dbg, ranges, DW_DLA_RANGES); // its own function was renamed in 0.x
	return result;
}

enum tp_ranges tp_symbol_ranges(
    const struct tp_whole_unit *whole, Dwarf_Die die, tp_range_fn *call, void *context)
{
	Dwarf_Debug dbg = whole->units->object.dbg;
	const struct job job = {dbg, whole->skeleton, tp_whole_unit_is_split(whole), call, context};
	Dwarf_Addr low;
	Dwarf_Addr high;
	if (low_and_high(die, &low, &high))
		return call(context, low, high) ? TP_RANGES_ENDED : TP_RANGES_PASSED;
	Dwarf_Attribute attribute;
	if (dwarf_attr(die, DW_AT_ranges, &attribute, NULL) != DW_DLV_OK)
		return TP_RANGES_PASSED;
	Dwarf_Half form;
	enum tp_ranges result = TP_RANGES_UNREADABLE;
	if (dwarf_whatform(attribute, &form, NULL) == DW_DLV_OK)
		result = whole->unit->version >= 5 ? each_rnglist(&job, attribute, form)
						   : each_old_range(&job, die, attribute);
	dwarf_dealloc(dbg, attribute, DW_DLA_ATTR);
	return result;
}
