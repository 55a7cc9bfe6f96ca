// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which records count: gaps, the range of time, functions that were left out, and the thread's end,
// where calls end without a record.
#include "stack_steps.h"

#include <stdlib.h>

void tp_stack_set_range(struct tp_stack *stack, uint64_t from, uint64_t to)
{
	stack->special = true;
	stack->quiet = from != 0;
	stack->from = from;
	stack->to = to > from ? to : from;
	stack->edge = tp_stack_next_edge(stack);
}

void tp_stack_set_least(struct tp_stack *stack, uint64_t least)
{
	stack->special = true;
	stack->least = least;
}

void tp_stack_set_sink(struct tp_stack *stack, struct tp_call_sink *sink)
{
	stack->special = true;
	stack->sink = sink;
}

void tp_stack_set_gaps(struct tp_stack *stack, const struct tp_gaps *gaps, bool timeless)
{
	if (timeless) {
		stack->switched = gaps->count != 0;
		return;
	}
	stack->gaps = *gaps;
	stack->in_gap = gaps->count && gaps->items[0].from == 0;
	stack->edge = tp_stack_next_edge(stack);
}

// Go on in the list of gaps up to TIME, ending calls where a gap begins.
static void cross(struct tp_stack *stack, uint64_t time)
{
	while (stack->gap < stack->gaps.count) {
		const struct tp_gap *gap = &stack->gaps.items[stack->gap];
		if (!stack->in_gap) {
			if (time < gap->from)
				return;
			tp_frames_end_pending(stack, gap->from);
			stack->how = TP_CALL_CUT;
			stack->counts.cut +=
			    tp_stack_end_all(stack, gap->from) + stack->waiting_enters;
			stack->how = TP_CALL_RETURNED;
			stack->waiting_enters = 0;
			stack->in_gap = true;
		}
		if (time < gap->to)
			return;
		stack->in_gap = false;
		stack->switched = true;
		stack->gap++;
	}
}

// The range of time begins. What ended or waits from before does not count.
static void begin_range(struct tp_stack *stack)
{
	cross(stack, stack->from);
	tp_frames_end_pending(stack, stack->from);
	stack->waiting_exits = stack->waiting_enters = 0;
	stack->lost -= stack->counts.lost < stack->lost ? stack->counts.lost : stack->lost;
	stack->counts = (struct tp_stack_counts){0};
	stack->quiet = false;
	stack->first = stack->from;
	if (stack->left)
		stack->since = stack->from;
	tp_frames_begin(stack, stack->frames, stack->depth, stack->from - stack->away);
	for (uint32_t i = stack->contexts.newest; i; i = stack->contexts.items[i].older) {
		struct tp_context *context = &stack->contexts.items[i];
		context->since = stack->from;
		tp_frames_begin(
		    stack, context->frames, context->depth, stack->from - context->away);
	}
	const struct tp_call_sink *sink = stack->sink;
	for (uint32_t i = 1; sink && sink->enter && !stack->left && i < stack->depth; i++)
		sink->enter(
		    sink->context, stack->frames[i].position, stack->frames[i].node, stack->from);
}

// The range of time ends, and with it all calls.
static void end_range(struct tp_stack *stack)
{
	cross(stack, stack->to);
	tp_frames_end_pending(stack, stack->to);
	stack->how = TP_CALL_CUT;
	tp_stack_end_all(stack, stack->to);
	stack->last = stack->to;
	stack->over = true;
}

bool tp_stack_settle_slowly(struct tp_stack *stack, uint64_t time)
{
	if (stack->quiet && time >= stack->from)
		begin_range(stack);
	if (time >= stack->to && !stack->quiet) {
		end_range(stack);
		return false;
	}
	const uint32_t gap = stack->gap;
	const bool was_in_gap = stack->in_gap;
	cross(stack, time);
	if (stack->in_gap)
		stack->counts.dropped += stack->waiting_exits;
	else if (was_in_gap || gap != stack->gap)
		stack->counts.early += stack->waiting_exits;
	else
		stack->counts.unmatched_exits += stack->waiting_exits;
	stack->counts.unmatched_enters += stack->waiting_enters;
	stack->waiting_exits = stack->waiting_enters = 0;
	tp_frames_end_pending(stack, time);
	stack->edge = tp_stack_next_edge(stack);
	return !stack->in_gap;
}

/*
 * The calls on top of which the function was left out before TIME end there, or, if something that
 * they called ran on, with that: they have no exit. Such calls below others end when these have.
 * False: no memory.
 */
