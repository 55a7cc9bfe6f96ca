// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Goes through the entries of a unit of .debug_info without making anything of most of them.
//
// Clang writes no DW_AT_sibling, so whoever wants the functions has to pass over each variable and block
// in them. libdwarf takes about a microsecond for an entry; adding up the sizes takes some nanoseconds.
#include "dies.h"

#include "analyzer/symbols/cursor.h"
#include "common/array.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

// More abbreviations than any compiler makes for a unit (clang's large ones have some hundreds).
#define ABBREVS_MAX 65536
#define ATTRIBUTES_MAX (1 << 20)

// Forms that Debian's dwarf.h does not have all of.
#define FORM_GNU_ADDR_INDEX 0x1f01
#define FORM_GNU_STR_INDEX 0x1f02
#define FORM_GNU_REF_ALT 0x1f20
#define FORM_GNU_STRP_ALT 0x1f21

struct tp_die_attribute {
	uint16_t name;
	uint16_t form;
	int16_t size;     // size_of the form
	int64_t constant; // of DW_FORM_implicit_const
};

struct tp_die_abbrev {
	uint32_t attributes; // index of the first
	uint32_t count;
	uint32_t size; // of all values together, if it is always the same
	uint16_t tag;
	bool known; // there is one with this code
	bool fixed;
};

// Bytes of a value of this form, -1 if they differ, -2 if the form is not known.
static int size_of(const struct tp_dies_unit *unit, unsigned form)
{
	switch (form) {
	case DW_FORM_flag_present:
	case DW_FORM_implicit_const:
		return 0;
	case DW_FORM_data1:
	case DW_FORM_ref1:
	case DW_FORM_flag:
	case DW_FORM_strx1:
	case DW_FORM_addrx1:
		return 1;
	case DW_FORM_data2:
	case DW_FORM_ref2:
	case DW_FORM_strx2:
	case DW_FORM_addrx2:
		return 2;
	case DW_FORM_strx3:
	case DW_FORM_addrx3:
		return 3;
	case DW_FORM_data4:
	case DW_FORM_ref4:
	case DW_FORM_strx4:
	case DW_FORM_addrx4:
	case DW_FORM_ref_sup4:
		return 4;
	case DW_FORM_data8:
	case DW_FORM_ref8:
	case DW_FORM_ref_sig8:
	case DW_FORM_ref_sup8:
		return 8;
	case DW_FORM_data16:
		return 16;
	case DW_FORM_addr:
		return unit->address_size;
	case DW_FORM_ref_addr:
		return unit->version <= 2 ? unit->address_size : unit->offset_size;
	case DW_FORM_strp:
	case DW_FORM_line_strp:
	case DW_FORM_strp_sup:
	case DW_FORM_sec_offset:
	case FORM_GNU_REF_ALT:
	case FORM_GNU_STRP_ALT:
		return unit->offset_size;
	case DW_FORM_udata:
	case DW_FORM_sdata:
	case DW_FORM_ref_udata:
	case DW_FORM_strx:
	case DW_FORM_addrx:
	case DW_FORM_loclistx:
	case DW_FORM_rnglistx:
	case FORM_GNU_ADDR_INDEX:
	case FORM_GNU_STR_INDEX:
	case DW_FORM_string:
	case DW_FORM_block:
	case DW_FORM_block1:
	case DW_FORM_block2:
	case DW_FORM_block4:
	case DW_FORM_exprloc:
		return -1;
	default: // DW_FORM_indirect, which nobody writes, among them
		return -2;
	}
}

// Pass over a value of a form whose values differ in size.
static void skip_variable(struct tp_cursor *cursor, unsigned form)
{
	switch (form) {
	case DW_FORM_string: {
		const uint8_t *nul = memchr(cursor->at, 0, (size_t)(cursor->end - cursor->at));
		if (nul)
			cursor->at = nul + 1;
		else
			cursor->bad = true;
		break;
	}
	case DW_FORM_block:
	case DW_FORM_exprloc:
		tp_cursor_skip(cursor, tp_cursor_uleb(cursor));
		break;
	case DW_FORM_block1:
		tp_cursor_skip(cursor, tp_cursor_number(cursor, 1));
		break;
	case DW_FORM_block2:
		tp_cursor_skip(cursor, tp_cursor_number(cursor, 2));
		break;
	case DW_FORM_block4:
		tp_cursor_skip(cursor, tp_cursor_number(cursor, 4));
		break;
	default:
		tp_cursor_uleb(cursor);
	}
}

static void skip_value(struct tp_cursor *cursor, const struct tp_dies_unit *unit, unsigned form)
{
	const int size = size_of(unit, form);
	if (size >= 0)
		tp_cursor_skip(cursor, (uint64_t)size);
	else
		skip_variable(cursor, form);
}

