/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The stacks of a thread that it does not run on now: each has calls that began, were left for another
 * stack, and may be come back to. A stack is named by the last position (log.h) at which it was left or
 * resynchronised.
 */
#ifndef TP_CONTEXTS_H
#define TP_CONTEXTS_H

#include <stdbool.h>
#include <stdint.h>

/* A call that has not ended. Frame 0 is the thread itself and is never popped. */
struct tp_frame {
	uint64_t position; /* log.h, of its enter record; grows with depth */
	uint64_t start;    /* ticks, without those for which its stack was left before */
	uint64_t began;    /* ticks */
	uint64_t children; /* ticks in calls that it made and that have ended */
	uint64_t cost;     /* of recording the calls inside of it that have ended; profile.h */
	uint64_t dropped;  /* of this, of calls that are part of it (tp_stack_set_least) */
	uint32_t node;
	uint32_t function;
	uint32_t name;  /* of the function; 0 for frame 0, and where `moved` has it */
	uint32_t moved; /* it was open in another thread: moves.h has more of it; 0: it was not */
};

/* The name of a stack that nothing can come back to by name. */
#define TP_CONTEXT_UNNAMED UINT64_MAX

struct tp_context {
	struct tp_frame *frames; /* NULL: this entry is free */
	uint32_t depth;
	uint32_t capacity;
	uint64_t away;    /* ticks for which the stack was left before */
	uint64_t since;   /* when it was left */
	uint64_t named;   /* a position; UINT64_MAX: none */
	uint64_t left_at; /* position of the record by which it was left; 0: by none */
	uint64_t
	    outer; /* departure by such a record just before, of a caller that tells, too; 0: none */
	bool foreign;       /* began in another thread */
	uint32_t next;      /* of those whose names have one hash, or of the free ones; 0: none */
	uint32_t next_left; /* of those whose left_at has one hash; 0: none */
	uint32_t newer;     /* in the order in which they were left; 0: none */
	uint32_t older;
};

struct tp_contexts {
	struct tp_context *items; /* [0] is not used */
	uint32_t count;           /* entries in use or free, with [0] */
	uint32_t capacity;
	uint32_t free;
	uint32_t live; /* entries in use */
	uint32_t newest;
	uint32_t *heads;     /* by hash of the name, and behind them by hash of left_at */
	uint32_t head_count; /* of each */
};

/* All zeroes is an empty one. */
void tp_contexts_release(struct tp_contexts *contexts);
/* Keep a copy of *context; its frames are then ours. False: no memory. */
bool tp_contexts_add(struct tp_contexts *contexts, const struct tp_context *context);
/* The stack of this name that was left last; 0: none. */
uint32_t tp_contexts_find(const struct tp_contexts *contexts, uint64_t named);
/* The stack that was left by the record at this position; 0: none. */
uint32_t tp_contexts_find_left(const struct tp_contexts *contexts, uint64_t left_at);
/*
 * The stack on which the call with the enter record at POSITION, of function NAME, is open. Only looks
 * at those that were left last, since a program that gives no names to its stacks might have millions.
 * 0: none.
 */
uint32_t tp_contexts_search(const struct tp_contexts *contexts, uint64_t position, uint32_t name);
/* Remove an entry; its frames are then the caller's. */
struct tp_context tp_contexts_take(struct tp_contexts *contexts, uint32_t index);
/* The first frame from 1 on that did not begin before POSITION, of those that have not moved; DEPTH: there is none. */
uint32_t tp_frames_find(const struct tp_frame *frames, uint32_t depth, uint64_t position);

#endif
