/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Threads between which stacks move, replayed together (moves.h). */
#ifndef TP_TOGETHER_H
#define TP_TOGETHER_H

#include "analyzer/profile/analysis.h"
#include "analyzer/replay/replay.h"

/* One of them. The caller fills in what he wants of profile to context. */
struct tp_together_thread {
	const struct tp_thread *thread;
	struct tp_profile *profile;      /* all zeroes, to be filled; NULL: it is not wanted */
	struct tp_call_sink *sink;       /* NULL: none. One that wants no more ends all. */
	bool only_calls;                 /* as in struct tp_stack */
	struct tp_thread_result *result; /* for the caller alone */
	void (*chunk_done)(void *context);
	void *context;
	/* Results. The stack is not finished yet; tp_together_release releases it. */
	struct tp_stack stack;
	struct tp_replay replay;
	int code;
	struct tp_err err;
	/* Ours. */
	struct tp_profile own;
};

struct tp_together {
	struct tp_together_thread *threads;
	uint32_t count;
	struct tp_moves moves;
};

/*
 * Those of the analysis's trace, of which one moves. 0 or TP_ERR_MEMORY, with nothing to release.
 */
int tp_together_init(
    struct tp_together *together, const struct tp_analysis *analysis, struct tp_err *err);
/*
 * Replay all chunks of all threads. 0, TP_ERR_MEMORY, or the error of the first thread that has
 * one: then what came before is in its profile all the same. Release it in any case.
 */
int tp_together_replay(const struct tp_analysis *analysis, struct tp_together *together);
void tp_together_release(struct tp_together *together);

/* The calls of a thread of the analysis that moves, as tp_calls_each has them. */
int tp_together_calls(const struct tp_analysis *analysis, uint32_t thread,
    struct tp_call_sink *sink, struct tp_err *err);

#endif
