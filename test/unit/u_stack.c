// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The stack and the profile against a slow model that shares no code with them: it first gives each
// record its time, looking ahead, and keeps the calls of each path in a list that it searches. On
// well-nested and on hostile streams of records, timed and not, with and without gaps.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/replay/profile.h"
#include "analyzer/replay/stack.h"

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

// A record of any kind, as it is in the stream.
struct model_record {
	uint32_t kind, name;
	uint64_t time; // as read, then as it counts
	uint64_t position, to;
};

struct model {
	struct model_record records[WORDS];
	uint32_t count;
	const struct tp_gap *gaps;
	uint32_t gap_count;
	struct model_call stack[DEPTH];
	uint32_t depth; // calls on the stack
	struct model_path paths[WORDS];
	uint32_t path_count;
	uint64_t last;
	struct tp_stack_counts counts;
};

static void model_call_ended(struct model *model, const uint32_t *path, uint32_t depth,
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
	model_call_ended(model, call->path, call->depth, time - call->start, call->children);
	if (model->depth)
		model->stack[model->depth - 1].children += time - call->start;
}

static uint32_t name_of_call(const struct model *model, uint32_t index)
{
	const struct model_call *call = &model->stack[index];
	return call->path[call->depth - 1];
}

// Times that do not run backwards; untimed exits have that of the next timed record, or the last
// one.
static void model_times(struct model *model)
{
	uint64_t last = 0;
	for (uint32_t i = 0; i < model->count; i++) {
		struct model_record *record = &model->records[i];
		if (record->kind == TEEPERF_KIND_UNTIMED)
			continue;
		model->counts.backwards += record->time < last;
		last = record->time = record->time < last ? last : record->time;
	}
	model->last = last;
	for (uint32_t i = model->count; i--;) {
		if (model->records[i].kind == TEEPERF_KIND_UNTIMED)
			model->records[i].time = last;
		last = model->records[i].time;
	}
}

static void model_enter(struct model *model, const struct model_record *record)
{
	const struct model_call *caller = model->depth ? &model->stack[model->depth - 1] : NULL;
	struct model_call *call = &model->stack[model->depth++];
	memset(call, 0, sizeof(*call));
	if (caller)
		memcpy(call->path, caller->path, caller->depth * 4);
	call->depth = caller ? caller->depth + 1 : 1;
	call->path[call->depth - 1] = record->name;
	call->start = record->time;
	call->position = record->position;
}

// Exits that match nothing: where they lie decides what they are. BEFORE: the time of the timed
// record before this one, or of this one.
static void model_unmatched(
    struct model *model, const struct model_record *record, uint64_t before, bool switched)
{
	bool was_off = false;
	bool is_off = false;
	bool passed = false;
	for (uint32_t i = 0; i < model->gap_count; i++) {
		const struct tp_gap *gap = &model->gaps[i];
		was_off |= before >= gap->from && before < gap->to;
		is_off |= record->time >= gap->from && record->time < gap->to;
		passed |= before < gap->to && record->time >= gap->to;
	}
	if (switched && !model->depth && !was_off)
		model->counts.early++;
	else if (is_off)
		model->counts.dropped++;
	else if (passed)
		model->counts.early++;
	else
		model->counts.unmatched_exits++;
}

// LIMIT: the start of a gap that has not been seen yet, where the call ended at the latest.
static void model_exit(struct model *model, const struct model_record *record, uint64_t limit,
    uint64_t before, bool switched)
{
	const bool late = record->time >= limit;
	const uint64_t time = late ? limit : record->time;
	uint32_t index = model->depth;
	while (index && name_of_call(model, index - 1) != record->name)
		index--;
	if (!index)
		model_unmatched(model, record, before, switched);
	for (; index && model->depth > index; model_end(model, time))
		*(late ? &model->counts.cut : &model->counts.unmatched_enters) += 1;
	if (index)
		model_end(model, time);
}

// All calls that began later than TO have ended; COUNTS only tells whether TO made sense.
static void model_resync(struct model *model, const struct model_record *record, bool switched)
{
	bool found = false;
	bool lowest = true;
	for (uint32_t i = 0; i < model->depth; i++) {
		found |= model->stack[i].position == record->to &&
			 name_of_call(model, i) == record->name;
		lowest &= model->stack[i].position > record->to;
	}
	if (!found && record->to != TEEPERF_POSITION_OFF && !(switched && lowest))
		model->counts.unknown_resyncs++;
	while (model->depth && model->stack[model->depth - 1].position > record->to)
		model_end(model, record->time);
}

