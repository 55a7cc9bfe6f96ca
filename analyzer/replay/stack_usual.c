// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The records that nearly all are, replayed as fast as memory allows.
#include "stack.h"

/*
 * Calls that have ended wait here for their node to come from memory, and then for the place in its
 * histogram: with many paths both are far away, and a processor that waits for one cannot ask for
 * the next.
 */
#define WAITING 16 // a power of two

struct late_call {
	struct tp_ended call;
	// Where `net` of the calls that it made is added up, NULL if there are none; and that of
	// its caller. Calls come here in the order in which they ended, so when it is the call's
	// turn, those that it made have had theirs, and none of a later one has.
	uint64_t *own;
	uint64_t *caller;
};

struct late {
	struct late_call calls[WAITING];
	uint32_t *counts[WAITING];
	uint32_t call_count;
	uint32_t count_count;
};

static void late_flush_counts(struct late *late)
{
	const uint32_t first = late->count_count > WAITING ? late->count_count - WAITING : 0;
	for (uint32_t i = first; i < late->count_count; i++)
		tp_histogram_count(late->counts[i % WAITING]);
	late->count_count = 0;
}

static inline __attribute__((always_inline)) void late_add(
    struct late *late, struct tp_profile *profile, bool fine, struct late_call *ended)
{
	struct tp_ended *call = &ended->call;
	struct tp_node *node = &profile->nodes[call->node];
	if (ended->own) {
		call->net = *ended->own;
		*ended->own = 0;
	}
	const struct tp_net net =
	    tp_profile_take(profile, node, call, tp_ended_is_here(profile, call), profile->waited);
	*ended->caller += net.inclusive;
	tp_node_add(node, net, net.inclusive);
	const uint32_t bucket = fine ? tp_profile_fine_bucket(profile, net.inclusive)
				     : tp_histogram_bucket(net.inclusive);
	if (__builtin_expect(!tp_histogram_has(&node->times, bucket), 0)) {
		// Counts that wait may be among those that move.
		late_flush_counts(late);
		if (!tp_histogram_begin(&node->times, bucket, &profile->pool))
			return;
	}
	uint32_t **slot = &late->counts[late->count_count % WAITING];
	if (late->count_count++ >= WAITING)
		tp_histogram_count(*slot);
	*slot = &node->times.counts[bucket - node->times.start];
	__builtin_prefetch(*slot, 1);
}

static inline __attribute__((always_inline)) void late_end(
    struct late *late, struct tp_profile *profile, bool fine, const struct late_call *call)
{
	struct late_call *slot = &late->calls[late->call_count % WAITING];
	if (late->call_count++ >= WAITING)
		late_add(late, profile, fine, slot);
	*slot = *call;
}

static void late_flush(struct late *late, struct tp_profile *profile, bool fine)
{
	const uint32_t first = late->call_count > WAITING ? late->call_count - WAITING : 0;
	for (uint32_t i = first; i < late->call_count; i++)
		late_add(late, profile, fine, &late->calls[i % WAITING]);
	late_flush_counts(late);
	late->call_count = 0;
}

// The call of frame TOP has ended.
static void tell_leave(const struct tp_stack *stack, const struct tp_frame *top,
    const struct tp_ended *ended, struct tp_net net, uint64_t time)
{
	const uint32_t depth = (uint32_t)(top - stack->frames);
	const struct tp_call call = {
	    .id = top->position,
	    .parent = depth > 1 ? tp_frame_id(stack, &top[-1]) : 0,
	    .start = top->began > stack->from ? top->began : stack->from,
	    .end = time,
	    .duration = ended->inclusive,
	    .self = tp_ended_self(ended),
	    .net = net,
	    .chosen = net.inclusive,
	    .node = ended->node,
	    .depth = depth,
	};
	stack->sink->leave(stack->sink->context, &call);
}

// What the loop works with, in registers: stores into a profile might change the stack itself, for
// all that the compiler knows, and each record would load it anew.
struct usual {
	struct tp_stack *stack;
	struct tp_profile *profile;
	const struct tp_edge *edges;
	const uint32_t *blocks;
	struct tp_local_function *functions;
	struct tp_frame *top;
	const struct tp_frame *full; // no frame may follow
	struct tp_frame
	    *fresh; // frames from here on were pushed by this loop: `active` does not count them
		    // yet
	uint64_t high;
	uint64_t away;
	uint64_t edge_time; // a time from here on is not usual
	uint32_t block;     // of the edges of the call on top
};

// What kind of loop it is, known when it is compiled.
struct how {
	bool far;   // nodes are far away
	bool tell;  // a sink wants the calls
	bool waits; // the profile has `waited`
	bool fine;  // ... and fine histograms
};

static inline __attribute__((always_inline)) uint64_t usual_look(
    const struct usual *usual, const struct how how, uint64_t ticks)
{
	return how.waits ? tp_profile_look(usual->profile, ticks) : 0;
}

