/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Finds items of an array by a hash of their key: open addressing, one place after another, at most
 * half of them in use. The caller keeps the items, numbered from 1 on, and compares them with the
 * key:
 *
 *	uint32_t *slot = tp_index_first(&index, hash);
 *	while (*slot && !is_it(&items[*slot]))
 *		slot = tp_index_next(&index, slot);
 *	if (!*slot)
 *		*slot = add_item();
 *
 * Nothing is ever taken out.
 */
#ifndef TP_INDEX_H
#define TP_INDEX_H

#include <stdbool.h>
#include <stdint.h>

struct tp_index {
	uint32_t *slots; /* numbers of items, 0: free */
	uint32_t mask;   /* how many slots, a power of two, less 1 */
};

/* For up to MOST items. False: out of memory, or too many. */
bool tp_index_init(struct tp_index *index, uint64_t most);
void tp_index_release(struct tp_index *index);

/* The hash of item NUMBER of CONTEXT. */
typedef uint32_t tp_index_hash(const void *context, uint32_t number);
/*
 * Have a free slot for one more than COUNT items, with numbers 1 to COUNT, all of which are in the
 * index; of a zeroed index the first slots. False: out of memory, or too many; then nothing has
 * changed.
 */
bool tp_index_reserve(
    struct tp_index *index, uint32_t count, tp_index_hash *hash, const void *context);

/* Where a search for HASH begins, and where it continues. pre: there are slots, and a free one. */
static inline uint32_t *tp_index_first(const struct tp_index *index, uint64_t hash)
{
	return &index->slots[hash & index->mask];
}

static inline uint32_t *tp_index_next(const struct tp_index *index, const uint32_t *slot)
{
	return &index->slots[(uint32_t)(slot - index->slots + 1) & index->mask];
}

/* Texts, each once, numbered from 0 on as they came. They must outlive it. */
struct tp_texts {
	const char **items;
	uint32_t count;
	struct tp_index index;
};

/* For up to MOST different texts. False: no memory; release it in any case. */
bool tp_texts_init(struct tp_texts *texts, uint32_t most);
/* The number of TEXT, which is added if it is new. */
uint32_t tp_texts_number(struct tp_texts *texts, const char *text);
void tp_texts_release(struct tp_texts *texts);

#endif
