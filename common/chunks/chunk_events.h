/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* How many events a chunk of records holds. */
#ifndef TP_CHUNK_EVENTS_H
#define TP_CHUNK_EVENTS_H

#include <stdint.h>
#include <teeperf/log.h>

struct tp_chunk_events {
	uint64_t events; /* enters and exits */
	uint64_t calls;  /* in COUNTS records; sums that are too large stop at the largest number */
};

/* Count what is in CHUNK: SIZE bytes, its header and the records behind it, of which nothing is believed. */
struct tp_chunk_events tp_chunk_events_count(const struct teeperf_chunk *chunk, uint64_t size);

#endif
