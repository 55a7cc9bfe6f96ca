// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory that is freed all at once.
#include "arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define BLOCK_SIZE ((size_t)64 * 1024)
#define HUGE_PAGE ((size_t)2 << 20)
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

// Zeroed bytes; on huge pages where there are enough of them, as a page costs more than what is put there.
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
