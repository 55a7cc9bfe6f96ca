/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The records of a joined trace, as they are put into chunks, one thread after the other. */
#ifndef TP_JOIN_WRITE_H
#define TP_JOIN_WRITE_H

#include "common/buf.h"

#include <stdbool.h>
#include <stdint.h>
#include <teeperf/trace.h>

struct tp_join_writer {
	struct tp_buf *out;
	uint8_t *chunk;
	uint32_t used; /* bytes of it, 0: none has begun */
	uint32_t thread;
	uint64_t os_tid;
	uint64_t sequence;    /* of the chunk that has begun, or of the next one */
	uint64_t high;        /* upper half of the time at this place */
	uint64_t last;        /* time of the last record that has one */
	uint64_t first_time;  /* of this thread's first chunk */
	uint64_t chunk_count; /* of all threads */
	uint64_t own;         /* ... and of this one */
};

bool tp_join_writer_init(struct tp_join_writer *writer, struct tp_buf *out);
void tp_join_writer_release(struct tp_join_writer *writer);

/* What follows is of this thread, whose first chunk has this number and begins at this time. */
void tp_join_writer_begin(struct tp_join_writer *writer, uint32_t thread, uint64_t os_tid,
    uint64_t sequence, uint64_t first_time);
/* So many chunks are missing here. */
void tp_join_writer_skip(struct tp_join_writer *writer, uint64_t chunks);
/* The thread is complete. */
void tp_join_writer_end(struct tp_join_writer *writer);

/* A record with a time, which is that of the last one if it is earlier; the position that it gets. */
uint64_t tp_join_writer_time(struct tp_join_writer *writer, uint32_t tagged, uint64_t time);
/* The same, and a raw word behind it. */
void tp_join_writer_resync(
    struct tp_join_writer *writer, uint32_t tagged, uint64_t time, uint64_t raw);
/* A record without a time. */
void tp_join_writer_plain(struct tp_join_writer *writer, uint32_t tagged, uint32_t value);
/* A COUNTS record with its pairs, COUNT words, behind a MODULE record if MODULE is not 0. */
void tp_join_writer_counts(
    struct tp_join_writer *writer, uint32_t module, const uint64_t *words, uint32_t count);

#endif
