// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The stacks of one thread: which one it runs on, RESYNC records, and stacks that come from other
// threads.
#include "stack_steps.h"

#include <stdlib.h>

#define CONTEXT_FRAMES_AT_FIRST 4
// Of calls that have moved here: a hostile trace could make it search a deep stack again and again.
#define MOVED_SEARCH_MAX 4096

// Put what the stack is into *context, and take *with instead.
static void exchange(
    struct tp_stack *stack, struct tp_context *context, const struct tp_context *with)
{
	const struct tp_context now = {
	    .frames = stack->frames,
	    .depth = stack->depth,
	    .capacity = stack->capacity,
	    .away = stack->away,
	    .since = stack->since,
	    .named = stack->named,
	    .left_at = stack->left_at,
	    .outer = stack->outer,
	    .foreign = stack->foreign,
	};
	stack->frames = with->frames;
	stack->depth = with->depth;
	stack->capacity = with->capacity;
	stack->away = with->away;
	stack->since = with->since;
	stack->named = with->named;
	stack->left_at = with->left_at;
	stack->outer = with->outer;
	stack->foreign = with->foreign;
	stack->frames[0].children += now.frames[0].children;
	stack->frames[0].net += now.frames[0].net;
	tp_frame_take_off(stack, &now.frames[0]); // of the thread itself: of no use
	now.frames[0].children = now.frames[0].net = 0;
	*context = now;
}

// Tell the sink that the open calls pause, the innermost first, or go on, the outermost first.
static void tell_pause(struct tp_stack *stack, bool goes_on, uint64_t time)
{
	const struct tp_call_sink *sink = stack->sink;
	void (*const tell)(void *, uint32_t, uint64_t) = !sink || stack->quiet ? NULL
							 : goes_on             ? sink->resume
									       : sink->pause;
	for (uint32_t i = 1; tell && i < stack->depth; i++)
		tell(sink->context, stack->frames[goes_on ? i : stack->depth - i].node, time);
}

// Go on in *with. Keep the stack so far if the thread may return to something in it.
static bool go_to(struct tp_stack *stack, const struct tp_context *with, uint64_t time)
{
	struct tp_context was;
	const bool known = stack->named % 8 == TEEPERF_POSITION_BETWEEN ||
			   (stack->member && stack->left && stack->left_at);
	if (!stack->left) {
		stack->left_at = 0;
		stack->since = time;
		tell_pause(stack, false, time);
	}
	stack->left = false;
	exchange(stack, &was, with);
	if ((was.depth > 1 || known) && tp_contexts_add(&stack->contexts, &was))
		return true;
	// Without memory these calls are lost, and so is the analysis.
	free(was.frames);
	return was.depth == 1 && !known;
}

// A stack of which nothing is known. Without memory its frames are NULL.
static struct tp_context fresh_context(const struct tp_stack *stack, bool foreign)
{
	struct tp_context fresh = {
	    .frames = calloc(CONTEXT_FRAMES_AT_FIRST, sizeof(struct tp_frame)),
	    .depth = 1,
	    .capacity = CONTEXT_FRAMES_AT_FIRST,
	    .named = TP_CONTEXT_UNNAMED,
	    .foreign = foreign,
	};
	if (fresh.frames)
		fresh.frames[0].node = stack->base;
	return fresh;
}

static bool begin_context(struct tp_stack *stack, bool foreign, uint64_t time)
{
	const struct tp_context fresh = fresh_context(stack, foreign);
	return fresh.frames && go_to(stack, &fresh, time);
}

static void come_back(struct tp_stack *stack, uint64_t time)
{
	stack->left = false;
	stack->left_at = 0;
	stack->away += time - stack->since;
	tell_pause(stack, true, time);
}

// ---- stacks that come from other threads

