/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The records of one thread of a joined trace, from those of the host and of the TEE: how they are
 * read, written and put into each other, and what becomes of the names of the TEE's functions.
 */
#ifndef TP_JOIN_SPLICE_H
#define TP_JOIN_SPLICE_H

#include "analyzer/join/join.h"
#include "common/chunks/records.h"

/* ---- borders */

#define TP_BORDER_NONE UINT32_MAX

struct tp_border {
	uint64_t time;
	uint32_t chunk;  /* index of the thread's chunk that has the record */
	uint32_t word;   /* of the record there */
	uint32_t number; /* of the crossing, 0: not known */
	/*
	 * Of a call (CALL_OUT, CALL_IN): the border that ends it, the count of borders if none
	 * does. Of others the one that they end, or TP_BORDER_NONE.
	 */
	uint32_t partner;
	uint32_t match; /* of the host's CALL_OUT, the TEE's CALL_IN: the pair, or TP_BORDER_NONE */
	uint16_t kind;  /* enum teeperf_control; 0: it says nothing that another one does not */
	bool cut;       /* of a call: it is not its return that ends it */
};

/* All of one thread, in order. */
struct tp_borders {
	struct tp_border *items;
	uint32_t count;
	uint64_t last; /* time of the thread's last record */
	bool resyncs;  /* there are records with positions */
};

/* Of trace->threads[THREAD]. 0 or a negative tp_error; release it in any case. */
int tp_borders_find(struct tp_borders *borders, const struct tp_tracefile *trace, uint32_t thread,
    struct tp_err *err);
void tp_borders_release(struct tp_borders *borders);

/* When a call of these borders has ended; UINT64_MAX: it has not. */
uint64_t tp_border_end(const struct tp_borders *borders, uint32_t call);

/* A call of the host into the TEE, and what it is there. */
struct tp_border_pair {
	uint32_t host_thread; /* indices in the traces' threads and in those threads' borders */
	uint32_t host_border;
	uint32_t tee_thread;
	uint32_t tee_border;
};

struct tp_border_match {
	struct tp_border_pair *pairs;
	uint32_t count;
	uint64_t
	    ambiguous;  /* calls of the TEE for which several of the host's come into question */
	uint64_t alone; /* ... and none */
};

/*
 * Pair them, in borders[].match too: by their numbers; those without one by their times, if these
 * leave no doubt: the host's call lies around the TEE's. HOST and TEE are arrays, one for each
 * thread. 0 or TP_ERR_MEMORY; release it in any case.
 */
int tp_border_match_find(struct tp_border_match *match, struct tp_borders *host,
    uint32_t host_count, struct tp_borders *tee, uint32_t tee_count, struct tp_err *err);
void tp_border_match_release(struct tp_border_match *match);

/* ---- names: addresses for the TEE's modules, their own, or others where the host's modules are */

struct tp_join_names {
	struct tp_join_place *places; /* by the names before */
	uint32_t count;
	struct teeperf_module *modules; /* as they are to be in the joined trace; count of them */
	uint32_t moved;                 /* of these, how many are not where they were */
};

/* 0 or a negative tp_error; release it in any case. */
int tp_join_names_init(struct tp_join_names *names, const struct tp_tracefile *host,
    const struct tp_tracefile *tee, struct tp_err *err);
void tp_join_names_release(struct tp_join_names *names);

/* What a record's name becomes; 0: it is that of no module of the TEE. */
uint32_t tp_join_names_find(const struct tp_join_names *names, uint32_t name);
/* The same of an address. */
uint64_t tp_join_names_address(const struct tp_join_names *names, uint64_t address);

/*
 * ---- the records of a thread one by one, with their times and positions, and what belongs to them
 */

/* As struct tp_record, but without pointers into a chunk. */
struct tp_join_record {
	uint64_t time;     /* of the record, or of the last one that has one */
	uint64_t position; /* log.h */
	uint32_t tagged;
	uint32_t value;
	uint32_t chunk;
	uint32_t at;     /* its place in the chunk */
	uint64_t raw;    /* the word behind a RESYNC */
	uint32_t module; /* of a COUNTS record, 0: not known */
	uint32_t pairs;  /* the same: words behind it, from place `at` + 1 on */
	enum tp_record_form form;
	bool timed;
};

