// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Replays the records of one thread as calls.
// In: the words of its chunks. Out: struct tp_profile, and the calls for a sink.
// One thread uses it. The quick way is in stack_usual.c, parts of a thread are in stack_part.c.
// One file: its seven parts passed the same struct round, and nobody could read one alone.
#include "stack.h"

#include "analyzer/trace/tracefile.h"
#include "common/array.h"
#include "common/err.h"

#include <stdlib.h>
#include <string.h>
#include <teeperf/log.h>

#define FRAMES_AT_FIRST 256
// Of a thread with several stacks, an exit that does not match looks so far down: a hostile trace
// could make it search a deep stack again and again.
#define CONTEXT_SEARCH_MAX 1000
#define CONTEXT_FRAMES_AT_FIRST 4
// Of calls that have moved here: a hostile trace could make it search a deep stack again and again.
#define MOVED_SEARCH_MAX 4096

int tp_stack_init(struct tp_stack *stack, struct tp_profile *profile)
{
	*stack = (struct tp_stack){
	    .profile = profile,
	    .frames = calloc(FRAMES_AT_FIRST, sizeof(*stack->frames)),
	    .depth = 1,
	    .edge = UINT64_MAX,
	    .off_edge = UINT64_MAX,
	    .to = UINT64_MAX,
	    .named = TP_CONTEXT_UNNAMED,
	    .capacity = FRAMES_AT_FIRST,
	};
	return stack->frames ? 0 : TP_ERR_MEMORY;
}

bool tp_stack_set_selected(struct tp_stack *stack, const struct tp_selected_names *names)
{
	stack->selected = names->count ? calloc(1, sizeof(*stack->selected)) : NULL;
	if (stack->selected)
		stack->selected->names = names;
	return stack->selected || !names->count;
}

bool tp_stack_set_attached(struct tp_stack *stack)
{
	stack->base = tp_profile_child(stack->profile, 0, TP_NAME_ATTACHED);
	stack->frames[0].node = stack->base;
	return stack->base != 0;
}

void tp_stack_settle(struct tp_stack *stack)
{
	const struct tp_profile *profile = stack->profile;
	profile->nodes[0].inclusive = stack->frames[0].net;
	if (!stack->base)
		return;
	profile->nodes[stack->base].inclusive = stack->frames[0].net;
	if (profile->waited)
		profile->waited[stack->base] = 0;
	tp_profile_forget_parts(stack->profile, stack->base);
}

void tp_stack_release(struct tp_stack *stack)
{
	tp_call_counts_release(&stack->calls);
	tp_contexts_release(&stack->contexts);
	free(stack->selected);
	stack->selected = NULL;
	free(stack->frame_offs);
	free(stack->frames);
	free(stack->open);
	stack->open = NULL;
	stack->frame_offs = NULL;
	stack->frames = NULL;
}

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

void tp_stack_set_off(struct tp_stack *stack, const struct tp_off_list *off)
{
	stack->off = off ? *off : (struct tp_off_list){0};
	stack->off_at = 0;
	stack->off_edge = stack->off.count ? 0 : UINT64_MAX;
}

// ---- open calls without a processor

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

// ---- calls begin and end

static bool grow(struct tp_stack *stack)
{
	const uint32_t old = stack->capacity;
	if (!TP_GROW(stack->frames, stack->capacity, stack->capacity + UINT64_C(1)))
		return false;
	// Nothing has been added up in frames that are not in use (stack_usual.c).
	memset(&stack->frames[old], 0, (stack->capacity - old) * sizeof(*stack->frames));
	return true;
}

