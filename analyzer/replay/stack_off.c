// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which of the open calls of a stack had no processor, and for how long. A thread makes no records
// then, so each stretch lies between two of them, and is the own time of the call that is on top.
#include "stack.h"

#include "common/array.h"

void tp_stack_set_off(struct tp_stack *stack, const struct tp_off_list *off)
{
	stack->off = off ? *off : (struct tp_off_list){0};
	stack->off_at = 0;
	stack->off_edge = stack->off.count ? 0 : UINT64_MAX;
}

bool tp_frame_add_off(
    struct tp_stack *stack, struct tp_frame *frame, const struct tp_frame_off *off)
{
	if (!frame->off) {
		const uint32_t free = stack->frame_off_free;
		const uint32_t next = stack->frame_off_count ? stack->frame_off_count : 1;
		if (!free &&
		    !TP_GROW(stack->frame_offs, stack->frame_off_capacity, next + UINT64_C(1)))
			return false;
		frame->off = free ? free : next;
		if (free)
			stack->frame_off_free = stack->frame_offs[free].next;
		else
			stack->frame_off_count = next + 1;
		stack->frame_offs[frame->off] = (struct tp_frame_off){0};
	}
	tp_frame_off_add(&stack->frame_offs[frame->off], off);
	return true;
}

struct tp_frame_off tp_frame_take_off(struct tp_stack *stack, struct tp_frame *frame)
{
	struct tp_frame_off off = {0};
	if (!frame->off)
		return off;
	off = stack->frame_offs[frame->off];
	stack->frame_offs[frame->off].next = stack->frame_off_free;
	stack->frame_off_free = frame->off;
	frame->off = 0;
	return off;
}

void tp_stack_skip_off(struct tp_stack *stack, uint64_t time)
{
	while (stack->off_at < stack->off.count && stack->off.items[stack->off_at].to <= time)
		stack->off_at++;
	stack->off_edge =
	    stack->off_at < stack->off.count ? stack->off.items[stack->off_at].from : UINT64_MAX;
}

bool tp_stack_look_off(struct tp_stack *stack, uint64_t last, uint64_t time)
{
	const bool has_gap = stack->gap < stack->gaps.count;
	uint64_t to = time < stack->to ? time : stack->to;
	if (has_gap && stack->gaps.items[stack->gap].from < to)
		to = stack->gaps.items[stack->gap].from;
	if (stack->quiet && last < stack->from)
		last = stack->from;
	bool ok = true;
	if (!stack->in_gap && !stack->left && last < to) {
		const struct tp_frame_off off = {
		    .own = tp_off_between(&stack->off, &stack->off_at, last, to)};
		// Calls that ended without a time end where a range of times begins.
		const uint32_t ended = stack->quiet ? stack->pending : 0;
		struct tp_frame *top = &stack->frames[stack->depth - 1 - ended];
		if (off.own.blocked || off.own.preempted) {
			ok = tp_frame_add_off(stack, top, &off) &&
			     tp_profile_add_off(stack->profile, top->node, &off.own);
		}
	}
	tp_stack_skip_off(stack, time);
	return ok;
}
