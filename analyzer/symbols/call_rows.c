// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The line table of a unit, for calls that are not in inlined code.
#include <dwarf.h>
#include <libdwarf.h>

#include "call_search.h"

#include "analyzer/symbols/units.h"
#include "common/array.h"

#include <stdlib.h>

static int compare_rows(const void *a, const void *b)
{
	const struct tp_call_row *x = a;
	const struct tp_call_row *y = b;
	int order = TP_COMPARE(x->address, y->address);
	// Where one sequence ends another one may begin.
	order = order ? order : TP_COMPARE(y->end, x->end);
	return order ? order : TP_COMPARE(x->order, y->order);
}

static bool read_row(Dwarf_Line line, struct tp_call_row *row)
{
	Dwarf_Addr address;
	Dwarf_Unsigned number;
	Dwarf_Unsigned file;
	Dwarf_Bool end;
	if (dwarf_lineaddr(line, &address, NULL) != DW_DLV_OK ||
	    dwarf_lineendsequence(line, &end, NULL) != DW_DLV_OK ||
	    dwarf_lineno(line, &number, NULL) != DW_DLV_OK ||
	    dwarf_line_srcfileno(line, &file, NULL) != DW_DLV_OK)
		return false;
	row->address = address;
	row->line = number;
	row->file = file;
	row->end = end;
	return true;
}

// Add the rows, without those of code that the linker has left out, which is at address 0. False:
// no memory.
static bool add_rows(struct tp_call_rows *rows, Dwarf_Line *lines, Dwarf_Signed count)
{
	bool begins = true;
	bool is_there = false;
	for (Dwarf_Signed i = 0; i < count; i++) {
		struct tp_call_row row = {.order = (uint32_t)i};
		if (!read_row(lines[i], &row))
			break;
		if (begins)
			is_there = row.address != 0;
		begins = row.end;
		if (!is_there)
			continue;
		if (!TP_GROW(rows->items, rows->room, rows->count + UINT64_C(1)))
			return false;
		rows->items[rows->count++] = row;
	}
	return true;
}

bool tp_call_rows_read(struct tp_call_rows *rows, struct tp_whole_unit *unit)
{
	Dwarf_Unsigned version;
	Dwarf_Small tables;
	Dwarf_Line_Context context;
	Dwarf_Line *lines;
	Dwarf_Signed count;
	rows->unit = unit;
	rows->count = 0;
	tp_whole_unit_files(unit);
	if (dwarf_srclines_b(unit->die, &version, &tables, &context, NULL) != DW_DLV_OK)
		return true;
	if (dwarf_srclines_from_linecontext(context, &lines, &count, NULL) != DW_DLV_OK)
		count = 0;
	const bool has_room = add_rows(rows, lines, count);
	dwarf_srclines_dealloc_b(context);
	if (rows->count)
		qsort(rows->items, rows->count, sizeof(*rows->items), compare_rows);
	return has_room;
}

uint64_t tp_call_rows_line(const struct tp_call_rows *rows, uint64_t address, const char **file)
{
	const uint32_t next =
	    TP_LOWER_BOUND(0U, rows->count, middle, rows->items[middle].address <= address);
	const struct tp_call_row *row = next ? &rows->items[next - 1] : NULL;
	*file = row && !row->end ? tp_whole_unit_file(rows->unit, row->file) : NULL;
	return *file ? row->line : 0;
}
