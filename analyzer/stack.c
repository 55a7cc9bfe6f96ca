// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Records become calls: the stack of one thread, replayed chunk by chunk into its profile.
#include "stack.h"

#include "common/err.h"

#include <stdlib.h>
#include <string.h>

#define FRAMES_AT_FIRST 256
#define CONTEXT_FRAMES_AT_FIRST 4
// Of a thread with several stacks, an exit that does not match looks so far down: a hostile trace could
// make it search a deep stack again and again.
#define CONTEXT_SEARCH_MAX 1000

int tp_stack_init(struct tp_stack *stack, struct tp_profile *profile)
{
	*stack = (struct tp_stack){
	    .profile = profile,
	    .frames = calloc(FRAMES_AT_FIRST, sizeof(*stack->frames)),
	    .depth = 1,
	    .edge = UINT64_MAX,
	    .named = TP_CONTEXT_UNNAMED,
	    .capacity = FRAMES_AT_FIRST,
	};
	return stack->frames ? 0 : TP_ERR_MEMORY;
}

void tp_stack_release(struct tp_stack *stack)
{
	tp_call_counts_release(&stack->calls);
	tp_contexts_release(&stack->contexts);
	free(stack->frames);
	stack->frames = NULL;
}

static bool grow(struct tp_stack *stack)
{
	if (stack->capacity > UINT32_MAX / 2)
		return false;
	struct tp_frame *frames =
	    realloc(stack->frames, (size_t)stack->capacity * 2 * sizeof(*frames));
	if (!frames)
		return false;
	stack->frames = frames;
	stack->capacity *= 2;
	return true;
}

static inline bool push(struct tp_stack *stack, uint32_t name, uint64_t time, uint64_t position)
{
	if (__builtin_expect(stack->depth == stack->capacity, 0) && !grow(stack))
		return false;
	struct tp_profile *profile = stack->profile;
	const uint32_t node = tp_profile_child(profile, stack->frames[stack->depth - 1].node, name);
	if (__builtin_expect(!node, 0))
		return false;
	const uint32_t function = profile->nodes[node].function;
	profile->functions[function].active++;
	stack->frames[stack->depth++] = (struct tp_frame){
	    .position = position,
	    .start = time - stack->away,
	    .node = node,
	    .function = function,
	};
	return true;
}

// The call of the topmost frame ended at TIME; its function is not counted as active any more. To record
// it cost IN parts of its own time, and OUT of its caller's.
static inline void end_top(struct tp_stack *stack, uint64_t time, uint64_t in, uint64_t out)
{
	const struct tp_frame *frame = &stack->frames[--stack->depth];
	const uint64_t inclusive = time - stack->away - frame->start;
	const uint64_t cost = frame->cost + in;
	tp_node_add(&stack->profile->nodes[frame->node], inclusive, frame->children, cost);
	stack->frames[stack->depth - 1].children += inclusive;
	stack->frames[stack->depth - 1].cost += cost + out;
}

static inline void pop(struct tp_stack *stack, uint64_t time)
{
	struct tp_profile *profile = stack->profile;
	profile->functions[stack->frames[stack->depth - 1].function].active--;
	end_top(stack, time, profile->cost.in, profile->cost.out);
}

// ---- contexts

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
	    .foreign = stack->foreign,
	};
	stack->frames = with->frames;
	stack->depth = with->depth;
	stack->capacity = with->capacity;
	stack->away = with->away;
	stack->since = with->since;
	stack->named = with->named;
	stack->foreign = with->foreign;
	stack->frames[0].children += now.frames[0].children;
	stack->frames[0].cost += now.frames[0].cost;
	now.frames[0].children = now.frames[0].cost = 0;
	*context = now;
}

// Go on in *with. The stack so far is kept if there is something to come back to.
static bool go_to(struct tp_stack *stack, const struct tp_context *with, uint64_t time)
{
	struct tp_context was;
	const bool known = stack->named % 8 == TEEPERF_POSITION_BETWEEN;
	if (!stack->left)
		stack->since = time;
	stack->left = false;
	exchange(stack, &was, with);
	if ((was.depth > 1 || known) && tp_contexts_add(&stack->contexts, &was))
		return true;
	// Without memory these calls are lost, and so is the analysis.
	free(was.frames);
	return was.depth == 1 && !known;
}

