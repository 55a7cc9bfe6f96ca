// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// On which lines functions call others, by the call sites of DWARF.
//
// dies.h finds the wanted functions in a unit, libdwarf goes through their entries. gcc has a call
// site where its scope is, clang below the function: so the inlined functions around a call are
// found by its address. Its line in the function is where the outermost of them was called, else
// that of the line table. What is read ends with the process.
#define _GNU_SOURCE
#include <dwarf.h>
#include <libdwarf.h>

#include "lines.h"

#include "analyzer/symbols/module.h"
#include "analyzer/symbols/units.h"
#include "common/array.h"
#include "common/buf.h"
#include "common/bytes.h"

#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 320 // blocks and inlined functions within one another
#define REFERENCES_MAX 8
#define NAME_MAX_BYTES 4096             // of an inlined function
#define ANSWER_MAX (UINT64_C(64) << 20) // bytes of all calls

// What an answer has instead of a callee or a caller.
#define DESCRIBED UINT32_MAX // that the debug information has the caller's calls
#define CUT UINT32_MAX       // that there are more calls

// A function with code in this unit, or what it was made from: what a call site refers to.
struct entry {
	uint64_t offset;
	uint64_t address;
};

struct wanted {
	uint64_t offset; // of the entry
	uint32_t caller;
};

struct row {
	uint64_t address;
	uint64_t line;
	uint64_t file;
	uint32_t order;
	bool end; // of a sequence
};

// Numbers of inlined functions are from 1 on; 0 is the function itself.
struct inlined {
	Dwarf_Off offset;
	uint32_t parent;
	uint32_t depth;
	Dwarf_Unsigned file; // where it was called
	Dwarf_Unsigned line;
	bool has_file;
};

struct range {
	uint64_t low;
	uint64_t high;
	uint32_t inlined;
};

struct site {
	uint64_t address; // in the instruction that calls
	uint32_t callee;
	uint32_t inlined;
};

struct search {
	const struct tp_dwarf_request *request;
	const struct tp_call_function *functions;
	uint32_t count;
	uint32_t *by_name; // functions that have a linkage name
	uint32_t named;
	struct tp_buf *out;
	uint32_t sites_left;
	uint32_t entries_left;
	bool no_memory;
	struct tp_dwarf_units main;
	struct tp_split split;
	struct tp_dies dies;
	// The unit that is looked at, ...
	struct tp_whole_unit whole;
	struct tp_dies_unit bytes;
	struct tp_rnglists lists;
	struct entry *entries;
	uint32_t entry_count, entry_room;
	struct wanted *wanted;
	uint32_t wanted_count, wanted_room;
	struct row *rows;
	uint32_t row_count, row_room;
	char **row_files; // that the rows' numbers mean
	Dwarf_Signed row_file_count;
	// ... and the function.
	struct inlined *inlined;
	uint32_t inlined_count, inlined_room;
	struct range *ranges;
	uint32_t range_count, range_room;
	struct site *sites;
	uint32_t site_count, site_room;
	bool described;
};

// Whether there is room for one more item; a lack of memory is remembered.
#define HAS_ROOM(search, items, count, room) \
	(TP_GROW(items, room, (count) + UINT64_C(1)) || ((search)->no_memory = true, false))

// ---- functions

// The first function at ADDRESS or above.
static uint32_t lower_bound(const struct search *search, uint64_t address)
{
	return TP_LOWER_BOUND(
	    0U, search->count, middle, search->functions[middle].address < address);
}

// The function at ADDRESS; UINT32_MAX: none.
static uint32_t at_address(const struct search *search, uint64_t address)
{
	const uint32_t at =
	    address == TP_CALL_ELSEWHERE ? search->count : lower_bound(search, address);
	return at < search->count && search->functions[at].address == address ? at : UINT32_MAX;
}

