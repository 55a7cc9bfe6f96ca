/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The calls of one thread one after another, for whoever needs more than sums: the thread is
 * replayed once more, with a sink. Needs memory for the thread's distinct paths and open calls, not
 * for its calls.
 */
#ifndef TP_CALLS_H
#define TP_CALLS_H

#include "analyzer/profile/analysis.h"
#include "analyzer/replay/call_sink.h"
#include "analyzer/replay/replay.h"

/*
 * Hand the calls of analysis->threads[THREAD] to the sink, within the analysis's range of time and
 * from its least time on. call->node is an index in that thread's profile.nodes. Of an analysis
 * that was filtered by functions or depth, only the calls of paths that are left are handed on,
 * with the self times that the sums have: 0 for callers that are only the way to the focus. 0 or a
 * negative tp_error; may be called for several threads at once.
 */
int tp_calls_each(const struct tp_analysis *analysis, uint32_t thread, struct tp_call_sink *sink,
    struct tp_err *err);

/*
 * The same, several parts of a thread at a time, for whoever needs neither the order of calls nor
 * their paths. A part has calls of its own, which begin and end in it, and its own profile
 * (stack_part.h).
 */

/*
 * How many parts a thread can be split into, up to 64 and the number of workers; 1: only
 * tp_calls_each.
 */
uint32_t tp_calls_parts(const struct tp_analysis *analysis, uint32_t thread, uint32_t workers);

/* A part behind the first one. */
struct tp_calls_part {
	struct tp_call_sink
	    sink;            /* the caller's: only leave is used; call->node is of part.profile */
	struct tp_part part; /* while it is replayed; part.unusual, if set by the sink, ends that */
	/*
	 * Result. False: its calls were handed to the thread's sink all the same, and do not count.
	 */
	bool joined;
};

/*
 * As tp_calls_each, but calls that begin and end in one of the PARTS (COUNT, that is
 * tp_calls_parts() - 1) go to the sink of that, each on a thread of its own. Of SINK only leave is
 * used.
 */
int tp_calls_each_apart(const struct tp_analysis *analysis, uint32_t thread,
    struct tp_call_sink *sink, struct tp_calls_part *parts, uint32_t count, struct tp_err *err);

/* A thread in pieces: one for the stack of REPLAY, and COUNT parts behind it. */
struct tp_pieces {
	struct tp_replay replay;
	struct tp_profile_cost cost; /* as in the thread's profile, and so are the next three */
	enum tp_time time;
	double fine_ns;
	uint32_t most_nodes;
	struct tp_calls_part *parts; /* zeroes, or with sinks */
	uint32_t count;
};
/*
 * Replay piece NUMBER, from 0 on, of a struct tp_pieces: all of them at a time if need be. The code
 * of piece 0.
 */
int tp_pieces_replay(void *pieces, uint32_t number, struct tp_err *err);
/*
 * With CODE 0, go on with the stack from part to part; release the parts. CODE, or what went wrong.
 */
int tp_pieces_join(struct tp_pieces *pieces, int code, struct tp_err *err);

#endif
