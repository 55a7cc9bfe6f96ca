// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The stack and the profile against a slow model that shares no code with them: it keeps the calls
// of each path in a list that it searches, on well-nested and on hostile streams of records.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/profile.h"
#include "analyzer/stack.h"

#define WORDS 400
#define FUNCTIONS 6
#define DEPTH (WORDS + 1)
#define FIRST_POSITION 64

static uint64_t seed;

static uint32_t pick(uint32_t below)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(seed >> 33) % below;
}

static uint32_t name_of(uint32_t index)
{
	return 0x401000 + 16 * index;
}

static uint64_t word(uint32_t time, uint32_t name, uint32_t kind)
{
	return (uint64_t)(name | kind) << 32 | time;
}

// ---- the model

struct model_call {
	uint32_t path[DEPTH]; // names from the outermost on
	uint32_t depth;
	uint64_t start;
	uint64_t children;
	uint64_t position;
};

struct model_path {
	uint32_t path[DEPTH];
	uint32_t depth;
	uint64_t calls, inclusive, self, min, max;
};

struct model {
	struct model_call stack[DEPTH];
	uint32_t depth; // calls on the stack
	struct model_path paths[WORDS];
	uint32_t path_count;
	uint64_t last, unmatched_enters, unmatched_exits, unknown_resyncs, backwards;
	bool started;
};

static void model_record(struct model *model, const uint32_t *path, uint32_t depth,
    uint64_t inclusive, uint64_t children)
{
	uint32_t i = 0;
	while (i < model->path_count && (model->paths[i].depth != depth ||
					    memcmp(model->paths[i].path, path, depth * 4) != 0))
		i++;
	struct model_path *found = &model->paths[i];
	if (i == model->path_count) {
		model->path_count++;
		memcpy(found->path, path, depth * 4);
		found->depth = depth;
		found->min = UINT64_MAX;
	}
	found->calls++;
	found->inclusive += inclusive;
	found->self += inclusive > children ? inclusive - children : 0;
	found->min = inclusive < found->min ? inclusive : found->min;
	found->max = inclusive > found->max ? inclusive : found->max;
}

static void model_end(struct model *model, uint64_t time)
{
	const struct model_call *call = &model->stack[--model->depth];
	model_record(model, call->path, call->depth, time - call->start, call->children);
	if (model->depth)
		model->stack[model->depth - 1].children += time - call->start;
}

static uint32_t top_name(const struct model *model)
{
	const struct model_call *call = &model->stack[model->depth - 1];
	return call->path[call->depth - 1];
}

static void model_event(struct model *model, uint32_t kind, uint32_t name, uint64_t time,
    uint64_t position, uint64_t to)
{
	struct model_call *top = model->depth ? &model->stack[model->depth - 1] : NULL;
	uint32_t path[DEPTH];
	const uint32_t above = top ? top->depth : 0;
	if (top)
		memcpy(path, top->path, above * 4);
	path[above] = name;
	if (kind == TEEPERF_KIND_UNTIMED) {
		model_record(model, path, above + 1, time, 0);
		if (top)
			top->children += time;
		return;
	}
	if (model->started && time < model->last) {
		model->backwards++;
		time = model->last;
	}
	model->started = true;
	model->last = time;
	if (kind == TEEPERF_KIND_ENTER) {
		struct model_call *call = &model->stack[model->depth++];
		memset(call, 0, sizeof(*call));
		memcpy(call->path, path, (above + 1) * 4);
		call->depth = above + 1;
		call->start = time;
		call->position = position;
		return;
	}
	uint32_t index = model->depth;
	while (index &&
	       (kind == TEEPERF_KIND_EXIT
		       ? model->stack[index - 1].path[model->stack[index - 1].depth - 1] != name
		       : model->stack[index - 1].position != to))
		index--;
	if (kind == TEEPERF_KIND_EXIT) {
		if (!index)
			model->unmatched_exits++;
		for (; index && model->depth > index; model->unmatched_enters++)
			model_end(model, time);
		if (index)
			model_end(model, time);
	} else if (!index ||
		   model->stack[index - 1].path[model->stack[index - 1].depth - 1] != name) {
		model->unknown_resyncs++;
	} else {
		while (model->depth > index)
			model_end(model, time);
	}
}

// ---- the comparison