static inline bool push(struct tp_stack *stack, uint32_t name, uint64_t time, uint64_t position)
{
	if (__builtin_expect(stack->depth == stack->capacity, 0) && !grow(stack))
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

// A call of CALLER's has ended, which had no processor for OFF. Without memory the analysis ends at
// the next record.
static void add_inner_off(
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
static void end_specially(
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
	add_inner_off(stack, caller, &off);
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

/*
 * The call of the topmost frame ended at TIME; its function is not counted as active any more. To
 * record it cost IN parts of its own time, and OUT of its caller's.
 */
static inline void end_top(struct tp_stack *stack, uint64_t time, uint64_t in, uint64_t out)
{
	struct tp_frame *frame = &stack->frames[--stack->depth];
	if (__builtin_expect(stack->special || frame->moved || frame->off, 0)) {
		end_specially(stack, frame, time, in, out);
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

static inline void pop(struct tp_stack *stack, uint64_t time)
{
	struct tp_local_function *function =
	    &stack->profile->functions[stack->frames[stack->depth - 1].function];
	function->active--;
	end_top(stack, time, function->in, function->out);
}

static inline void end_pending(struct tp_stack *stack, uint64_t time)
{
	for (; stack->pending; stack->pending--)
		end_top(stack, time, stack->profile->cost.untimed, 0);
}

/*
 * Until when the function of an open call was recorded. (The name of a call that has moved here is
 * with its function.)
 */
static inline uint64_t closes(const struct tp_stack *stack, const struct tp_frame *frame)
{
	return stack->selected ? tp_selected_span(stack->selected,
				     stack->profile->functions[frame->function].name, frame->began)
				     ->until
			       : UINT64_MAX;
}

/* Whether that was over at TIME: an exit then is another call's. */
static inline bool is_closed(
    const struct tp_stack *stack, const struct tp_frame *frame, uint64_t time)
{
	return stack->selected && closes(stack, frame) <= time;
}

// ---- stacks of the thread

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
static void begin_frames(
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
		add_inner_off(from, &context->frames[i - 1], &off);
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
		begin_frames(to, context->frames, context->depth, time);
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
static uint64_t end_all(struct tp_stack *stack, uint64_t time)
{
	uint64_t count = 0;
	if (stack->left)
		time = stack->since;
	stack->parked = stack->left;
	for (;;) {
		count += stack->depth - 1;
		while (stack->depth > 1)
			pop(stack, time);
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
	const bool early =
	    position == TEEPERF_POSITION_OFF ||
	    (low == 1 && (stack->switched || stack->forked || stack->overwritten)) ||
	    position % 8 == TEEPERF_POSITION_BETWEEN ||
	    (stack->selected && tp_selected_span(stack->selected, name, time)->among);
	if (open ? stack->frames[low].name != name && stack->frames[low].name : !early)
		stack->counts.unknown_resyncs++;
	stack->how = TP_CALL_UNWOUND;
	while (stack->depth > low + open)
		pop(stack, time);
	stack->how = TP_CALL_RETURNED;
	// A part of a thread may not know what has ended.
	stack->profile->debts += !open || position < stack->profile->window;
	stack->named = position == TEEPERF_POSITION_OFF ? TP_CONTEXT_UNNAMED : position;
	return true;
}

// A record of kind RESYNC at PLACE, with the WORD that follows it. False: no memory.
static bool change_stack(
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
static bool settle_left(struct tp_stack *stack, uint32_t kind, uint64_t time)
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

// ---- which records count: gaps, the range of time, functions that were left out

// Go on in the list of gaps up to TIME, ending calls where a gap begins.
static void cross(struct tp_stack *stack, uint64_t time)
{
	while (stack->gap < stack->gaps.count) {
		const struct tp_gap *gap = &stack->gaps.items[stack->gap];
		if (!stack->in_gap) {
			if (time < gap->from)
				return;
			end_pending(stack, gap->from);
			stack->how = TP_CALL_CUT;
			stack->counts.cut += end_all(stack, gap->from) + stack->waiting_enters;
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
	end_pending(stack, stack->from);
	stack->waiting_exits = stack->waiting_enters = 0;
	stack->lost -= stack->counts.lost < stack->lost ? stack->counts.lost : stack->lost;
	stack->counts = (struct tp_stack_counts){0};
	stack->quiet = false;
	stack->first = stack->from;
	if (stack->left)
		stack->since = stack->from;
	begin_frames(stack, stack->frames, stack->depth, stack->from - stack->away);
	for (uint32_t i = stack->contexts.newest; i; i = stack->contexts.items[i].older) {
		struct tp_context *context = &stack->contexts.items[i];
		context->since = stack->from;
		begin_frames(stack, context->frames, context->depth, stack->from - context->away);
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
	end_pending(stack, stack->to);
	stack->how = TP_CALL_CUT;
	end_all(stack, stack->to);
	stack->last = stack->to;
	stack->over = true;
}

static bool settle_slowly(struct tp_stack *stack, uint64_t time)
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
	end_pending(stack, time);
	stack->edge = tp_stack_next_edge(stack);
	return !stack->in_gap;
}

/*
 * The calls on top of which the function was left out before TIME end there, or, if something that
 * they called ran on, with that: they have no exit. Such calls below others end when these have.
 * False: no memory.
 */
static bool end_closed(struct tp_stack *stack, struct tp_stack_place *at, uint64_t time)
{
	while (stack->depth > 1 && !stack->left) {
		// Calls that have ended without a time have one now.
		const uint64_t below =
		    stack->pending
			? closes(stack, &stack->frames[stack->depth - 1 - stack->pending])
			: UINT64_MAX;
		uint64_t end = closes(stack, &stack->frames[stack->depth - 1]);
		end = below < end ? below : end;
		end = end < at->last ? at->last : end;
		// Where a gap or the range of time begins or ends, more has to be done first.
		if (end > time || end >= tp_stack_next_bound(stack))
			return true;
		tp_stack_look(stack, end - at->last);
		if (end >= stack->off_edge && !tp_stack_look_off(stack, at->last, end))
			return false;
		at->last = end;
		end_pending(stack, end);
		if (stack->depth == 1 || closes(stack, &stack->frames[stack->depth - 1]) > end)
			continue;
		stack->how = TP_CALL_CUT;
		pop(stack, end);
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
		stack->no_memory |= !end_closed(stack, &end, stack->from);
	if (before && (!goes_on || (silent && off_from <= stack->from) ||
			  (stack->depth == 1 && !stack->contexts.live))) {
		end_all(stack, stack->last);
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
	stack->no_memory |= stack->selected && !end_closed(stack, &end, stack->last);
	settle_slowly(stack, stack->last);
	// A thread that is silent when its calls' functions are left out is still running there;
	// the end of the range, if that comes first, ends them.
	if (stack->selected && !stack->ended && !stack->in_gap) {
		stack->no_memory |= !end_closed(stack, &end, UINT64_MAX - 1);
		stack->last = end.last;
		if (stack->depth > 1 && !stack->left &&
		    is_closed(stack, &stack->frames[stack->depth - 1], UINT64_MAX - 1) &&
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
		left_out += closes(stack, &stack->frames[i]) != UINT64_MAX;
	stack->counts.left_out += left_out;
	stack->counts.open -= left_out;
	keep_open(stack);
	stack->how = TP_CALL_OPEN;
	stack->counts.open += end_all(stack, stack->last);
}

// ---- untimed exits and gaps

/*
 * A record at TIME follows, and TIME is not below `edge`: give untimed exits their time, and see
 * whether recording was switched. False: the record lies in a gap.
 */
static inline bool settle(struct tp_stack *stack, uint64_t time)
{
	const uint64_t edge = tp_stack_next_edge(stack);
	if (time >= edge || stack->waiting_exits || stack->waiting_enters)
		return settle_slowly(stack, time);
	end_pending(stack, time);
	stack->edge = edge;
	return true;
}

/*
 * Whether a call of FUNCTION that an exit at TIME may end is open below the frame TOP of this
 * stack. Those of a function that was left out meanwhile are below all that began later.
 */
static bool is_open(const struct tp_stack *stack, uint32_t function, uint32_t top, uint64_t time)
{
	// Without `active`, hostile exits would search a deep stack again and again.
	if (!function || !stack->profile->functions[function].active)
		return false;
	if (!stack->contexts.live && !stack->selected)
		return true;
	const uint32_t low = top > CONTEXT_SEARCH_MAX ? top - CONTEXT_SEARCH_MAX : 1;
	while (top > low && stack->frames[top - 1].function != function)
		top--;
	return top > low && !is_closed(stack, &stack->frames[top - 1], time);
}

// Whether a record of NAME at TIME counts. If not, it was on its way when its function was left
// out.
static bool is_selected(const struct tp_stack *stack, uint32_t name, uint64_t time)
{
	return !stack->selected || tp_selected_span(stack->selected, name, time)->on;
}

// An exit of a function that was left out at some time, and no call of it is open: its enter record
// may be missing for that.
static bool came_back(struct tp_stack *stack, uint32_t name)
{
	if (!stack->selected || !tp_selected_span(stack->selected, name, stack->last)->among)
		return false;
	stack->counts.came_back++;
	return true;
}

// An exit of a call that is not open, with TOP frames on the stack: whether the call began before
// what was recorded.
static bool began_before(struct tp_stack *stack, uint32_t top)
{
	struct tp_stack_counts *counts = &stack->counts;
	if (top != 1)
		return false;
	if (stack->foreign)
		return true;
	if (stack->in_gap || !(stack->switched || stack->forked || stack->overwritten))
		return false;
	*(stack->switched   ? &counts->early
	    : stack->forked ? &counts->forked
			    : &counts->overwritten) += 1;
	return true;
}

// An exit without a time of a function that is not on top.
static void untimed_below(struct tp_stack *stack, uint32_t name)
{
	struct tp_profile *profile = stack->profile;
	const uint32_t function = tp_profile_function(profile, name);
	const uint32_t top = stack->depth - stack->pending;
	if (!is_open(stack, function, top, stack->last)) {
		stack->waiting_exits += !came_back(stack, name) && !began_before(stack, top);
		return;
	}
	for (bool found = false; !found;) {
		const uint32_t ended = stack->frames[stack->depth - ++stack->pending].function;
		profile->functions[ended].active--;
		profile->functions[ended].untimed = true;
		found = ended == function;
		if (!found &&
		    is_closed(stack, &stack->frames[stack->depth - stack->pending], stack->last))
			stack->counts.left_out++;
		else
			stack->waiting_enters += !found;
	}
}

static inline void untimed_exit(struct tp_stack *stack, uint32_t name)
{
	stack->left = false; // if it was, the record that would tell for which stack is lost
	const struct tp_frame *top = &stack->frames[stack->depth - stack->pending - 1];
	if (__builtin_expect(top->name == name, 1)) {
		struct tp_local_function *function = &stack->profile->functions[top->function];
		function->active--;
		function->untimed = true;
		stack->pending++;
	} else {
		untimed_below(stack, name);
	}
	stack->edge = 0;
}

// ---- odd records

// An exit of a function that is not on top.
static void exit_below(struct tp_stack *stack, uint32_t name, uint64_t time)
{
	struct tp_profile *profile = stack->profile;
	const uint32_t function = tp_profile_function(profile, name);
	if (!is_open(stack, function, stack->depth, time)) {
		profile->debts++; // as tp_stack_resync
		stack->counts.unmatched_exits +=
		    !came_back(stack, name) && !began_before(stack, stack->depth);
		return;
	}
	while (stack->frames[stack->depth - 1].function != function) {
		const bool closed = is_closed(stack, &stack->frames[stack->depth - 1], time);
		stack->how = closed ? TP_CALL_CUT : TP_CALL_NO_RETURN;
		pop(stack, time);
		*(closed ? &stack->counts.left_out : &stack->counts.unmatched_enters) += 1;
	}
	stack->how = TP_CALL_RETURNED;
	pop(stack, time);
}

static inline void exit_call(struct tp_stack *stack, uint32_t name, uint64_t time)
{
	if (stack->frames[stack->depth - 1].name == name)
		pop(stack, time);
	else
		exit_below(stack, name, time);
}

bool tp_stack_counts(struct tp_stack *stack, const struct tp_record *record)
{
	if (record->form != TP_RECORD_PAIRS || record->cut)
		return true;
	for (const uint64_t *pair = record->more; pair < record->more + record->more_count;
	     pair += 2) {
		if (!pair[0])
			continue; // not filled in
		if (!tp_call_counts_add(&stack->calls, pair[0], pair[1]))
			return false;
		stack->counts.counted += pair[1];
	}
	return true;
}

bool tp_stack_control(struct tp_stack *stack, const struct tp_record *record, uint64_t last)
{
	switch (record->tagged) {
	case TEEPERF_CONTROL_EMPTY:
		stack->counts.holes++;
		break;
	case TEEPERF_CONTROL_LOST:
		stack->counts.lost += record->value;
		if (stack->sink && stack->sink->lost && !stack->quiet)
			stack->sink->lost(stack->sink->context, record->value, last);
		break;
	case TEEPERF_CONTROL_THREAD_END:
		stack->ended = true;
		break;
	case TEEPERF_CONTROL_FORK:
		stack->forked = true;
		break;
	case TEEPERF_CONTROL_LEFT:
		stack->departure = stack->departure << 32 | record->value;
		break;
	// For who lists them (analyzer/trace/marks.h).
	case TEEPERF_CONTROL_MARK:
	case TEEPERF_CONTROL_PHASE_BEGIN:
		stack->counts.marks++;
		break;
	case TEEPERF_CONTROL_PHASE_END:
		stack->counts.phase_ends++;
		break;
	case TEEPERF_CONTROL_COUNTS:
		if (record->cut && stack->counts.bad_counts++ == 0)
			stack->bad_word = record->at;
		return tp_stack_counts(stack, record);
	default: // all that others read: the module map, who joins traces
		stack->counts.reserved += record->form == TP_RECORD_UNKNOWN;
	}
	return true;
}

// Whether the record of KIND at TIME must wait for other threads that are replayed together with
// this one. The words at AT are those behind it.
static bool must_wait(struct tp_stack *stack, const struct tp_record_cursor *at, uint64_t position,
    uint32_t kind, uint64_t time)
{
	struct tp_member *member = stack->member;
	// Where a gap or the range of time begins or ends, stacks do, whoever has them then.
	const uint64_t bound = tp_stack_next_bound(stack);
	member->position = position;
	member->time = time;
	member->waits_for = NULL;
	member->waits_time = bound <= time ? bound : 0;
	if (kind == TEEPERF_KIND_RESYNC && at->i < at->count &&
	    at->words[at->i] == TEEPERF_POSITION_ELSEWHERE) {
		member->waits_for =
		    tp_moves_member(member->moves, stack->departure >> TEEPERF_DEPARTURE_SHIFT);
		member->waits_position = TEEPERF_DEPARTURE_POSITION(stack->departure);
	}
	if (member->waits_for == member)
		member->waits_for = NULL;
	const bool waits = !tp_member_may_go_on(member);
	member->forced = false;
	return waits;
}

// settle() for record number I of a chunk, whose counts begin anew with the range of time. False:
// the record lies in a gap, or behind the range, which is over.
static bool settle_record(
    struct tp_stack *stack, struct tp_stack_place *at, uint32_t i, uint64_t time)
{
	const bool quiet = stack->quiet;
	const bool goes_on = settle(stack, time);
	if (quiet && !stack->quiet) {
		at->events = 0;
		stack->counts.records = at->words.count - i;
	}
	if (stack->over) {
		stack->counts.records -= at->words.count - i;
		at->last = stack->to;
	}
	return goes_on;
}

// The range of time begins before record number I: calls that end in it without a record are to
// find it begun. False: no memory, or it is over at once.
static bool begin_range_first(struct tp_stack *stack, struct tp_stack_place *at, uint32_t i)
{
	if (!end_closed(stack, at, stack->from) ||
	    (stack->from >= stack->off_edge && !tp_stack_look_off(stack, at->last, stack->from)))
		return false;
	at->last = stack->from;
	settle_record(stack, at, i, stack->from);
	return !stack->over;
}

// Replay the record at hand, whatever it is. False: no memory, or the range of time is over.
// Records of functions are read here: with tp_record_next, a trace without times of exits takes 7 %
// longer.
static bool replay_record(struct tp_stack *stack, struct tp_stack_place *at)
{
	struct tp_record_cursor *words = &at->words;
	const uint32_t tagged = (uint32_t)(words->words[words->i] >> 32);
	if (tagged < TEEPERF_NAME_FIRST) {
		struct tp_record record;
		return tp_record_next(words, &record) && tp_stack_control(stack, &record, at->last);
	}
	const uint32_t i = words->i++;
	const uint64_t position = at->position + (uint64_t)i * 8;
	const uint32_t name = tagged & ~TEEPERF_KIND_MASK;
	const uint32_t kind = tagged & TEEPERF_KIND_MASK;
	if (kind == TEEPERF_KIND_UNTIMED) {
		untimed_exit(stack, name);
		at->events++;
		return true;
	}
	uint64_t time = words->high | (uint32_t)words->words[i];
	if (!stack->started) {
		stack->started = true;
		stack->first = at->last = time;
	}
	if (stack->member &&
	    must_wait(stack, words, position, kind, time < at->last ? at->last : time)) {
		words->i = i;
		stack->blocked = true;
		return true;
	}
	if (time < at->last) {
		stack->counts.backwards++;
		time = at->last;
	}
	if (stack->selected && stack->quiet && time >= stack->from &&
	    !begin_range_first(stack, at, i))
		return false;
	if (stack->selected && !end_closed(stack, at, time))
		return false;
	tp_stack_look(stack, time - at->last);
	if (time >= stack->off_edge && !tp_stack_look_off(stack, at->last, time))
		return false;
	at->last = time;
	if (time >= stack->edge) {
		const bool goes_on = settle_record(stack, at, i, time);
		if (stack->over)
			return false;
		if (!goes_on) {
			stack->counts.dropped++;
			at->events += kind != TEEPERF_KIND_RESYNC;
			words->i += kind == TEEPERF_KIND_RESYNC;
			return true;
		}
	}
	if (stack->left && !settle_left(stack, kind, time))
		return false;
	if (stack->selected && !end_closed(stack, at, time))
		return false;
	if (kind == TEEPERF_KIND_RESYNC) {
		if (words->i < words->count)
			return change_stack(stack, name, words->words[words->i++], time, position);
		stack->counts.unknown_resyncs++;
		return true;
	}
	at->events++;
	if (!is_selected(stack, name, time)) {
		stack->counts.on_way++;
		return true;
	}
	if (kind == TEEPERF_KIND_ENTER)
		return push(stack, name, time, position);
	exit_call(stack, name, time);
	return true;
}

bool tp_stack_push(struct tp_stack *stack, uint32_t name, uint64_t time, uint64_t position)
{
	return push(stack, name, time, position);
}

void tp_stack_exit(struct tp_stack *stack, uint32_t name, uint64_t time)
{
	exit_call(stack, name, time);
}

void tp_stack_unwind(struct tp_stack *stack, uint32_t depth, uint64_t time)
{
	while (stack->depth > depth)
		pop(stack, time);
}

int tp_stack_replay(struct tp_stack *stack, const uint64_t *words, uint32_t count,
    uint64_t first_time, uint64_t position)
{
	struct tp_stack_place at = {
	    tp_records_begin(words, count, first_time), stack->last, 0, position};
	if (stack->over)
		return 0;
	stack->counts.records += count;
	return tp_stack_go_on(stack, &at);
}

int tp_stack_go_on(struct tp_stack *stack, struct tp_stack_place *at)
{
	bool ok = true;
	stack->blocked = false;
	while (ok && at->words.i < at->words.count && !stack->blocked) {
		// A sink alone does not hinder; a range that has not begun, a least time, and times
		// that most calls have nothing of, do.
		if (stack->started && !stack->selected && !stack->slow &&
		    (!stack->special || (stack->sink && !stack->quiet && !stack->least)) &&
		    stack->profile->time <= TP_TIME_CPU)
			tp_stack_replay_usual(stack, at);
		if (at->words.i < at->words.count) {
			stack->unusual++;
			ok = replay_record(stack, at);
		}
	}
	stack->last = at->last;
	stack->counts.events += at->events;
	at->events = 0;
	return (ok || stack->over) && !stack->no_memory ? 0 : TP_ERR_MEMORY;
}
