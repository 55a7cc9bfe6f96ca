// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where functions are in the source, by DWARF.
//
// Only units whose ranges hold a wanted address are gone through, and of those only the functions
// are looked at closely (dies.h). libdwarf lists the units, reads ranges and names of files, finds
// addresses by index; and it goes through units that dies.c does not understand.
#include <dwarf.h>
#include <libdwarf.h>

#include "lines.h"

#include "analyzer/symbols/units.h"
#include "common/array.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 64 // nesting of namespaces and classes that we follow

struct search {
	const struct tp_dwarf_request *request;
	struct tp_source_place *places;
	uint32_t count;
	struct tp_arena *arena;
	int64_t found;
	bool no_memory;
	bool trouble; // libdwarf could not read something that is there
	struct tp_dwarf_units main;
	struct tp_split split;
	struct tp_dies dies;
	// The unit that is gone through: that of the file, and the one that has its entries.
	uint32_t number;
	struct tp_whole_unit whole;
	struct tp_dies_unit scanned;
	struct tp_rnglists lists;
	bool has_read_files;
	const char **kept_files; // by number: copies in the arena of those that were needed
};

// The first place at or above ADDRESS.
static uint32_t lower_bound(const struct search *search, uint64_t address)
{
	return TP_LOWER_BOUND(0, search->count, middle, search->places[middle].address < address);
}

// The place at ADDRESS whose line is not known yet, or NULL.
static struct tp_source_place *find_place(const struct search *search, uint64_t address)
{
	const uint32_t at = lower_bound(search, address);
	if (at == search->count || search->places[at].address != address || search->places[at].file)
		return NULL;
	return &search->places[at];
}

static bool has_place(void *context, uint64_t low, uint64_t high)
{
	const struct search *search = context;
	const uint32_t at = lower_bound(search, low);
	return at < search->count && search->places[at].address < high;
}

static void read_files(struct search *search)
{
	search->has_read_files = true;
	search->trouble |= !tp_whole_unit_files(&search->whole);
	if (!search->whole.file_count)
		return;
	// Before DWARF 5 the last number is the count.
	search->kept_files =
	    calloc((size_t)search->whole.file_count + 1, sizeof(*search->kept_files));
	search->no_memory |= !search->kept_files;
}

static void fill_place(
    struct search *search, struct tp_source_place *place, uint64_t file, uint64_t line)
{
	if (!search->has_read_files)
		read_files(search);
	if (!search->kept_files)
		return;
	const char *name = tp_whole_unit_file(&search->whole, file);
	if (!name)
		return;
	const char **kept = &search->kept_files[file];
	if (!*kept)
		*kept = tp_arena_copy(search->arena, name, strlen(name));
	place->file = *kept;
	place->line = line;
	place->unit = search->number;
	if (place->file)
		search->found++;
	else
		search->no_memory = true;
}

static void fill_from_die(struct search *search, Dwarf_Die die, struct tp_source_place *place)
{
	Dwarf_Debug dbg = search->whole.units->object.dbg;
	Dwarf_Unsigned file;
	Dwarf_Unsigned line;
	if (tp_dwarf_units_find_number(dbg, die, DW_AT_decl_file, &file) &&
	    tp_dwarf_units_find_number(dbg, die, DW_AT_decl_line, &line))
		fill_place(search, place, file, line);
}

// The entry at OFFSET. False if it cannot be read.
static bool open_die(struct search *search, uint64_t offset, Dwarf_Die *die)
{
	*die = tp_dwarf_units_die(search->whole.units, offset);
	search->trouble |= !*die;
	return *die;
}

static void close_die(const struct search *search, Dwarf_Die die)
{
	dwarf_dealloc(search->whole.units->object.dbg, die, DW_DLA_DIE);
}

// File and line of what FUNCTION was specified or made from, as far as it does not have them
// itself. False if libdwarf has to look: it is in another unit.
static bool follow(const struct search *search, struct tp_die_function *function)
{
	struct tp_die_function at = *function;
	for (int step = 1;
	     step < TP_DWARF_REFERENCES_MAX && !(function->has_file && function->has_line);
	     step++) {
		if (!at.reference ||
		    !tp_dies_read(&search->dies, &search->scanned, at.reference, &at))
			return !at.refers_out;
		if (!function->has_file && at.has_file) {
			function->has_file = true;
			function->file = at.file;
		}
		if (!function->has_line && at.has_line) {
			function->has_line = true;
			function->line = at.line;
		}
	}
	return true;
}

static void fill_from_function(
    struct search *search, const struct tp_die_function *found, struct tp_source_place *place)
{
	struct tp_die_function function = *found;
	Dwarf_Die die = NULL;
	if (follow(search, &function)) {
		if (function.has_file && function.has_line)
			fill_place(search, place, function.file, function.line);
	} else if (open_die(search, found->offset, &die)) {
		fill_from_die(search, die, place);
		close_die(search, die);
	}
}

struct piece {
	struct search *search;
	Dwarf_Die die;
	const struct tp_die_function *function; // if it was read without libdwarf
};

// A function may be in pieces (hot and cold, or each block), which may have symbols of their own:
// those count that begin at a place.
static bool take_piece(void *context, uint64_t low, uint64_t high)
{
	const struct piece *piece = context;
	struct tp_source_place *place = find_place(piece->search, low);
	(void)high;
	if (place && piece->function)
		fill_from_function(piece->search, piece->function, place);
	else if (place)
		fill_from_die(piece->search, piece->die, place);
	return false;
}

