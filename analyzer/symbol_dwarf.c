// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where functions are in the source, by DWARF. The only file that knows libdwarf.
//
// Clang's units have no sibling attributes, so going through one means parsing all of its entries
// (1 s for a 128 MB binary): only units whose ranges hold a wanted address are gone through.
#include "symbol_dwarf.h"

#include <dwarf.h>
#include <libdwarf.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

// Nesting of namespaces and classes, and lists of specifications, that we follow.
#define DEPTH_MAX 64
#define REFERENCES_MAX 8

struct search {
	Dwarf_Debug dbg;
	struct tp_source_place *places;
	uint32_t count;
	struct tp_arena *arena;
	int64_t found;
	bool no_memory;
	// The unit that is gone through.
	Dwarf_Die unit;
	char **files;
	Dwarf_Signed file_count;
	Dwarf_Half version;
};

// The first place at or above ADDRESS.
static uint32_t lower_bound(const struct search *search, uint64_t address)
{
	uint32_t low = 0;
	uint32_t high = search->count;
	while (low < high) {
		const uint32_t middle = low + (high - low) / 2;
		if (search->places[middle].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

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

// Called for each range of an entry; true ends the search.
typedef bool range_fn(struct search *search, Dwarf_Die die, uint64_t low, uint64_t high);

enum ranges {
	RANGES_PASSED,     // the function was called for all of them
	RANGES_ENDED,      // it returned true
	RANGES_UNREADABLE, // perhaps after some calls
};

// DW_AT_ranges as DWARF 5 has it.
static enum ranges each_rnglist(struct search *search, Dwarf_Die die, Dwarf_Attribute attribute,
    Dwarf_Half form, range_fn *call)
{
	Dwarf_Unsigned value = 0;
	Dwarf_Off offset = 0;
	if (form == DW_FORM_rnglistx) {
		if (dwarf_formudata(attribute, &value, NULL) != DW_DLV_OK)
			return RANGES_UNREADABLE;
	} else if (dwarf_global_formref(attribute, &offset, NULL) == DW_DLV_OK) {
		value = offset;
	} else {
		return RANGES_UNREADABLE;
	}
	Dwarf_Rnglists_Head head;
	Dwarf_Unsigned count;
	Dwarf_Unsigned unused;
	if (dwarf_rnglists_get_rle_head(attribute, form, value, &head, &count, &unused, NULL) !=
	    DW_DLV_OK)
		return RANGES_UNREADABLE;
	enum ranges result = RANGES_PASSED;
	for (Dwarf_Unsigned i = 0; i < count && result == RANGES_PASSED; i++) {
		unsigned length;
		unsigned code;
		Dwarf_Unsigned raw[2];
		Dwarf_Unsigned range[2];
		Dwarf_Bool unavailable = false;
		if (dwarf_get_rnglists_entry_fields_a(head, i, &length, &code, &raw[0], &raw[1],
			&unavailable, &range[0], &range[1], NULL) != DW_DLV_OK)
			result = RANGES_UNREADABLE;
		else if (code == DW_RLE_end_of_list || code == DW_RLE_base_address ||
			 code == DW_RLE_base_addressx)
			continue;
		else if (unavailable)
			result = RANGES_UNREADABLE;
		else if (call(search, die, range[0], range[1]))
			result = RANGES_ENDED;
	}
	dwarf_dealloc_rnglists_head(head);
	return result;
}

// DW_AT_ranges as DWARF 3 and 4 have it.
static enum ranges each_old_range(
    struct search *search, Dwarf_Die die, Dwarf_Attribute attribute, range_fn *call)
{
	Dwarf_Off offset;
	Dwarf_Ranges *ranges;
	Dwarf_Signed count;
	Dwarf_Unsigned size;
	if (dwarf_global_formref(attribute, &offset, NULL) != DW_DLV_OK ||
	    dwarf_get_ranges_b(search->dbg, offset, die, &offset, &ranges, &count, &size, NULL) !=
		DW_DLV_OK)
		return RANGES_UNREADABLE;
	Dwarf_Addr base = 0;
	dwarf_lowpc(search->unit, &base, NULL);
	enum ranges result = RANGES_PASSED;
	for (Dwarf_Signed i = 0; i < count && result == RANGES_PASSED; i++) {
		const Dwarf_Ranges *range = &ranges[i];
		if (range->dwr_type == DW_RANGES_ADDRESS_SELECTION)
			base = range->dwr_addr2;
		else if (range->dwr_type == DW_RANGES_ENTRY &&
			 call(search, die, base + range->dwr_addr1, base + range->dwr_addr2))
			result = RANGES_ENDED;
	}
	dwarf_ranges_dealloc(search->dbg, ranges, count);
	return result;
}

// The code of an entry: DW_AT_ranges, else low and high. An entry without code has no range.
static enum ranges each_range(struct search *search, Dwarf_Die die, range_fn *call)
{
	Dwarf_Addr low;
	Dwarf_Addr high;
	if (low_and_high(die, &low, &high))
		return call(search, die, low, high) ? RANGES_ENDED : RANGES_PASSED;
	Dwarf_Attribute attribute;
	if (dwarf_attr(die, DW_AT_ranges, &attribute, NULL) != DW_DLV_OK)
		return RANGES_PASSED;
	Dwarf_Half form;
	enum ranges result = RANGES_UNREADABLE;
	if (dwarf_whatform(attribute, &form, NULL) == DW_DLV_OK)
		result = search->version >= 5 ? each_rnglist(search, die, attribute, form, call)
					      : each_old_range(search, die, attribute, call);
	dwarf_dealloc(search->dbg, attribute, DW_DLA_ATTR);
	return result;
}

static bool has_place(struct search *search, Dwarf_Die die, uint64_t low, uint64_t high)
{
	(void)die;
	const uint32_t at = lower_bound(search, low);
	return at < search->count && search->places[at].address < high;
}

// The value of an attribute, in any form; gcc puts those that many entries share into their
// abbreviation (DW_FORM_implicit_const), which libdwarf takes for signed.
static bool read_number(Dwarf_Attribute attribute, Dwarf_Unsigned *value)
{
	Dwarf_Signed number;
	if (dwarf_formudata(attribute, value, NULL) == DW_DLV_OK)
		return true;
	if (dwarf_formsdata(attribute, &number, NULL) != DW_DLV_OK || number < 0)
		return false;
	*value = (Dwarf_Unsigned)number;
	return true;
}

// A number, of the entry or of what it was specified or inlined from.
static bool find_number(
    const struct search *search, Dwarf_Die die, Dwarf_Half wanted, Dwarf_Unsigned *value)
{
	static const Dwarf_Half references[] = {DW_AT_abstract_origin, DW_AT_specification};
	Dwarf_Die at = die;
	bool found = false;
	for (int step = 0; step < REFERENCES_MAX && at; step++) {
		Dwarf_Attribute attribute;
		if (dwarf_attr(at, wanted, &attribute, NULL) == DW_DLV_OK) {
			found = read_number(attribute, value);
			dwarf_dealloc(search->dbg, attribute, DW_DLA_ATTR);
			break;
		}
		Dwarf_Die next = NULL;
		for (int i = 0; i < 2 && !next; i++) {
			Dwarf_Off offset;
			if (dwarf_attr(at, references[i], &attribute, NULL) != DW_DLV_OK)
				continue;
			if (dwarf_global_formref(attribute, &offset, NULL) == DW_DLV_OK)
				dwarf_offdie_b(search->dbg, offset, true, &next, NULL);
			dwarf_dealloc(search->dbg, attribute, DW_DLA_ATTR);
		}
		if (at != die)
			dwarf_dealloc(search->dbg, at, DW_DLA_DIE);
		at = next;
	}
	if (at && at != die)
		dwarf_dealloc(search->dbg, at, DW_DLA_DIE);
	return found;
}

static void fill_place(struct search *search, Dwarf_Die die, struct tp_source_place *place)
{
	Dwarf_Unsigned file;
	Dwarf_Unsigned line;
	if (!find_number(search, die, DW_AT_decl_file, &file) ||
	    !find_number(search, die, DW_AT_decl_line, &line))
		return;
	if (!search->files &&
	    dwarf_srcfiles(search->unit, &search->files, &search->file_count, NULL) != DW_DLV_OK) {
		search->files = NULL;
		return;
	}
	// Files are numbered from 1 on before DWARF 5, from 0 on since.
	if (search->version < 5)
		file--;
	if (file >= (Dwarf_Unsigned)search->file_count)
		return;
	const char *name = search->files[file];
	place->file = tp_arena_copy(search->arena, name, strlen(name));
	place->line = line;
	if (place->file)
		search->found++;
	else
		search->no_memory = true;
}

// A function may be in pieces (hot and cold, or each block): the one that begins at the place counts.
static bool take_piece(struct search *search, Dwarf_Die die, uint64_t low, uint64_t high)
{
	(void)high;
	const uint32_t at = lower_bound(search, low);
	if (at == search->count || search->places[at].address != low)
		return false;
	if (!search->places[at].file)
		fill_place(search, die, &search->places[at]);
	return true;
}

// Look at the children of DIE. Functions inside of functions are few, but GNU C and D have them.
static void walk(struct search *search, Dwarf_Die die, int depth)
{
	Dwarf_Die child = NULL;
	if (depth == DEPTH_MAX || dwarf_child(die, &child, NULL) != DW_DLV_OK)
		return;
	while (child) {
		Dwarf_Half tag = 0;
		dwarf_tag(child, &tag, NULL);
		if (tag == DW_TAG_subprogram)
			each_range(search, child, take_piece);
		if (tag == DW_TAG_subprogram || tag == DW_TAG_namespace || tag == DW_TAG_module ||
		    tag == DW_TAG_structure_type || tag == DW_TAG_class_type)
			walk(search, child, depth + 1);
		Dwarf_Die next = NULL;
		if (dwarf_siblingof_b(search->dbg, child, true, &next, NULL) != DW_DLV_OK)
			next = NULL;
		dwarf_dealloc(search->dbg, child, DW_DLA_DIE);
		child = next;
	}
}

static void free_files(struct search *search)
{
	if (!search->files)
		return;
	for (Dwarf_Signed i = 0; i < search->file_count; i++)
		dwarf_dealloc(search->dbg, search->files[i], DW_DLA_STRING);
	dwarf_dealloc(search->dbg, search->files, DW_DLA_LIST);
	search->files = NULL;
	search->file_count = 0;
}

// Without a handler libdwarf ends the program at the first error of a call that was given no place for
// it. Those errors are not lost: such a call fails, and its caller goes on without what it asked for.
static void ignore(Dwarf_Error error, Dwarf_Ptr context)
{
	(void)error;
	(void)context;
}

static int search_units(struct search *search, Dwarf_Error *error)
{
	for (;;) {
		Dwarf_Unsigned next;
		const int status = dwarf_next_cu_header_d(search->dbg, true, NULL, &search->version,
		    NULL, NULL, NULL, NULL, NULL, NULL, &next, NULL, error);
		if (status != DW_DLV_OK)
			return status;
		if (dwarf_siblingof_b(search->dbg, NULL, true, &search->unit, NULL) != DW_DLV_OK)
			continue;
		// A unit whose ranges cannot be read is gone through to be sure.
		if (each_range(search, search->unit, has_place) != RANGES_PASSED)
			walk(search, search->unit, 0);
		free_files(search);
		dwarf_dealloc(search->dbg, search->unit, DW_DLA_DIE);
	}
}

int64_t tp_symbol_dwarf_find(const char *path, struct tp_source_place *places, uint32_t count,
    struct tp_arena *arena, struct tp_err *err)
{
	struct search search = {.places = places, .count = count, .arena = arena};
	Dwarf_Error error = NULL;
	// The upstream interface lost four reserved arguments when its versions became 0.x.
#ifdef DW_LIBDWARF_VERSION_MAJOR
	int status =
	    dwarf_init_path(path, NULL, 0, DW_GROUPNUMBER_ANY, ignore, NULL, &search.dbg, &error);
#else
	int status = dwarf_init_path(path, NULL, 0, DW_DLC_READ, DW_GROUPNUMBER_ANY, ignore, NULL,
	    &search.dbg, NULL, 0, NULL, &error);
#endif
	if (status == DW_DLV_NO_ENTRY)
		return 0;
	if (status == DW_DLV_OK)
		status = search_units(&search, &error);
	int64_t result = search.found;
	if (status == DW_DLV_ERROR)
		result = tp_err_set(err, TP_ERR_FORMAT, path, TP_ERR_NO_OFFSET,
		    "its debug information cannot be read: %s", dwarf_errmsg(error));
	else if (search.no_memory)
		result = tp_err_set(
		    err, TP_ERR_MEMORY, path, TP_ERR_NO_OFFSET, "no memory for source lines");
	if (status == DW_DLV_ERROR && search.dbg)
		dwarf_dealloc(search.dbg, error, DW_DLA_ERROR);
#ifdef DW_LIBDWARF_VERSION_MAJOR
	if (search.dbg)
		dwarf_finish(search.dbg);
#else
	if (search.dbg)
		dwarf_finish(search.dbg, NULL);
#endif
	return result;
}
