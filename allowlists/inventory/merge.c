// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Collects units, functions and edges as they are read, and makes one function of the definitions
// that the linker makes one of.
#include "build.h"

#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/linkage_name.h"
#include "common/hash.h"

/* ---- collecting ---- */

void tp_inventory_builder_init(struct tp_inventory_builder *builder, struct tp_inventory *inventory)
{
	*inventory = (struct tp_inventory){0};
	tp_arena_init(&inventory->arena);
	*builder = (struct tp_inventory_builder){.inventory = inventory};
}

void tp_inventory_builder_release(struct tp_inventory_builder *builder)
{
	free(builder->units);
	free(builder->entries);
	free(builder->edges);
	free(builder->names);
	tp_index_release(&builder->index);
	*builder = (struct tp_inventory_builder){0};
}

// Room for one more in ITEMS, of which there are COUNT; false, and the builder has failed, if there
// is none.
#define GROW(builder, items, count, room)                                                    \
	(!(builder)->failed &&                                                               \
	    (((count) < TP_BUILD_NONE / 2 && TP_GROW(items, room, (count) + UINT64_C(1))) || \
		fail(builder)))

static bool fail(struct tp_inventory_builder *builder)
{
	builder->failed = true;
	return false;
}

struct tp_build_unit *tp_inventory_add_unit(
    struct tp_inventory_builder *builder, const struct tp_inventory_unit *unit)
{
	if (!GROW(builder, builder->units, builder->unit_count, builder->unit_room))
		return NULL;
	struct tp_build_unit *added = &builder->units[builder->unit_count++];
	*added = (struct tp_build_unit){.unit = *unit};
	return added;
}

static uint32_t hash_name(const void *builder, uint32_t number)
{
	return (uint32_t)((const struct tp_inventory_builder *)builder)->names[number - 1].hash;
}

static uint32_t intern(struct tp_inventory_builder *builder, const char *name)
{
	if (!GROW(builder, builder->names, builder->name_count, builder->name_room))
		return TP_BUILD_NONE;
	if (!tp_index_reserve(&builder->index, builder->name_count, hash_name, builder)) {
		builder->failed = true;
		return TP_BUILD_NONE;
	}
	const uint64_t hash = tp_hash_text(name);
	uint32_t *slot = tp_index_first(&builder->index, hash);
	for (; *slot; slot = tp_index_next(&builder->index, slot)) {
		const struct tp_build_name *known = &builder->names[*slot - 1];
		if (known->hash == hash && !strcmp(known->name, name))
			return *slot - 1;
	}
	builder->names[builder->name_count] = (struct tp_build_name){.name = name,
	    .hash = hash,
	    .last_entry = TP_BUILD_NONE,
	    .global_function = TP_BUILD_NONE};
	*slot = ++builder->name_count;
	return *slot - 1;
}

static uint32_t add_entry(struct tp_inventory_builder *builder, const char *name)
{
	const uint32_t number = intern(builder, name);
	if (number == TP_BUILD_NONE ||
	    !GROW(builder, builder->entries, builder->entry_count, builder->entry_room))
		return TP_BUILD_NONE;
	builder->entries[builder->entry_count] = (struct tp_build_entry){
	    .unit = builder->unit_count - 1,
	    .name = number,
	    .next_of_name = TP_BUILD_NONE,
	    .last_edge = TP_BUILD_NONE,
	    .merged = TP_BUILD_NONE,
	};
	return builder->entry_count++;
}

uint32_t tp_inventory_add_function(
    struct tp_inventory_builder *builder, const struct tp_inventory_function *function)
{
	struct tp_inventory_function *kept =
	    tp_arena_alloc(&builder->inventory->arena, sizeof(*kept));
	if (!kept)
		builder->failed = true;
	const uint32_t number = add_entry(builder, function->name);
	if (number == TP_BUILD_NONE)
		return number;
	*kept = *function;
	struct tp_build_entry *entry = &builder->entries[number];
	struct tp_build_name *name = &builder->names[entry->name];
	entry->function = kept;
	entry->next_of_name = name->last_entry;
	name->last_entry = number;
	return number;
}