static void take_die(struct search *search, Dwarf_Die die)
{
	struct piece piece = {search, die, NULL};
	tp_symbol_ranges(&search->whole, die, take_piece, &piece);
}

// Look at the children of DIE. Functions inside of functions are few, but GNU C and D have them.
static void walk(struct search *search, Dwarf_Die die, int depth)
{
	Dwarf_Debug dbg = search->whole.units->object.dbg;
	Dwarf_Die child = NULL;
	int status = depth < DEPTH_MAX ? dwarf_child(die, &child, NULL) : DW_DLV_NO_ENTRY;
	if (status != DW_DLV_OK)
		child = NULL;
	while (child) {
		Dwarf_Half tag = 0;
		dwarf_tag(child, &tag, NULL);
		if (tag == DW_TAG_subprogram)
			take_die(search, child);
		if (tag == DW_TAG_subprogram || tag == DW_TAG_namespace || tag == DW_TAG_module ||
		    tag == DW_TAG_structure_type || tag == DW_TAG_class_type)
			walk(search, child, depth + 1);
		Dwarf_Die next = NULL;
		status = dwarf_siblingof_b(dbg, child, true, &next, NULL);
		dwarf_dealloc(dbg, child, DW_DLA_DIE);
		child = status == DW_DLV_OK ? next : NULL;
	}
	search->trouble = search->trouble || status == DW_DLV_ERROR;
}

static void take_function(void *context, const struct tp_die_function *found)
{
	struct search *search = context;
	if (found->has_code) {
		struct tp_source_place *place = find_place(search, found->low);
		if (place)
			fill_from_function(search, found, place);
		return;
	}
	struct piece piece = {search, NULL, found};
	Dwarf_Die die;
	if (search->whole.unit->version >= 5 &&
	    tp_rnglists_each(&search->lists, found, take_piece, &piece) != TP_RANGES_UNREADABLE)
		return;
	if (open_die(search, found->offset, &die)) {
		take_die(search, die);
		close_die(search, die);
	}
}

static void go_through(struct search *search)
{
	const bool scanned =
	    !search->request->slowly &&
	    tp_whole_unit_bytes(&search->whole, &search->main, &search->scanned, &search->lists) &&
	    tp_dies_open(&search->dies, &search->scanned) &&
	    tp_dies_each(&search->dies, &search->scanned, take_function, search);
	if (!scanned)
		walk(search, search->whole.die, 0);
	if (search->whole.files) {
		Dwarf_Debug dbg = search->whole.units->object.dbg;
		for (Dwarf_Signed i = 0;
		     i < search->whole.file_count && !search->request->leave_open; i++)
			dwarf_dealloc(dbg, search->whole.files[i], DW_DLA_STRING);
		dwarf_dealloc(dbg, search->whole.files, DW_DLA_LIST);
		free(search->kept_files);
		search->whole.files = NULL;
		search->kept_files = NULL;
	}
	search->has_read_files = false;
}

static void look_at_unit(struct search *search, const struct tp_dwarf_unit *unit)
{
	struct tp_whole_unit *whole = &search->whole;
	if (!tp_whole_unit_open(whole, &search->main, unit)) {
		search->trouble = true;
		return;
	}
	// A unit whose ranges cannot be read is gone through to be sure.
	if (tp_symbol_ranges(whole, whole->die, has_place, search) != TP_RANGES_PASSED) {
		if (tp_whole_unit_split(whole, &search->split, &search->main))
			go_through(search);
		else
			search->trouble = true;
		if (whole->die && tp_whole_unit_is_split(whole))
			close_die(search, whole->die);
	}
	dwarf_dealloc(search->main.object.dbg, whole->skeleton, DW_DLA_DIE);
}

int64_t tp_symbol_dwarf_find(const struct tp_dwarf_request *request, struct tp_source_place *places,
    uint32_t count, struct tp_arena *arena, struct tp_dwarf_notes *notes, struct tp_err *err)
{
	struct tp_dwarf_notes unused;
	struct search *search = calloc(1, sizeof(*search));
	const uint32_t parts = request->parts ? request->parts : 1;
	if (!search)
		return tp_err_memory(err, request->path);
	notes = notes ? notes : &unused;
	memset(notes, 0, sizeof(*notes));
	search->request = search->split.request = request;
	search->places = places;
	search->count = count;
	search->arena = arena;
	int64_t result = tp_dwarf_units_open(&search->main, request->path, &notes->damage, err);
	for (uint32_t i = request->part; !result && i < search->main.count; i += parts) {
		search->number = i;
		look_at_unit(search, &search->main.units[i]);
	}
	if (!result)
		result = search->found;
	if (search->no_memory)
		result = tp_err_memory(err, request->path);
	notes->missing = search->split.missing;
	snprintf(notes->first_missing, sizeof(notes->first_missing), "%.255s",
	    search->split.first_missing);
	if (search->main.object.unpacking.code && !notes->damage.code)
		notes->damage = search->main.object.unpacking;
	if (search->trouble && !notes->damage.code)
		tp_err_set(&notes->damage, TP_ERR_FORMAT, request->path,
		    "libdwarf cannot read a part of its debug information: "
		    "it is damaged, or memory ran out");
	if (!request->leave_open) {
		tp_split_release(&search->split);
		tp_dwarf_units_close(&search->main);
		tp_dies_release(&search->dies);
		free(search);
	}
	return result;
}