// Go on in a stack of which nothing is known.
static bool begin_context(struct tp_stack *stack, bool foreign, uint64_t time)
{
	struct tp_context fresh = {
	    .frames = calloc(CONTEXT_FRAMES_AT_FIRST, sizeof(*fresh.frames)),
	    .depth = 1,
	    .capacity = CONTEXT_FRAMES_AT_FIRST,
	    .named = TP_CONTEXT_UNNAMED,
	    .foreign = foreign,
	};
	return fresh.frames && go_to(stack, &fresh, time);
}

static void come_back(struct tp_stack *stack, uint64_t time)
{
	stack->left = false;
	stack->away += time - stack->since;
}

static uint32_t name_of_frame(const void *profile, const struct tp_frame *frame)
{
	return ((const struct tp_profile *)profile)->nodes[frame->node].name;
}

// Go on in the stack on which the activation at POSITION, of function NAME, is open. *found: there is one.
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
		    name_of_frame(stack->profile, &context->frames[at]) != name)
			index = 0;
	}
	if (!index && position % 8 == 0)
		index = tp_contexts_search(contexts, position, name, name_of_frame, stack->profile);
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
	}
	stack->left = stack->foreign = false;
	stack->away = 0;
	stack->named = TP_CONTEXT_UNNAMED;
	return count;
}

// ---- untimed exits and gaps

// The time from which on a record has to be settled if nothing is waiting for it.
static inline uint64_t next_edge(const struct tp_stack *stack)
{
	if (stack->in_gap || stack->left)
		return 0;
	return stack->gap < stack->gaps.count ? stack->gaps.items[stack->gap].from : UINT64_MAX;
}

void tp_stack_set_gaps(struct tp_stack *stack, const struct tp_gaps *gaps, bool timeless)
{
	if (timeless) {
		stack->switched = gaps->count != 0;
		return;
	}
	stack->gaps = *gaps;
	stack->in_gap = gaps->count && gaps->items[0].from == 0;
	stack->edge = next_edge(stack);
}

static inline void end_pending(struct tp_stack *stack, uint64_t time)
{
	for (; stack->pending; stack->pending--)
		end_top(stack, time, stack->profile->cost.untimed, 0);
}

