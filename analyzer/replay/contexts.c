// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The stacks of a thread that it does not run on now, found by name.
#include "moves.h"

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

// There are two tables: by name, and by where the stack was left. A key of TP_CONTEXT_UNNAMED is in
// none.
static uint64_t key_of(const struct tp_context *item, bool by_left)
{
	if (!by_left)
		return item->named;
	return item->left_at ? item->left_at : TP_CONTEXT_UNNAMED;
}

static uint32_t *head(const struct tp_contexts *contexts, uint64_t key, bool by_left)
{
	return &contexts->heads[(tp_hash_number(key) & (contexts->head_count - 1)) +
				(by_left ? contexts->head_count : 0)];
}

static uint32_t *next(const struct tp_contexts *contexts, uint32_t index, bool by_left)
{
	struct tp_context *item = &contexts->items[index];
	return by_left ? &item->next_left : &item->next;
}

static void link_keys(struct tp_contexts *contexts, uint32_t index)
{
	for (int by_left = 0; by_left < 2; by_left++) {
		const uint64_t key = key_of(&contexts->items[index], by_left);
		if (key == TP_CONTEXT_UNNAMED)
			continue;
		uint32_t *at = head(contexts, key, by_left);
		*next(contexts, index, by_left) = *at;
		*at = index;
	}
}

static void unlink_keys(struct tp_contexts *contexts, uint32_t index)
{
	for (int by_left = 0; by_left < 2; by_left++) {
		const uint64_t key = key_of(&contexts->items[index], by_left);
		if (key == TP_CONTEXT_UNNAMED)
			continue;
		uint32_t *at = head(contexts, key, by_left);
		while (*at != index)
			at = next(contexts, *at, by_left);
		*at = *next(contexts, index, by_left);
	}
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
		link_keys(contexts, i);
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
	link_keys(contexts, index);
	item->older = contexts->newest;
	item->newer = 0;
	if (contexts->newest)
		contexts->items[contexts->newest].newer = index;
	contexts->newest = index;
	contexts->live++;
	return true;
}

static uint32_t find(const struct tp_contexts *contexts, uint64_t key, bool by_left)
{
	uint32_t index = contexts->live ? *head(contexts, key, by_left) : 0;
	// A hostile trace may choose keys that meet in one place.
	uint32_t left = SEARCH_MAX;
	for (; index && left && key_of(&contexts->items[index], by_left) != key; left--)
		index = *next(contexts, index, by_left);
	return left ? index : 0;
}

uint32_t tp_contexts_find(const struct tp_contexts *contexts, uint64_t named)
{
	return find(contexts, named, false);
}

uint32_t tp_contexts_find_left(const struct tp_contexts *contexts, uint64_t left_at)
{
	return left_at ? find(contexts, left_at, true) : 0;
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
	unlink_keys(contexts, index);
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
