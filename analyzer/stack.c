// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Records become calls: the stack of one thread, replayed chunk by chunk into its profile.
#include "stack.h"

#include "common/err.h"

#include <stdlib.h>
#include <string.h>

#define FRAMES_AT_FIRST 256

int tp_stack_init(struct tp_stack *stack, struct tp_profile *profile)
{
	*stack = (struct tp_stack){
	    .profile = profile,
	    .frames = calloc(FRAMES_AT_FIRST, sizeof(*stack->frames)),
	    .depth = 1,
	    .capacity = FRAMES_AT_FIRST,
	};
	return stack->frames ? 0 : TP_ERR_MEMORY;
}

void tp_stack_release(struct tp_stack *stack)
{
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
	    .start = time,
	    .node = node,
	    .function = function,
	};
	return true;
}

static inline void pop(struct tp_stack *stack, uint64_t time)
{
	const struct tp_frame *frame = &stack->frames[--stack->depth];
	const uint64_t inclusive = time - frame->start;
	tp_node_add(&stack->profile->nodes[frame->node], inclusive, frame->children);
	stack->profile->functions[frame->function].active--;
	stack->frames[stack->depth - 1].children += inclusive;
}

// An exit of a function that is not on top.
static void exit_below(struct tp_stack *stack, uint32_t name, uint64_t time)
{
	struct tp_profile *profile = stack->profile;
	const uint32_t function = tp_profile_function(profile, name);
	// Without `active`, hostile exits would search a deep stack again and again.
	if (!function || !profile->functions[function].active) {
		stack->counts.unmatched_exits++;
		return;
	}
	while (stack->frames[stack->depth - 1].function != function) {
		pop(stack, time);
		stack->counts.unmatched_enters++;
	}
	pop(stack, time);
}

// Pop everything above the activation whose enter record is at POSITION.
static void resync(struct tp_stack *stack, uint32_t name, uint64_t position, uint64_t time)
{
	uint32_t low = 1;
	uint32_t high = stack->depth;
	while (low < high) {
		const uint32_t middle = low + (high - low) / 2;
		if (stack->frames[middle].position < position)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == stack->depth || stack->frames[low].position != position ||
	    stack->profile->nodes[stack->frames[low].node].name != name) {
		stack->counts.unknown_resyncs++;
		return;
	}
	while (stack->depth > low + 1)
		pop(stack, time);
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
	case TEEPERF_CONTROL_PAD:
	case TEEPERF_CONTROL_THREAD_END:
		break;
	default:
		stack->counts.reserved++;
	}
}

int tp_stack_replay(struct tp_stack *stack, const uint64_t *words, uint32_t count,
    uint64_t first_time, uint64_t position)
{
	uint64_t high = first_time >> 32 << 32;
	uint64_t last = stack->last;
	uint64_t events = 0;
	stack->counts.records += count;
	for (uint32_t i = 0; i < count; i++) {
		const uint64_t word = words[i];
		const uint32_t tagged = (uint32_t)(word >> 32);
		if (__builtin_expect(tagged < TEEPERF_NAME_FIRST, 0)) {
			control(stack, tagged, (uint32_t)word, &high);
			continue;
		}
		const uint32_t name = tagged & ~TEEPERF_KIND_MASK;
		const uint32_t kind = tagged & TEEPERF_KIND_MASK;
		if (kind == TEEPERF_KIND_UNTIMED) {
			struct tp_profile *profile = stack->profile;
			struct tp_frame *caller = &stack->frames[stack->depth - 1];
			const uint32_t node = tp_profile_child(profile, caller->node, name);
			if (!node)
				goto no_memory;
			tp_node_add(&profile->nodes[node], (uint32_t)word, 0);
			caller->children += (uint32_t)word;
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
		if (kind == TEEPERF_KIND_ENTER) {
			if (!push(stack, name, time, position + (uint64_t)i * 8))
				goto no_memory;
			events++;
		} else if (kind == TEEPERF_KIND_EXIT) {
			const struct tp_frame *top = &stack->frames[stack->depth - 1];
			if (__builtin_expect(stack->profile->nodes[top->node].name == name, 1))
				pop(stack, time);
			else
				exit_below(stack, name, time);
			events++;
		} else if (i + 1 < count) {
			resync(stack, name, words[++i], time);
		} else {
			stack->counts.unknown_resyncs++;
		}
	}
	stack->last = last;
	stack->counts.events += events;
	return 0;
no_memory:
	stack->last = last;
	stack->counts.events += events;
	return TP_ERR_MEMORY;
}

void tp_stack_finish(struct tp_stack *stack)
{
	stack->counts.open += stack->depth - 1;
	while (stack->depth > 1)
		pop(stack, stack->last);
}