// The only function with this linkage name, rather in this file than in others; UINT32_MAX: none,
// or several.
static uint32_t with_name(const struct search *search, const char *name)
{
	uint32_t here = UINT32_MAX;
	uint32_t elsewhere = UINT32_MAX;
	uint32_t here_count = 0;
	uint32_t elsewhere_count = 0;
	for (uint32_t i = TP_LOWER_BOUND(0U, search->named, middle,
		 strcmp(search->functions[search->by_name[middle]].linkage, name) < 0);
	     i < search->named; i++) {
		const uint32_t at = search->by_name[i];
		const struct tp_call_function *function = &search->functions[at];
		if (strcmp(function->linkage, name) != 0)
			break;
		if (function->address == TP_CALL_ELSEWHERE) {
			elsewhere_count++;
			elsewhere = at;
		} else if (here == UINT32_MAX ||
			   search->functions[here].address != function->address) {
			here_count++;
			here = at;
		}
	}
	if (here_count)
		return here_count == 1 ? here : UINT32_MAX;
	return elsewhere_count == 1 ? elsewhere : UINT32_MAX;
}

static bool holds_wanted(void *context, uint64_t low, uint64_t high)
{
	const struct search *search = context;
	for (uint32_t i = lower_bound(search, low);
	     i < search->count && search->functions[i].address < high; i++)
		if (search->functions[i].wanted)
			return true;
	return false;
}

// ---- entries

static void close_die(const struct search *search, Dwarf_Die die)
{
	dwarf_dealloc(search->whole.units->object.dbg, die, DW_DLA_DIE);
}

static bool number_of(
    const struct search *search, Dwarf_Die die, Dwarf_Half name, Dwarf_Unsigned *value)
{
	return tp_dwarf_units_number(search->whole.units->object.dbg, die, name, value);
}

static bool has_flag(Dwarf_Die die, Dwarf_Half name)
{
	Dwarf_Bool has = false;
	return dwarf_hasattr(die, name, &has, NULL) == DW_DLV_OK && has;
}

static bool address_of(
    const struct search *search, Dwarf_Die die, Dwarf_Half name, Dwarf_Addr *address)
{
	Dwarf_Attribute attribute;
	if (dwarf_attr(die, name, &attribute, NULL) != DW_DLV_OK)
		return false;
	const bool found = dwarf_formaddr(attribute, address, NULL) == DW_DLV_OK;
	dwarf_dealloc(search->whole.units->object.dbg, attribute, DW_DLA_ATTR);
	return found;
}

static bool reference_of(
    const struct search *search, Dwarf_Die die, Dwarf_Half name, Dwarf_Off *offset)
{
	Dwarf_Attribute attribute;
	if (dwarf_attr(die, name, &attribute, NULL) != DW_DLV_OK)
		return false;
	const bool found = dwarf_global_formref(attribute, offset, NULL) == DW_DLV_OK;
	dwarf_dealloc(search->whole.units->object.dbg, attribute, DW_DLA_ATTR);
	return found;
}

// A number of the entry, or of what it was made from.
static bool find_number(
    const struct search *search, Dwarf_Die die, Dwarf_Half name, Dwarf_Unsigned *value)
{
	for (int step = 0; step < REFERENCES_MAX && die; step++) {
		if (number_of(search, die, name, value))
			return true;
		die = tp_dwarf_units_origin(search->whole.units->object.dbg, die);
	}
	return false;
}

// Its name as in a symbol table, else its plain one. *IS_EXTERNAL: other units know it by that.
static const char *name_of(const struct search *search, Dwarf_Die die, bool *is_external)
{
	const char *plain = NULL;
	const char *linkage = NULL;
	*is_external = false;
	for (int step = 0; step < REFERENCES_MAX && die; step++) {
		if (!linkage)
			linkage = tp_dwarf_units_text(die, DW_AT_linkage_name);
		if (!linkage)
			linkage = tp_dwarf_units_text(die, DW_AT_MIPS_linkage_name);
		if (!plain)
			plain = tp_dwarf_units_text(die, DW_AT_name);
		*is_external = *is_external || has_flag(die, DW_AT_external);
		die = tp_dwarf_units_origin(search->whole.units->object.dbg, die);
	}
	return linkage ? linkage : plain ? plain : "";
}

