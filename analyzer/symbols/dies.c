// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Goes through the entries of a unit of .debug_info without making anything of most of them, and
// reads lists of addresses.
//
// Clang writes no DW_AT_sibling, so whoever wants the functions has to pass over each variable and
// block in them. libdwarf takes about a microsecond for an entry; adding up the sizes takes some
// nanoseconds.
#include "dies.h"

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

// A position in bytes. A read beyond the end gives 0 and sets `bad`. Like common/bytes.h, but
// inline, because it passes over millions of entries.
struct cursor {
	const uint8_t *at;
	const uint8_t *end;
	bool bad;
};

static inline void skip(struct cursor *cursor, uint64_t size)
{
	if (size > (uint64_t)(cursor->end - cursor->at)) {
		cursor->bad = true;
		cursor->at = cursor->end;
		return;
	}
	cursor->at += size;
}

// A number of SIZE bytes, 1 to 8.
static inline uint64_t take_number(struct cursor *cursor, unsigned size)
{
	uint64_t value = 0;
	if (size > (size_t)(cursor->end - cursor->at)) {
		skip(cursor, size);
		return 0;
	}
	memcpy(&value, cursor->at, size);
	cursor->at += size;
	return value;
}

static inline uint64_t take_uleb(struct cursor *cursor)
{
	uint64_t value = 0;
	for (unsigned shift = 0; cursor->at < cursor->end; shift += 7) {
		const uint8_t byte = *cursor->at++;
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
	cursor->bad = true;
	return 0;
}

static inline int64_t take_sleb(struct cursor *cursor)
{
	uint64_t value = 0;
	for (unsigned shift = 0; cursor->at < cursor->end;) {
		const uint8_t byte = *cursor->at++;
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
		if (byte & 0x80)
			continue;
		if (shift < 64 && byte & 0x40)
			value |= ~UINT64_C(0) << shift;
		return (int64_t)value;
	}
	cursor->bad = true;
	return 0;
}

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

// Go behind a value of a form whose values differ in size. Returns the number that it is, 0 if it
// is something else.
static uint64_t take_variable(struct cursor *cursor, unsigned form)
{
	switch (form) {
	case DW_FORM_string: {
		const uint8_t *nul = memchr(cursor->at, 0, (size_t)(cursor->end - cursor->at));
		if (nul)
			cursor->at = nul + 1;
		else
			cursor->bad = true;
		return 0;
	}
	case DW_FORM_block:
	case DW_FORM_exprloc:
		skip(cursor, take_uleb(cursor));
		return 0;
	case DW_FORM_block1:
		skip(cursor, take_number(cursor, 1));
		return 0;
	case DW_FORM_block2:
		skip(cursor, take_number(cursor, 2));
		return 0;
	case DW_FORM_block4:
		skip(cursor, take_number(cursor, 4));
		return 0;
	default:
		return take_uleb(cursor);
	}
}

// The same for any form.
static uint64_t take_value(struct cursor *cursor, const struct tp_dies_unit *unit, unsigned form)
{
	const int size = size_of(unit, form);
	if (size < 0)
		return take_variable(cursor, form);
	if (size <= 8)
		return take_number(cursor, (unsigned)size);
	skip(cursor, (uint64_t)size);
	return 0;
}

// The attributes of an abbreviation, up to the two zeroes at their end.
static bool read_attributes(struct tp_dies *dies, const struct tp_dies_unit *unit,
    struct tp_die_abbrev *abbrev, struct cursor *cursor)
{
	for (;;) {
		const uint64_t name = take_uleb(cursor);
		const uint64_t form = take_uleb(cursor);
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
		    .constant = form == DW_FORM_implicit_const ? take_sleb(cursor) : 0,
		};
		abbrev->count++;
	}
}