uint32_t tp_inventory_add_name(struct tp_inventory_builder *builder, const char *name)
{
	return add_entry(builder, name);
}

void tp_inventory_add_edge(struct tp_inventory_builder *builder, uint32_t from, uint32_t to,
    const struct tp_inventory_edge *edge, bool into)
{
	if (from >= builder->entry_count || to >= builder->entry_count ||
	    !GROW(builder, builder->edges, builder->edge_count, builder->edge_room))
		return;
	struct tp_build_entry *entry = &builder->entries[from];
	builder->edges[builder->edge_count] =
	    (struct tp_build_edge){.edge = *edge, .to = to, .next = entry->last_edge, .into = into};
	entry->last_edge = builder->edge_count++;
}

/* ---- merging ---- */

struct definition {
	const char *main_file;
	uint64_t identity; // of the unit
	uint32_t entry;
	bool mergeable;
};

struct found_edge {
	struct tp_inventory_edge edge;
	uint32_t entry; // whose edge it was
};

struct merge {
	struct tp_arena arena; // of what follows, but for the inventory
	struct tp_inventory_builder *builder;
	struct tp_inventory *inventory;
	struct tp_build_name **order;
	struct definition *definitions; // of one name
	struct found_edge *found;       // of one function
	uint32_t *chosen;               // for each function, the entry whose facts it has
	uint32_t *members;              // all entries of the first function, then of the next, ...
	uint32_t *first_member;
	uint32_t *references; // for each function, the first name that has copies of it
};

bool tp_inventory_is_mergeable(const char *linkage)
{
	const size_t length = strlen(linkage);
	return !strncmp(linkage, "linkonce", 8) ||
	       (length > 4 && !strcmp(linkage + length - 4, "_odr"));
}

// Definitions of a name: the mergeable ones, then by source file; else as they were read.
static int compare_definitions(const void *a, const void *b)
{
	const struct definition *x = a;
	const struct definition *y = b;
	if (x->mergeable != y->mergeable)
		return TP_COMPARE(y->mergeable, x->mergeable);
	const int order = strcmp(x->main_file, y->main_file);
	if (order)
		return order;
	return x->identity != y->identity ? TP_COMPARE(x->identity, y->identity)
					  : TP_COMPARE(x->entry, y->entry);
}

static bool is_same_function(const struct definition *a, const struct definition *b)
{
	return (a->mergeable && b->mergeable) ||
	       (a->mergeable == b->mergeable && a->identity == b->identity &&
		   !strcmp(a->main_file, b->main_file));
}

static bool is_internal(const char *linkage)
{
	return !strcmp(linkage, "internal") || !strcmp(linkage, "private");
}

static int compare_names(const void *a, const void *b)
{
	return strcmp((*(const struct tp_build_name *const *)a)->name,
	    (*(const struct tp_build_name *const *)b)->name);
}

static bool is_emitted(enum tp_presence presence)
{
	return presence == TP_PRESENCE_EMITTED || presence == TP_PRESENCE_PARTLY;
}

static const char *unit_main_file(const struct merge *merge, uint32_t entry)
{
	return merge->builder->units[merge->builder->entries[entry].unit].unit.main_file;
}

// The demangled name, or the name itself if it is not mangled; NULL if memory ran out.
static const char *demangle(struct merge *merge, const char *name)
{
	char *demangled = tp_demangle(name);
	const char *kept = name;
	if (demangled)
		kept = tp_arena_copy(&merge->inventory->arena, demangled, strlen(demangled));
	free(demangled);
	return kept;
}