// As if the calls of this stack had begun when the range of time does. (When they did tells until
// when their functions were recorded.)
void tp_frames_begin(
    const struct tp_stack *stack, struct tp_frame *frames, uint32_t depth, uint64_t start)
{
	frames[0].children = frames[0].net = 0;
	for (uint32_t i = 1; i < depth; i++) {
		frames[i].start = start;
		frames[i].children = frames[i].cost = frames[i].net = frames[i].looked = 0;
		if (frames[i].moved) {
			struct tp_moved_call *call = &stack->member->moves->calls[frames[i].moved];
			call->duration = call->self = call->net = 0;
		}
	}
}

/*
 * The calls of a stack that FROM has left: what they took there is FROM's, and what they take from
 * now on is that of TO, in whose profile they are on the same path. With a least time it is not
 * known yet which of them count: there a call is TO's with all its time. False: no memory.
 */
static bool carry(
    struct tp_stack *from, struct tp_context *context, struct tp_stack *to, uint64_t time)
{
	struct tp_moves *moves = to->member->moves;
	const bool sums = !from->quiet && !from->least;
	// The thread left it before the range of time began, and FROM has not reached that range
	// yet.
	const bool early = from->quiet && !to->quiet;
	const uint64_t now = context->since - context->away;
	for (uint32_t i = context->depth; i-- > 1;) {
		struct tp_frame *frame = &context->frames[i];
		const uint64_t period = now > frame->start ? now - frame->start : 0;
		const uint64_t self = frame->children < period ? period - frame->children : 0;
		const uint32_t moved = frame->moved ? frame->moved : tp_moves_add(moves);
		from->profile->functions[frame->function].active--;
		if (!moved)
			return false;
		if (frame->name)
			moves->calls[moved].name = frame->name;
		frame->moved = moved;
		frame->name = 0;
		frame->start = sums ? time : time - period;
		const struct tp_frame_off off = tp_frame_take_off(from, frame);
		if (!sums) {
			moves->calls[moved].carried = off;
			from->no_memory |=
			    !tp_profile_take_off(from->profile, frame->node, &off.own);
			continue;
		}
		tp_frame_off_add(&moves->calls[moved].off, &off);
		tp_frame_add_inner_off(from, &context->frames[i - 1], &off);
		if (!from->only_calls) {
			from->profile->nodes[frame->node].inclusive += self + frame->net;
			from->profile->nodes[frame->node].self += self;
		}
		moves->calls[moved].duration += period;
		moves->calls[moved].self += self;
		moves->calls[moved].net += frame->net;
		// What recording has cost comes off the time here (tp_ended_net).
		struct tp_frame *caller = i > 1 ? &context->frames[i - 1] : &from->frames[0];
		caller->children += period;
		caller->net += self + frame->net;
		frame->children = frame->net = 0;
	}
	if (early)
		tp_frames_begin(to, context->frames, context->depth, time);
	uint32_t node = to->base;
	context->frames[0].node = node;
	for (uint32_t i = 1; i < context->depth; i++) {
		struct tp_frame *frame = &context->frames[i];
		struct tp_moved_call *call = &moves->calls[frame->moved];
		const struct tp_edge *edge = tp_profile_edge(to->profile, node, call->name);
		if (!edge)
			return false;
		frame->function = tp_profile_callee(to->profile, edge, call->name);
		to->profile->functions[frame->function].active++;
		frame->node = node = edge->node;
		if (tp_frame_off_any(&call->carried) &&
		    (!tp_frame_add_off(to, frame, &call->carried) ||
			!tp_profile_add_off(to->profile, node, &call->carried.own)))
			return false;
		call->carried = (struct tp_frame_off){0};
		call->id = TP_CALL_MOVED | to->member->arrived++;
	}
	tp_frame_take_off(from, &context->frames[0]);
	context->named = TP_CONTEXT_UNNAMED;
	context->away = 0;
	context->since = time;
	return true;
}

