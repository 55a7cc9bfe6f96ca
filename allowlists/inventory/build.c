// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Collects units, functions and edges as they are read; names are interned on the way.
#include "build.h"

#include "common/array.h"
#include "common/hash.h"

#include <stdlib.h>
#include <string.h>

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

// Room for one more in ITEMS, of which there are COUNT; false, and the builder has failed, if there is none.
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
