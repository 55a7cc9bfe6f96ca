/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Memory that is freed all at once. What an arena gives out lives until tp_arena_release.
 */
#ifndef TP_ARENA_H
#define TP_ARENA_H

#include <stddef.h>

struct tp_arena_block;

struct tp_arena {
	struct tp_arena_block *blocks; /* newest first */
};

void tp_arena_init(struct tp_arena *arena);
/* Free everything; *arena is then as after tp_arena_init. */
void tp_arena_release(struct tp_arena *arena);
/* SIZE zeroed bytes, aligned for any type; NULL if memory runs out. */
void *tp_arena_alloc(struct tp_arena *arena, size_t size);
/* A copy of SIZE bytes of TEXT with a NUL behind; NULL if memory runs out. */
char *tp_arena_copy(struct tp_arena *arena, const char *text, size_t size);

#endif
