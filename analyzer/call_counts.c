// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls that were counted and nothing else, by address.
#include "call_counts.h"

#include <stdlib.h>
#include <string.h>

#define SLOTS_AT_FIRST 64

// Where the address is, or belongs.
static uint32_t *slot_of(const struct tp_call_counts *counts, uint64_t address)
{
	const uint64_t hash = address * UINT64_C(0x9e3779b97f4a7c15);
	for (uint32_t i = (uint32_t)(hash >> 32);; i++) {
		uint32_t *slot = &counts->slots[i & counts->mask];
		if (!*slot || counts->items[*slot - 1].address == address)
			return slot;
	}
}

// Room for one more: the table is at most half full.
static bool grow(struct tp_call_counts *counts)
{
	if (counts->slots && counts->count < (counts->mask + 1) / 2)
		return true;
	if (counts->mask > UINT32_MAX / 4)
		return false;
	const uint32_t size = counts->slots ? (counts->mask + 1) * 2 : SLOTS_AT_FIRST;
	struct tp_call_count *items =
	    realloc(counts->items, (size_t)size / 2 * sizeof(*counts->items));
	if (!items)
		return false;
	counts->items = items;
	uint32_t *slots = calloc(size, sizeof(*slots));
	if (!slots)
		return false;
	free(counts->slots);
	counts->slots = slots;
	counts->mask = size - 1;
	for (uint32_t i = 0; i < counts->count; i++)
		*slot_of(counts, items[i].address) = i + 1;
	return true;
}

bool tp_call_counts_add(struct tp_call_counts *counts, uint64_t address, uint64_t calls)
{
	if (!grow(counts))
		return false;
	uint32_t *slot = slot_of(counts, address);
	if (!*slot) {
		counts->items[counts->count] = (struct tp_call_count){.address = address};
		*slot = ++counts->count;
	}
	struct tp_call_count *item = &counts->items[*slot - 1];
	item->calls = calls > UINT64_MAX - item->calls ? UINT64_MAX : item->calls + calls;
	return true;
}

void tp_call_counts_release(struct tp_call_counts *counts)
{
	free(counts->items);
	free(counts->slots);
	memset(counts, 0, sizeof(*counts));
}
