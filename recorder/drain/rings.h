/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Mode ring: what the program's threads keep, written to a trace. The program recycles chunks by itself and may
 * go on while we look: then a chunk is there whole, up to its last whole record, or not at all.
 */
#ifndef TP_RINGS_H
#define TP_RINGS_H

#include <stdint.h>

#include "recorder/region/region.h"
#include "trace_writer.h"

/*
 * Of each thread, the chunks that follow one another up to its newest: one that was re-used before it could be
 * copied takes those before it along. `numbers` is room for chunk_count of them. Returns the bytes of records.
 */
uint64_t tp_rings_write(
    struct tp_region *region, uint32_t *numbers, struct tp_trace_writer *writer);

/* Of COUNT words behind a chunk's header, those of whole records. */
uint32_t tp_rings_whole(const uint64_t *words, uint32_t count);

#endif
