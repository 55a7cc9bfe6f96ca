// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A thread replayed in parts: a part that begins in the middle, and how it is joined to what came
// before.
#include "stack_part.h"

#include "common/array.h"
#include "common/err.h"

#include <stdlib.h>
#include <string.h>

// Names an edge to the root of what follows a step. That of a function is a multiple of 4.
#define NEXT_ROOT 1

int tp_part_init(struct tp_part *part, const struct tp_profile_cost *cost)
{
	*part = (struct tp_part){0};
	int code = tp_profile_init(&part->profile);
	if (!code)
		code = tp_stack_init(&part->stack, &part->profile);
	part->profile.cost = *cost;
	if (!code && !tp_profile_keep_waited(&part->profile))
		code = TP_ERR_MEMORY;
	return code;
}

int tp_part_set_time(struct tp_part *part, enum tp_time time, const struct tp_off_list *off)
{
	part->profile.time = time;
	tp_stack_set_off(&part->stack, off);
	return off && !tp_profile_keep_parts(&part->profile) ? TP_ERR_MEMORY : 0;
}

void tp_part_release(struct tp_part *part)
{
	tp_stack_release(&part->stack);
	tp_profile_release(&part->profile);
	free(part->steps);
	*part = (struct tp_part){0};
}

// Note a step, and begin a new root. False: no memory.
static bool add_step(struct tp_part *part, uint32_t name, uint64_t position, uint64_t time)
{
	if (!TP_GROW(part->steps, part->step_capacity, part->step_count + UINT64_C(1)))
		return false;
	struct tp_frame *bottom = &part->stack.frames[0];
	part->steps[part->step_count++] = (struct tp_part_step){
	    .time = time,
	    .position = position,
	    .name = name,
	    .root = part->root,
	    .children = bottom->children,
	    .cost = bottom->cost,
	    .net = bottom->net,
	    .looked = bottom->looked,
	    .off = tp_frame_take_off(&part->stack, bottom),
	};
	part->root = tp_profile_child(&part->profile, part->root, NEXT_ROOT);
	bottom->node = part->root;
	bottom->children = bottom->cost = bottom->net = bottom->looked = 0;
	part->profile.debts++; // as tp_stack_resync, and where a call ends that began before
	return part->root != 0;
}

static bool is_open(const struct tp_part *part, uint32_t name)
{
	const uint32_t function = tp_profile_function(&part->profile, name);
	return function && part->profile.functions[function].active;
}

// The word of a RESYNC record. False: it is unusual, or there is no memory.
static bool resync(struct tp_part *part, uint32_t name, uint64_t position, uint64_t time)
{
	struct tp_stack *stack = &part->stack;
	if (!position || position & TEEPERF_POSITION_LEAVES || position == TEEPERF_POSITION_OFF ||
	    position == TEEPERF_POSITION_ELSEWHERE)
		return false;
	const uint32_t low = tp_frames_find(stack->frames, stack->depth, position);
	if (low < stack->depth && stack->frames[low].position == position)
		return tp_stack_resync(stack, name, position, time);
	// Only in one of the two cases are the calls that are open from there on known.
	if (position >= part->position && low > 1)
		return tp_stack_resync(stack, name, position, time);
	stack->how = TP_CALL_UNWOUND;
	tp_stack_unwind(stack, 1, time);
	stack->how = TP_CALL_RETURNED;
	stack->named = position;
	return add_step(part, name, position, time);
}

// False: it is unusual, or there is no memory.
static bool replay_record(struct tp_part *part, struct tp_stack_place *at)
{
	struct tp_stack *stack = &part->stack;
	struct tp_record record;
	tp_record_next(&at->words, &record);
	if (!tp_record_names(&record))
		return record.tagged != TEEPERF_CONTROL_FORK &&
		       tp_stack_control(stack, &record, at->last) && !record.cut;
	const uint32_t name = record.tagged & ~TEEPERF_KIND_MASK;
	const uint64_t time = record.time;
	if (!record.timed || (stack->started && time < at->last))
		return false;
	if (!stack->started) {
		stack->started = true;
		stack->first = at->last = time;
	}
	tp_stack_look(stack, time - at->last);
	if (time >= stack->off_edge && !tp_stack_look_off(stack, at->last, time))
		return false;
	at->last = time;
	if (record.form == TP_RECORD_RESYNC)
		return !record.cut && resync(part, name, *record.more, time);
	at->events++;
	if (record.form == TP_RECORD_ENTER)
		return tp_stack_push(stack, name, time, at->position + (uint64_t)record.at * 8);
	if (stack->depth == 1)
		return add_step(part, name, 0, time);
	// It may end a call here or one below: nothing shows which.
	if (stack->frames[stack->depth - 1].name != name && !is_open(part, name))
		return false;
	tp_stack_exit(stack, name, time);
	return true;
}