bool tp_dies_open(struct tp_dies *dies, const struct tp_dies_unit *unit)
{
	struct cursor cursor = {unit->abbrevs, unit->abbrevs + unit->abbrevs_size, false};
	dies->abbrev_count = 0;
	dies->attribute_count = 0;
	if (unit->address_size < 1 || unit->address_size > 8 ||
	    (unit->offset_size != 4 && unit->offset_size != 8))
		return false;
	for (;;) {
		const uint64_t code = take_uleb(&cursor);
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
		const uint64_t tag = take_uleb(&cursor);
		abbrev.tag = tag <= UINT16_MAX ? (uint16_t)tag : 0;
		skip(&cursor, 1); // whether it has children
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
static bool read_constant(struct cursor *cursor, const struct tp_dies_unit *unit,
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
	case DW_FORM_udata:
		*value = take_value(cursor, unit, attribute->form);
		return true;
	case DW_FORM_sdata: {
		const int64_t number = take_sleb(cursor);
		*value = (uint64_t)number;
		return number >= 0;
	}
	default:
		take_value(cursor, unit, attribute->form);
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
    struct cursor *cursor, const struct tp_dies_unit *unit, unsigned form, uint64_t *address)
{
	const uint64_t value = take_value(cursor, unit, form);
	switch (form) {
	case DW_FORM_addr:
		*address = value;
		return true;
	case DW_FORM_addrx:
	case DW_FORM_addrx1:
	case DW_FORM_addrx2:
	case DW_FORM_addrx3:
	case DW_FORM_addrx4:
	case FORM_GNU_ADDR_INDEX:
		return tp_dies_address(unit, value, address);
	default:
		return false;
	}
}

static void read_reference(struct cursor *cursor, const struct tp_dies_unit *unit, unsigned form,
    struct tp_die_function *function)
{
	const uint64_t offset = take_value(cursor, unit, form);
	switch (form) {
	case DW_FORM_ref1:
	case DW_FORM_ref2:
	case DW_FORM_ref4:
	case DW_FORM_ref8:
	case DW_FORM_ref_udata:
		if (offset < unit->end - unit->header)
			function->reference = unit->header + offset;
		break;
	default:
		function->refers_out = true;
	}
}

static void read_ranges(struct cursor *cursor, const struct tp_dies_unit *unit, unsigned form,
    struct tp_die_function *function)
{
	const uint64_t value = take_value(cursor, unit, form);
	function->has_ranges = true;
	function->ranges_by_index |= form == DW_FORM_rnglistx;
	function->ranges =
	    form == DW_FORM_rnglistx || form == DW_FORM_sec_offset ? value : UINT64_MAX;
}

// Read the entry whose abbreviation has been read. False if some part of it is not understood.
static bool read_entry(const struct tp_dies *dies, const struct tp_dies_unit *unit,
    const struct tp_die_abbrev *abbrev, struct cursor *cursor, struct tp_die_function *function)
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
			take_value(cursor, unit, attribute->form);
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
			take_value(cursor, unit, attribute->form);
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
	struct cursor cursor = {unit->info + unit->first, unit->info + unit->end, false};
	// Whose child an entry is does not matter: functions are wanted wherever they are.
	while (cursor.at < cursor.end) {
		const uint8_t *begin = cursor.at;
		const uint64_t code = *begin < 0x80 ? *cursor.at++ : take_uleb(&cursor);
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
			skip(&cursor, abbrev->size);
		} else {
			const struct tp_die_attribute *at = &dies->attributes[abbrev->attributes];
			for (uint32_t i = 0; i < abbrev->count; i++)
				if (at[i].size >= 0)
					skip(&cursor, (uint64_t)at[i].size);
				else
					take_variable(&cursor, at[i].form);
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
	struct cursor cursor = {unit->info + offset, unit->info + unit->end, false};
	const uint64_t code = take_uleb(&cursor);
	const struct tp_die_abbrev *abbrev = code ? find_abbrev(dies, code) : NULL;
	return abbrev && read_entry(dies, unit, abbrev, &cursor, function) && !cursor.bad;
}

// ---- lists of addresses

// The two numbers of an entry, as addresses. False if they are unknown.
static bool read_list_entry(const struct tp_rnglists *lists, struct cursor *cursor, unsigned kind,
    uint64_t *base, uint64_t range[2])
{
	const struct tp_dies_unit *unit = lists->unit;
	switch (kind) {
	case DW_RLE_base_addressx:
		return tp_dies_address(unit, take_uleb(cursor), base);
	case DW_RLE_base_address:
		*base = take_number(cursor, unit->address_size);
		return true;
	case DW_RLE_startx_endx:
		return tp_dies_address(unit, take_uleb(cursor), &range[0]) &&
		       tp_dies_address(unit, take_uleb(cursor), &range[1]);
	case DW_RLE_startx_length:
		if (!tp_dies_address(unit, take_uleb(cursor), &range[0]))
			return false;
		range[1] = range[0] + take_uleb(cursor);
		return true;
	case DW_RLE_offset_pair:
		range[0] = *base + take_uleb(cursor);
		range[1] = *base + take_uleb(cursor);
		return true;
	case DW_RLE_start_end:
		range[0] = take_number(cursor, unit->address_size);
		range[1] = take_number(cursor, unit->address_size);
		return true;
	case DW_RLE_start_length:
		range[0] = take_number(cursor, unit->address_size);
		range[1] = range[0] + take_uleb(cursor);
		return true;
	default:
		return false;
	}
}

enum tp_ranges tp_rnglists_each(const struct tp_rnglists *lists,
    const struct tp_die_function *function, tp_range_fn *call, void *context)
{
	uint64_t offset = function->ranges;
	if (!lists->data || lists->table > lists->size)
		return TP_RANGES_UNREADABLE;
	if (function->ranges_by_index) {
		const unsigned size = lists->unit->offset_size;
		const uint64_t room = (lists->size - lists->table) / size;
		if (offset >= room)
			return TP_RANGES_UNREADABLE;
		const uint8_t *entry = lists->data + lists->table + offset * size;
		struct cursor index = {entry, entry + size, false};
		offset = take_number(&index, size);
		if (offset > lists->size - lists->table)
			return TP_RANGES_UNREADABLE;
		offset += lists->table;
	}
	if (offset > lists->size)
		return TP_RANGES_UNREADABLE;
	struct cursor cursor = {lists->data + offset, lists->data + lists->size, false};
	uint64_t base = lists->base;
	for (;;) {
		const unsigned kind = (unsigned)take_number(&cursor, 1);
		uint64_t range[2] = {0, 0};
		if (!cursor.bad && kind == DW_RLE_end_of_list)
			return TP_RANGES_PASSED;
		if (!read_list_entry(lists, &cursor, kind, &base, range) || cursor.bad)
			return TP_RANGES_UNREADABLE;
		if (kind != DW_RLE_base_address && kind != DW_RLE_base_addressx &&
		    call(context, range[0], range[1]))
			return TP_RANGES_ENDED;
	}
}