/*
 * Chunks of one trace, as few at a time as are needed. A chunk's words are there until the next
 * call for the same trace.
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
	struct tp_record_cursor at; /* in the chunk, whose words it gets at each record */
	uint64_t last;
	uint32_t module;
};

/* At the thread's beginning, or right behind a border of it. */
void tp_join_cursor_init(
    struct tp_join_cursor *cursor, struct tp_join_chunks *chunks, uint32_t thread);
void tp_join_cursor_jump(struct tp_join_cursor *cursor, const struct tp_border *border);

/*
 * The next record: 1, 0 at the thread's end, or a negative tp_error. Records that say nothing are
 * passed over.
 */
int tp_join_cursor_next(
    struct tp_join_cursor *cursor, struct tp_join_record *record, struct tp_err *err);

/* ---- the records of a joined trace, as they are put into chunks, one thread after the other */

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
/* Number of chunks that are missing here. */
void tp_join_writer_skip(struct tp_join_writer *writer, uint64_t chunks);
/* The thread is complete. */
void tp_join_writer_end(struct tp_join_writer *writer);

/*
 * A record with a time, which is that of the last one if it is earlier; the position that it gets.
 */
uint64_t tp_join_writer_time(struct tp_join_writer *writer, uint32_t tagged, uint64_t time);
/* The same, and a raw word behind it. */
void tp_join_writer_resync(
    struct tp_join_writer *writer, uint32_t tagged, uint64_t time, uint64_t raw);
/* A record without a time. */
void tp_join_writer_plain(struct tp_join_writer *writer, uint32_t tagged, uint32_t value);
/* A COUNTS record with its pairs, COUNT words, behind a MODULE record if MODULE is not 0. */
void tp_join_writer_counts(
    struct tp_join_writer *writer, uint32_t module, const uint64_t *words, uint32_t count);

/* ---- splicing */

/* A call of the TEE that is open. */
struct tp_splice_frame {
	uint64_t position; /* in the TEE's thread */
	uint32_t name;     /* as it is written */
};

/* Where records of the host went: those from `before` on to `after` on. */
struct tp_splice_run {
	uint64_t before;
	uint64_t after;
};

struct tp_splice {
	struct tp_join_chunks host;
	struct tp_join_chunks tee;
	struct tp_borders *host_borders; /* of each thread */
	struct tp_borders *tee_borders;
	const struct tp_border_match *match;
	struct tp_join_names names;
	struct tp_join_writer writer;
	struct tp_join_counts *counts;
	uint64_t first_time; /* of all of the host's threads */
	uint64_t last_time;
	struct tp_err *err;
	/* The host's thread that is being written. */
	struct tp_join_cursor at;
	struct tp_join_record next; /* of it, not written yet; if has_next */
	bool has_next;
	bool host_failed;  /* it cannot be read */
	uint32_t border;   /* number of the next border in it */
	uint64_t expected; /* sequence of its next chunk */
	struct tp_splice_run *runs;
	uint64_t run_count;
	uint64_t run_capacity;
	/* Open calls of the TEE, in all of its calls that are open. */
	struct tp_splice_frame *frames;
	uint32_t depth;
	uint32_t pending; /* of these, calls that have ended without a time */
	uint32_t capacity;
	uint32_t nested;
};

/*
 * The splice holds its borders and names by now, which stay the caller's. 0 or a negative tp_error.
 */
int tp_splice_init(struct tp_splice *splice, const struct tp_tracefile *host,
    const struct tp_tracefile *tee, const struct tp_border_match *match, struct tp_buf *out);
void tp_splice_release(struct tp_splice *splice);

/* Write a thread of the host. */
int tp_splice_host(struct tp_splice *splice, uint32_t thread);
/* Write the rest of a thread of the TEE. */
int tp_splice_rest(struct tp_splice *splice, uint32_t thread);

/*
 * ---- the TEE's records: written are calls that nest and end, of the TEE's functions, at times
 * that fit
 */

/*
 * Write RECORD, at LIMIT at the latest. It ends no call but those that are open above BASE. 0 or a
 * negative tp_error.
 */
int tp_join_tee_record(
    struct tp_splice *splice, const struct tp_join_record *record, uint32_t base, uint64_t limit);

/* Calls that have ended without a time end by TIME. */
void tp_join_tee_settle(struct tp_splice *splice, uint64_t time);

/* Those above BASE end. */
void tp_join_tee_end(struct tp_splice *splice, uint32_t base, uint64_t time, uint64_t limit);

#endif
