/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Steps that the files of struct tp_stack share: push and pop are inlined into each record, and
 * rare steps (contexts, gaps, ranges of time) ends calls by the same functions. For stack*.c only.
 */
#ifndef TP_STACK_STEPS_H
#define TP_STACK_STEPS_H

#include "analyzer/replay/stack.h"

/* ---- calls (stack_calls.c) */

/* Room for one more frame. False: no memory. */
bool tp_frames_grow(struct tp_stack *stack);
/*
 * What tp_frames_end_top does, for analyses that need more than a profile, for calls that had no
 * processor for a while, and for calls that were open in other threads before: their time is each
 * thread's own, the call is that of the thread in which it ends. pre: FRAME is the one above the
 * topmost.
 */
void tp_frames_end_specially(
    struct tp_stack *stack, struct tp_frame *frame, uint64_t time, uint64_t in, uint64_t out);
/*
 * A call of CALLER's has ended, which had no processor for OFF. Without memory the analysis ends at
 * the next record.
 */
void tp_frame_add_inner_off(
    struct tp_stack *stack, struct tp_frame *caller, const struct tp_frame_off *off);

static inline bool tp_frames_push(
    struct tp_stack *stack, uint32_t name, uint64_t time, uint64_t position)
{
	if (__builtin_expect(stack->depth == stack->capacity, 0) && !tp_frames_grow(stack))
		return false;
	struct tp_profile *profile = stack->profile;
	const struct tp_edge *edge =
	    tp_profile_edge(profile, stack->frames[stack->depth - 1].node, name);
	if (__builtin_expect(!edge, 0))
		return false;
	const uint32_t function = tp_profile_callee(profile, edge, name);
	profile->functions[function].active++;
	if (__builtin_expect(edge->name != name, 0)) {
		profile->functions[function].more++;
		stack->counts.more++;
	}
	stack->frames[stack->depth++] = (struct tp_frame){
	    .position = position,
	    .start = time - stack->away,
	    .began = time,
	    .node = edge->node,
	    .function = function,
	    .name = name,
	};
	if (__builtin_expect(stack->special, 0) && !stack->quiet && stack->sink &&
	    stack->sink->enter)
		stack->sink->enter(stack->sink->context, position, edge->node, time);
	return true;
}

/*
 * The call of the topmost frame ended at TIME; its function is not counted as active any more. To
 * record it cost IN parts of its own time, and OUT of its caller's.
 */
static inline void tp_frames_end_top(
    struct tp_stack *stack, uint64_t time, uint64_t in, uint64_t out)
{
	struct tp_frame *frame = &stack->frames[--stack->depth];
	if (__builtin_expect(stack->special || frame->moved || frame->off, 0)) {
		tp_frames_end_specially(stack, frame, time, in, out);
		return;
	}
	struct tp_ended call = {
	    .inclusive = time - stack->away - frame->start,
	    .children = frame->children,
	    .net = frame->net,
	    .cost = frame->cost + in,
	    .looked = frame->looked,
	    .position = frame->position,
	    .node = frame->node,
	};
	const bool here = tp_ended_is_here(stack->profile, &call);
	frame->net = 0;
	frame[-1].children += call.inclusive;
	frame[-1].cost += out;
	frame[-1].net += tp_profile_add(stack->profile, &call, here).inclusive;
}

static inline void tp_frames_pop(struct tp_stack *stack, uint64_t time)
{
	struct tp_local_function *function =
	    &stack->profile->functions[stack->frames[stack->depth - 1].function];
	function->active--;
	tp_frames_end_top(stack, time, function->in, function->out);
}

static inline void tp_frames_end_pending(struct tp_stack *stack, uint64_t time)
{
	for (; stack->pending; stack->pending--)
		tp_frames_end_top(stack, time, stack->profile->cost.untimed, 0);
}

/*
 * Until when the function of an open call was recorded. (The name of a call that has moved here is
 * with its function.)
 */
static inline uint64_t tp_frame_closes(const struct tp_stack *stack, const struct tp_frame *frame)
{
	if (!stack->selected)
		return UINT64_MAX;
	const struct tp_selected *selected =
	    tp_selected_find(stack->selected, stack->profile->functions[frame->function].name);
	return selected ? tp_selected_end(selected, frame->began) : UINT64_MAX;
}

/* Whether that was over at TIME: an exit then is another call's. */
static inline bool tp_frame_is_closed(
    const struct tp_stack *stack, const struct tp_frame *frame, uint64_t time)
{
	return stack->selected && tp_frame_closes(stack, frame) <= time;
}

/* When the range of time begins or ends, or the next gap begins. */
static inline uint64_t tp_stack_next_bound(const struct tp_stack *stack)
{
	const uint64_t bound = stack->quiet ? stack->from : stack->to;
	const bool has_gap = !stack->in_gap && stack->gap < stack->gaps.count;
	const uint64_t gap = has_gap ? stack->gaps.items[stack->gap].from : UINT64_MAX;
	return gap < bound ? gap : bound;
}

/* The time from which on a record has to be settled if nothing is waiting for it. */
static inline uint64_t tp_stack_next_edge(const struct tp_stack *stack)
{
	return stack->in_gap || stack->left ? 0 : tp_stack_next_bound(stack);
}

/* ---- stacks of a thread (stack_contexts.c) */

/*
 * As if the calls of this stack had begun when the range of time does. (When they did tells until
 * when their functions were recorded.)
 */
void tp_frames_begin(
    const struct tp_stack *stack, struct tp_frame *frames, uint32_t depth, uint64_t start);
/* The calls of all stacks end, those of the current one at TIME; returns how many they are. */
uint64_t tp_stack_end_all(struct tp_stack *stack, uint64_t time);
/* A record of kind RESYNC at PLACE, with the WORD that follows it. False: no memory. */
bool tp_stack_change(
    struct tp_stack *stack, uint32_t name, uint64_t word, uint64_t time, uint64_t place);
/* An enter or exit where the thread has left its stack. False: no memory. */
bool tp_stack_settle_left(struct tp_stack *stack, uint32_t kind, uint64_t time);

/* ---- recorded windows and counts (stack_windows.c) */

/*
 * A record at TIME follows: give untimed exits their time, and see whether recording was switched,
 * or the range of time begins or ends. False: the record lies in a gap, or behind the range.
 */
bool tp_stack_settle_slowly(struct tp_stack *stack, uint64_t time);
/*
 * The calls on top of which the function was left out before TIME end there, or, if something that
 * they called ran on, with that: they have no exit. Such calls below others end when these have.
 * False: no memory.
 */
bool tp_stack_end_closed(struct tp_stack *stack, struct tp_stack_place *at, uint64_t time);

#endif
