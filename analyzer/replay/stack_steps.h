/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The steps of a replay, for the files that replay in other ways than one record after another: a quick
 * one for the usual records (stack_usual.c), and one that begins in the middle (stack_part.c).
 */
#ifndef TP_STACK_STEPS_H
#define TP_STACK_STEPS_H

#include "analyzer/replay/stack.h"

/* Where replaying a chunk is. */
struct tp_place {
	const uint64_t *words;
	uint32_t count;
	uint32_t i;
	uint64_t high; /* upper half of the clock */
	uint64_t last; /* time so far */
	uint64_t events;
	uint64_t position; /* of words[0] */
};

/*
 * Go on as long as records are the usual ones: enters of paths that are known, and exits of what is on
 * top. pre: the stack is started; if it is special, then for a sink, in its range of time and without
 * a least time.
 */
void tp_stack_replay_usual(struct tp_stack *stack, struct tp_place *at);

/* A look at the clock, TICKS behind the last one. */
static inline void tp_stack_look(struct tp_stack *stack, uint64_t ticks)
{
	if (stack->profile->waited && !stack->quiet && !stack->in_gap && !stack->left)
		tp_profile_look(stack->profile, stack->frames[stack->depth - 1].node, ticks);
}

/* The id of an open call, for sinks. */
static inline uint64_t tp_frame_id(const struct tp_stack *stack, const struct tp_frame *frame)
{
	return frame->moved ? stack->member->moves->calls[frame->moved].id : frame->position;
}

/* What a record does, if nothing waits to be settled. False: no memory. */
bool tp_stack_push(struct tp_stack *stack, uint32_t name, uint64_t time, uint64_t position);
void tp_stack_exit(struct tp_stack *stack, uint32_t name, uint64_t time);
bool tp_stack_resync(struct tp_stack *stack, uint32_t name, uint64_t position, uint64_t time);
/* LAST is the time of the last event. */
void tp_stack_control(
    struct tp_stack *stack, uint32_t code, uint32_t value, uint64_t *high, uint64_t last);
/* The pairs of a COUNTS record: how many words to pass over, or -1: no memory. */
int64_t tp_stack_counts(
    struct tp_stack *stack, const uint64_t *words, uint32_t pairs, uint32_t left, uint32_t place);
/* End the topmost calls until DEPTH frames are left. */
void tp_stack_unwind(struct tp_stack *stack, uint32_t depth, uint64_t time);

#endif
