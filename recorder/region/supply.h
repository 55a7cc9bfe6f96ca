/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What making a region needs of the supply of its chunks; region.h has the rest. */
#ifndef TP_SUPPLY_H
#define TP_SUPPLY_H

#include "region.h"

/* CLOCK_MONOTONIC. */
uint64_t tp_supply_now_ms(void);

/* Give bytes [offset, offset + size) of the region memory: 0 or an errno value. */
int tp_supply_allocate(struct tp_region *region, uint64_t offset, uint64_t size);

/* Put allocated bytes into our page tables. */
void tp_supply_touch(struct tp_region *region, uint64_t offset, uint64_t size);

/* Where chunk `number` is in the region. */
uint64_t tp_supply_offset(const struct tp_region *region, uint32_t number);

/* Allocate up to `wanted` more chunks: 0 or an errno value. */
int tp_supply_commit(struct tp_region *region, uint32_t wanted);

/* Touch up to `wanted` more of those that are allocated. */
void tp_supply_touch_chunks(struct tp_region *region, uint32_t wanted);

/* Supply all that are allocated, from `first` on. */
void tp_supply_from(struct tp_region *region, uint32_t first);

/* Chunk `number` is the newest that is out. pre: the lock is held. */
void tp_supply_put_out(struct tp_region *region, uint32_t number);

#endif
