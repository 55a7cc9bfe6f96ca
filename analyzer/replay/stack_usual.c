// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The records that nearly all are, replayed as fast as memory allows.
#include "stack.h"

/*
 * Calls that have ended wait here for their node to come from memory, and then for the place in its
 * histogram: with many paths both are far away, and a processor that waits for one cannot ask for the next.
 */
#define WAITING 16 // a power of two
// From so many paths on they do not fit into the second cache. With 21,846 paths waiting saves a fifth of
// the time, with 8114 it costs a tenth.
#define FAR_NODES 12000

struct ended {
	uint64_t inclusive;
	uint64_t children;
	uint64_t cost;
	uint32_t node;
};

struct late {
	struct ended calls[WAITING];
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

static inline void late_add(struct late *late, struct tp_profile *profile, const struct ended *call)
{
	struct tp_node *node = &profile->nodes[call->node];
	const uint64_t net = tp_node_add(node, call->inclusive, call->children, call->cost);
	const uint32_t bucket = tp_histogram_bucket(net);
	if (__builtin_expect(!tp_histogram_has(&node->times, bucket), 0)) {
		// Counts that wait may be among those that move.
		late_flush_counts(late);
		if (!tp_histogram_reach(&node->times, bucket, &profile->pool))
			return;
	}
	uint32_t **slot = &late->counts[late->count_count % WAITING];
	if (late->count_count++ >= WAITING)
		tp_histogram_count(*slot);
	*slot = &node->times.counts[bucket - node->times.first];
	__builtin_prefetch(*slot, 1);
}

static inline void late_end(struct late *late, struct tp_profile *profile, const struct ended *call)
{
	struct ended *slot = &late->calls[late->call_count % WAITING];
	if (late->call_count++ >= WAITING)
		late_add(late, profile, slot);
	*slot = *call;
}

static void late_flush(struct late *late, struct tp_profile *profile)
{
	const uint32_t first = late->call_count > WAITING ? late->call_count - WAITING : 0;
	for (uint32_t i = first; i < late->call_count; i++)
		late_add(late, profile, &late->calls[i % WAITING]);
	late_flush_counts(late);
	late->call_count = 0;
}

// The call of frame TOP has ended.
static void tell_leave(const struct tp_stack *stack, const struct tp_frame *top,
    const struct ended *ended, uint64_t time)
{
	static const struct tp_off none = {0};
	const uint32_t depth = (uint32_t)(top - stack->frames);
	const struct tp_call call = {
	    .id = top->position,
	    .parent = depth > 1 ? tp_frame_id(stack, &top[-1]) : 0,
	    .start = top->began > stack->from ? top->began : stack->from,
	    .end = time,
	    .duration = ended->inclusive,
	    .self = ended->children < ended->inclusive ? ended->inclusive - ended->children : 0,
	    .cost = (ended->cost + TP_COST_PARTS / 2) / TP_COST_PARTS,
	    .net = tp_profile_net(stack->profile, ended->inclusive, &none, ended->cost),
	    .node = ended->node,
	    .depth = depth,
	};
	stack->sink->leave(stack->sink->context, &call);
}

/*
 * Replay records as long as they are the usual ones: enters of paths that are known, and exits of what is
 * on top. It does what push and pop do, with all that they need in registers: stores into a profile
 * might change the stack itself, for all that the compiler knows, and each record would load it anew.
 */
static inline __attribute__((always_inline)) void replay_usual(struct tp_stack *stack,
    struct tp_stack_place *at, const bool far, const bool tell, const bool waits)
{
	struct tp_profile *profile = stack->profile;
	struct tp_edge *edges = profile->edges;
	const uint32_t mask = profile->edge_mask;
	struct tp_node *nodes = profile->nodes;
	struct tp_local_function *functions = profile->functions;
	struct tp_frame *top = stack->frames + stack->depth - 1;
	const struct tp_frame *full = stack->frames + stack->capacity - 1;
	const uint64_t high = at->high;
	const uint64_t away = stack->away;
	const uint64_t edge_time = stack->edge < stack->off_edge ? stack->edge : stack->off_edge;
	const uint32_t count = at->count;
	const uint64_t *words = at->words;
	uint64_t last = at->last;
	uint32_t i = at->i;
	struct late late;
	late.call_count = late.count_count = 0;
	for (; i < count; i++) {
		const uint64_t word = words[i];
		const uint32_t tagged = (uint32_t)(word >> 32);
		const uint64_t time = high | (uint32_t)word;
		if (__builtin_expect(
			tagged < TEEPERF_NAME_FIRST || time < last || time >= edge_time, 0))
			break;
		if (tagged % 4 == TEEPERF_KIND_ENTER) {
			const struct tp_edge *edge = tp_edges_find(edges, mask, top->node, tagged);
			if (__builtin_expect(!edge || top == full, 0))
				break;
			if (waits)
				tp_profile_look(profile, top->node, time - last);
			if (far) {
				__builtin_prefetch(&nodes[edge->node], 1);
				__builtin_prefetch(tp_profile_line(edges, mask, edge->node));
			}
			functions[edge->function].active++;
			*++top = (struct tp_frame){
			    .position = at->position + (uint64_t)i * 8,
			    .start = time - away,
			    .began = time,
			    .node = edge->node,
			    .function = edge->function,
			    .name = tagged,
			};
			if (tell && stack->sink->enter)
				stack->sink->enter(
				    stack->sink->context, top->position, top->node, time);
		} else {
			if (__builtin_expect(
				tagged != (top->name | TEEPERF_KIND_EXIT) || top->off, 0))
				break;
			if (waits)
				tp_profile_look(profile, top->node, time - last);
			struct tp_local_function *function = &functions[top->function];
			const struct ended call = {
			    .inclusive = time - away - top->start,
			    .children = top->children,
			    .cost = top->cost + function->in,
			    .node = top->node,
			};
			function->active--;
			if (far)
				late_end(&late, profile, &call);
			else if (!tell || !stack->only_calls)
				tp_profile_add(
				    profile, call.node, call.inclusive, call.children, call.cost);
			if (tell && stack->sink->leave)
				tell_leave(stack, top, &call, time);
			top--;
			top->children += call.inclusive;
			top->cost += call.cost + function->out;
		}
		last = time;
	}
	if (far)
		late_flush(&late, profile);
	at->events += i - at->i;
	at->i = i;
	at->last = last;
	stack->depth = (uint32_t)(top - stack->frames) + 1;
}

static void replay_far(struct tp_stack *stack, struct tp_stack_place *at)
{
	replay_usual(stack, at, true, false, false);
}

static void replay_near(struct tp_stack *stack, struct tp_stack_place *at)
{
	replay_usual(stack, at, false, false, false);
}

static void replay_telling(struct tp_stack *stack, struct tp_stack_place *at)
{
	replay_usual(stack, at, false, true, false);
}

static void replay_far_waiting(struct tp_stack *stack, struct tp_stack_place *at)
{
	replay_usual(stack, at, true, false, true);
}

static void replay_near_waiting(struct tp_stack *stack, struct tp_stack_place *at)
{
	replay_usual(stack, at, false, false, true);
}

static void replay_telling_waiting(struct tp_stack *stack, struct tp_stack_place *at)
{
	replay_usual(stack, at, false, true, true);
}

void tp_stack_replay_usual(struct tp_stack *stack, struct tp_stack_place *at)
{
	const bool waits = stack->profile->waited;
	if (stack->special)
		(waits ? replay_telling_waiting : replay_telling)(stack, at);
	else if (stack->profile->node_count > FAR_NODES)
		(waits ? replay_far_waiting : replay_far)(stack, at);
	else
		(waits ? replay_near_waiting : replay_near)(stack, at);
}