static void model_run(struct model *model)
{
	uint32_t gap = 0; // the next one to begin
	bool switched = false;
	uint64_t before = 0;
	model_times(model);
	for (uint32_t i = 0; i < model->count; i++) {
		const struct model_record *record = &model->records[i];
		const bool untimed = record->kind == TEEPERF_KIND_UNTIMED;
		bool in_gap = false;
		// What an untimed exit shares its time with comes later: it does not begin gaps.
		while (
		    !untimed && gap < model->gap_count && record->time >= model->gaps[gap].from) {
			model->counts.cut += model->depth;
			while (model->depth)
				model_end(model, model->gaps[gap].from);
			gap++;
		}
		if (untimed) {
			model_exit(model, record,
			    gap < model->gap_count ? model->gaps[gap].from : UINT64_MAX, before,
			    switched);
			continue;
		}
		before = record->time;
		for (uint32_t j = 0; j < model->gap_count; j++) {
			in_gap |=
			    record->time >= model->gaps[j].from && record->time < model->gaps[j].to;
			switched |= record->time >= model->gaps[j].to;
		}
		if (in_gap)
			model->counts.dropped++;
		else if (record->kind == TEEPERF_KIND_ENTER)
			model_enter(model, record);
		else if (record->kind == TEEPERF_KIND_EXIT)
			model_exit(model, record, UINT64_MAX, before, switched);
		else
			model_resync(model, record, switched);
	}
	const bool off = gap < model->gap_count;
	*(off ? &model->counts.cut : &model->counts.open) += model->depth;
	while (model->depth)
		model_end(model, off ? model->gaps[gap].from : model->last);
}

// ---- the comparison

