// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory for tables that are looked into all over the place.
#include "pool.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define HUGE_PAGE ((size_t)2 << 20)
#define BLOCK_FIRST ((size_t)16 << 10)

struct tp_pool_block {
	struct tp_pool_block *next;
	size_t size; // bytes, with this header
	size_t used;
};

// Zeroed bytes; on huge pages if there are enough of them.
static void *alloc_zeroed(size_t size)
{
	if (size < HUGE_PAGE) {
		void *small = aligned_alloc(TP_POOL_UNIT, size);
		return small ? memset(small, 0, size) : NULL;
	}
	size = (size + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
	void *large = aligned_alloc(HUGE_PAGE, size);
	if (!large)
		return NULL;
	// Only a wish. The memory may be used again, so that it is not zero.
	madvise(large, size, MADV_HUGEPAGE);
	return memset(large, 0, size);
}

void *tp_table_alloc(size_t count, size_t size)
{
	if (size && count > (SIZE_MAX / 2 - HUGE_PAGE) / size)
		return NULL;
	const size_t bytes = (count * size + TP_POOL_UNIT - 1) / TP_POOL_UNIT * TP_POOL_UNIT;
	return alloc_zeroed(bytes ? bytes : TP_POOL_UNIT);
}

void *tp_pool_alloc(struct tp_pool *pool, uint32_t units)
{
	const size_t size = (size_t)units * TP_POOL_UNIT;
	void *piece = pool->given_back[units];
	if (piece) {
		memcpy(&pool->given_back[units], piece, sizeof(void *));
		return memset(piece, 0, size);
	}
	struct tp_pool_block *block = pool->blocks;
	if (!block || block->size - block->used < size) {
		// Each as large as all before it, up to a huge page.
		size_t bytes = block ? block->size * 2 : BLOCK_FIRST;
		bytes = bytes < HUGE_PAGE ? bytes : HUGE_PAGE;
		struct tp_pool_block *fresh = alloc_zeroed(bytes);
		if (!fresh)
			return NULL;
		fresh->next = block;
		fresh->size = bytes;
		fresh->used = TP_POOL_UNIT;
		pool->blocks = block = fresh;
	}
	piece = (char *)block + block->used;
	block->used += size;
	return piece;
}

void tp_pool_give_back(struct tp_pool *pool, void *piece, uint32_t units)
{
	memcpy(piece, &pool->given_back[units], sizeof(void *));
	pool->given_back[units] = piece;
}

void tp_pool_release(struct tp_pool *pool)
{
	while (pool->blocks) {
		struct tp_pool_block *next = pool->blocks->next;
		free(pool->blocks);
		pool->blocks = next;
	}
	memset(pool, 0, sizeof(*pool));
}
