// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "index.h"

#include "hash.h"

#include <stdlib.h>
#include <string.h>

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

bool tp_texts_init(struct tp_texts *texts, uint32_t most)
{
	*texts = (struct tp_texts){.items = calloc((size_t)most + 1, sizeof(*texts->items))};
	return tp_index_init(&texts->index, most + UINT64_C(1)) && texts->items;
}

uint32_t tp_texts_number(struct tp_texts *texts, const char *text)
{
	uint32_t *slot = tp_index_first(&texts->index, tp_hash_text(text));
	while (*slot && strcmp(texts->items[*slot - 1], text) != 0)
		slot = tp_index_next(&texts->index, slot);
	if (!*slot) {
		texts->items[texts->count++] = text;
		*slot = texts->count;
	}
	return *slot - 1;
}

void tp_texts_release(struct tp_texts *texts)
{
	free(texts->items);
	tp_index_release(&texts->index);
	*texts = (struct tp_texts){0};
}