static void compare(const struct model *model, struct tp_profile *profile)
{
	tp_profile_link(profile);
	assert_int_equal(profile->node_count - 1, model->path_count);
	for (uint32_t i = 0; i < model->path_count; i++) {
		const struct model_path *path = &model->paths[i];
		uint32_t at = 0;
		for (uint32_t j = 0; j < path->depth; j++) {
			uint32_t child = profile->first_child[at];
			while (child && profile->nodes[child].name != path->path[j])
				child = profile->next_sibling[child];
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

// What a stream of records does, for the choice of the next one.
struct nest {
	uint32_t names[WORDS];
	uint64_t positions[WORDS];
	uint32_t depth;
};

static void add_record(struct nest *nest, uint64_t *words, uint32_t *count, uint32_t kind,
    uint32_t name, uint64_t time, uint64_t to)
{
	const uint64_t position = FIRST_POSITION + 8 * (uint64_t)*count;
	words[(*count)++] = word(kind == TEEPERF_KIND_UNTIMED ? 0 : (uint32_t)time, name, kind);
	if (kind == TEEPERF_KIND_RESYNC)
		words[(*count)++] = to;
	model.records[model.count++] = (struct model_record){kind, name, time, position, to};
	if (kind == TEEPERF_KIND_ENTER) {
		nest->names[nest->depth] = name;
		nest->positions[nest->depth++] = position;
	} else if (kind != TEEPERF_KIND_RESYNC && nest->depth) {
		nest->depth--;
	}
}

// Replay random records; HOSTILE: in any order, else exits fit and time runs forwards.
static void replay_random(bool hostile, uint32_t gap_count)
{
	uint64_t words[WORDS];
	struct tp_gap gaps[4];
	struct nest nest = {.depth = 0};
	struct tp_profile profile;
	struct tp_stack stack;
	memset(&model, 0, sizeof(model));
	assert_int_equal(tp_profile_init(&profile), 0);
	assert_int_equal(tp_stack_init(&stack, &profile), 0);
	const uint64_t first_time = UINT64_C(7) << 32;
	uint64_t time = first_time + 100000;
	uint64_t from = pick(3) ? time + pick(300) : 0;
	for (uint32_t i = 0; i < gap_count; i++) {
		gaps[i].from = from;
		gaps[i].to = (from ? from : time) + pick(400);
		from = gaps[i].to + pick(600);
	}
	if (gap_count && pick(4) == 0)
		gaps[gap_count - 1].to = UINT64_MAX;
	const struct tp_gaps list = {.items = gaps, .count = gap_count};
	tp_stack_set_gaps(&stack, &list, false);
	model.gaps = gaps;
	model.gap_count = gap_count;
	const uint32_t untimed = pick(3); // of each kind of stream: none, some, only such exits
	uint32_t count = 0;
	while (count + 2 <= WORDS) {
		uint32_t kind = pick(8);
		kind = kind < 3   ? TEEPERF_KIND_ENTER
		       : kind < 7 ? TEEPERF_KIND_EXIT
				  : TEEPERF_KIND_RESYNC;
		if (kind == TEEPERF_KIND_EXIT && (untimed == 2 || (untimed && pick(2))))
			kind = TEEPERF_KIND_UNTIMED;
		uint32_t name = name_of(pick(FUNCTIONS));
		uint64_t to = FIRST_POSITION + 8 * (uint64_t)pick(count + 1);
		if (kind == TEEPERF_KIND_RESYNC && nest.depth && pick(4)) {
			const uint32_t index = pick(nest.depth);
			to = nest.positions[index];
			name = nest.names[index];
		} else if (pick(4) == 0) {
			to = TEEPERF_POSITION_OFF;
		}
		while (!hostile && kind == TEEPERF_KIND_RESYNC && nest.depth &&
		       nest.positions[nest.depth - 1] > to)
			nest.depth--;
		if (kind != TEEPERF_KIND_ENTER && kind != TEEPERF_KIND_RESYNC &&
		    (!hostile || pick(3))) {
			if (!nest.depth)
				continue;
			name = nest.names[nest.depth - 1];
		}
		time = hostile && pick(10) == 0 ? time - pick(50) : time + pick(20);
		add_record(&nest, words, &count, kind, name, time, to);
	}
	// In two parts, as chunks would bring them: nothing may be forgotten in between.
	uint32_t half = pick(count);
	while (half && (uint32_t)(words[half - 1] >> 32) >= TEEPERF_NAME_FIRST &&
	       (words[half - 1] >> 32 & TEEPERF_KIND_MASK) == TEEPERF_KIND_RESYNC)
		half--;
	assert_int_equal(tp_stack_replay(&stack, words, half, first_time, FIRST_POSITION), 0);
	assert_int_equal(tp_stack_replay(&stack, words + half, count - half, first_time,
			     FIRST_POSITION + 8 * (uint64_t)half),
	    0);
	tp_stack_finish(&stack);
	assert_int_equal(stack.depth, 1);
	model_run(&model);
	compare(&model, &profile);
	assert_int_equal(stack.counts.unmatched_enters, model.counts.unmatched_enters);
	assert_int_equal(stack.counts.unmatched_exits, model.counts.unmatched_exits);
	assert_int_equal(stack.counts.unknown_resyncs, model.counts.unknown_resyncs);
	assert_int_equal(stack.counts.backwards, model.counts.backwards);
	assert_int_equal(stack.counts.cut, model.counts.cut);
	assert_int_equal(stack.counts.early, model.counts.early);
	assert_int_equal(stack.counts.dropped, model.counts.dropped);
	assert_int_equal(stack.counts.open, model.counts.open);
	if (!hostile && !gap_count) {
		assert_int_equal(stack.counts.unmatched_enters, 0);
		assert_int_equal(stack.counts.unmatched_exits, 0);
	}
	// The raw words behind resyncs, which look like holes, are never taken for records.
	assert_int_equal(stack.counts.holes, 0);
	uint64_t events = 0;
	for (uint32_t i = 0; i < model.count; i++)
		events += model.records[i].kind != TEEPERF_KIND_RESYNC;
	assert_int_equal(stack.counts.events, events);
	tp_stack_release(&stack);
	tp_profile_release(&profile);
}

static void well_nested(void **state)
{
	(void)state;
	for (seed = 1; seed < 4000000000u; seed += 20000003)
		replay_random(false, 0);
}

static void hostile(void **state)
{
	(void)state;
	for (uint64_t i = 1; i <= 300; i++) {
		seed = i * 977;
		replay_random(true, 0);
	}
}

static void gaps(void **state)
{
	(void)state;
	for (uint64_t i = 1; i <= 1200; i++) {
		seed = i * 7919;
		replay_random(i % 2, 1 + i % 4);
	}
}

// The stack after a resync to each position to which a program can return.
static void resyncs(void **state)
{
	(void)state;
	static const struct {
		uint64_t to;
		uint32_t name; // number of the function
		uint32_t depth, unknown;
	} cases[] = {
	    {TEEPERF_POSITION_OFF, 5, 0, 0}, // began while switched off: below all that is open
	    {FIRST_POSITION, 0, 1, 0}, {FIRST_POSITION + 8, 1, 2, 0},
	    {FIRST_POSITION + 16, 2, 3, 0},
	    {FIRST_POSITION - 8, 0, 0, 1}, // none of these has a record
	    {FIRST_POSITION + 9, 1, 2, 1}, {FIRST_POSITION + 800, 1, 3, 1},
	    {FIRST_POSITION + 12, 1, 2, 0}, // was not sampled
	    {FIRST_POSITION + 8, 2, 2, 1},  // another function's
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tp_profile profile;
		struct tp_stack stack;
		assert_int_equal(tp_profile_init(&profile), 0);
		assert_int_equal(tp_stack_init(&stack, &profile), 0);
		uint64_t words[5];
		for (uint32_t j = 0; j < 3; j++)
			words[j] = word(j, name_of(j), TEEPERF_KIND_ENTER);
		words[3] = word(10, name_of(cases[i].name), TEEPERF_KIND_RESYNC);
		words[4] = cases[i].to;
		assert_int_equal(tp_stack_replay(&stack, words, 5, 0, FIRST_POSITION), 0);
		assert_int_equal(stack.depth - 1, cases[i].depth);
		assert_int_equal(stack.counts.unknown_resyncs, cases[i].unknown);
		assert_int_equal(stack.counts.early, 0);
		tp_stack_finish(&stack);
		assert_int_equal(stack.counts.open, cases[i].depth);
		tp_stack_release(&stack);
		tp_profile_release(&profile);
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
	    cmocka_unit_test(gaps),
	    cmocka_unit_test(resyncs),
	    cmocka_unit_test(deep_recursion_grows),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