void tp_part_replay(struct tp_part *part, const uint64_t *words, uint32_t count,
    uint64_t first_time, uint64_t position)
{
	struct tp_stack *stack = &part->stack;
	struct tp_stack_place at = {
	    tp_records_begin(words, count, first_time), stack->last, 0, position};
	if (!part->position) {
		part->position = position;
		tp_profile_begin_window(&part->profile, position);
	}
	stack->counts.records += count;
	while (!part->unusual && at.words.i < count) {
		if (stack->started)
			tp_stack_replay_usual(stack, &at);
		if (at.words.i < count && !replay_record(part, &at))
			part->unusual = true;
	}
	part->unusual |= stack->no_memory || tp_profile_is_full(&part->profile);
	stack->last = at.last;
	stack->counts.events += at.events;
}

bool tp_part_fits(const struct tp_part *part, const struct tp_stack *stack)
{
	// `edge` is where something has to be settled: a gap, a range, untimed exits, a stack that
	// was left. A sink that has had the part's calls by the part's own does not hinder.
	const bool plain = !stack->special || (stack->only_calls && !stack->quiet && !stack->least);
	const uint64_t most = stack->profile->most_nodes;
	const uint64_t nodes = (uint64_t)stack->profile->node_count + part->profile.node_count;
	return !part->unusual && plain && (!most || nodes < most) && stack->edge == UINT64_MAX &&
	       !stack->contexts.live && !stack->foreign && !stack->pending && !stack->left &&
	       !stack->waiting_exits && !stack->waiting_enters &&
	       (!part->stack.started || part->stack.first >= stack->last);
}

// Add the numbers of a node to the one that it is.
// DEBTS is that of the part.
static void add_node(
    struct tp_profile *profile, uint32_t to, const struct tp_node *from, uint32_t debts)
{
	struct tp_node *node = &profile->nodes[to];
	node->debt = from->debts_of == debts ? from->debt : 0;
	node->debts_of = profile->debts;
	node->calls += from->calls;
	node->inclusive += from->inclusive;
	node->self += from->self;
	node->min = from->min < node->min ? from->min : node->min;
	node->max = from->max > node->max ? from->max : node->max;
	tp_histogram_merge_in(&node->times, &from->times, &profile->pool);
}

// What of the own time of the part's node FROM was off. False: no memory.
static bool add_off_of(
    const struct tp_part *part, uint32_t from, struct tp_profile *profile, uint32_t to)
{
	const struct tp_profile *of = &part->profile;
	return !profile->parts_of || !of->parts_of[from] ||
	       tp_profile_add_off(profile, to, &of->part_items[of->parts_of[from]].self_off);
}

// Hang the calls of the nodes from ROOT on, up to END, below the frame that is on top. MOVED gets
// the node that each of them is. False: no memory.
static bool add_tree(const struct tp_part *part, struct tp_stack *stack, uint32_t root,
    uint32_t end, uint32_t *moved)
{
	struct tp_profile *profile = stack->profile;
	moved[root] = stack->frames[stack->depth - 1].node;
	if (!add_off_of(part, root, profile, moved[root]))
		return false;
	for (uint32_t i = root + 1; i < end; i++) {
		const struct tp_node *node = &part->profile.nodes[i];
		const struct tp_edge *edge =
		    tp_profile_edge(profile, moved[node->parent], node->name);
		if (!edge)
			return false;
		moved[i] = edge->node;
		add_node(profile, edge->node, node, part->profile.debts);
		if (profile->waited)
			profile->waited[edge->node] += part->profile.waited[i];
		if (!add_off_of(part, i, profile, edge->node))
			return false;
	}
	return true;
}