// One function of COUNT definitions. The first that is emitted is what the linker takes.
static int add_group(struct merge *merge, const struct definition *definitions, uint32_t count)
{
	struct tp_inventory_builder *builder = merge->builder;
	const uint32_t index = merge->inventory->function_count;
	const struct definition *chosen = NULL;
	const struct definition *listed = NULL;
	unsigned seen = 0; // bit N: one of presence N
	uint32_t sources = 0;
	uint32_t merged_before = 0;
	for (uint32_t i = 0; i < count; i++) {
		const struct tp_inventory_function *one =
		    builder->entries[definitions[i].entry].function;
		seen |= 1u << one->presence;
		const bool better =
		    !chosen ||
		    (is_emitted(one->presence) &&
			!is_emitted(builder->entries[chosen->entry].function->presence)) ||
		    (builder->entries[chosen->entry].function->presence == TP_PRESENCE_SOURCE &&
			one->presence != TP_PRESENCE_SOURCE);
		if (better)
			chosen = &definitions[i];
		if (one->definitions > merged_before)
			merged_before = one->definitions;
		if (!listed && one->by_file)
			listed = &definitions[i];
		builder->entries[definitions[i].entry].merged = index;
		merge->members[merge->first_member[index] + i] = definitions[i].entry;
		sources += !i || definitions[i].identity != definitions[i - 1].identity ||
			   strcmp(definitions[i].main_file, definitions[i - 1].main_file) != 0;
	}
	const bool any_emitted = seen & (1u << TP_PRESENCE_EMITTED | 1u << TP_PRESENCE_PARTLY);
	const bool any_inlined = seen & (1u << TP_PRESENCE_INLINED | 1u << TP_PRESENCE_PARTLY);
	struct tp_inventory_function *function = &merge->inventory->functions[index];
	const struct tp_build_entry *entry = &builder->entries[chosen->entry];
	const struct tp_inventory_unit *unit = &builder->units[entry->unit].unit;
	*function = *entry->function;
	function->presence = any_emitted   ? any_inlined ? TP_PRESENCE_PARTLY : TP_PRESENCE_EMITTED
			     : any_inlined ? TP_PRESENCE_INLINED
			     : seen & 1u << TP_PRESENCE_REMOVED ? TP_PRESENCE_REMOVED
								: TP_PRESENCE_SOURCE;
	function->main_file = unit->main_file;
	function->module = unit->module;
	function->definitions = sources > merged_before ? sources : merged_before;
	function->system = tp_is_from_system(function->file, function->name);
	function->facts.linkage = function->linkage;
	function->calls = NULL;
	function->into = NULL;
	function->call_count = function->into_count = 0;
	if (!any_emitted) {
		function->decision = TP_CATEGORY_SKIP;
		function->sample = 1;
		function->facts = (struct tp_facts){.linkage = function->linkage};
	}
	if (listed && !function->by_file) {
		function->by_file = builder->entries[listed->entry].function->by_file;
		function->by_line = builder->entries[listed->entry].function->by_line;
	}
	function->demangled = demangle(merge, function->name);
	function->origin_demangled = function->origin ? demangle(merge, function->origin) : NULL;
	merge->chosen[index] = chosen->entry;
	merge->first_member[index + 1] = merge->first_member[index] + count;
	merge->inventory->function_count++;
	return function->demangled && !function->origin == !function->origin_demangled
		   ? 0
		   : TP_ERR_MEMORY;
}

// The functions of one name.
static int merge_name(struct merge *merge, struct tp_build_name *name)
{
	const struct tp_inventory_builder *builder = merge->builder;
	struct definition *definitions = merge->definitions;
	uint32_t count = 0;
	bool compiled = false;
	for (uint32_t at = name->last_entry; at != TP_BUILD_NONE;
	     at = builder->entries[at].next_of_name)
		compiled |= builder->entries[at].function->presence != TP_PRESENCE_SOURCE;
	for (uint32_t at = name->last_entry; at != TP_BUILD_NONE;
	     at = builder->entries[at].next_of_name) {
		const struct tp_inventory_function *function = builder->entries[at].function;
		// What the compiler saw replaces what was read in the source.
		if (compiled && function->presence == TP_PRESENCE_SOURCE)
			continue;
		definitions[count++] = (struct definition){
		    .main_file = unit_main_file(merge, at),
		    .identity = builder->units[builder->entries[at].unit].identity,
		    .entry = at,
		    .mergeable = tp_inventory_is_mergeable(function->linkage),
		};
	}
	qsort(definitions, count, sizeof(*definitions), compare_definitions);
	name->first_function = merge->inventory->function_count;
	uint32_t sources = 0;
	for (uint32_t i = 0, end; i < count; i = end) {
		for (end = i + 1; end < count; end++)
			if (!is_same_function(&definitions[i], &definitions[end]))
				break;
		const int code = add_group(merge, definitions + i, end - i);
		if (code)
			return code;
		const uint32_t added = merge->inventory->function_count - 1;
		sources += merge->inventory->functions[added].definitions;
		if (name->global_function == TP_BUILD_NONE &&
		    !is_internal(merge->inventory->functions[added].linkage))
			name->global_function = added;
	}
	name->function_count = merge->inventory->function_count - name->first_function;
	for (uint32_t i = 0; name->function_count > 1 && i < name->function_count; i++) {
		merge->inventory->functions[name->first_function + i].ambiguous = true;
		merge->inventory->functions[name->first_function + i].definitions = sources;
	}
	return 0;
}