static int compare_entries(const void *a, const void *b)
{
	const struct entry *x = a;
	const struct entry *y = b;
	const int order = TP_COMPARE(x->offset, y->offset);
	return order ? order : TP_COMPARE(x->address, y->address);
}

// The function that a call site refers to.
static uint32_t callee_of(const struct search *search, uint64_t offset)
{
	const uint32_t at = TP_LOWER_BOUND(
	    0U, search->entry_count, middle, search->entries[middle].offset < offset);
	uint32_t callee = UINT32_MAX;
	if (at < search->entry_count && search->entries[at].offset == offset)
		callee = at_address(search, search->entries[at].address);
	if (callee != UINT32_MAX)
		return callee;
	Dwarf_Die die = tp_dwarf_units_die(search->whole.units, offset);
	Dwarf_Addr address;
	bool is_external;
	if (!die)
		return UINT32_MAX;
	// The second body of a function (--shape=dual) has its name, too, and is none of the
	// functions. Of another unit there is only a declaration; of a copy that the linker has
	// left out the address is 0, or one of the last two.
	if (dwarf_lowpc(die, &address, NULL) == DW_DLV_OK && address && address < UINT64_MAX - 1) {
		callee = at_address(search, address);
	} else {
		const char *name = name_of(search, die, &is_external);
		if (is_external && *name)
			callee = with_name(search, name);
	}
	close_die(search, die);
	return callee;
}

static void add_site(struct search *search, Dwarf_Die die, uint32_t inlined)
{
	Dwarf_Off origin;
	Dwarf_Addr address;
	struct site site = {.inlined = inlined};
	search->described = true;
	if (!reference_of(search, die, DW_AT_call_origin, &origin) &&
	    !reference_of(search, die, DW_AT_abstract_origin, &origin))
		return;
	if (!address_of(search, die, DW_AT_call_pc, &address)) {
		if (!address_of(search, die, DW_AT_call_return_pc, &address) &&
		    !address_of(search, die, DW_AT_low_pc, &address))
			return;
		address--;
	}
	site.address = address;
	site.callee = callee_of(search, origin);
	if (site.callee != UINT32_MAX &&
	    HAS_ROOM(search, search->sites, search->site_count, search->site_room))
		search->sites[search->site_count++] = site;
}

static bool add_range(void *context, uint64_t low, uint64_t high)
{
	struct search *search = context;
	if (low >= high)
		return false;
	if (!HAS_ROOM(search, search->ranges, search->range_count, search->range_room))
		return true;
	search->ranges[search->range_count++] = (struct range){low, high, search->inlined_count};
	return false;
}

// Returns its number; PARENT without memory.
static uint32_t add_inlined(struct search *search, Dwarf_Die die, uint32_t parent)
{
	struct inlined inlined = {
	    .parent = parent, .depth = parent ? search->inlined[parent - 1].depth + 1 : 1};
	if (dwarf_dieoffset(die, &inlined.offset, NULL) != DW_DLV_OK ||
	    !HAS_ROOM(search, search->inlined, search->inlined_count, search->inlined_room))
		return parent;
	inlined.has_file = number_of(search, die, DW_AT_call_file, &inlined.file);
	if (!number_of(search, die, DW_AT_call_line, &inlined.line))
		inlined.line = 0;
	search->inlined[search->inlined_count++] = inlined;
	const uint32_t number = search->inlined_count;
	tp_symbol_ranges(&search->whole, die, add_range, search);
	return number;
}

