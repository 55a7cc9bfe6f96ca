/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The records of one thread of a joined trace, from those of the host and of the TEE. */
#ifndef TP_JOIN_SPLICE_H
#define TP_JOIN_SPLICE_H

#include "analyzer/join/borders.h"
#include "analyzer/join/join.h"
#include "analyzer/join/names.h"
#include "analyzer/join/read.h"
#include "analyzer/join/write.h"

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

/* The splice holds its borders and names by now, which stay the caller's. 0 or a negative tp_error. */
int tp_splice_init(struct tp_splice *splice, const struct tp_tracefile *host,
    const struct tp_tracefile *tee, const struct tp_border_match *match, struct tp_buf *out);
void tp_splice_release(struct tp_splice *splice);

/* Write a thread of the host. */
int tp_splice_host(struct tp_splice *splice, uint32_t thread);
/* Write what is left of a thread of the TEE. */
int tp_splice_rest(struct tp_splice *splice, uint32_t thread);

#endif
