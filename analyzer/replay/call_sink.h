/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Whoever wants the calls of one thread one after another (calls.h) gets them through a sink. Times
 * are ticks; `start` and `end` are as they were recorded, and never run backwards. A call is a node
 * of the thread's profile, and has an id: nonzero, and the greater the later it began.
 *
 * On one stack, enter and leave are properly nested. A thread with several stacks (moves.h) leaves
 * one and goes on in another: then pause is called for each open call, the innermost first, and
 * resume, the outermost first, when it comes back. Calls of a stack that never resumes end with
 * `away` set. Who draws slices ends one at pause and begins one at resume.
 */
#ifndef TP_CALL_SINK_H
#define TP_CALL_SINK_H

#include "analyzer/replay/profile.h"

#include <stdbool.h>
#include <stdint.h>

enum tp_call_end {
	TP_CALL_RETURNED = 0,
	TP_CALL_UNWOUND,  /* by an exception or longjmp */
	TP_CALL_CUT,      /* recording was switched off, or the range of time ended */
	TP_CALL_OPEN,     /* still running at the thread's end */
	TP_CALL_NO_RETURN /* its exit is missing: a caller's has ended it */
};

struct tp_call {
	uint64_t id;
	uint64_t parent; /* id of its caller; 0: none on this stack */
	uint64_t start;
	uint64_t end;
	uint64_t duration; /* without the time for which its stack was left */
	uint64_t self;
	struct tp_net net; /* duration and self, without what recording cost */
	uint64_t chosen;   /* what counts of net.inclusive (enum tp_time) */
	struct tp_off off; /* of the duration, without a processor; 0 also if that is not known */
	struct tp_off self_off; /* the same of self */
	uint32_t node;          /* of the thread's profile */
	uint32_t depth;         /* 1: the outermost of its stack */
	bool away;              /* paused and not resumed */
	enum tp_call_end how;
};

/* Functions may be NULL. */
struct tp_call_sink {
	void *context;
	void (*enter)(void *context, uint64_t id, uint32_t node, uint64_t time);
	void (*leave)(void *context, const struct tp_call *call);
	void (*pause)(void *context, uint32_t node, uint64_t time);
	void (*resume)(void *context, uint32_t node, uint64_t time);
	/* COUNT events were lost between TIME and the next one. */
	void (*lost)(void *context, uint64_t count, uint64_t time);
	bool stop; /* set by the functions: no more is wanted; they are called for a while yet */
};

#endif