// The attributes of an abbreviation, up to the two zeroes at their end.
static bool read_attributes(struct tp_dies *dies, const struct tp_dies_unit *unit,
    struct tp_die_abbrev *abbrev, struct tp_cursor *cursor)
{
	for (;;) {
		const uint64_t name = tp_cursor_uleb(cursor);
		const uint64_t form = tp_cursor_uleb(cursor);
		if (cursor->bad)
			return false;
		if (!name && !form)
			return true;
		const int size = form <= UINT16_MAX ? size_of(unit, (unsigned)form) : -2;
		if (size == -2 || dies->attribute_count == ATTRIBUTES_MAX)
			return false;
		abbrev->fixed = abbrev->fixed && size >= 0;
		abbrev->size += size > 0 ? (uint32_t)size : 0;
		if (!TP_GROW(dies->attributes, dies->attribute_room,
			dies->attribute_count + UINT64_C(1)))
			return false;
		dies->attributes[dies->attribute_count++] = (struct tp_die_attribute){
		    .name = name <= UINT16_MAX ? (uint16_t)name : UINT16_MAX,
		    .form = (uint16_t)form,
		    .size = (int16_t)size,
		    .constant = form == DW_FORM_implicit_const ? tp_cursor_sleb(cursor) : 0,
		};
		abbrev->count++;
	}
}

bool tp_dies_open(struct tp_dies *dies, const struct tp_dies_unit *unit)
{
	struct tp_cursor cursor = {unit->abbrevs, unit->abbrevs + unit->abbrevs_size, false};
	dies->abbrev_count = 0;
	dies->attribute_count = 0;
	if (unit->address_size < 1 || unit->address_size > 8 ||
	    (unit->offset_size != 4 && unit->offset_size != 8))
		return false;
	for (;;) {
		const uint64_t code = tp_cursor_uleb(&cursor);
		if (cursor.bad)
			return false;
		if (!code)
			return true;
		// Compilers number them from 1 on.
		if (code > ABBREVS_MAX || !TP_GROW(dies->abbrevs, dies->abbrev_room, code))
			return false;
		while (dies->abbrev_count < code)
			dies->abbrevs[dies->abbrev_count++].known = false;
		struct tp_die_abbrev abbrev = {
		    .attributes = dies->attribute_count, .known = true, .fixed = true};
		const uint64_t tag = tp_cursor_uleb(&cursor);
		abbrev.tag = tag <= UINT16_MAX ? (uint16_t)tag : 0;
		tp_cursor_skip(&cursor, 1); // whether it has children
		if (dies->abbrevs[code - 1].known || !read_attributes(dies, unit, &abbrev, &cursor))
			return false;
		dies->abbrevs[code - 1] = abbrev;
	}
}

void tp_dies_release(struct tp_dies *dies)
{
	free(dies->abbrevs);
	free(dies->attributes);
	memset(dies, 0, sizeof(*dies));
}

// A constant; false and passed over if the form is of another kind.
static bool read_constant(struct tp_cursor *cursor, const struct tp_dies_unit *unit,
    const struct tp_die_attribute *attribute, uint64_t *value)
{
	switch (attribute->form) {
	case DW_FORM_implicit_const:
		*value = (uint64_t)attribute->constant;
		return attribute->constant >= 0;
	case DW_FORM_data1:
	case DW_FORM_data2:
	case DW_FORM_data4:
	case DW_FORM_data8:
		*value = tp_cursor_number(cursor, (unsigned)size_of(unit, attribute->form));
		return true;
	case DW_FORM_udata:
		*value = tp_cursor_uleb(cursor);
		return true;
	case DW_FORM_sdata: {
		const int64_t number = tp_cursor_sleb(cursor);
		*value = (uint64_t)number;
		return number >= 0;
	}
	default:
		skip_value(cursor, unit, attribute->form);
		return false;
	}
}

bool tp_dies_address(const struct tp_dies_unit *unit, uint64_t index, uint64_t *address)
{
	if (!unit->addresses || index >= unit->addresses_size / unit->address_size)
		return false;
	*address = 0;
	memcpy(address, unit->addresses + index * unit->address_size, unit->address_size);
	return true;
}

static bool read_address(
    struct tp_cursor *cursor, const struct tp_dies_unit *unit, unsigned form, uint64_t *address)
{
	uint64_t index;
	switch (form) {
	case DW_FORM_addr:
		*address = tp_cursor_number(cursor, unit->address_size);
		return true;
	case DW_FORM_addrx:
	case FORM_GNU_ADDR_INDEX:
		index = tp_cursor_uleb(cursor);
		break;
	case DW_FORM_addrx1:
	case DW_FORM_addrx2:
	case DW_FORM_addrx3:
	case DW_FORM_addrx4:
		index = tp_cursor_number(cursor, (unsigned)size_of(unit, form));
		break;
	default:
		skip_value(cursor, unit, form);
		return false;
	}
	return tp_dies_address(unit, index, address);
}

