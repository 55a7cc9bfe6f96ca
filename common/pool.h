/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Memory for tables that are looked into all over the place. On huge pages where the kernel gives them: with
 * small ones, each look costs a miss of the TLB, which in a virtual machine takes longer than one of the
 * caches.
 */
#ifndef TP_POOL_H
#define TP_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* COUNT zeroed items of SIZE bytes, aligned to 64; NULL: no memory. Free it with free(). */
void *tp_table_alloc(size_t count, size_t size);

/*
 * Small pieces, of whole UNITs each, that are freed all at once; what is given back is used again for
 * pieces of the same size.
 */
#define TP_POOL_UNIT 64
#define TP_POOL_UNITS_MAX 64

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
