// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The stacks of a thread that it does not run on now, found by name.
#include "contexts.h"

#include "common/array.h"
#include "common/hash.h"

#include <stdlib.h>

// How many stacks a search looks at: a hostile trace could ask for one again and again.
#define SEARCH_MAX 256

void tp_contexts_release(struct tp_contexts *contexts)
{
	for (uint32_t i = contexts->newest; i; i = contexts->items[i].older)
		free(contexts->items[i].frames);
	free(contexts->items);
	free(contexts->heads);
	*contexts = (struct tp_contexts){0};
}

static uint32_t *head(const struct tp_contexts *contexts, uint64_t named)
{
	return &contexts->heads[tp_hash_number(named) & (contexts->head_count - 1)];
}

static uint32_t *head_left(const struct tp_contexts *contexts, uint64_t left_at)
{
	return head(contexts, left_at) + contexts->head_count;
}

// Only what has a name is found by it.
static void link_name(struct tp_contexts *contexts, uint32_t index)
{
	struct tp_context *item = &contexts->items[index];
	if (item->left_at) {
		uint32_t *at = head_left(contexts, item->left_at);
		item->next_left = *at;
		*at = index;
	}
	if (item->named == TP_CONTEXT_UNNAMED)
		return;
	uint32_t *at = head(contexts, item->named);
	item->next = *at;
	*at = index;
}

static void unlink_name(struct tp_contexts *contexts, uint32_t index)
{
	const struct tp_context *item = &contexts->items[index];
	if (item->left_at) {
		uint32_t *at = head_left(contexts, item->left_at);
		while (*at != index)
			at = &contexts->items[*at].next_left;
		*at = item->next_left;
	}
	if (item->named == TP_CONTEXT_UNNAMED)
		return;
	uint32_t *at = head(contexts, item->named);
	while (*at != index)
		at = &contexts->items[*at].next;
	*at = item->next;
}

static bool grow(struct tp_contexts *contexts)
{
	if (contexts->capacity > UINT32_MAX / 4)
		return false;
	const uint32_t capacity = contexts->capacity ? contexts->capacity * 2 : 16;
	struct tp_context *items = realloc(contexts->items, (size_t)capacity * sizeof(*items));
	if (!items)
		return false;
	contexts->items = items;
	uint32_t *heads = calloc((size_t)capacity * 2, sizeof(*heads));
	if (!heads)
		return false;
	free(contexts->heads);
	contexts->heads = heads;
	contexts->head_count = capacity;
	contexts->capacity = capacity;
	if (!contexts->count)
		contexts->count = 1;
	uint32_t oldest = 0;
	for (uint32_t i = contexts->newest; i; i = items[i].older)
		oldest = i;
	for (uint32_t i = oldest; i; i = items[i].newer)
		link_name(contexts, i);
	return true;
}

bool tp_contexts_add(struct tp_contexts *contexts, const struct tp_context *context)
{
	uint32_t index = contexts->free;
	if (!index) {
		if (contexts->count >= contexts->capacity && !grow(contexts))
			return false;
		index = contexts->count++;
	} else {
		contexts->free = contexts->items[index].next;
	}
	struct tp_context *item = &contexts->items[index];
	*item = *context;
	link_name(contexts, index);
	item->older = contexts->newest;
	item->newer = 0;
	if (contexts->newest)
		contexts->items[contexts->newest].newer = index;
	contexts->newest = index;
	contexts->live++;
	return true;
}

uint32_t tp_contexts_find(const struct tp_contexts *contexts, uint64_t named)
{
	uint32_t index = contexts->live ? *head(contexts, named) : 0;
	// A hostile trace may choose names that meet in one place.
	uint32_t left = SEARCH_MAX;
	while (index && left && contexts->items[index].named != named) {
		index = contexts->items[index].next;
		left--;
	}
	return left ? index : 0;
}

uint32_t tp_contexts_find_left(const struct tp_contexts *contexts, uint64_t left_at)
{
	uint32_t index = contexts->live && left_at ? *head_left(contexts, left_at) : 0;
	uint32_t left = SEARCH_MAX;
	while (index && left && contexts->items[index].left_at != left_at) {
		index = contexts->items[index].next_left;
		left--;
	}
	return left ? index : 0;
}

uint32_t tp_frames_find(const struct tp_frame *frames, uint32_t depth, uint64_t position)
{
	// Those that have moved are below all others.
	return TP_LOWER_BOUND(
	    1, depth, middle, !frames[middle].name || frames[middle].position < position);
}

uint32_t tp_contexts_search(const struct tp_contexts *contexts, uint64_t position, uint32_t name)
{
	uint32_t left = SEARCH_MAX;
	for (uint32_t i = contexts->newest; i && left--; i = contexts->items[i].older) {
		const struct tp_context *item = &contexts->items[i];
		const uint32_t at = tp_frames_find(item->frames, item->depth, position);
		if (at < item->depth && item->frames[at].position == position &&
		    item->frames[at].name == name)
			return i;
	}
	return 0;
}

struct tp_context tp_contexts_take(struct tp_contexts *contexts, uint32_t index)
{
	const struct tp_context taken = contexts->items[index];
	unlink_name(contexts, index);
	if (taken.newer)
		contexts->items[taken.newer].older = taken.older;
	else
		contexts->newest = taken.older;
	if (taken.older)
		contexts->items[taken.older].newer = taken.newer;
	contexts->items[index] = (struct tp_context){.next = contexts->free};
	contexts->free = index;
	contexts->live--;
	return taken;
}