// All calls below DIE, which is in the inlined function INLINED.
static void walk(struct search *search, Dwarf_Die die, uint32_t inlined, int depth)
{
	Dwarf_Die child = NULL;
	if (depth == DEPTH_MAX || dwarf_child(die, &child, NULL) != DW_DLV_OK)
		return;
	while (child && search->entries_left && !search->no_memory) {
		Dwarf_Half tag = 0;
		Dwarf_Die next = NULL;
		search->entries_left--;
		dwarf_tag(child, &tag, NULL);
		if (tag == DW_TAG_inlined_subroutine)
			walk(search, child, add_inlined(search, child, inlined), depth + 1);
		else if (tag == DW_TAG_lexical_block || tag == DW_TAG_try_block ||
			 tag == DW_TAG_catch_block)
			walk(search, child, inlined, depth + 1);
		else if (tag == DW_TAG_call_site || tag == DW_TAG_GNU_call_site)
			add_site(search, child, inlined);
		if (dwarf_siblingof_b(search->whole.units->object.dbg, child, true, &next, NULL) !=
		    DW_DLV_OK)
			next = NULL;
		close_die(search, child);
		child = next;
	}
}

// ---- lines

static int compare_rows(const void *a, const void *b)
{
	const struct row *x = a;
	const struct row *y = b;
	int order = TP_COMPARE(x->address, y->address);
	// Where one sequence ends another one may begin.
	order = order ? order : TP_COMPARE(y->end, x->end);
	return order ? order : TP_COMPARE(x->order, y->order);
}

static bool read_row(Dwarf_Line line, struct row *row)
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

// The unit's line table, without the code that the linker has left out, which is at address 0.
static void read_rows(struct search *search)
{
	Dwarf_Unsigned version;
	Dwarf_Small tables;
	Dwarf_Line_Context context;
	Dwarf_Line *lines;
	Dwarf_Signed count;
	tp_whole_unit_files(&search->whole);
	search->row_files = search->whole.files;
	search->row_file_count = search->whole.file_count;
	// A split unit may have files of its own; the rows mean those of the skeleton.
	if (tp_whole_unit_is_split(&search->whole) &&
	    dwarf_srcfiles(search->whole.skeleton, &search->row_files, &search->row_file_count,
		NULL) != DW_DLV_OK)
		search->row_file_count = 0;
	if (dwarf_srclines_b(search->whole.skeleton, &version, &tables, &context, NULL) !=
	    DW_DLV_OK)
		return;
	if (dwarf_srclines_from_linecontext(context, &lines, &count, NULL) != DW_DLV_OK)
		count = 0;
	bool begins = true;
	bool is_there = false;
	for (Dwarf_Signed i = 0; i < count && !search->no_memory; i++) {
		struct row row = {.order = (uint32_t)i};
		if (!read_row(lines[i], &row))
			break;
		if (begins)
			is_there = row.address != 0;
		begins = row.end;
		if (is_there && HAS_ROOM(search, search->rows, search->row_count, search->row_room))
			search->rows[search->row_count++] = row;
	}
	dwarf_srclines_dealloc_b(context);
	if (search->row_count)
		qsort(search->rows, search->row_count, sizeof(*search->rows), compare_rows);
}

// NULL: there is none.
static const char *file_at(
    const struct search *search, char **files, Dwarf_Signed count, uint64_t number)
{
	if (search->whole.unit->version < 5)
		number--;
	return count > 0 && number < (uint64_t)count ? files[number] : NULL;
}

static bool is_same(const char *file, const char *other)
{
	return file && other && (file == other || !strcmp(file, other));
}

// The line of a call, in the file OWN; 0: in another one, or unknown.
static uint64_t line_of(const struct search *search, const struct site *site, const char *own)
{
	const struct inlined *outer = NULL;
	for (uint32_t at = site->inlined; at; at = outer->parent)
		outer = &search->inlined[at - 1];
	if (outer)
		return outer->has_file && is_same(own, file_at(search, search->whole.files,
							   search->whole.file_count, outer->file))
			   ? outer->line
			   : 0;
	const uint32_t next = TP_LOWER_BOUND(
	    0U, search->row_count, middle, search->rows[middle].address <= site->address);
	const struct row *row = next ? &search->rows[next - 1] : NULL;
	if (!row || row->end)
		return 0;
	return is_same(own, file_at(search, search->row_files, search->row_file_count, row->file))
		   ? row->line
		   : 0;
}

// ---- an answer

static void add_u32(struct tp_buf *out, uint32_t value)
{
	tp_buf_add(out, &value, sizeof(value));
}

