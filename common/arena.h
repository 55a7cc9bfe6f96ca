/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Memory that is freed all at once. What an arena gives out lives until tp_arena_release.
 */
#ifndef TP_ARENA_H
#define TP_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tp_arena_block;

struct tp_arena {
	struct tp_arena_block *blocks; /* newest first */
};

void tp_arena_init(struct tp_arena *arena);
/* Free everything; *arena is then as after tp_arena_init. */
void tp_arena_release(struct tp_arena *arena);
/* SIZE zeroed bytes, aligned for any type; NULL if memory runs out. */
void *tp_arena_alloc(struct tp_arena *arena, size_t size);
/* A copy of SIZE bytes of TEXT, NUL-terminated; NULL if memory runs out. */
char *tp_arena_copy(struct tp_arena *arena, const char *text, size_t size);

/*
 * Memory for tables that are looked into all over the place. On huge pages where the kernel gives
 * them: with small ones, each look costs a miss of the TLB, which in a virtual machine takes longer
 * than one of the caches.
 */

/* COUNT zeroed items of SIZE bytes, aligned to 64; NULL: no memory. Free it with free(). */
void *tp_table_alloc(size_t count, size_t size);

/*
 * Small pieces, of whole UNITs each, that are freed all at once; pieces that are given back are
 * used again for pieces of the same size.
 */
#define TP_POOL_UNIT 16
#define TP_POOL_UNITS_MAX 512

struct tp_pool {
	struct tp_pool_block *blocks; /* the newest first */
	void *given_back[TP_POOL_UNITS_MAX + 1];
};

/* All zeroes is an empty pool. */
/* UNITS units, at most TP_POOL_UNITS_MAX, zeroed; NULL: no memory. */
void *tp_pool_alloc(struct tp_pool *pool, uint32_t units);
void tp_pool_give_back(struct tp_pool *pool, void *piece, uint32_t units);
void tp_pool_release(struct tp_pool *pool);

#endif