// The function that `to` means in the unit of `from`: this definition, else of its name the one of
// the same source file, else the one that is visible everywhere, else the only one.
static uint32_t resolve(const struct merge *merge, uint32_t from, uint32_t to)
{
	const struct tp_inventory_builder *builder = merge->builder;
	if (builder->entries[to].merged != TP_BUILD_NONE)
		return builder->entries[to].merged;
	const struct tp_build_name *name = &builder->names[builder->entries[to].name];
	if (name->function_count == 1)
		return name->first_function;
	const char *main_file = unit_main_file(merge, from);
	uint32_t low = name->first_function;
	const uint32_t high = low + name->function_count;
	// A mergeable one, whose source file is any of several, comes before all others.
	if (low < high && tp_inventory_is_mergeable(merge->inventory->functions[low].linkage))
		low++;
	low = TP_LOWER_BOUND(
	    low, high, at, strcmp(merge->inventory->functions[at].main_file, main_file) < 0);
	if (low < high && !strcmp(merge->inventory->functions[low].main_file, main_file))
		return low;
	return name->global_function;
}

static int compare_found(const void *a, const void *b)
{
	const struct found_edge *x = a;
	const struct found_edge *y = b;
	const int order = TP_COMPARE(x->edge.function, y->edge.function);
	return order ? order : TP_COMPARE(x->entry, y->entry);
}

// Add up what one definition has of an edge; of several definitions, the one with most sites
// counts, as each has its own copy of the same code.
static uint32_t combine(struct found_edge *found, uint32_t count)
{
	uint32_t kept = 0;
	for (uint32_t i = 0, end; i < count; i = end) {
		struct found_edge sum = found[i];
		for (end = i + 1; end < count && !compare_found(&found[i], &found[end]); end++) {
			sum.edge.sites += found[end].edge.sites;
			sum.edge.frequency += found[end].edge.frequency;
			sum.edge.guessed &= found[end].edge.guessed;
		}
		struct found_edge *last = kept ? &found[kept - 1] : NULL;
		if (!last || last->edge.function != sum.edge.function) {
			found[kept++] = sum;
			continue;
		}
		sum.edge.guessed &= last->edge.guessed;
		if (sum.edge.sites > last->edge.sites)
			last->edge = sum.edge;
		last->edge.guessed = sum.edge.guessed;
	}
	return kept;
}

// Files that do not define a function may have copies of it, too (ThinLTO).
static void add_references(struct merge *merge)
{
	struct tp_inventory_builder *builder = merge->builder;
	struct tp_inventory *inventory = merge->inventory;
	for (uint32_t i = 0; i < inventory->function_count; i++)
		merge->references[i] = TP_BUILD_NONE;
	for (uint32_t i = 0; i < builder->entry_count; i++) {
		struct tp_build_entry *entry = &builder->entries[i];
		if (entry->function || entry->last_edge == TP_BUILD_NONE)
			continue;
		const uint32_t function = resolve(merge, i, i);
		if (function == TP_BUILD_NONE)
			continue;
		entry->next_of_name = merge->references[function];
		merge->references[function] = i;
		enum tp_presence *presence = &inventory->functions[function].presence;
		if (*presence == TP_PRESENCE_EMITTED)
			*presence = TP_PRESENCE_PARTLY;
		else if (*presence == TP_PRESENCE_REMOVED)
			*presence = TP_PRESENCE_INLINED;
	}
}