bool tp_stack_end_closed(struct tp_stack *stack, struct tp_stack_place *at, uint64_t time)
{
	while (stack->depth > 1 && !stack->left) {
		// Calls that have ended without a time have one now.
		const uint64_t below =
		    stack->pending
			? tp_frame_closes(stack, &stack->frames[stack->depth - 1 - stack->pending])
			: UINT64_MAX;
		uint64_t end = tp_frame_closes(stack, &stack->frames[stack->depth - 1]);
		end = below < end ? below : end;
		end = end < at->last ? at->last : end;
		// Where a gap or the range of time begins or ends, more has to be done first.
		if (end > time || end >= tp_stack_next_bound(stack))
			return true;
		tp_stack_look(stack, end - at->last);
		if (end >= stack->off_edge && !tp_stack_look_off(stack, at->last, end))
			return false;
		at->last = end;
		tp_frames_end_pending(stack, end);
		if (stack->depth == 1 ||
		    tp_frame_closes(stack, &stack->frames[stack->depth - 1]) > end)
			continue;
		stack->how = TP_CALL_CUT;
		tp_frames_pop(stack, end);
		stack->how = TP_CALL_RETURNED;
		stack->counts.left_out++;
	}
	return true;
}

// Whether it is known what the thread did after its last record: it was still where that left it.
static bool lives_on(const struct tp_stack *stack)
{
	return stack->started && !stack->ended && stack->until > stack->last &&
	       stack->counts.lost >= stack->lost;
}

// For who asks where the thread was at the end.
static void keep_open(struct tp_stack *stack)
{
	const uint32_t count = stack->left ? 0 : stack->depth - 1;
	stack->open = count ? malloc(count * sizeof(*stack->open)) : NULL;
	stack->no_memory |= count && !stack->open;
	stack->open_count = stack->open ? count : 0;
	for (uint32_t i = 0; i < stack->open_count; i++)
		stack->open[i] =
		    (struct tp_open_call){stack->frames[i + 1].began, stack->frames[i + 1].node};
}

void tp_stack_finish(struct tp_stack *stack)
{
	if (stack->over)
		return;
	// A thread that is silent when recording is switched off is still in its calls there.
	const bool silent = stack->gap < stack->gaps.count && !stack->in_gap;
	const uint64_t off_from = silent ? stack->gaps.items[stack->gap].from : 0;
	const bool still_open =
	    silent && !stack->ended && (stack->depth > 1 || stack->contexts.live);
	const bool before = stack->quiet && stack->last < stack->from;
	const bool alive = !silent && !stack->in_gap && lives_on(stack);
	const bool goes_on = still_open || (alive && stack->until > stack->from);
	struct tp_stack_place end = {.last = stack->last};
	// What its selection ends before the range is not of it.
	if (before && goes_on && stack->selected)
		stack->no_memory |= !tp_stack_end_closed(stack, &end, stack->from);
	if (before && (!goes_on || (silent && off_from <= stack->from) ||
			  (stack->depth == 1 && !stack->contexts.live))) {
		tp_stack_end_all(stack, stack->last);
		stack->counts = (struct tp_stack_counts){0};
		stack->started = false;
		return;
	}
	if (silent && !tp_stack_look_off(stack, stack->last, off_from))
		stack->no_memory = true;
	if (before) {
		begin_range(stack);
		stack->last = stack->from;
	}
	end.last = stack->last;
	stack->no_memory |= stack->selected && !tp_stack_end_closed(stack, &end, stack->last);
	tp_stack_settle_slowly(stack, stack->last);
	// A thread that is silent when its calls' functions are left out is still running there;
	// the end of the range, if that comes first, ends them.
	if (stack->selected && !stack->ended && !stack->in_gap) {
		stack->no_memory |= !tp_stack_end_closed(stack, &end, UINT64_MAX - 1);
		stack->last = end.last;
		if (stack->depth > 1 && !stack->left &&
		    tp_frame_is_closed(stack, &stack->frames[stack->depth - 1], UINT64_MAX - 1) &&
		    tp_stack_next_bound(stack) == stack->to) {
			end_range(stack);
			return;
		}
	}
	const bool open = stack->depth > 1 || stack->contexts.live;
	if (open && !stack->ended && stack->gap < stack->gaps.count && !stack->in_gap) {
		if (stack->gaps.items[stack->gap].from >= stack->to) {
			end_range(stack);
			return;
		}
		cross(stack, stack->gaps.items[stack->gap].from);
		return;
	}
	if (alive && stack->until > stack->last) {
		stack->no_memory |= !tp_stack_look_off(stack, stack->last, stack->until);
		if (stack->until >= stack->to) {
			end_range(stack);
			return;
		}
		stack->last = stack->until;
	}
	for (uint32_t i = stack->contexts.newest; i; i = stack->contexts.items[i].older)
		stack->counts.left += stack->contexts.items[i].depth > 1;
	stack->counts.left += stack->left && stack->depth > 1;
	// Those whose function was left out later may have returned unseen.
	uint64_t left_out = 0;
	for (uint32_t i = 1; stack->selected && i < stack->depth; i++)
		left_out += tp_frame_closes(stack, &stack->frames[i]) != UINT64_MAX;
	stack->counts.left_out += left_out;
	stack->counts.open -= left_out;
	keep_open(stack);
	stack->how = TP_CALL_OPEN;
	stack->counts.open += tp_stack_end_all(stack, stack->last);
}
