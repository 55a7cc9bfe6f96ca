/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The replay of a trace that is still written, kept from one look to the next: each thread goes on
 * behind the chunks that it has replayed, as these do not change any more. Where that would not
 * give what a replay of all chunks gives, the thread begins anew.
 */
#ifndef TP_KEPT_H
#define TP_KEPT_H

#include "analyzer/replay/copy.h"
#include "analyzer/replay/replay.h"

struct tp_analysis;

/* A thread up to its last chunk that will not change. */
struct tp_kept_thread {
	uint32_t number;
	bool valid;
	bool attached;     /* as the thread was */
	uint64_t chunks;   /* that were replayed */
	uint64_t sequence; /* of the last of them */
	uint64_t offset;   /* where it is in the file */
	uint64_t bad_counts_offset;
	struct tp_profile profile;
	struct tp_stack stack;
};

/* All zeroes is an empty one. */
struct tp_kept {
	struct tp_kept_thread **threads; /* by number */
	uint32_t count;
	uint32_t room;
	uint64_t until;  /* ticks of the last event that was seen, in any thread; 0: none */
	const char *why; /* the last analysis has read all records, and why; NULL: it has not */
};

/* Forget all threads, but not `until`. */
void tp_kept_forget(struct tp_kept *kept);
void tp_kept_release(struct tp_kept *kept);

/*
 * Before the threads of ANALYSIS are replayed: make places for all of them. NULL: nothing can be
 * kept, `why` says why; or there is no memory.
 */
struct tp_kept *tp_kept_begin(struct tp_kept *kept, const struct tp_analysis *analysis);
/* That of a thread, which tp_kept_begin has made. */
struct tp_kept_thread *tp_kept_find(const struct tp_kept *kept, uint32_t number);

/*
 * Replay the rest of a thread into STACK and PROFILE, which are empty, without finishing it. With a
 * range only what comes behind it is kept, and nothing goes on for the next time. *DONE is false,
 * and nothing has happened: the thread is to be replayed from its beginning. 0 or a negative
 * tp_error.
 */
int tp_kept_replay(struct tp_kept_thread *kept, const struct tp_analysis *analysis,
    struct tp_replay *replay, struct tp_profile *profile, bool *done, struct tp_err *err);

#endif