static inline __attribute__((always_inline)) void usual_fetch(
    const struct usual *usual, const struct how how, uint32_t number)
{
	if (!how.far)
		return;
	const struct tp_node *node = &usual->profile->nodes[number];
	__builtin_prefetch(&node->calls, 1);
	__builtin_prefetch(&node->times, 1);
}

// The call of frame TOP, or one that calls nothing, has ended, and was called from CALLER.
static inline __attribute__((always_inline)) struct tp_net usual_end(const struct usual *usual,
    const struct how how, struct late *late, struct tp_ended *call, struct tp_frame *top,
    struct tp_frame *caller, bool here)
{
	struct tp_profile *profile = usual->profile;
	struct tp_net net = {0};
	if (how.far) {
		const struct late_call ended = {*call, top ? &top->net : NULL, &caller->net};
		late_end(late, profile, how.fine, &ended);
		return net;
	}
	if (top) {
		call->net = top->net;
		top->net = 0;
	}
	struct tp_node *node = &profile->nodes[call->node];
	net = tp_profile_take(profile, node, call, here, how.waits);
	caller->net += net.inclusive;
	if (how.tell && usual->stack->only_calls)
		return net;
	tp_node_add(node, net, net.inclusive);
	const uint32_t bucket = how.fine   ? tp_profile_fine_bucket(profile, net.inclusive)
				: how.tell ? tp_profile_bucket(profile, net.inclusive)
					   : tp_histogram_bucket(net.inclusive);
	tp_histogram_add_bucket(&node->times, bucket, &profile->pool);
	return net;
}

// A call at START that calls nothing has ended at END; LAST is the time before it.
static inline __attribute__((always_inline)) void usual_leaf(struct usual *usual,
    const struct how how, struct late *late, const struct tp_edge *edge, uint64_t last,
    uint64_t start, uint64_t end, uint64_t position)
{
	const struct tp_local_function *function = &usual->functions[edge->function];
	struct tp_ended call = {
	    .inclusive = end - start,
	    .cost = function->in,
	    .looked = usual_look(usual, how, end - start),
	    .position = position,
	    .node = edge->node,
	};
	struct tp_frame *top = usual->top;
	if (how.waits)
		top->looked += usual_look(usual, how, start - last);
	top->children += call.inclusive;
	top->cost += function->out;
	usual_fetch(usual, how, call.node);
	usual_end(usual, how, late, &call, NULL, top, true);
}

static inline __attribute__((always_inline)) void usual_push(struct usual *usual,
    const struct how how, const struct tp_edge *edge, uint64_t last, uint64_t time,
    uint64_t position)
{
	if (how.waits)
		usual->top->looked += usual_look(usual, how, time - last);
	usual_fetch(usual, how, edge->node);
	struct tp_frame *top = ++usual->top;
	*top = (struct tp_frame){
	    .position = position,
	    .start = time - usual->away,
	    .began = time,
	    .net = how.far ? top->net : 0, // calls that wait may still add to it, and take it
	    .node = edge->node,
	    .function = edge->function,
	    .name = edge->name,
	};
	usual->block = edge->block;
	if (how.tell && usual->stack->sink->enter)
		usual->stack->sink->enter(usual->stack->sink->context, position, edge->node, time);
}

static inline __attribute__((always_inline)) void usual_pop(
    struct usual *usual, const struct how how, struct late *late, uint64_t last, uint64_t time)
{
	struct tp_frame *top = usual->top;
	struct tp_local_function *function = &usual->functions[top->function];
	struct tp_ended call = {
	    .inclusive = time - usual->away - top->start,
	    .children = top->children,
	    .cost = top->cost + function->in,
	    .looked = top->looked + usual_look(usual, how, time - last),
	    .position = top->position,
	    .node = top->node,
	};
	const bool fresh = top >= usual->fresh;
	const bool here = fresh || tp_ended_is_here(usual->profile, &call);
	const struct tp_net net = usual_end(usual, how, late, &call, top, top - 1, here);
	if (how.tell && usual->stack->sink->leave)
		tell_leave(usual->stack, top, &call, net, time);
	if (__builtin_expect(!fresh, 0)) {
		function->active--;
		usual->fresh = top;
	}
	usual->top = --top;
	top->children += call.inclusive;
	top->cost += function->out;
	usual->block = usual->blocks[top->node];
}

/*
 * Replay records as long as they are the usual ones: enters of known paths, and exits of the call
 * on top. The effect is that of push and pop. A call that calls nothing is two adjacent records
 * with one name, and needs no frame.
 */
