// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The addresses of the code of an entry in DWARF, by libdwarf.
#include <dwarf.h>
#include <libdwarf.h>

#include "units.h"

#include <stddef.h>

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

// DW_AT_ranges as DWARF 3 and 4 have it.
static enum tp_ranges each_old_range(
    const struct job *job, Dwarf_Die die, Dwarf_Attribute attribute)
{
	Dwarf_Off offset;
	Dwarf_Ranges *ranges;
	Dwarf_Signed count;
	Dwarf_Unsigned size;
	if (dwarf_global_formref(attribute, &offset, NULL) != DW_DLV_OK ||
	    dwarf_get_ranges_b(job->dbg, offset, die, &offset, &ranges, &count, &size, NULL) !=
		DW_DLV_OK)
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
	dwarf_dealloc(job->dbg, ranges, DW_DLA_RANGES); // its own function was renamed in 0.x
	return result;
}

enum tp_ranges tp_symbol_ranges(
    const struct tp_whole_unit *whole, Dwarf_Die die, tp_range_fn *call, void *context)
{
	Dwarf_Debug dbg = whole->units->object.dbg;
	const struct job job = {dbg, whole->skeleton, call, context};
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
