/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Records become calls: the stack of one thread, replayed chunk by chunk into its profile. Any
 * sequence of words is accepted; what does not fit is counted.
 */
#ifndef TP_STACK_H
#define TP_STACK_H

#include "analyzer/profile.h"

#include <stdint.h>
#include <teeperf/log.h>

/* A call that has not ended. Frame 0 is the thread itself and is never popped. */
struct tp_frame {
	uint64_t position; /* log.h, of its enter record; grows with depth */
	uint64_t start;
	uint64_t children; /* ticks in calls that it made and that have ended */
	uint32_t node;
	uint32_t function;
};

struct tp_stack_counts {
	uint64_t records; /* words, the raw ones behind RESYNC included */
	uint64_t events;  /* enter, exit and leaf records */
	uint64_t lost;    /* events, by LOST records */
	/* Oddities. */
	uint64_t unmatched_exits;  /* exits of functions that were not running */
	uint64_t unmatched_enters; /* calls without an exit, ended by an exit further down */
	uint64_t unknown_resyncs;  /* resyncs to an activation that is not on the stack */
	uint64_t open;             /* calls that were still running at the thread's end */
	uint64_t backwards;        /* times before their predecessor's, moved up to it */
	uint64_t holes;            /* words that were never written */
	uint64_t reserved;         /* control records that this version does not know */
};

struct tp_stack {
	struct tp_profile *profile;
	struct tp_frame *frames;
	uint32_t depth;    /* frames in use, at least 1 */
	uint32_t capacity; /* frames allocated */
	uint64_t first;    /* ticks of the first event */
	uint64_t last;     /* ticks of the last event so far */
	bool started;      /* first is valid */
	struct tp_stack_counts counts;
};

/* The profile must outlive the stack. 0 or TP_ERR_MEMORY. Release it in any case. */
int tp_stack_init(struct tp_stack *stack, struct tp_profile *profile);
void tp_stack_release(struct tp_stack *stack);

/*
 * Replay the COUNT words of the thread's next chunk. FIRST_TIME is as in its header; POSITION is
 * that of its first word. 0 or TP_ERR_MEMORY.
 */
int tp_stack_replay(struct tp_stack *stack, const uint64_t *words, uint32_t count,
    uint64_t first_time, uint64_t position);
/* End the calls that are still open, at the time of the last event. */
void tp_stack_finish(struct tp_stack *stack);

#endif
