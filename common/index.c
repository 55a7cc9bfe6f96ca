// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "index.h"

#include <stdlib.h>

#define SLOTS_LEAST 64

bool tp_index_init(struct tp_index *index, uint64_t most)
{
	uint64_t slots = SLOTS_LEAST;
	*index = (struct tp_index){0};
	if (most > UINT32_MAX / 2)
		return false;
	while (slots < most * 2)
		slots *= 2;
	index->slots = calloc(slots, sizeof(*index->slots));
	index->mask = (uint32_t)(slots - 1);
	return index->slots != NULL;
}

void tp_index_release(struct tp_index *index)
{
	free(index->slots);
	*index = (struct tp_index){0};
}

bool tp_index_reserve(
    struct tp_index *index, uint32_t count, tp_index_hash *hash, const void *context)
{
	if (index->slots && count <= index->mask / 2)
		return true;
	struct tp_index larger;
	if (!tp_index_init(&larger, (uint64_t)count + 1))
		return false;
	for (uint32_t i = 1; i <= count; i++) {
		uint32_t *slot = tp_index_first(&larger, hash(context, i));
		while (*slot)
			slot = tp_index_next(&larger, slot);
		*slot = i;
	}
	tp_index_release(index);
	*index = larger;
	return true;
}
