// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How a call ends where the profile alone is not enough: for sinks, least times, calls without a
// processor or from other threads.
#include "stack_steps.h"

#include "common/array.h"

#include <string.h>

bool tp_frames_grow(struct tp_stack *stack)
{
	const uint32_t old = stack->capacity;
	if (!TP_GROW(stack->frames, stack->capacity, stack->capacity + UINT64_C(1)))
		return false;
	// Nothing has been added up in frames that are not in use (stack_usual.c).
	memset(&stack->frames[old], 0, (stack->capacity - old) * sizeof(*stack->frames));
	return true;
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
	if (!tp_frame_off_any(off))
		return;
	stack->no_memory |= !tp_frame_add_off(stack, caller, off) ||
			    !tp_profile_add_off(stack->profile, caller->node, &off->own) ||
			    !tp_profile_take_off(stack->profile, frame->node, &off->own);
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
	const struct tp_frame_off off = tp_frame_take_off(stack, frame);
	struct tp_frame_off all = before.off;
	tp_frame_off_add(&all, &off);
	struct tp_off sum = all.own;
	tp_off_add(&sum, &all.inner);
	const uint64_t id = tp_frame_id(stack, frame);
	const struct tp_ended here_only = {
	    .inclusive = time - stack->away - frame->start,
	    .children = frame->children,
	    .net = frame->net,
	    .off = off.own.blocked + off.own.preempted,
	    .cost =
		frame->cost + in + (profile->waited ? tp_profile_waits(profile, frame->looked) : 0),
	    .looked = frame->looked,
	    .position = frame->position,
	    .node = frame->node,
	};
	const bool here = !frame->moved && tp_ended_is_here(profile, &here_only);
	struct tp_node *node = &profile->nodes[frame->node];
	int64_t left;
	const struct tp_net net = tp_ended_net(profile, node, &here_only, here, &left);
	const struct tp_net whole = {
	    net.inclusive + before.net + before.self, net.self + before.self};
	const uint64_t chosen = tp_profile_chosen(profile, whole.inclusive, &sum);
	frame->net = 0;
	if (frame->moved)
		tp_moves_drop(stack->member->moves, frame->moved);
	caller->cost += out;
	if (stack->quiet)
		return;
	if (chosen < stack->least) {
		// Calls inside that are not dropped, as less was taken off them, are the caller's.
		caller->children += frame->children;
		caller->net += here_only.net;
		caller->cost += frame->cost + in;
		caller->looked += frame->looked;
		if (profile->dropped)
			profile->dropped[frame->node]++;
		pass_off(stack, caller, frame, &off);
		return;
	}
	tp_node_owe(profile, node, here, left);
	caller->children += here_only.inclusive;
	caller->net += net.inclusive;
	tp_frame_add_inner_off(stack, caller, &off);
	if (profile->waited)
		profile->waited[frame->node] += frame->looked;
	if (!stack->only_calls) {
		const bool is_more = node->name == TP_NAME_MORE;
		const uint64_t own =
		    is_more ? tp_profile_chosen(profile, whole.self, &all.own) : chosen;
		tp_node_add(node, tp_node_net(node, net), own);
		tp_histogram_add_bucket(
		    &node->times, tp_profile_bucket(profile, own), &profile->pool);
	}
	if (!stack->sink || !stack->sink->leave)
		return;
	const struct tp_call call = {
	    .id = id,
	    .parent = stack->depth > 1 ? tp_frame_id(stack, caller) : 0,
	    .start = frame->began > stack->from ? frame->began : stack->from,
	    .end = time,
	    .duration = here_only.inclusive + before.duration,
	    .self = tp_ended_self(&here_only) + before.self,
	    .net = whole,
	    .chosen = chosen,
	    .off = sum,
	    .self_off = all.own,
	    .node = frame->node,
	    .depth = stack->depth,
	    .away = stack->parked,
	    .how = stack->how,
	};
	stack->sink->leave(stack->sink->context, &call);
}