// Add the edges of an entry to those that were found, COUNT so far; returns how many there are
// then.
static uint32_t find_edges(struct merge *merge, uint32_t entry, bool into, uint32_t count)
{
	const struct tp_inventory_builder *builder = merge->builder;
	for (uint32_t at = builder->entries[entry].last_edge; at != TP_BUILD_NONE;
	     at = builder->edges[at].next) {
		const struct tp_build_edge *edge = &builder->edges[at];
		const uint32_t function =
		    edge->into == into ? resolve(merge, entry, edge->to) : TP_BUILD_NONE;
		if (function == TP_BUILD_NONE)
			continue;
		merge->found[count] = (struct found_edge){edge->edge, entry};
		merge->found[count++].edge.function = function;
	}
	return count;
}

// The edges `into` or calls of ENTRIES, which are one function's, and of the chain of references
// that begins with REFERENCE, to *EDGES.
static int add_edges(struct merge *merge, const uint32_t *entries, uint32_t entry_count,
    uint32_t reference, bool into, struct tp_inventory_edge **edges, uint32_t *edge_count)
{
	const struct tp_inventory_builder *builder = merge->builder;
	uint32_t count = 0;
	for (uint32_t i = 0; i < entry_count; i++)
		count = find_edges(merge, entries[i], into, count);
	for (uint32_t at = reference; at != TP_BUILD_NONE; at = builder->entries[at].next_of_name)
		count = find_edges(merge, at, into, count);
	qsort(merge->found, count, sizeof(*merge->found), compare_found);
	count = combine(merge->found, count);
	if (!count)
		return 0;
	*edges = tp_arena_alloc(&merge->inventory->arena, count * sizeof(**edges));
	if (!*edges)
		return TP_ERR_MEMORY;
	for (uint32_t i = 0; i < count; i++)
		(*edges)[i] = merge->found[i].edge;
	*edge_count = count;
	return 0;
}

static uint64_t hash_inventory(const struct tp_inventory *inventory)
{
	uint64_t hash = TEEPERF_HASH_START;
	for (uint32_t i = 0; i < inventory->function_count; i++) {
		const struct tp_inventory_function *function = &inventory->functions[i];
		const uint64_t sizes[] = {function->presence, function->instrs_start,
		    function->facts.instrs, function->facts.blocks};
		hash = tp_hash_string(hash, function->name);
		hash = tp_hash_bytes(hash, sizes, sizeof(sizes));
	}
	return hash;
}

// By source file, and those of one by identity.
static int compare_kept_units(const void *a, const void *b)
{
	const struct tp_build_unit *x = *(const struct tp_build_unit *const *)a;
	const struct tp_build_unit *y = *(const struct tp_build_unit *const *)b;
	const int order = strcmp(x->unit.main_file, y->unit.main_file);
	return order ? order : TP_COMPARE(x->identity, y->identity);
}

// The same, and units that are the same one as they were read.
static int compare_units(const void *a, const void *b)
{
	const struct tp_build_unit *x = *(const struct tp_build_unit *const *)a;
	const struct tp_build_unit *y = *(const struct tp_build_unit *const *)b;
	const int order = compare_kept_units(a, b);
	return order ? order : TP_COMPARE(x, y);
}

static void *room_for(struct merge *merge, uint32_t count, size_t size)
{
	return tp_arena_alloc(&merge->arena, ((size_t)count + 1) * size);
}

