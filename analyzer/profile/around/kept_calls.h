/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Of many single calls (calls.h) those that began first, or that were slowest. Memory is for twice
 * as many as are kept.
 */
#ifndef TP_KEPT_CALLS_H
#define TP_KEPT_CALLS_H

#include "analyzer/profile/calls.h"
#include "analyzer/replay/moves.h"

#define TP_KEPT_CALLS_MAX (UINT64_C(1) << 24) /* without a limit */

struct tp_kept_call {
	struct tp_call call;
	uint32_t thread; /* index in analysis->threads */
};

/* Starts as {.most = ..., .slowest = ...}. The caller frees items. */
struct tp_kept_calls {
	struct tp_kept_call *items;
	uint64_t count; /* up to twice as many as are kept, then the last are dropped */
	uint64_t capacity;
	uint64_t most; /* that are kept; 0: all, up to TP_KEPT_CALLS_MAX */
	uint64_t seen;
	bool slowest; /* those that took longest are first, not those that began first */
	enum tp_time
	    time;     /* by which they did; that of calls of which it is not known is 0 or all */
	bool dropped; /* item number most - 1 is the last of those that were kept when some were */
	int code;     /* 0, TP_ERR_LIMIT or TP_ERR_MEMORY: no more are kept */
};

/* That of a call's ticks: wall time as recorded, processor time without the cost of recording. */
static inline uint64_t tp_call_part(const struct tp_call *call, enum tp_time time)
{
	const uint64_t off = call->off.blocked + call->off.preempted;
	switch (time) {
	case TP_TIME_CPU:
		return off < call->net.inclusive ? call->net.inclusive - off : 0;
	case TP_TIME_WAIT:
		return call->off.blocked;
	case TP_TIME_PREEMPTED:
		return call->off.preempted;
	default:
		return call->duration;
	}
}

void tp_kept_calls_add(struct tp_kept_calls *kept, const struct tp_kept_call *call);
/* Sort them, and drop the last: then there are at most `most`. */
void tp_kept_calls_sort(struct tp_kept_calls *kept);

/* Whether CALL is OUTER, or was made in it; both are of one thread. */
static inline bool tp_call_is_inside(const struct tp_call *call, const struct tp_call *outer)
{
	/* The id of a call that came from another thread tells nothing of when it began. */
	return (call->id >= outer->id || (outer->id & TP_CALL_MOVED)) &&
	       call->start >= outer->start && call->end <= outer->end &&
	       (call->depth > outer->depth || call->id == outer->id);
}

#endif
