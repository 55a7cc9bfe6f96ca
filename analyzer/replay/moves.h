/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The stacks of a thread that it does not run on now: each has calls that began, were left for
 * another stack, and may be resumed. A stack is named by the last position (log.h) at which it was
 * left or resynchronised.
 *
 * Threads whose stacks move from one to another are replayed together: a thread waits at a record
 * that brings a stack from another thread until that one has been replayed up to where the stack
 * was left, and takes it from there.
 */
#ifndef TP_MOVES_H
#define TP_MOVES_H

#include "analyzer/trace/sched.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * What a call that has not ended had no processor for: its own time, and that of calls that it made
 * and that have ended.
 */
struct tp_frame_off {
	struct tp_off own;
	struct tp_off inner;
	uint32_t next; /* of the free ones; 0: none */
};

static inline void tp_frame_off_add(struct tp_frame_off *to, const struct tp_frame_off *off)
{
	tp_off_add(&to->own, &off->own);
	tp_off_add(&to->inner, &off->inner);
}

static inline bool tp_frame_off_any(const struct tp_frame_off *off)
{
	return off->own.blocked || off->own.preempted || off->inner.blocked || off->inner.preempted;
}

/* A call that has not ended. Frame 0 is the thread itself and is never popped. */
struct tp_frame {
	uint64_t position; /* log.h, of its enter record; grows with depth */
	uint64_t start;    /* ticks, without those for which its stack was left before */
	uint64_t children; /* ticks in calls that it made and that have ended */
	uint64_t began;    /* ticks */
	/*
	 * (Next to `children`, compilers load both at once, which has to wait for the two stores
	 * before it.)
	 */
	uint64_t cost;   /* of recording the calls that have ended, in parts of its own ticks */
	uint64_t net;    /* of `children`, without what recording cost */
	uint64_t looked; /* ticks of its own that a soft clock was looked at in: tp_profile_look */
	uint32_t node;
	uint32_t function;
	uint32_t name;  /* of the function; 0 for frame 0, and where `moved` has it */
	uint32_t moved; /* of struct tp_moves: it was open in another thread; 0: it was not */
	uint32_t off;   /* of the stack's frame_offs; 0: it had a processor all the time */
};

/* The name of a stack that cannot be resumed by name. */
#define TP_CONTEXT_UNNAMED UINT64_MAX

struct tp_context {
	struct tp_frame *frames; /* NULL: this entry is free */
	uint32_t depth;
	uint32_t capacity;
	uint64_t away;      /* ticks for which the stack was left before */
	uint64_t since;     /* when it was left */
	uint64_t named;     /* a position; UINT64_MAX: none */
	uint64_t left_at;   /* position of the record by which it was left; 0: by none */
	uint64_t outer;     /* departure by such a record just before, of a caller; 0: none */
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
 * The stack on which the call with the enter record at POSITION, of function NAME, is open. Only
 * looks at those that were left last, since a program that gives no names to its stacks might have
 * millions. 0: none.
 */
uint32_t tp_contexts_search(const struct tp_contexts *contexts, uint64_t position, uint32_t name);
/* Remove an entry; its frames are then the caller's. */
struct tp_context tp_contexts_take(struct tp_contexts *contexts, uint32_t index);
/*
 * The first frame from 1 on that did not begin before POSITION, of those that have not moved;
 * DEPTH: there is none.
 */
uint32_t tp_frames_find(const struct tp_frame *frames, uint32_t depth, uint64_t position);

/* What a call has from the threads in which it was open before. */
struct tp_moved_call {
	uint64_t duration;           /* ticks for which it ran there */
	uint64_t self;               /* of these, its own */
	uint64_t net;                /* of `duration`, in calls that it made, less their cost */
	struct tp_frame_off off;     /* of these, without a processor */
	struct tp_frame_off carried; /* on the way to another thread, whose it will be */
	uint64_t id;                 /* for sinks; in the thread that it is in now */
	uint32_t name;               /* of the function: that in the frame is 0 */
	uint32_t next;               /* of the free ones; 0: none */
};

/*
 * Ids of such calls: not those of records, so they have a bit of their own, and numbers from 0 in
 * each thread.
 */
#define TP_CALL_MOVED (UINT64_C(1) << 63)

struct tp_stack;

/* A thread of them. */
struct tp_member {
	struct tp_moves *moves;
	struct tp_stack *stack;
	uint64_t home;     /* log.h */
	uint64_t position; /* of the record that it has to replay next */
	uint64_t time;     /* of that */
	uint64_t arrived;  /* calls that have come from other threads */
	bool done;
	bool forced; /* nothing goes on otherwise: do not wait at this record */
	/* What it waits for: another thread at a position, or all of them at a time. */
	const struct tp_member *waits_for;
	uint64_t waits_position;
	uint64_t waits_time;
};

struct tp_moves {
	struct tp_member *members; /* by home */
	uint32_t count;
	struct tp_moved_call *calls; /* [0] is not used */
	uint32_t call_count;
	uint32_t call_capacity;
	uint32_t free;
};

/* All zeroes but members and count is an empty one. */
void tp_moves_release(struct tp_moves *moves);
/* The member of this home, as far as a departure tells it; NULL: none. */
struct tp_member *tp_moves_member(const struct tp_moves *moves, uint64_t home);
/* The index of a new call; 0: no memory. */
uint32_t tp_moves_add(struct tp_moves *moves);
void tp_moves_drop(struct tp_moves *moves, uint32_t call);
/* Whether the member need not wait any more for what it waits for. */
bool tp_member_may_go_on(const struct tp_member *member);

#endif