static void compare(const struct model *model, const struct tp_profile *profile)
{
	assert_int_equal(profile->node_count - 1, model->path_count);
	for (uint32_t i = 0; i < model->path_count; i++) {
		const struct model_path *path = &model->paths[i];
		uint32_t at = 0;
		for (uint32_t j = 0; j < path->depth; j++) {
			uint32_t child = profile->nodes[at].first_child;
			while (child && profile->nodes[child].name != path->path[j])
				child = profile->nodes[child].next_sibling;
			assert_int_not_equal(child, 0);
			at = child;
		}
		const struct tp_node *node = &profile->nodes[at];
		assert_int_equal(node->calls, path->calls);
		assert_int_equal(node->inclusive, path->inclusive);
		assert_int_equal(node->self, path->self);
		assert_int_equal(node->min, path->min);
		assert_int_equal(node->max, path->max);
	}
	for (uint32_t i = 1; i < profile->function_count; i++)
		assert_int_equal(profile->functions[i].active, 0);
}

static struct model model;

// Replay random records; HOSTILE: in any order, else exits fit and time runs forwards.
static void replay_random(bool hostile)
{
	uint64_t words[WORDS];
	struct tp_profile profile;
	struct tp_stack stack;
	memset(&model, 0, sizeof(model));
	assert_int_equal(tp_profile_init(&profile), 0);
	assert_int_equal(tp_stack_init(&stack, &profile), 0);
	const uint64_t first_time = UINT64_C(7) << 32;
	uint32_t time = 100;
	uint32_t count = 0;
	while (count + 2 <= WORDS) {
		uint32_t kind = pick(8);
		kind = kind < 3    ? TEEPERF_KIND_ENTER
		       : kind < 6  ? TEEPERF_KIND_EXIT
		       : kind == 6 ? TEEPERF_KIND_UNTIMED
				   : TEEPERF_KIND_RESYNC;
		uint32_t name = name_of(pick(FUNCTIONS));
		uint64_t to = FIRST_POSITION + 8 * (uint64_t)pick(count + 1);
		if (kind == TEEPERF_KIND_RESYNC && model.depth && pick(4)) {
			const struct model_call *call = &model.stack[pick(model.depth)];
			to = call->position;
			name = call->path[call->depth - 1];
		}
		if (!hostile && kind == TEEPERF_KIND_EXIT) {
			if (!model.depth)
				continue;
			name = top_name(&model);
		}
		time = hostile && pick(10) == 0 ? time - pick(50) : time + pick(20);
		const uint32_t low = kind == TEEPERF_KIND_UNTIMED ? pick(30) : time;
		const uint64_t position = FIRST_POSITION + 8 * (uint64_t)count;
		words[count++] = word(low, name, kind);
		if (kind == TEEPERF_KIND_RESYNC)
			words[count++] = to;
		model_event(&model, kind, name,
		    kind == TEEPERF_KIND_UNTIMED ? low : first_time | low, position, to);
	}
	assert_int_equal(tp_stack_replay(&stack, words, count, first_time, FIRST_POSITION), 0);
	assert_int_equal(stack.depth - 1, model.depth);
	tp_stack_finish(&stack);
	while (model.depth)
		model_end(&model, model.last);
	compare(&model, &profile);
	assert_int_equal(stack.counts.unmatched_enters, model.unmatched_enters);
	assert_int_equal(stack.counts.unmatched_exits, model.unmatched_exits);
	assert_int_equal(stack.counts.unknown_resyncs, model.unknown_resyncs);
	assert_int_equal(stack.counts.backwards, model.backwards);
	tp_stack_release(&stack);
	tp_profile_release(&profile);
}

static void well_nested(void **state)
{
	(void)state;
	for (seed = 1; seed < 4000000000u; seed += 20000003)
		replay_random(false);
}

static void hostile(void **state)
{
	(void)state;
	for (uint64_t i = 1; i <= 300; i++) {
		seed = i * 977;
		replay_random(true);
	}
}

static void deep_recursion_grows(void **state)
{
	(void)state;
	struct tp_profile profile;
	struct tp_stack stack;
	assert_int_equal(tp_profile_init(&profile), 0);
	assert_int_equal(tp_stack_init(&stack, &profile), 0);
	for (uint32_t i = 0; i < 300000; i++) {
		const uint64_t one = word(i, name_of(i % 3), TEEPERF_KIND_ENTER);
		assert_int_equal(tp_stack_replay(&stack, &one, 1, 0, 64 + 8 * (uint64_t)i), 0);
	}
	assert_int_equal(profile.node_count, 300001);
	// Exits of what never ran must not search that stack each time.
	for (uint32_t i = 0; i < 300000; i++) {
		const uint64_t one = word(300000, name_of(5), TEEPERF_KIND_EXIT);
		assert_int_equal(tp_stack_replay(&stack, &one, 1, 0, 64), 0);
	}
	assert_int_equal(stack.counts.unmatched_exits, 300000);
	tp_stack_finish(&stack);
	assert_int_equal(stack.counts.open, 300000);
	tp_stack_release(&stack);
	tp_profile_release(&profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(well_nested),
	    cmocka_unit_test(hostile),
	    cmocka_unit_test(deep_recursion_grows),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