// The functions around a call, outermost first: of very many the outer ones.
static void add_chain(const struct search *search, uint32_t inlined, struct tp_buf *out)
{
	uint32_t numbers[TP_CALLS_INLINED] = {0};
	uint32_t count = inlined ? search->inlined[inlined - 1].depth : 0;
	for (uint32_t at = inlined; at; at = search->inlined[at - 1].parent) {
		const uint32_t place = search->inlined[at - 1].depth - 1;
		if (place < TP_CALLS_INLINED)
			numbers[place] = at;
	}
	count = count < TP_CALLS_INLINED ? count : TP_CALLS_INLINED;
	add_u32(out, count);
	for (uint32_t i = 0; i < count; i++) {
		Dwarf_Die die =
		    tp_dwarf_units_die(search->whole.units, search->inlined[numbers[i] - 1].offset);
		bool unused;
		const char *name = die ? name_of(search, die, &unused) : "";
		const size_t size = strlen(name);
		tp_buf_add(out, name, size < NAME_MAX_BYTES ? size : 0);
		tp_buf_add_char(out, '\0');
		if (die)
			close_die(search, die);
	}
}

static int compare_sites(const void *a, const void *b)
{
	const struct site *x = a;
	const struct site *y = b;
	return TP_COMPARE(x->address, y->address);
}

// The innermost inlined functions at the addresses of the calls.
static void place_sites(struct search *search)
{
	if (search->site_count)
		qsort(search->sites, search->site_count, sizeof(*search->sites), compare_sites);
	for (uint32_t i = 0; i < search->range_count; i++) {
		const struct range *range = &search->ranges[i];
		const uint32_t depth = search->inlined[range->inlined - 1].depth;
		for (uint32_t j = TP_LOWER_BOUND(0U, search->site_count, middle,
			 search->sites[middle].address < range->low);
		     j < search->site_count && search->sites[j].address < range->high; j++) {
			struct site *site = &search->sites[j];
			if (!site->inlined || search->inlined[site->inlined - 1].depth < depth)
				site->inlined = range->inlined;
		}
	}
}

static bool is_cut(const struct search *search)
{
	return !search->sites_left || !search->entries_left || search->out->size > ANSWER_MAX / 2;
}

static void look_at_function(struct search *search, const struct wanted *wanted)
{
	Dwarf_Unsigned file = 0;
	Dwarf_Die die = tp_dwarf_units_die(search->whole.units, wanted->offset);
	if (!die)
		return;
	search->inlined_count = search->range_count = search->site_count = 0;
	search->described =
	    has_flag(die, DW_AT_call_all_calls) || has_flag(die, DW_AT_GNU_all_call_sites);
	walk(search, die, 0, 0);
	place_sites(search);
	const char *own = find_number(search, die, DW_AT_decl_file, &file)
			      ? file_at(search, search->whole.files, search->whole.file_count, file)
			      : NULL;
	if (search->described) {
		add_u32(search->out, wanted->caller);
		add_u32(search->out, DESCRIBED);
	}
	for (uint32_t i = 0; i < search->site_count && !is_cut(search); i++) {
		const struct site *site = &search->sites[i];
		const uint64_t line = line_of(search, site, own);
		search->sites_left--;
		add_u32(search->out, wanted->caller);
		add_u32(search->out, site->callee);
		tp_buf_add(search->out, &line, sizeof(line));
		add_chain(search, site->inlined, search->out);
	}
	close_die(search, die);
}

// ---- units

struct taker {
	struct search *search;
	const struct tp_die_function *function;
};

static void take_at(struct search *search, uint64_t offset, uint64_t address)
{
	for (uint32_t i = at_address(search, address);
	     i < search->count && search->functions[i].address == address; i++)
		if (search->functions[i].wanted &&
		    HAS_ROOM(search, search->wanted, search->wanted_count, search->wanted_room))
			search->wanted[search->wanted_count++] = (struct wanted){offset, i};
}

