// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A replay that stopped between two chunks, copied.
#include "copy.h"

#include "common/arena.h"
#include "common/err.h"

#include <stdlib.h>
#include <string.h>

// COUNT items of SIZE bytes, in memory for ROOM of them; NULL stays NULL. False: no memory.
static bool copy_array(void *to, const void *from, size_t count, size_t room, size_t size)
{
	void *items = from ? calloc(room ? room : 1, size) : NULL;
	if (items)
		memcpy(items, from, count * size);
	memcpy(to, &items, sizeof(items));
	return items || !from;
}

// The same for what tp_table_alloc makes.
static bool copy_table(void *to, const void *from, size_t count, size_t room, size_t size)
{
	void *items = from ? tp_table_alloc(room, size) : NULL;
	if (items)
		memcpy(items, from, count * size);
	memcpy(to, &items, sizeof(items));
	return items || !from;
}

static bool copy_index(struct tp_index *to, const struct tp_index *from)
{
	to->mask = from->mask;
	const size_t count = from->slots ? (size_t)from->mask + 1 : 0;
	return copy_array(&to->slots, from->slots, count, count, sizeof(*to->slots));
}

// The counts of the nodes' histograms, which the nodes still share with those that they are copies
// of.
static bool copy_histograms(struct tp_profile *profile)
{
	for (uint32_t i = 0; i < profile->node_count; i++) {
		struct tp_histogram *times = &profile->nodes[i].times;
		const size_t bytes = times->size * sizeof(*times->counts);
		if (!bytes)
			continue;
		uint32_t *counts = tp_pool_alloc(&profile->pool, (uint32_t)(bytes / TP_POOL_UNIT));
		if (!counts)
			return false;
		memcpy(counts, times->counts, bytes);
		times->counts = counts;
	}
	return true;
}

int tp_profile_copy(struct tp_profile *to, const struct tp_profile *from)
{
	*to = *from;
	to->pool = (struct tp_pool){0};
	const size_t nodes = from->node_count;
	const size_t room = from->node_capacity;
	// All of them, that each pointer is a copy's or NULL.
	bool ok = copy_table(&to->nodes, from->nodes, nodes, room, sizeof(*to->nodes));
	ok &= copy_table(
	    &to->edges, from->edges, from->edge_count, from->edge_capacity, sizeof(*to->edges));
	ok &= copy_table(&to->blocks, from->blocks, nodes, room, sizeof(*to->blocks));
	ok &= copy_table(&to->callees, from->callees, nodes, room, sizeof(*to->callees));
	ok &= copy_table(&to->dropped, from->dropped, nodes, room, sizeof(*to->dropped));
	ok &= copy_table(&to->waited, from->waited, nodes, room, sizeof(*to->waited));
	ok &= copy_table(&to->parts_of, from->parts_of, nodes, room, sizeof(*to->parts_of));
	ok &= copy_array(&to->part_items, from->part_items, from->parts_count, from->parts_capacity,
	    sizeof(*to->part_items));
	ok &= copy_array(&to->functions, from->functions, from->function_count,
	    from->function_capacity, sizeof(*to->functions));
	ok &= copy_index(&to->names, &from->names);
	if (ok && copy_histograms(to))
		return 0;
	tp_profile_release(to);
	return TP_ERR_MEMORY;
}

static bool copy_calls(struct tp_call_counts *to, const struct tp_call_counts *from)
{
	const bool ok =
	    copy_array(&to->items, from->items, from->count, from->room, sizeof(*to->items));
	return copy_index(&to->index, &from->index) && ok;
}

static bool copy_contexts(struct tp_contexts *to, const struct tp_contexts *from)
{
	bool ok =
	    copy_array(&to->items, from->items, from->count, from->capacity, sizeof(*to->items));
	ok &= copy_array(&to->heads, from->heads, 2 * (size_t)from->head_count,
	    2 * (size_t)from->head_count, sizeof(*to->heads));
	if (!to->items)
		to->newest = 0;
	for (uint32_t i = to->newest; i; i = to->items[i].older) {
		struct tp_context *item = &to->items[i];
		ok &= copy_array(&item->frames, item->frames, item->depth, item->capacity,
		    sizeof(*item->frames));
	}
	return ok;
}

int tp_stack_copy(struct tp_stack *to, const struct tp_stack *from, struct tp_profile *profile)
{
	*to = *from;
	to->profile = profile;
	bool ok =
	    copy_array(&to->frames, from->frames, from->depth, from->capacity, sizeof(*to->frames));
	ok &= copy_array(&to->frame_offs, from->frame_offs, from->frame_off_count,
	    from->frame_off_capacity, sizeof(*to->frame_offs));
	ok &= copy_calls(&to->calls, &from->calls);
	ok &= copy_contexts(&to->contexts, &from->contexts);
	if (ok)
		return 0;
	tp_stack_release(to);
	return TP_ERR_MEMORY;
}

// What open calls had no processor for before does not count.
static void forget_off(struct tp_frame *frames, uint32_t depth)
{
	for (uint32_t i = 0; i < depth; i++)
		frames[i].off = 0;
}

void tp_stack_begin_anew(struct tp_stack *copy, uint64_t from)
{
	struct tp_profile *profile = copy->profile;
	for (uint32_t i = 0; i < profile->node_count; i++) {
		struct tp_node *node = &profile->nodes[i];
		node->calls = node->inclusive = node->self = node->max = 0;
		node->min = UINT64_MAX;
		node->times = (struct tp_histogram){0};
	}
	for (uint32_t i = 0; i < profile->function_count; i++)
		profile->functions[i].more = 0;
	tp_pool_release(&profile->pool);
	profile->pool = (struct tp_pool){0};
	const size_t count = profile->node_count;
	if (profile->dropped)
		memset(profile->dropped, 0, count * sizeof(*profile->dropped));
	if (profile->waited)
		memset(profile->waited, 0, count * sizeof(*profile->waited));
	if (profile->parts_of) {
		memset(profile->parts_of, 0, count * sizeof(*profile->parts_of));
		profile->parts_count = 1;
	}
	forget_off(copy->frames, copy->depth);
	for (uint32_t i = copy->contexts.newest; i; i = copy->contexts.items[i].older)
		forget_off(copy->contexts.items[i].frames, copy->contexts.items[i].depth);
	copy->frame_off_count = copy->frame_off_free = 0;
	for (uint32_t i = 0; i < copy->calls.count; i++)
		copy->calls.items[i].calls = 0;
	tp_stack_set_range(copy, from, UINT64_MAX);
	if (copy->pending || copy->waiting_exits || copy->waiting_enters)
		copy->edge = 0;
}

void tp_stack_renew(
    struct tp_stack *stack, const struct tp_gaps *gaps, const struct tp_off_list *off)
{
	stack->gaps = *gaps;
	stack->off = off ? *off : (struct tp_off_list){0};
	if (stack->off_at > stack->off.count)
		stack->off_at = stack->off.count;
	if (stack->started)
		tp_stack_skip_off(stack, stack->last);
	else
		stack->off_edge = stack->off.count ? 0 : UINT64_MAX;
	// What waits to be settled has its edge already.
	if (stack->edge > tp_stack_next_edge(stack))
		stack->edge = tp_stack_next_edge(stack);
}