// Each unit once, sorted by source file. What tells units apart is from here on the number of the
// first of its kind, so that units of one file stay in the order in which they were read.
static int add_units(struct merge *merge)
{
	struct tp_inventory_builder *builder = merge->builder;
	struct tp_inventory *inventory = merge->inventory;
	const uint32_t count = builder->unit_count;
	inventory->units =
	    tp_arena_alloc(&inventory->arena, ((size_t)count + 1) * sizeof(*inventory->units));
	struct tp_build_unit **units = room_for(merge, count, sizeof(struct tp_build_unit *));
	if (!inventory->units || !units)
		return TP_ERR_MEMORY;
	for (uint32_t i = 0; i < count; i++)
		units[i] = &builder->units[i];
	qsort(units, count, sizeof(struct tp_build_unit *), compare_units);
	uint32_t kept = 0;
	uint64_t content = 0;
	for (uint32_t i = 0; i < count; i++) {
		struct tp_build_unit *unit = units[i];
		const struct tp_build_unit *last = kept ? units[kept - 1] : NULL;
		const bool again = last && unit->identity == content &&
				   !strcmp(last->unit.main_file, unit->unit.main_file);
		content = unit->identity;
		unit->identity = again ? last->identity : (uint64_t)(unit - builder->units);
		if (!again)
			units[kept++] = unit;
	}
	qsort(units, kept, sizeof(struct tp_build_unit *), compare_kept_units);
	for (uint32_t i = 0; i < kept; i++)
		inventory->units[i] = units[i]->unit;
	inventory->unit_count = kept;
	return 0;
}

static int allocate(struct merge *merge)
{
	const struct tp_inventory_builder *builder = merge->builder;
	const uint32_t entries = builder->entry_count;
	merge->inventory->functions = tp_arena_alloc(
	    &merge->inventory->arena, ((size_t)entries + 1) * sizeof(*merge->inventory->functions));
	merge->definitions = room_for(merge, entries, sizeof(*merge->definitions));
	merge->members = room_for(merge, entries, sizeof(*merge->members));
	merge->first_member = room_for(merge, entries + 1, sizeof(*merge->first_member));
	merge->chosen = room_for(merge, entries, sizeof(*merge->chosen));
	merge->found = room_for(merge, builder->edge_count, sizeof(*merge->found));
	merge->references = room_for(merge, entries, sizeof(*merge->references));
	merge->order = room_for(merge, builder->name_count, sizeof(*merge->order));
	return merge->inventory->functions && merge->definitions && merge->members &&
		       merge->first_member && merge->chosen && merge->found && merge->order &&
		       merge->references
		   ? 0
		   : TP_ERR_MEMORY;
}

static int merge_all(struct merge *merge)
{
	struct tp_inventory_builder *builder = merge->builder;
	struct tp_inventory *inventory = merge->inventory;
	int code = builder->failed ? TP_ERR_MEMORY : allocate(merge);
	if (!code)
		code = add_units(merge);
	if (code)
		return code;
	for (uint32_t i = 0; i < builder->name_count; i++)
		merge->order[i] = &builder->names[i];
	qsort(merge->order, builder->name_count, sizeof(*merge->order), compare_names);
	merge->first_member[0] = 0;
	for (uint32_t i = 0; !code && i < builder->name_count; i++)
		code = merge_name(merge, merge->order[i]);
	if (!code)
		add_references(merge);
	for (uint32_t i = 0; !code && i < inventory->function_count; i++) {
		struct tp_inventory_function *function = &inventory->functions[i];
		const uint32_t *members = merge->members + merge->first_member[i];
		code = add_edges(merge, &merge->chosen[i], 1, TP_BUILD_NONE, false,
		    &function->calls, &function->call_count);
		if (!code)
			code = add_edges(merge, members,
			    merge->first_member[i + 1] - merge->first_member[i],
			    merge->references[i], true, &function->into, &function->into_count);
	}
	inventory->hash = hash_inventory(inventory);
	return code;
}

int tp_inventory_merge(struct tp_inventory_builder *builder, struct tp_err *err)
{
	struct merge merge = {.builder = builder, .inventory = builder->inventory};
	tp_arena_init(&merge.arena);
	const int code = merge_all(&merge);
	tp_arena_release(&merge.arena);
	return code ? tp_err_set(err, code, NULL, "out of memory for the inventory") : 0;
}