static void add_entry(struct search *search, uint64_t offset, uint64_t address)
{
	if (HAS_ROOM(search, search->entries, search->entry_count, search->entry_room))
		search->entries[search->entry_count++] = (struct entry){offset, address};
}

// A function in pieces has its symbol at the begin of one.
static bool take_piece(void *context, uint64_t low, uint64_t high)
{
	const struct taker *taker = context;
	struct search *search = taker->search;
	(void)high;
	if (at_address(search, low) == UINT32_MAX)
		return false;
	take_at(search, taker->function->offset, low);
	add_entry(search, taker->function->offset, low);
	struct tp_die_function at = *taker->function;
	for (int step = 0; step < REFERENCES_MAX && at.reference; step++) {
		add_entry(search, at.reference, low);
		if (!tp_dies_read(&search->dies, &search->bytes, at.reference, &at))
			break;
	}
	return false;
}

static void take_function(void *context, const struct tp_die_function *function)
{
	struct search *search = context;
	struct taker taker = {search, function};
	if (search->no_memory)
		return;
	if (function->has_code) {
		take_piece(&taker, function->low, function->low);
		return;
	}
	if (search->whole.unit->version >= 5 &&
	    tp_rnglists_each(&search->lists, function, take_piece, &taker) != TP_RANGES_UNREADABLE)
		return;
	Dwarf_Die die = tp_dwarf_units_die(search->whole.units, function->offset);
	if (die) {
		tp_symbol_ranges(&search->whole, die, take_piece, &taker);
		close_die(search, die);
	}
}

static void look_at_unit(struct search *search, const struct tp_dwarf_unit *unit)
{
	struct tp_whole_unit *whole = &search->whole;
	if (!tp_whole_unit_open(whole, &search->main, unit) ||
	    tp_symbol_ranges(whole, whole->die, holds_wanted, search) == TP_RANGES_PASSED ||
	    !tp_whole_unit_split(whole, &search->split, &search->main))
		return;
	search->entry_count = search->wanted_count = search->row_count = 0;
	if (!tp_whole_unit_bytes(whole, &search->main, &search->bytes, &search->lists) ||
	    !tp_dies_open(&search->dies, &search->bytes))
		return;
	// What was found before something is not understood counts.
	tp_dies_each(&search->dies, &search->bytes, take_function, search);
	if (!search->wanted_count)
		return;
	qsort(search->entries, search->entry_count, sizeof(*search->entries), compare_entries);
	read_rows(search);
	for (uint32_t i = 0; i < search->wanted_count && !is_cut(search) && !search->no_memory; i++)
		look_at_function(search, &search->wanted[i]);
}

static int64_t find(void *context, struct tp_buf *out, struct tp_err *err)
{
	struct search *search = context;
	search->out = out;
	search->sites_left = TP_CALLS_SITES;
	search->entries_left = TP_CALLS_ENTRIES;
	const int code = tp_dwarf_units_open(&search->main, search->request->path, NULL, err);
	for (uint32_t i = 0; !code && i < search->main.count && !is_cut(search); i++)
		look_at_unit(search, &search->main.units[i]);
	if (search->no_memory)
		return tp_err_memory(err, search->request->path);
	if (!code && is_cut(search))
		add_u32(out, CUT);
	return code;
}

// ---- in the process that asks

static int compare_names(const void *a, const void *b, void *context)
{
	const struct tp_call_function *functions = context;
	const uint32_t x = *(const uint32_t *)a;
	const uint32_t y = *(const uint32_t *)b;
	const int order = strcmp(functions[x].linkage, functions[y].linkage);
	return order ? order : TP_COMPARE(x, y);
}

static int compare_chains(const struct tp_call_site *x, const struct tp_call_site *y)
{
	int order = TP_COMPARE(x->inlined_count, y->inlined_count);
	for (uint32_t i = 0; !order && i < x->inlined_count; i++)
		order = strcmp(x->inlined[i], y->inlined[i]);
	return order;
}

