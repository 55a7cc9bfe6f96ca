/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The records of a thread one by one, for joining: with their times and positions, and what belongs to them. */
#ifndef TP_JOIN_READ_H
#define TP_JOIN_READ_H

#include "analyzer/join/borders.h"

struct tp_join_record {
	uint64_t word;
	uint64_t time;     /* of the record, or of the last one that has one */
	uint64_t position; /* log.h */
	uint32_t tagged;   /* its upper half */
	uint32_t chunk;
	uint32_t at;     /* its place in the chunk */
	uint64_t raw;    /* the word behind a RESYNC */
	uint32_t module; /* of a COUNTS record, 0: not told */
	uint32_t pairs;  /* the same: words behind it, from place `at` + 1 on */
	bool timed;
	bool border; /* CALL_OUT to RETURN_IN */
};

/*
 * Chunks of one trace, as few at a time as are needed. A chunk's words are there until the next call for the same trace.
 */
enum { TP_JOIN_KEPT = 32 };
struct tp_join_chunks {
	const struct tp_tracefile *trace;
	struct tp_chunk_reader reader;
	bool move; /* names get the places of the trace's module map */
	struct {
		uint64_t *words;
		uint32_t thread; /* + 1 */
		uint32_t chunk;
	} kept[TP_JOIN_KEPT];
};

int tp_join_chunks_init(
    struct tp_join_chunks *chunks, const struct tp_tracefile *trace, bool move, struct tp_err *err);
void tp_join_chunks_release(struct tp_join_chunks *chunks);
/* NULL: *err. */
const uint64_t *tp_join_chunks_get(
    struct tp_join_chunks *chunks, uint32_t thread, uint32_t chunk, struct tp_err *err);

/* A place in a thread. */
struct tp_join_cursor {
	struct tp_join_chunks *chunks;
	uint32_t thread;
	uint32_t chunk;
	uint32_t at;
	uint64_t high;
	uint64_t last;
	uint32_t module;
};

/* At the thread's beginning, or right behind a border of it. */
void tp_join_cursor_init(
    struct tp_join_cursor *cursor, struct tp_join_chunks *chunks, uint32_t thread);
void tp_join_cursor_jump(struct tp_join_cursor *cursor, const struct tp_border *border);

/* The next record: 1, 0 at the thread's end, or a negative tp_error. Records that say nothing are passed over. */
int tp_join_cursor_next(
    struct tp_join_cursor *cursor, struct tp_join_record *record, struct tp_err *err);

#endif
