// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Goes through units and functions for call sites, in a process of its own.
//
// dies.h finds the wanted functions in a unit, libdwarf goes through their entries. gcc puts a call
// site into its scope, clang directly below the function, so the search finds the inlined functions
// around a call by its address. The call's line in the function is where the outermost of them was
// called, otherwise that of the line table. The end of the process frees all data.
#define _GNU_SOURCE
#include <dwarf.h>
#include <libdwarf.h>

#include "call_search.h"

#include "analyzer/symbols/units.h"
#include "common/array.h"

#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 320       // blocks and inlined functions within one another
#define NAME_MAX_BYTES 4096 // of an inlined function

// A function with code in this unit, or what it was made from: what a call site refers to.
struct entry {
	uint64_t offset;
	uint64_t address;
};

struct wanted {
	uint64_t offset; // of the entry
	uint32_t caller;
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
	const struct tp_call_question *question;
	const struct tp_call_function *functions;
	uint32_t count;
	struct tp_buf *out;
	uint32_t sites_left;
	uint32_t entries_left;
	bool no_memory;
	struct tp_dwarf_units main;
	struct tp_split split;
	struct tp_dies dies;
	// The unit that is looked at, ...
	struct tp_whole_unit whole;
	struct tp_whole_unit skeleton; // which has the line table
	struct tp_dies_unit bytes;
	struct tp_rnglists lists;
	struct entry *entries;
	uint32_t entry_count, entry_room;
	struct wanted *wanted;
	uint32_t wanted_count, wanted_room;
	struct tp_call_rows rows;
	// ... and the function.
	struct inlined *inlined;
	uint32_t inlined_count, inlined_room;
	struct range *ranges;
	uint32_t range_count, range_room;
	struct site *sites;
	uint32_t site_count, site_room;
	bool described;
	bool unclear; // a call outside of known inlined functions may be in an unknown one
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
	const uint32_t *by_name = search->question->by_name;
	const uint32_t named = search->question->named;
	for (uint32_t i = TP_LOWER_BOUND(
		 0U, named, middle, strcmp(search->functions[by_name[middle]].linkage, name) < 0);
	     i < named; i++) {
		const uint32_t at = by_name[i];
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

// An address of DIE. libdwarf does not find those by index in split units.
static bool address_of(
    const struct search *search, Dwarf_Die die, Dwarf_Half name, Dwarf_Addr *address)
{
	Dwarf_Attribute attribute;
	Dwarf_Unsigned index;
	uint64_t value;
	if (dwarf_attr(die, name, &attribute, NULL) != DW_DLV_OK)
		return false;
	bool found = true;
	if (dwarf_get_debug_addr_index(attribute, &index, NULL) == DW_DLV_OK &&
	    tp_dies_address(&search->bytes, index, &value))
		*address = value;
	else
		found = dwarf_formaddr(attribute, address, NULL) == DW_DLV_OK;
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

// Call CALL for each range of DIE, the entry at OFFSET. Of split units libdwarf finds neither
// addresses by index nor the lists of DWARF 5.
static enum tp_ranges each_range(
    struct search *search, Dwarf_Die die, uint64_t offset, tp_range_fn *call, void *context)
{
	struct tp_die_function entry;
	Dwarf_Addr high;
	Dwarf_Half form;
	enum Dwarf_Form_Class class;
	if (!tp_dies_read(&search->dies, &search->bytes, offset, &entry))
		return tp_whole_unit_is_split(&search->whole)
			   ? TP_RANGES_UNREADABLE
			   : tp_symbol_ranges(&search->whole, die, call, context);
	if (entry.has_code) {
		if (dwarf_highpc_b(die, &high, &form, &class, NULL) != DW_DLV_OK)
			return TP_RANGES_UNREADABLE;
		if (class == DW_FORM_CLASS_CONSTANT)
			high += entry.low;
		return call(context, entry.low, high) ? TP_RANGES_ENDED : TP_RANGES_PASSED;
	}
	if (!entry.has_ranges)
		return TP_RANGES_PASSED;
	enum tp_ranges result = TP_RANGES_UNREADABLE;
	if (search->whole.unit->version >= 5)
		result = tp_rnglists_each(&search->lists, &entry, call, context);
	return result == TP_RANGES_UNREADABLE ? tp_symbol_ranges(&search->whole, die, call, context)
					      : result;
}

static int compare_entries(const void *a, const void *b)
{
	const struct entry *x = a;
	const struct entry *y = b;
	const int order = TP_COMPARE(x->offset, y->offset);
	return order ? order : TP_COMPARE(x->address, y->address);
}

struct body {
	const struct search *search;
	bool is_there;
	uint32_t function; // UINT32_MAX: none of them begins there
};

// Of a copy that the linker has left out the address is 0 or 1, or one of the last two.
static bool take_body(void *context, uint64_t low, uint64_t high)
{
	struct body *body = context;
	(void)high;
	if (low <= 1 || low >= UINT64_MAX - 1)
		return false;
	body->is_there = true;
	body->function = at_address(body->search, low);
	return body->function != UINT32_MAX;
}

// The function that a call site refers to.
static uint32_t callee_of(struct search *search, uint64_t offset)
{
	const uint32_t at = TP_LOWER_BOUND(
	    0U, search->entry_count, middle, search->entries[middle].offset < offset);
	struct body body = {search, false, UINT32_MAX};
	if (at < search->entry_count && search->entries[at].offset == offset)
		body.function = at_address(search, search->entries[at].address);
	if (body.function != UINT32_MAX)
		return body.function;
	Dwarf_Die die = tp_dwarf_units_die(search->whole.units, offset);
	bool is_external;
	if (!die)
		return UINT32_MAX;
	// The second body of a function (--shape=dual) has its name as well, but is not one of the
	// functions. If another unit defines it, there is only a declaration.
	if (each_range(search, die, offset, take_body, &body) == TP_RANGES_PASSED &&
	    !body.is_there) {
		const char *name =
		    tp_dwarf_units_name(search->whole.units->object.dbg, die, &is_external);
		if (is_external && *name)
			body.function = with_name(search, name);
	}
	close_die(search, die);
	return body.function;
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
	// Within another one it changes no line.
	if (each_range(search, die, inlined.offset, add_range, search) == TP_RANGES_UNREADABLE &&
	    !parent)
		search->unclear = true;
	return number;
}

// All calls below DIE, which is in the inlined function INLINED.
static void walk(struct search *search, Dwarf_Die die, uint32_t inlined, int depth)
{
	Dwarf_Die child = NULL;
	int status = depth < DEPTH_MAX ? dwarf_child(die, &child, NULL) : DW_DLV_ERROR;
	if (status != DW_DLV_OK)
		child = NULL;
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
		status =
		    dwarf_siblingof_b(search->whole.units->object.dbg, child, true, &next, NULL);
		close_die(search, child);
		child = status == DW_DLV_OK ? next : NULL;
	}
	if (status == DW_DLV_ERROR && !inlined)
		search->unclear = true;
}

// ---- lines

// The line of a call, in the file OWN; 0: in another one, or unknown.
static uint64_t line_of(const struct search *search, const struct site *site, const char *own)
{
	const struct inlined *outer = NULL;
	const char *file = NULL;
	uint64_t line = 0;
	for (uint32_t at = site->inlined; at; at = outer->parent)
		outer = &search->inlined[at - 1];
	if (outer) {
		file = outer->has_file ? tp_whole_unit_file(&search->whole, outer->file) : NULL;
		line = outer->line;
	} else if (!search->unclear) {
		line = tp_call_rows_line(&search->rows, site->address, &file);
	}
	return own && file && !strcmp(own, file) ? line : 0;
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
		const char *name =
		    die ? tp_dwarf_units_name(search->whole.units->object.dbg, die, NULL) : "";
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
	return !search->sites_left || !search->entries_left ||
	       search->out->size > TP_CALL_ANSWER_MAX / 2;
}

static void look_at_function(struct search *search, const struct wanted *wanted)
{
	Dwarf_Unsigned file = 0;
	Dwarf_Die die = tp_dwarf_units_die(search->whole.units, wanted->offset);
	if (!die)
		return;
	search->inlined_count = search->range_count = search->site_count = 0;
	search->unclear = false;
	search->described = tp_dwarf_units_has(die, DW_AT_call_all_calls) ||
			    tp_dwarf_units_has(die, DW_AT_GNU_all_call_sites);
	walk(search, die, 0, 0);
	place_sites(search);
	const char *own =
	    tp_dwarf_units_find_number(search->whole.units->object.dbg, die, DW_AT_decl_file, &file)
		? tp_whole_unit_file(&search->whole, file)
		: NULL;
	if (search->described) {
		add_u32(search->out, wanted->caller);
		add_u32(search->out, TP_CALL_DESCRIBED);
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
	for (int step = 0; step < TP_DWARF_REFERENCES_MAX && at.reference; step++) {
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
	Dwarf_Die die = tp_dwarf_units_die(search->whole.units, function->offset);
	if (die) {
		each_range(search, die, function->offset, take_piece, &taker);
		close_die(search, die);
	}
}

static void look_at_unit(struct search *search, const struct tp_dwarf_unit *unit)
{
	struct tp_whole_unit *whole = &search->whole;
	if (!tp_whole_unit_open(whole, &search->main, unit) ||
	    tp_symbol_ranges(whole, whole->die, holds_wanted, search) == TP_RANGES_PASSED)
		return;
	search->skeleton = *whole;
	if (!tp_whole_unit_split(whole, &search->split, &search->main))
		return;
	search->entry_count = search->wanted_count = 0;
	if (!tp_whole_unit_bytes(whole, &search->main, &search->bytes, &search->lists) ||
	    !tp_dies_open(&search->dies, &search->bytes))
		return;
	// What was found before something is not understood counts.
	tp_dies_each(&search->dies, &search->bytes, take_function, search);
	if (!search->wanted_count)
		return;
	qsort(search->entries, search->entry_count, sizeof(*search->entries), compare_entries);
	tp_whole_unit_files(whole);
	search->no_memory |= !tp_call_rows_read(&search->rows, &search->skeleton);
	for (uint32_t i = 0; i < search->wanted_count && !is_cut(search) && !search->no_memory; i++)
		look_at_function(search, &search->wanted[i]);
}

int64_t tp_call_search_answer(void *question, struct tp_buf *out, struct tp_err *err)
{
	const struct tp_call_question *asked = question;
	const char *path = asked->request->path;
	struct search *search = calloc(1, sizeof(*search));
	if (!search)
		return tp_err_memory(err, path);
	search->question = asked;
	search->functions = asked->functions;
	search->count = asked->count;
	search->split.request = asked->request;
	search->out = out;
	search->sites_left = TP_CALLS_SITES;
	search->entries_left = TP_CALLS_ENTRIES;
	const int code = tp_dwarf_units_open(&search->main, path, NULL, err);
	for (uint32_t i = 0; !code && i < search->main.count && !is_cut(search); i++)
		look_at_unit(search, &search->main.units[i]);
	if (search->no_memory)
		return tp_err_memory(err, path);
	if (!code && is_cut(search))
		add_u32(out, TP_CALL_CUT);
	return code;
}