static inline __attribute__((always_inline)) void replay_usual(
    struct tp_stack *stack, struct tp_stack_place *at, const struct how how)
{
	struct tp_frame *const top = stack->frames + stack->depth - 1;
	struct usual usual = {
	    .stack = stack,
	    .profile = stack->profile,
	    .edges = stack->profile->edges,
	    .blocks = stack->profile->blocks,
	    .functions = stack->profile->functions,
	    .top = top,
	    .full = stack->frames + stack->capacity - 1,
	    .fresh = top + 1,
	    .high = at->words.high,
	    .away = stack->away,
	    .edge_time = stack->edge < stack->off_edge ? stack->edge : stack->off_edge,
	    .block = stack->profile->blocks[top->node],
	};
	const uint64_t *words = at->words.words;
	const uint32_t count = at->words.count;
	uint64_t last = at->last;
	uint32_t i = at->words.i;
	struct late late;
	late.call_count = late.count_count = 0;
	for (; i < count; i++) {
		const uint64_t word = words[i];
		const uint32_t tagged = (uint32_t)(word >> 32);
		const uint64_t time = usual.high | (uint32_t)word;
		if (__builtin_expect(
			tagged < TEEPERF_NAME_FIRST || time < last || time >= usual.edge_time, 0))
			break;
		if (tagged % 4 == TEEPERF_KIND_ENTER) {
			const struct tp_edge *edge =
			    how.far ? tp_edges_find_far(usual.edges, usual.block, tagged)
				    : tp_edges_find(usual.edges, usual.block, tagged);
			if (__builtin_expect(!edge, 0))
				break;
			const uint64_t next = i + 1 < count ? words[i + 1] : 0;
			const uint64_t end = usual.high | (uint32_t)next;
			if (!how.tell && next >> 32 == (tagged | TEEPERF_KIND_EXIT) &&
			    __builtin_expect(end >= time && end < usual.edge_time, 1)) {
				usual_leaf(&usual, how, &late, edge, last, time, end,
				    at->position + (uint64_t)i * 8);
				last = end;
				i++;
				continue;
			}
			if (__builtin_expect(usual.top == usual.full, 0))
				break;
			usual_push(&usual, how, edge, last, time, at->position + (uint64_t)i * 8);
		} else {
			if (__builtin_expect(
				tagged != (usual.top->name | TEEPERF_KIND_EXIT) || usual.top->off,
				0))
				break;
			usual_pop(&usual, how, &late, last, time);
		}
		last = time;
	}
	if (how.far)
		late_flush(&late, usual.profile, how.fine);
	for (const struct tp_frame *frame = usual.fresh; frame <= usual.top; frame++)
		usual.functions[frame->function].active++;
	at->events += i - at->words.i;
	at->words.i = i;
	at->last = last;
	stack->depth = (uint32_t)(usual.top - stack->frames) + 1;
}

static void replay_far(struct tp_stack *stack, struct tp_stack_place *at)
{
	replay_usual(stack, at, (struct how){.far = true});
}

static void replay_near(struct tp_stack *stack, struct tp_stack_place *at)
{
	replay_usual(stack, at, (struct how){.far = false});
}

static void replay_telling(struct tp_stack *stack, struct tp_stack_place *at)
{
	replay_usual(stack, at, (struct how){.tell = true});
}

static void replay_far_waiting(struct tp_stack *stack, struct tp_stack_place *at)
{
	replay_usual(stack, at, (struct how){.far = true, .waits = true});
}

static void replay_near_waiting(struct tp_stack *stack, struct tp_stack_place *at)
{
	replay_usual(stack, at, (struct how){.waits = true});
}

static void replay_telling_waiting(struct tp_stack *stack, struct tp_stack_place *at)
{
	replay_usual(stack, at, (struct how){.tell = true, .waits = true});
}

static void replay_far_fine(struct tp_stack *stack, struct tp_stack_place *at)
{
	replay_usual(stack, at, (struct how){.far = true, .fine = true});
}

static void replay_near_fine(struct tp_stack *stack, struct tp_stack_place *at)
{
	replay_usual(stack, at, (struct how){.fine = true});
}

static void replay_far_waiting_fine(struct tp_stack *stack, struct tp_stack_place *at)
{
	replay_usual(stack, at, (struct how){.far = true, .waits = true, .fine = true});
}

static void replay_near_waiting_fine(struct tp_stack *stack, struct tp_stack_place *at)
{
	replay_usual(stack, at, (struct how){.waits = true, .fine = true});
}

void tp_stack_replay_usual(struct tp_stack *stack, struct tp_stack_place *at)
{
	if (__builtin_expect(tp_profile_is_full(stack->profile), 0))
		return;
	const bool waits = stack->profile->waited;
	const bool far = stack->profile->node_count >= TP_FAR_NODES;
	if (stack->special)
		(waits ? replay_telling_waiting : replay_telling)(stack, at);
	else if (stack->profile->fine_ns != 0 && far)
		(waits ? replay_far_waiting_fine : replay_far_fine)(stack, at);
	else if (stack->profile->fine_ns != 0)
		(waits ? replay_near_waiting_fine : replay_near_fine)(stack, at);
	else if (far)
		(waits ? replay_far_waiting : replay_far)(stack, at);
	else
		(waits ? replay_near_waiting : replay_near)(stack, at);
}
