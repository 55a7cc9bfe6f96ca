// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory that is freed all at once.
#include "arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define BLOCK_FIRST ((size_t)16 << 10)
#define BLOCK_SIZE ((size_t)64 * 1024)
#define HUGE_PAGE ((size_t)2 << 20)
#define LINE ((size_t)64) // of a cache
#define ALIGNMENT _Alignof(max_align_t)

struct tp_arena_block {
	struct tp_arena_block *next;
	size_t size; // bytes of data
	size_t used;
	max_align_t data[];
};

void tp_arena_init(struct tp_arena *arena)
{
	arena->blocks = NULL;
}

void tp_arena_release(struct tp_arena *arena)
{
	while (arena->blocks) {
		struct tp_arena_block *next = arena->blocks->next;
		free(arena->blocks);
		arena->blocks = next;
	}
}

// Zeroed bytes; on huge pages if they are large enough, as page faults cost more than the writes to
// them.
static void *alloc_zeroed(size_t size)
{
	char *data = calloc(1, size);
	if (data && size >= 2 * HUGE_PAGE) {
		// Only a wish, for the pages that are wholly in it.
		char *from = data + (HUGE_PAGE - (uintptr_t)data % HUGE_PAGE) % HUGE_PAGE;
		madvise(from, (size_t)(data + size - from) / HUGE_PAGE * HUGE_PAGE, MADV_HUGEPAGE);
	}
	return data;
}

void *tp_arena_alloc(struct tp_arena *arena, size_t size)
{
	if (size > SIZE_MAX / 2)
		return NULL;
	size = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	struct tp_arena_block *block = arena->blocks;
	if (!block || block->size - block->used < size) {
		const size_t room = size > BLOCK_SIZE / 4 ? size : BLOCK_SIZE;
		block = alloc_zeroed(sizeof(*block) + room);
		if (!block)
			return NULL;
		block->size = room;
		// A big piece has a block of its own, behind the one that is being filled.
		if (size > BLOCK_SIZE / 4 && arena->blocks) {
			block->next = arena->blocks->next;
			arena->blocks->next = block;
		} else {
			block->next = arena->blocks;
			arena->blocks = block;
		}
	}
	void *data = (char *)block->data + block->used;
	block->used += size;
	return data;
}

char *tp_arena_copy(struct tp_arena *arena, const char *text, size_t size)
{
	char *copy = size < SIZE_MAX ? tp_arena_alloc(arena, size + 1) : NULL;
	if (copy && size)
		memcpy(copy, text, size);
	return copy;
}

struct tp_pool_block {
	struct tp_pool_block *next;
	size_t size; // bytes, with this header
	size_t used;
};

// Zeroed bytes, a multiple of LINE; on huge pages if there are enough of them.
static void *alloc_aligned(size_t size)
{
	if (size < HUGE_PAGE) {
		void *small = aligned_alloc(LINE, size);
		return small ? memset(small, 0, size) : NULL;
	}
	size = (size + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
	void *large = aligned_alloc(HUGE_PAGE, size);
	if (!large)
		return NULL;
	// Only a wish.
	madvise(large, size, MADV_HUGEPAGE);
	// The memory may be used again, so that it is not zero. Given back, it is, and takes room
	// only where it is written.
	return madvise(large, size, MADV_DONTNEED) ? memset(large, 0, size) : large;
}

void *tp_table_alloc(size_t count, size_t size)
{
	if (size && count > (SIZE_MAX / 2 - HUGE_PAGE) / size)
		return NULL;
	const size_t bytes = (count * size + LINE - 1) / LINE * LINE;
	return alloc_aligned(bytes ? bytes : LINE);
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
		struct tp_pool_block *fresh = alloc_aligned(bytes);
		if (!fresh)
			return NULL;
		fresh->next = block;
		fresh->size = bytes;
		fresh->used = LINE;
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