// Take the stack that FROM left by the record at POSITION. *found: there is one. False: no memory.
static bool take(struct tp_stack *from, uint64_t position, struct tp_context *taken, bool *found)
{
	*found = false;
	if (from->left && from->left_at == position) {
		struct tp_context fresh = fresh_context(from, false);
		fresh.since = from->since;
		if (!fresh.frames)
			return false;
		exchange(from, taken, &fresh);
		*found = true;
		return true;
	}
	const uint32_t index = tp_contexts_find_left(&from->contexts, position);
	if (index)
		*taken = tp_contexts_take(&from->contexts, index);
	*found = index != 0;
	return true;
}

// The stack runs on that was left by this departure. False: no memory.
static bool arrive(struct tp_stack *stack, uint64_t departure, uint64_t time)
{
	const uint64_t position = TEEPERF_DEPARTURE_POSITION(departure);
	struct tp_member *source =
	    stack->member && position
		? tp_moves_member(stack->member->moves, departure >> TEEPERF_DEPARTURE_SHIFT)
		: NULL;
	stack->arrives = true;
	if (departure && departure == stack->outer && !stack->left) {
		// An inner call has reported it already.
		stack->outer = 0;
		return true;
	}
	stack->counts.moved++;
	if (source && source->stack == stack && stack->left && stack->left_at == position) {
		come_back(stack, time);
		return true;
	}
	struct tp_context taken;
	bool found = false;
	if (source && !source->stack->over && !take(source->stack, position, &taken, &found))
		return false;
	if (!found) {
		stack->counts.apart++;
		return begin_context(stack, true, time);
	}
	if (source->stack != stack && !carry(source->stack, &taken, stack, time)) {
		free(taken.frames);
		return false;
	}
	if (!go_to(stack, &taken, time))
		return false;
	come_back(stack, time);
	return true;
}

// ---- resyncs

// Go on in the stack on which the activation at POSITION, of function NAME, is open. *found: there
// is one.
static bool go_to_position(
    struct tp_stack *stack, uint32_t name, uint64_t position, uint64_t time, bool *found)
{
	struct tp_contexts *contexts = &stack->contexts;
	uint32_t index = tp_contexts_find(contexts, position);
	if (index && position % 8 != TEEPERF_POSITION_BETWEEN) {
		const struct tp_context *context = &contexts->items[index];
		const uint32_t at = tp_frames_find(context->frames, context->depth, position);
		// That it is not open there may be a loss of its enter record.
		if (at < context->depth && context->frames[at].position == position &&
		    context->frames[at].name != name)
			index = 0;
	}
	if (!index && position % 8 == 0)
		index = tp_contexts_search(contexts, position, name);
	*found = index != 0;
	if (!index)
		return true;
	const struct tp_context taken = tp_contexts_take(contexts, index);
	if (!go_to(stack, &taken, time))
		return false;
	come_back(stack, time);
	return true;
}

// The calls of all stacks end, those of the current one at TIME; returns how many they are.
uint64_t tp_stack_end_all(struct tp_stack *stack, uint64_t time)
{
	uint64_t count = 0;
	if (stack->left)
		time = stack->since;
	stack->parked = stack->left;
	for (;;) {
		count += stack->depth - 1;
		while (stack->depth > 1)
			tp_frames_pop(stack, time);
		if (!stack->contexts.newest)
			break;
		const struct tp_context next =
		    tp_contexts_take(&stack->contexts, stack->contexts.newest);
		struct tp_context was;
		exchange(stack, &was, &next);
		free(was.frames);
		time = stack->since;
		stack->parked = true;
	}
	stack->left = stack->foreign = stack->parked = false;
	stack->away = 0;
	stack->named = TP_CONTEXT_UNNAMED;
	return count;
}

static bool is_at(const struct tp_stack *stack, uint32_t frame, uint64_t position)
{
	return frame < stack->depth && stack->frames[frame].position == position;
}

/*
 * The first frame that did not begin before the activation at POSITION, of function NAME. Calls
 * that have moved here are below all others, and have the positions of other threads: with the
 * name, nothing else is like them. *open: it is that activation's.
 */
