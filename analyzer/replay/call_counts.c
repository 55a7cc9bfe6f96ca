// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls that were counted and nothing else, by address.
#include "stack.h"

#include "common/array.h"
#include "common/hash.h"

#include <stdlib.h>
#include <string.h>

static uint32_t hash_item(const void *counts, uint32_t number)
{
	return tp_hash_number(((const struct tp_call_counts *)counts)->items[number - 1].address);
}

bool tp_call_counts_add(struct tp_call_counts *counts, uint64_t address, uint64_t calls)
{
	if (!TP_GROW(counts->items, counts->room, counts->count + UINT64_C(1)) ||
	    !tp_index_reserve(&counts->index, counts->count, hash_item, counts))
		return false;
	uint32_t *slot = tp_index_first(&counts->index, tp_hash_number(address));
	while (*slot && counts->items[*slot - 1].address != address)
		slot = tp_index_next(&counts->index, slot);
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
	tp_index_release(&counts->index);
	memset(counts, 0, sizeof(*counts));
}