// The calls that are open at the end of the part are on top of the stack.
static bool add_open(const struct tp_part *part, struct tp_stack *stack, const uint32_t *moved)
{
	for (uint32_t i = 1; i < part->stack.depth; i++) {
		const struct tp_frame *frame = &part->stack.frames[i];
		if (!tp_stack_push(stack, frame->name, frame->began, frame->position))
			return false;
		struct tp_frame *top = &stack->frames[stack->depth - 1];
		top->children = frame->children;
		top->cost = frame->cost;
		top->net = frame->net;
		top->looked = frame->looked;
		if (frame->off &&
		    !tp_frame_add_off(stack, top, &part->stack.frame_offs[frame->off]))
			return false;
		if (top->node != moved[frame->node])
			abort(); // only a bug can tell them apart
	}
	return true;
}

static bool add_counts(const struct tp_part *part, struct tp_stack *stack)
{
	// All of them are 64-bit counters; what makes a part unusual is 0 in it.
	const uint64_t *from = (const uint64_t *)&part->stack.counts;
	uint64_t *to = (uint64_t *)&stack->counts;
	for (size_t i = 0; i < sizeof(stack->counts) / sizeof(*to); i++)
		to[i] += from[i];
	for (uint32_t i = 0; i < part->stack.calls.count; i++) {
		const struct tp_call_count *item = &part->stack.calls.items[i];
		if (!tp_call_counts_add(&stack->calls, item->address, item->calls))
			return false;
	}
	return true;
}

// What the call on top had no processor for in a part of a step, and what the calls had that it
// made.
static bool add_off(struct tp_stack *stack, const struct tp_frame_off *off)
{
	return !tp_frame_off_any(off) ||
	       tp_frame_add_off(stack, &stack->frames[stack->depth - 1], off);
}

int tp_part_join(const struct tp_part *part, struct tp_stack *stack)
{
	const struct tp_stack *from = &part->stack;
	uint32_t *moved = calloc(part->profile.node_count, sizeof(*moved));
	bool ok = moved != NULL;
	tp_profile_begin_window(stack->profile, part->position);
	if (ok && from->started && stack->started && from->first >= stack->off_edge)
		ok = tp_stack_look_off(stack, stack->last, from->first);
	if (!stack->started && from->started) {
		stack->started = true;
		stack->first = from->first;
	} else if (from->started) {
		tp_stack_look(stack, from->first - stack->last);
	}
	for (uint32_t i = 0; ok && i < part->step_count; i++) {
		const struct tp_part_step *step = &part->steps[i];
		const uint32_t next =
		    i + 1 < part->step_count ? part->steps[i + 1].root : part->root;
		ok = add_tree(part, stack, step->root, next, moved);
		struct tp_frame *top = &stack->frames[stack->depth - 1];
		top->children += step->children;
		top->cost += step->cost;
		top->net += step->net;
		top->looked += step->looked;
		ok = ok && add_off(stack, &step->off);
		stack->last = step->time;
		if (!step->position)
			tp_stack_exit(stack, step->name, step->time);
		else
			ok = ok && tp_stack_resync(stack, step->name, step->position, step->time);
	}
	ok = ok && add_tree(part, stack, part->root, part->profile.node_count, moved);
	if (ok) {
		struct tp_frame *top = &stack->frames[stack->depth - 1];
		top->children += from->frames[0].children;
		top->cost += from->frames[0].cost;
		top->net += from->frames[0].net;
		top->looked += from->frames[0].looked;
		if (from->frames[0].off)
			ok = add_off(stack, &from->frame_offs[from->frames[0].off]);
		ok = ok && add_open(part, stack, moved) && add_counts(part, stack);
	}
	if (from->started) {
		stack->last = from->last;
		tp_stack_skip_off(stack, from->last);
	}
	stack->profile->window = part->profile.window;
	if (from->named != TP_CONTEXT_UNNAMED)
		stack->named = from->named;
	stack->ended |= from->ended;
	free(moved);
	return ok && !stack->no_memory ? 0 : TP_ERR_MEMORY;
}
