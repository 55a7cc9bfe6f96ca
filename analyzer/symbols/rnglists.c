// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads lists of addresses of DWARF 5.
#include <dwarf.h>
#include <libdwarf.h>

#include "rnglists.h"

#include "analyzer/symbols/cursor.h"

// The two numbers of an entry, as addresses. False if they cannot be told.
static bool read_entry(const struct tp_rnglists *lists, struct tp_cursor *cursor, unsigned kind,
    uint64_t *base, uint64_t range[2])
{
	const struct tp_dies_unit *unit = lists->unit;
	switch (kind) {
	case DW_RLE_base_addressx:
		return tp_dies_address(unit, tp_cursor_uleb(cursor), base);
	case DW_RLE_base_address:
		*base = tp_cursor_number(cursor, unit->address_size);
		return true;
	case DW_RLE_startx_endx:
		return tp_dies_address(unit, tp_cursor_uleb(cursor), &range[0]) &&
		       tp_dies_address(unit, tp_cursor_uleb(cursor), &range[1]);
	case DW_RLE_startx_length:
		if (!tp_dies_address(unit, tp_cursor_uleb(cursor), &range[0]))
			return false;
		range[1] = range[0] + tp_cursor_uleb(cursor);
		return true;
	case DW_RLE_offset_pair:
		range[0] = *base + tp_cursor_uleb(cursor);
		range[1] = *base + tp_cursor_uleb(cursor);
		return true;
	case DW_RLE_start_end:
		range[0] = tp_cursor_number(cursor, unit->address_size);
		range[1] = tp_cursor_number(cursor, unit->address_size);
		return true;
	case DW_RLE_start_length:
		range[0] = tp_cursor_number(cursor, unit->address_size);
		range[1] = range[0] + tp_cursor_uleb(cursor);
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
		struct tp_cursor index = {entry, entry + size, false};
		offset = tp_cursor_number(&index, size);
		if (offset > lists->size - lists->table)
			return TP_RANGES_UNREADABLE;
		offset += lists->table;
	}
	if (offset > lists->size)
		return TP_RANGES_UNREADABLE;
	struct tp_cursor cursor = {lists->data + offset, lists->data + lists->size, false};
	uint64_t base = lists->base;
	for (;;) {
		const unsigned kind = (unsigned)tp_cursor_number(&cursor, 1);
		uint64_t range[2] = {0, 0};
		if (!cursor.bad && kind == DW_RLE_end_of_list)
			return TP_RANGES_PASSED;
		if (!read_entry(lists, &cursor, kind, &base, range) || cursor.bad)
			return TP_RANGES_UNREADABLE;
		if (kind != DW_RLE_base_address && kind != DW_RLE_base_addressx &&
		    call(context, range[0], range[1]))
			return TP_RANGES_ENDED;
	}
}
