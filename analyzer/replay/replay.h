/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The chunks of one thread, read and replayed one after another. */
#ifndef TP_REPLAY_H
#define TP_REPLAY_H

#include "analyzer/replay/stack_part.h"
#include "analyzer/trace/tracefile.h"

struct tp_replay {
	const struct tp_tracefile *trace;
	const struct tp_thread *thread;
	struct tp_stack *stack; /* initialized, with all that it needs but the gaps */
	struct tp_part *part;   /* instead of the stack, for chunks in the middle */
	bool timeless;
	/* Called after each chunk; may be NULL. */
	void (*chunk_done)(void *context);
	void *context;
	/* Result: where in the file the first of stack->counts.bad_counts is. */
	uint64_t bad_counts_offset;
};

/*
 * Replay all chunks and finish the stack; stops early if the stack's sink wants no more. 0 or a
 * negative tp_error: then what came before is in the stack's profile all the same.
 */
int tp_replay(struct tp_replay *replay, struct tp_err *err);
/* What the stack has to know of the thread before its first chunk: tp_replay does it. */
void tp_replay_prepare(const struct tp_replay *replay);
/*
 * The same for the chunks from FIRST up to END, without finishing; a part that is unusual stops as
 * well.
 */
int tp_replay_chunks(struct tp_replay *replay, uint64_t first, uint64_t end, struct tp_err *err);
/* Whether debts are forgotten before chunk number I (profile.h): a part may begin there. */
bool tp_replay_begins_window(const struct tp_replay *replay, uint64_t i);
/*
 * The stack's range of times is over, and the counts at the end of the thread are behind it: have
 * them in the stack as well, some of them twice, so that they tell which functions have any. False:
 * no memory.
 */
bool tp_replay_last_counts(struct tp_replay *replay);

#endif