static uint32_t find_activation(
    const struct tp_stack *stack, uint32_t name, uint64_t position, bool *open)
{
	const uint32_t low = tp_frames_find(stack->frames, stack->depth, position);
	*open = is_at(stack, low, position);
	if ((*open && stack->frames[low].name == name) || stack->depth == 1 ||
	    !stack->frames[1].moved)
		return low;
	uint32_t top = tp_frames_find(stack->frames, stack->depth, 0);
	for (uint32_t left = MOVED_SEARCH_MAX; top-- > 1 && left; left--)
		if (stack->frames[top].position == position &&
		    stack->member->moves->calls[stack->frames[top].moved].name == name) {
			*open = true;
			return top;
		}
	return low;
}

/*
 * The activation whose enter record is at POSITION runs on. First go to its stack, if that is
 * another one; all that began later on it has ended, whether that activation is open or not: it may
 * have begun while recording was switched off, or before, or be one that was not sampled. False: no
 * memory.
 */
bool tp_stack_resync(struct tp_stack *stack, uint32_t name, uint64_t position, uint64_t time)
{
	bool open;
	uint32_t low = find_activation(stack, name, position, &open);
	bool here = open || position == stack->named;
	if (!here && position != TEEPERF_POSITION_OFF && stack->contexts.live &&
	    !go_to_position(stack, name, position, time, &here))
		return false;
	if (stack->left && here)
		come_back(stack, time);
	else if (stack->left && !begin_context(stack, false, time))
		return false;
	low = find_activation(stack, name, position, &open);
	// An activation that was not sampled has no record, and a position between two.
	const bool early = position == TEEPERF_POSITION_OFF ||
			   (low == 1 && (stack->switched || stack->forked || stack->overwritten)) ||
			   position % 8 == TEEPERF_POSITION_BETWEEN ||
			   (stack->selected && tp_selected_find(stack->selected, name));
	if (open ? stack->frames[low].name != name && stack->frames[low].name : !early)
		stack->counts.unknown_resyncs++;
	stack->how = TP_CALL_UNWOUND;
	while (stack->depth > low + open)
		tp_frames_pop(stack, time);
	stack->how = TP_CALL_RETURNED;
	// A part of a thread may not know what has ended.
	stack->profile->debts += !open || position < stack->profile->window;
	stack->named = position == TEEPERF_POSITION_OFF ? TP_CONTEXT_UNNAMED : position;
	return true;
}

// A record of kind RESYNC at PLACE, with the WORD that follows it. False: no memory.
bool tp_stack_change(
    struct tp_stack *stack, uint32_t name, uint64_t word, uint64_t time, uint64_t place)
{
	const uint64_t position = word & ~TEEPERF_POSITION_LEAVES;
	const uint64_t departure = stack->departure;
	const uint64_t before = stack->left ? stack->left_at : 0;
	stack->departure = 0;
	if (word == TEEPERF_POSITION_ELSEWHERE)
		return arrive(stack, departure, time);
	if (position && !tp_stack_resync(stack, name, position, time))
		return false;
	if (word & TEEPERF_POSITION_LEAVES) {
		stack->outer =
		    before && stack->member ? TEEPERF_DEPARTURE(stack->member->home, before) : 0;
		stack->left = stack->leaves = true;
		stack->left_at = place;
		stack->since = time;
		stack->edge = 0;
		tell_pause(stack, false, time);
	}
	return true;
}

// An enter or exit where the thread has left its stack. False: no memory.
bool tp_stack_settle_left(struct tp_stack *stack, uint32_t kind, uint64_t time)
{
	if (kind == TEEPERF_KIND_ENTER) {
		stack->counts.contexts++;
		return begin_context(stack, false, time);
	}
	// The record that would tell the stack is lost.
	if (kind == TEEPERF_KIND_EXIT)
		come_back(stack, time);
	return true;
}
