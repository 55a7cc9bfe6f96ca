// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How a call ends where the profile alone is not enough: for sinks, least times, calls without a
// processor or from other threads.
#include "stack_steps.h"

#include "common/array.h"

bool tp_frames_grow(struct tp_stack *stack)
{
	return TP_GROW(stack->frames, stack->capacity, stack->capacity + UINT64_C(1));
}

// A call of CALLER's has ended, which had no processor for OFF. Without memory the analysis ends at
// the next record.
void tp_frame_add_inner_off(
    struct tp_stack *stack, struct tp_frame *caller, const struct tp_frame_off *off)
{
	struct tp_frame_off inner = {.inner = off->own};
	tp_off_add(&inner.inner, &off->inner);
	if (tp_frame_off_any(&inner))
		stack->no_memory |= !tp_frame_add_off(stack, caller, &inner);
}

// The same of a call that is part of CALLER (tp_stack_set_least).
static void pass_off(struct tp_stack *stack, struct tp_frame *caller, const struct tp_frame *frame,
    const struct tp_frame_off *off)
{
	struct tp_node_parts *parts = stack->profile->parts;
	if (!tp_frame_off_any(off))
		return;
	stack->no_memory |= !tp_frame_add_off(stack, caller, off);
	if (!parts)
		return;
	tp_off_add(&parts[caller->node].self_off, &off->own);
	tp_off_take(&parts[frame->node].self_off, &off->own);
}

// What end_top does, for analyses that need more than a profile, for calls that had no processor
// for a while, and for calls that were open in other threads before: their time is each thread's
// own, the call is that of the thread in which it ends.
void tp_frames_end_specially(
    struct tp_stack *stack, struct tp_frame *frame, uint64_t time, uint64_t in, uint64_t out)
{
	static const struct tp_moved_call nothing = {0};
	struct tp_profile *profile = stack->profile;
	struct tp_frame *caller = &stack->frames[stack->depth - 1];
	const struct tp_moved_call before =
	    frame->moved ? stack->member->moves->calls[frame->moved] : nothing;
	const uint64_t period = time - stack->away - frame->start;
	const uint64_t inclusive = period + before.duration;
	const uint64_t self = frame->children < period ? period - frame->children : 0;
	const uint64_t cost = frame->cost + in;
	const uint64_t id = tp_frame_id(stack, frame);
	const struct tp_frame_off off = tp_frame_take_off(stack, frame);
	struct tp_frame_off all = before.off;
	tp_frame_off_add(&all, &off);
	struct tp_off sum = all.own;
	tp_off_add(&sum, &all.inner);
	if (frame->moved)
		tp_moves_drop(stack->member->moves, frame->moved);
	const uint64_t net = tp_profile_net(profile, inclusive, &sum, cost);
	caller->cost += cost + out;
	if (stack->quiet)
		return;
	if (net < stack->least) {
		// Calls inside that are not dropped, as less was taken off them, are the caller's.
		caller->children += frame->children;
		caller->dropped += frame->dropped + in + out;
		if (profile->dropped)
			profile->dropped[frame->node].calls++;
		pass_off(stack, caller, frame, &off);
		return;
	}
	if (profile->dropped)
		profile->dropped[frame->node].cost += frame->dropped;
	if (!stack->only_calls)
		tp_profile_add_period(profile, frame->node, period, self, net);
	caller->children += period;
	tp_frame_add_inner_off(stack, caller, &off);
	if (!stack->sink || !stack->sink->leave)
		return;
	const struct tp_call call = {
	    .id = id,
	    .parent = stack->depth > 1 ? tp_frame_id(stack, caller) : 0,
	    .start = frame->began > stack->from ? frame->began : stack->from,
	    .end = time,
	    .duration = inclusive,
	    .self = self + before.self,
	    .cost = (cost + TP_COST_PARTS / 2) / TP_COST_PARTS,
	    .net = net,
	    .off = sum,
	    .self_off = all.own,
	    .node = frame->node,
	    .depth = stack->depth,
	    .away = stack->parked,
	    .how = stack->how,
	};
	stack->sink->leave(stack->sink->context, &call);
}