static int compare_found(const void *a, const void *b)
{
	const struct tp_call_site *x = a;
	const struct tp_call_site *y = b;
	int order = TP_COMPARE(x->caller, y->caller);
	order = order ? order : TP_COMPARE(x->line, y->line);
	order = order ? order : TP_COMPARE(x->callee, y->callee);
	return order ? order : compare_chains(x, y);
}

// Read the names of a chain.
static bool parse_chain(struct tp_bytes *bytes, struct tp_call_site *site, struct tp_arena *arena)
{
	site->inlined_count = tp_bytes_u32(bytes);
	if (site->inlined_count > TP_CALLS_INLINED)
		return false;
	const char **names =
	    tp_arena_alloc(arena, (site->inlined_count + (size_t)1) * sizeof(*names));
	for (uint32_t i = 0; names && i < site->inlined_count; i++) {
		const char *name = tp_bytes_string(bytes);
		names[i] = name ? tp_symbol_readable(arena, name) : NULL;
		if (!names[i])
			return false;
	}
	site->inlined = names;
	return names && !bytes->underflow;
}

// False if it is not a sound answer, or there is no memory.
static bool parse(struct tp_bytes *bytes, struct tp_call_function *functions, uint32_t count,
    struct tp_call_sites *sites, struct tp_arena *arena)
{
	sites->items = tp_arena_alloc(arena, tp_bytes_left(bytes) / 20 * sizeof(*sites->items) + 1);
	if (!sites->items)
		return false;
	while (tp_bytes_left(bytes)) {
		struct tp_call_site site = {.caller = tp_bytes_u32(bytes)};
		if (site.caller == CUT && !tp_bytes_left(bytes)) {
			sites->cut = true;
			return true;
		}
		site.callee = tp_bytes_u32(bytes);
		if (bytes->underflow || site.caller >= count || !functions[site.caller].wanted)
			return false;
		functions[site.caller].described = true;
		if (site.callee == DESCRIBED)
			continue;
		site.line = tp_bytes_u64(bytes);
		if (site.callee >= count || !parse_chain(bytes, &site, arena))
			return false;
		sites->items[sites->count++] = site;
	}
	return true;
}

int tp_symbol_calls_find(const struct tp_dwarf_request *request, struct tp_call_function *functions,
    uint32_t count, struct tp_call_sites *sites, struct tp_arena *arena, struct tp_err *err)
{
	struct search *search = calloc(1, sizeof(*search));
	uint32_t *by_name = malloc((count + (size_t)1) * sizeof(*by_name));
	struct tp_buf got;
	struct tp_bytes bytes;
	int code = 0;
	tp_buf_init(&got);
	*sites = (struct tp_call_sites){0};
	for (uint32_t i = 0; i < count; i++)
		functions[i].described = false;
	if (!search || !by_name) {
		code = tp_err_memory(err, request->path);
		goto out;
	}
	search->request = search->split.request = request;
	search->functions = functions;
	search->count = count;
	search->by_name = by_name;
	for (uint32_t i = 0; i < count; i++)
		if (*functions[i].linkage)
			by_name[search->named++] = i;
	qsort_r(by_name, search->named, sizeof(*by_name), compare_names, functions);
	code = tp_symbol_lines_isolate(request, find, search, ANSWER_MAX, &got, err);
	tp_bytes_init(&bytes, got.data, got.size);
	if (!code && !parse(&bytes, functions, count, sites, arena)) {
		code = tp_err_set(err, TP_ERR_FORMAT, request->path,
		    "its debug information is damaged: its calls cannot be read");
		*sites = (struct tp_call_sites){0};
		for (uint32_t i = 0; i < count; i++)
			functions[i].described = false;
	}
	if (sites->count) {
		uint32_t kept = 1;
		qsort(sites->items, sites->count, sizeof(*sites->items), compare_found);
		for (uint32_t i = 1; i < sites->count; i++)
			if (compare_found(&sites->items[i], &sites->items[kept - 1]))
				sites->items[kept++] = sites->items[i];
		sites->count = kept;
	}
out:
	tp_buf_release(&got);
	free(by_name);
	free(search);
	return code;
}
