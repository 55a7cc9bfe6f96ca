// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Chains of inlined functions, by libdwarf: it is for some addresses, not for all functions.
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

#define DEPTH_MAX 64

struct search {
	const struct tp_dwarf_request *request;
	const struct tp_inline_chain *chains;
	uint32_t count;
	struct tp_buf *out;
	struct tp_dwarf_units main;
	struct tp_split split;
	struct tp_whole_unit whole; // that is looked at
	// The address that is looked for.
	uint64_t address;
	uint32_t number;
};

static uint32_t lower_bound(const struct search *search, uint64_t address)
{
	return TP_LOWER_BOUND(0, search->count, middle, search->chains[middle].address < address);
}

static bool has_chain(void *context, uint64_t low, uint64_t high)
{
	const struct search *search = context;
	const uint32_t at = lower_bound(search, low);
	return at < search->count && search->chains[at].address < high;
}

static bool has_address(void *context, uint64_t low, uint64_t high)
{
	const struct search *search = context;
	return low <= search->address && search->address < high;
}

static bool holds(struct search *search, Dwarf_Die die)
{
	return tp_symbol_ranges(&search->whole, die, has_address, search) == TP_RANGES_ENDED;
}

static void add_inlined(struct search *search, Dwarf_Die die)
{
	Dwarf_Debug dbg = search->whole.units->object.dbg;
	Dwarf_Unsigned file = 0;
	Dwarf_Unsigned line = 0;
	const char *name = tp_dwarf_units_number(dbg, die, DW_AT_call_file, &file)
			       ? tp_whole_unit_file(&search->whole, file)
			       : NULL;
	tp_dwarf_units_number(dbg, die, DW_AT_call_line, &line);
	const char *texts[] = {tp_dwarf_units_name(dbg, die, NULL), name ? name : ""};
	tp_buf_add(search->out, &search->number, sizeof(search->number));
	tp_buf_add(search->out, &line, sizeof(line));
	for (int i = 0; i < 2; i++)
		tp_buf_add(search->out, texts[i], strlen(texts[i]) + 1);
}

// Look for the address below DIE; functions that were inlined on the way are added, outermost
// first.
static bool descend(struct search *search, Dwarf_Die die, int depth)
{
	Dwarf_Die child = NULL;
	if (depth == DEPTH_MAX + TP_INLINES_MAX || dwarf_child(die, &child, NULL) != DW_DLV_OK)
		return false;
	while (child) {
		Dwarf_Half tag = 0;
		dwarf_tag(child, &tag, NULL);
		const bool code = tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine ||
				  tag == DW_TAG_lexical_block || tag == DW_TAG_try_block ||
				  tag == DW_TAG_catch_block;
		const bool scope = tag == DW_TAG_namespace || tag == DW_TAG_module ||
				   tag == DW_TAG_structure_type || tag == DW_TAG_class_type;
		if (code && holds(search, child)) {
			if (tag == DW_TAG_inlined_subroutine)
				add_inlined(search, child);
			descend(search, child, depth + 1);
			return true;
		}
		if (scope && descend(search, child, depth + 1))
			return true;
		Dwarf_Die next = NULL;
		if (dwarf_siblingof_b(search->whole.units->object.dbg, child, true, &next, NULL) !=
		    DW_DLV_OK)
			next = NULL;
		dwarf_dealloc(search->whole.units->object.dbg, child, DW_DLA_DIE);
		child = next;
	}
	return false;
}

// All addresses in one of the unit's ranges.
static bool look_in(void *context, uint64_t low, uint64_t high)
{
	struct search *search = context;
	for (uint32_t i = lower_bound(search, low);
	     i < search->count && search->chains[i].address < high; i++) {
		search->number = i;
		search->address = search->chains[i].address;
		descend(search, search->whole.die, 0);
	}
	return false;
}

static void look_at_unit(struct search *search, const struct tp_dwarf_unit *unit)
{
	struct tp_whole_unit *whole = &search->whole;
	if (!tp_whole_unit_open(whole, &search->main, unit))
		return;
	const struct tp_whole_unit skeleton = *whole;
	if (tp_symbol_ranges(&skeleton, whole->die, has_chain, search) != TP_RANGES_ENDED ||
	    !tp_whole_unit_split(whole, &search->split, &search->main))
		return;
	tp_whole_unit_files(whole);
	tp_symbol_ranges(&skeleton, whole->skeleton, look_in, search);
}

static int64_t find(void *context, struct tp_buf *out, struct tp_err *err)
{
	struct search *search = context;
	search->out = out;
	const int code = tp_dwarf_units_open(&search->main, search->request->path, NULL, err);
	for (uint32_t i = 0; !code && i < search->main.count; i++)
		look_at_unit(search, &search->main.units[i]);
	return code;
}

// Put the newest function in front of the others.
static bool add_function(struct tp_inline_chain *chain, const char *linkage, const char *file,
    uint64_t line, struct tp_arena *arena)
{
	const struct tp_inlined function = {
	    .function = tp_symbol_readable(arena, linkage),
	    .call_file = tp_symbol_keep(arena, file),
	    .call_line = line,
	};
	if (!chain->functions)
		chain->functions =
		    tp_arena_alloc(arena, TP_INLINES_MAX * sizeof(*chain->functions));
	if (!function.function || !function.call_file || !chain->functions ||
	    chain->count == TP_INLINES_MAX)
		return false;
	memmove(chain->functions + 1, chain->functions, chain->count * sizeof(function));
	chain->functions[0] = function;
	chain->count++;
	return true;
}

int64_t tp_symbol_inlines_find(const struct tp_dwarf_request *request,
    struct tp_inline_chain *chains, uint32_t count, struct tp_arena *arena, struct tp_err *err)
{
	struct search *search = calloc(1, sizeof(*search));
	struct tp_buf got;
	int64_t filled = 0;
	if (!search)
		return tp_err_memory(err, request->path);
	search->request = search->split.request = request;
	search->chains = chains;
	search->count = count;
	for (uint32_t i = 0; i < count; i++) {
		chains[i].functions = NULL;
		chains[i].count = 0;
	}
	tp_buf_init(&got);
	int code = tp_symbol_lines_isolate(
	    request, find, search, (uint64_t)count * TP_INLINES_MAX * 1024, &got, err);
	struct tp_bytes bytes;
	tp_bytes_init(&bytes, got.data, got.size);
	while (!code && tp_bytes_left(&bytes)) {
		const uint32_t number = tp_bytes_u32(&bytes);
		const uint64_t line = tp_bytes_u64(&bytes);
		const char *function = tp_bytes_string(&bytes);
		const char *file = tp_bytes_string(&bytes);
		if (!file || !function || number >= count ||
		    !add_function(&chains[number], function, file, line, arena))
			code = tp_err_set(err, TP_ERR_FORMAT, request->path,
			    "its debug information is damaged: chains of inlined functions do not "
			    "end");
	}
	for (uint32_t i = 0; i < count; i++) {
		if (code)
			chains[i].count = 0;
		filled += chains[i].count > 0;
	}
	tp_buf_release(&got);
	free(search);
	return code ? code : filled;
}