static void read_reference(struct tp_cursor *cursor, const struct tp_dies_unit *unit, unsigned form,
    struct tp_die_function *function)
{
	uint64_t offset;
	switch (form) {
	case DW_FORM_ref1:
	case DW_FORM_ref2:
	case DW_FORM_ref4:
	case DW_FORM_ref8:
		offset = tp_cursor_number(cursor, (unsigned)size_of(unit, form));
		break;
	case DW_FORM_ref_udata:
		offset = tp_cursor_uleb(cursor);
		break;
	default:
		skip_value(cursor, unit, form);
		function->refers_out = true;
		return;
	}
	if (offset < unit->end - unit->header)
		function->reference = unit->header + offset;
}

static void read_ranges(struct tp_cursor *cursor, const struct tp_dies_unit *unit, unsigned form,
    struct tp_die_function *function)
{
	function->has_ranges = true;
	if (form == DW_FORM_rnglistx) {
		function->ranges = tp_cursor_uleb(cursor);
		function->ranges_by_index = true;
	} else if (form == DW_FORM_sec_offset) {
		function->ranges = tp_cursor_number(cursor, unit->offset_size);
	} else {
		function->ranges = UINT64_MAX;
		skip_value(cursor, unit, form);
	}
}

// What the entry says whose abbreviation has been read. False if it says what is not understood.
static bool read_entry(const struct tp_dies *dies, const struct tp_dies_unit *unit,
    const struct tp_die_abbrev *abbrev, struct tp_cursor *cursor, struct tp_die_function *function)
{
	bool has_low = false;
	bool has_high = false;
	bool understood = true;
	for (uint32_t i = 0; i < abbrev->count; i++) {
		const struct tp_die_attribute *attribute =
		    &dies->attributes[abbrev->attributes + i];
		switch (attribute->name) {
		case DW_AT_low_pc:
			has_low = read_address(cursor, unit, attribute->form, &function->low);
			understood = understood && has_low;
			break;
		case DW_AT_high_pc:
			has_high = true;
			skip_value(cursor, unit, attribute->form);
			break;
		case DW_AT_ranges:
			read_ranges(cursor, unit, attribute->form, function);
			break;
		case DW_AT_decl_file:
			function->has_file =
			    read_constant(cursor, unit, attribute, &function->file);
			break;
		case DW_AT_decl_line:
			function->has_line =
			    read_constant(cursor, unit, attribute, &function->line);
			break;
		case DW_AT_specification:
		case DW_AT_abstract_origin:
			read_reference(cursor, unit, attribute->form, function);
			break;
		default:
			skip_value(cursor, unit, attribute->form);
		}
	}
	function->has_code = has_low && has_high;
	return understood;
}

static const struct tp_die_abbrev *find_abbrev(const struct tp_dies *dies, uint64_t code)
{
	if (code > dies->abbrev_count || !dies->abbrevs[code - 1].known)
		return NULL;
	return &dies->abbrevs[code - 1];
}

bool tp_dies_each(
    const struct tp_dies *dies, const struct tp_dies_unit *unit, tp_dies_fn *call, void *context)
{
	struct tp_cursor cursor = {unit->info + unit->first, unit->info + unit->end, false};
	// Whose child an entry is does not matter: functions are wanted wherever they are.
	while (cursor.at < cursor.end) {
		const uint8_t *begin = cursor.at;
		const uint64_t code = *begin < 0x80 ? *cursor.at++ : tp_cursor_uleb(&cursor);
		if (!code)
			continue;
		const struct tp_die_abbrev *abbrev = find_abbrev(dies, code);
		if (!abbrev)
			return false;
		if (abbrev->tag == DW_TAG_subprogram) {
			struct tp_die_function function = {
			    .offset = (uint64_t)(begin - unit->info)};
			if (!read_entry(dies, unit, abbrev, &cursor, &function))
				return false;
			if (!cursor.bad && (function.has_code || function.has_ranges))
				call(context, &function);
		} else if (abbrev->fixed) {
			tp_cursor_skip(&cursor, abbrev->size);
		} else {
			const struct tp_die_attribute *at = &dies->attributes[abbrev->attributes];
			for (uint32_t i = 0; i < abbrev->count; i++)
				if (at[i].size >= 0)
					tp_cursor_skip(&cursor, (uint64_t)at[i].size);
				else
					skip_variable(&cursor, at[i].form);
		}
		if (cursor.bad)
			return false;
	}
	return true;
}

bool tp_dies_read(const struct tp_dies *dies, const struct tp_dies_unit *unit, uint64_t offset,
    struct tp_die_function *function)
{
	*function = (struct tp_die_function){.offset = offset};
	if (offset < unit->first || offset >= unit->end)
		return false;
	struct tp_cursor cursor = {unit->info + offset, unit->info + unit->end, false};
	const uint64_t code = tp_cursor_uleb(&cursor);
	const struct tp_die_abbrev *abbrev = code ? find_abbrev(dies, code) : NULL;
	return abbrev && read_entry(dies, unit, abbrev, &cursor, function) && !cursor.bad;
}