// Go on in the list of gaps up to TIME, ending calls where a gap begins.
static void cross(struct tp_stack *stack, uint64_t time)
{
	while (stack->gap < stack->gaps.count) {
		const struct tp_gap *gap = &stack->gaps.items[stack->gap];
		if (!stack->in_gap) {
			if (time < gap->from)
				return;
			end_pending(stack, gap->from);
			stack->counts.cut += end_all(stack, gap->from) + stack->waiting_enters;
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

static bool settle_slowly(struct tp_stack *stack, uint64_t time)
{
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
	stack->edge = next_edge(stack);
	return !stack->in_gap;
}

/*
 * A record at TIME follows, and TIME is not below `edge`: give untimed exits their time, and see
 * whether recording was switched. False: the record lies in a gap.
 */
static inline bool settle(struct tp_stack *stack, uint64_t time)
{
	const uint64_t edge = next_edge(stack);
	if (time >= edge || stack->waiting_exits || stack->waiting_enters)
		return settle_slowly(stack, time);
	end_pending(stack, time);
	stack->edge = edge;
	return true;
}

// Whether a call of FUNCTION is open below the frame TOP of this stack.
static bool is_open(const struct tp_stack *stack, uint32_t function, uint32_t top)
{
	// Without `active`, hostile exits would search a deep stack again and again.
	if (!function || !stack->profile->functions[function].active)
		return false;
	if (!stack->contexts.live)
		return true;
	const uint32_t low = top > CONTEXT_SEARCH_MAX ? top - CONTEXT_SEARCH_MAX : 1;
	while (top > low && stack->frames[top - 1].function != function)
		top--;
	return top > low;
}

// An exit without a time of a function that is not on top.
static void untimed_below(struct tp_stack *stack, uint32_t name)
{
	struct tp_profile *profile = stack->profile;
	const uint32_t function = tp_profile_function(profile, name);
	if (!is_open(stack, function, stack->depth - stack->pending)) {
		if (stack->depth - stack->pending == 1 && stack->foreign)
			return;
		if (stack->depth - stack->pending == 1 && stack->switched && !stack->in_gap)
			stack->counts.early++;
		else if (stack->depth - stack->pending == 1 && stack->forked && !stack->in_gap)
			stack->counts.forked++;
		else
			stack->waiting_exits++;
		return;
	}
	for (bool found = false; !found;) {
		const uint32_t top = stack->frames[stack->depth - ++stack->pending].function;
		profile->functions[top].active--;
		profile->functions[top].untimed = true;
		found = top == function;
		stack->waiting_enters += !found;
	}
}

static inline void untimed_exit(struct tp_stack *stack, uint32_t name)
{
	stack->left = false; // if it was, the record that would tell for which stack is lost
	const struct tp_frame *top = &stack->frames[stack->depth - stack->pending - 1];
	if (__builtin_expect(stack->profile->nodes[top->node].name == name, 1)) {
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
	if (!is_open(stack, function, stack->depth)) {
		if (stack->depth == 1 && stack->foreign)
			return;
		if (stack->depth == 1 && stack->switched)
			stack->counts.early++;
		else if (stack->depth == 1 && stack->forked)
			stack->counts.forked++;
		else
			stack->counts.unmatched_exits++;
		return;
	}
	while (stack->frames[stack->depth - 1].function != function) {
		pop(stack, time);
		stack->counts.unmatched_enters++;
	}
	pop(stack, time);
}

static bool is_at(const struct tp_stack *stack, uint32_t frame, uint64_t position)
{
	return frame < stack->depth && stack->frames[frame].position == position;
}

/*
 * The activation whose enter record is at POSITION runs on. First go to its stack, if that is another one;
 * all that began later on it has ended, whether that activation is open or not: it may have begun while
 * recording was switched off, or before, or be one that was not sampled. False: no memory.
 */
static bool resync(struct tp_stack *stack, uint32_t name, uint64_t position, uint64_t time)
{
	// The first frame that did not begin earlier.
	uint32_t low = tp_frames_find(stack->frames, stack->depth, position);
	bool here = is_at(stack, low, position) || position == stack->named;
	if (!here && position != TEEPERF_POSITION_OFF && stack->contexts.live &&
	    !go_to_position(stack, name, position, time, &here))
		return false;
	if (stack->left && here)
		come_back(stack, time);
	else if (stack->left && !begin_context(stack, false, time))
		return false;
	low = tp_frames_find(stack->frames, stack->depth, position);
	const bool open = is_at(stack, low, position);
	// An activation that was not sampled has no record, and a position between two.
	const bool early = position == TEEPERF_POSITION_OFF ||
			   (low == 1 && (stack->switched || stack->forked)) ||
			   position % 8 == TEEPERF_POSITION_BETWEEN;
	if (open ? stack->profile->nodes[stack->frames[low].node].name != name : !early)
		stack->counts.unknown_resyncs++;
	while (stack->depth > low + open)
		pop(stack, time);
	stack->named = position == TEEPERF_POSITION_OFF ? TP_CONTEXT_UNNAMED : position;
	return true;
}

// A record of kind RESYNC, with the WORD that follows it. False: no memory.
static bool change(struct tp_stack *stack, uint32_t name, uint64_t word, uint64_t time)
{
	const uint64_t position = word & ~TEEPERF_POSITION_LEAVES;
	if (word == TEEPERF_POSITION_ELSEWHERE) {
		stack->counts.moved++;
		return begin_context(stack, true, time);
	}
	if (position && !resync(stack, name, position, time))
		return false;
	if (word & TEEPERF_POSITION_LEAVES) {
		stack->left = true;
		stack->since = time;
		stack->edge = 0;
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

static void control(struct tp_stack *stack, uint32_t code, uint32_t value, uint64_t *high)
{
	switch (code) {
	case TEEPERF_CONTROL_EMPTY:
		stack->counts.holes++;
		break;
	case TEEPERF_CONTROL_SYNC:
		*high = (uint64_t)value << 32;
		break;
	case TEEPERF_CONTROL_LOST:
		stack->counts.lost += value;
		break;
	case TEEPERF_CONTROL_THREAD_END:
		stack->ended = true;
		break;
	case TEEPERF_CONTROL_FORK:
		stack->forked = true;
		break;
	case TEEPERF_CONTROL_PAD:
	case TEEPERF_CONTROL_MODULE: // the module map has looked at it
		break;
	default:
		stack->counts.reserved++;
	}
}

// PAIRS pairs of words follow; LEFT words are left in the chunk. Returns how many words to pass over,
// or -1: no memory.
static int64_t add_counts(
    struct tp_stack *stack, const uint64_t *words, uint32_t pairs, uint32_t left, uint32_t place)
{
	if (pairs > TEEPERF_COUNTS_MAX || pairs > left / 2) {
		// Nothing tells where the next record is: the rest of the chunk is not used.
		if (stack->counts.bad_counts++ == 0)
			stack->bad_word = place;
		return left;
	}
	for (uint32_t i = 0; i < pairs; i++) {
		if (!words[i * 2])
			continue; // not filled in
		if (!tp_call_counts_add(&stack->calls, words[i * 2], words[i * 2 + 1]))
			return -1;
		stack->counts.counted += words[i * 2 + 1];
	}
	return pairs * 2;
}

int tp_stack_replay(struct tp_stack *stack, const uint64_t *words, uint32_t count,
    uint64_t first_time, uint64_t position)
{
	uint64_t high = first_time >> 32 << 32;
	uint64_t last = stack->last;
	uint64_t events = 0;
	int code = TP_ERR_MEMORY;
	stack->counts.records += count;
	for (uint32_t i = 0; i < count; i++) {
		const uint64_t word = words[i];
		const uint32_t tagged = (uint32_t)(word >> 32);
		if (__builtin_expect(tagged < TEEPERF_NAME_FIRST, 0)) {
			if (tagged == TEEPERF_CONTROL_COUNTS) {
				const int64_t skip = add_counts(
				    stack, words + i + 1, (uint32_t)word, count - i - 1, i);
				if (skip < 0)
					goto out;
				i += (uint32_t)skip;
			} else {
				control(stack, tagged, (uint32_t)word, &high);
			}
			continue;
		}
		const uint32_t name = tagged & ~TEEPERF_KIND_MASK;
		const uint32_t kind = tagged & TEEPERF_KIND_MASK;
		if (kind == TEEPERF_KIND_UNTIMED) {
			untimed_exit(stack, name);
			events++;
			continue;
		}
		uint64_t time = high | (uint32_t)word;
		if (__builtin_expect(!stack->started, 0)) {
			stack->started = true;
			stack->first = last = time;
		}
		if (__builtin_expect(time < last, 0)) {
			stack->counts.backwards++;
			time = last;
		}
		last = time;
		if (__builtin_expect(time >= stack->edge, 0) && !settle(stack, time)) {
			stack->counts.dropped++;
			events += kind != TEEPERF_KIND_RESYNC;
			i += kind == TEEPERF_KIND_RESYNC;
			continue;
		}
		if (__builtin_expect(stack->left, 0) && !settle_left(stack, kind, time))
			goto out;
		if (kind == TEEPERF_KIND_ENTER) {
			if (!push(stack, name, time, position + (uint64_t)i * 8))
				goto out;
			events++;
		} else if (kind == TEEPERF_KIND_EXIT) {
			const struct tp_frame *top = &stack->frames[stack->depth - 1];
			if (__builtin_expect(stack->profile->nodes[top->node].name == name, 1))
				pop(stack, time);
			else
				exit_below(stack, name, time);
			events++;
		} else if (i + 1 < count) {
			if (!change(stack, name, words[++i], time))
				goto out;
		} else {
			stack->counts.unknown_resyncs++;
		}
	}
	code = 0;
out:
	stack->last = last;
	stack->counts.events += events;
	return code;
}

void tp_stack_finish(struct tp_stack *stack)
{
	settle_slowly(stack, stack->last);
	// A thread that is silent when recording is switched off is still running there.
	const bool open = stack->depth > 1 || stack->contexts.live;
	if (open && !stack->ended && stack->gap < stack->gaps.count && !stack->in_gap) {
		cross(stack, stack->gaps.items[stack->gap].from);
		return;
	}
	for (uint32_t i = stack->contexts.newest; i; i = stack->contexts.items[i].older)
		stack->counts.left += stack->contexts.items[i].depth > 1;
	stack->counts.left += stack->left && stack->depth > 1;
	stack->counts.open += end_all(stack, stack->last);
}
