// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls one after another, ranges of time and least times, against what the whole list of calls
// says: on random records of nested calls, with exits that are missing and unwinding.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/replay/profile.h"
#include "analyzer/replay/stack.h"

#define WORDS 600
#define ROUNDS 400
#define FIRST_POSITION 64

static uint64_t seed;

static uint32_t pick(uint32_t below)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(seed >> 33) % below;
}

static uint64_t words[WORDS + 1];
static uint32_t word_count;

static void make_records(void)
{
	uint32_t open[WORDS];
	uint64_t position[WORDS];
	uint32_t depth = 0;
	uint32_t time = 100;
	word_count = 0;
	while (word_count < WORDS - 2) {
		time += pick(4) ? pick(30) : 0;
		const uint32_t what = pick(20);
		if (what < 10 && depth < 40) {
			open[depth] = 0x401000 + 16 * pick(5);
			position[depth] = FIRST_POSITION + 8 * (uint64_t)word_count;
			words[word_count++] = (uint64_t)open[depth++] << 32 | time;
		} else if (what < 18 && depth) {
			depth--;
			// One in sixteen has no exit of its own.
			if (pick(16))
				words[word_count++] =
				    (uint64_t)(open[depth] | TEEPERF_KIND_EXIT) << 32 | time;
		} else if (what == 18 && depth > 1) {
			depth = 1 + pick(depth - 1);
			words[word_count++] =
			    (uint64_t)(open[depth - 1] | TEEPERF_KIND_RESYNC) << 32 | time;
			words[word_count++] = position[depth - 1];
		}
	}
}

// ---- the sink: a list of calls, and whether they nest

static struct tp_call calls[WORDS];
static uint32_t call_count;
static uint64_t open_ids[WORDS];
static uint32_t open_count;
static uint64_t last_time;

static void on_enter(void *context, uint64_t id, uint32_t node, uint64_t time)
{
	(void)node;
	assert_ptr_equal(context, calls);
	assert_true(time >= last_time);
	assert_true(!open_count || id > open_ids[open_count - 1]);
	last_time = time;
	open_ids[open_count++] = id;
}

static void on_leave(void *context, const struct tp_call *call)
{
	(void)context;
	assert_true(call->end >= last_time);
	assert_true(open_count && open_ids[open_count - 1] == call->id);
	assert_true(call->depth == open_count);
	assert_true(call->parent == (open_count > 1 ? open_ids[open_count - 2] : 0));
	assert_true(call->duration == call->end - call->start);
	last_time = call->end;
	open_count--;
	calls[call_count++] = *call;
}

static void replay(
    struct tp_profile *profile, uint64_t from, uint64_t to, uint64_t least, bool sink)
{
	struct tp_call_sink to_list = {.context = calls, .enter = on_enter, .leave = on_leave};
	struct tp_stack stack;
	assert_int_equal(tp_profile_init(profile), 0);
	assert_int_equal(tp_stack_init(&stack, profile), 0);
	if (from || to != UINT64_MAX)
		tp_stack_set_range(&stack, from, to);
	if (least)
		tp_stack_set_least(&stack, least);
	if (sink)
		tp_stack_set_sink(&stack, &to_list);
	const struct tp_gaps none = {NULL, 0};
	tp_stack_set_gaps(&stack, &none, false);
	const uint32_t half = word_count / 2;
	// A pair of words is never parted: neither are those of a chunk.
	const uint32_t cut =
	    (words[half - 1] >> 32 & TEEPERF_KIND_MASK) == TEEPERF_KIND_RESYNC ? half + 1 : half;
	assert_int_equal(tp_stack_replay(&stack, words, cut, 0, FIRST_POSITION), 0);
	assert_int_equal(tp_stack_replay(&stack, words + cut, word_count - cut, 0,
			     FIRST_POSITION + 8 * (uint64_t)cut),
	    0);
	tp_stack_finish(&stack);
	if (sink)
		assert_int_equal(open_count, 0);
	tp_stack_release(&stack);
}

// What the calls of the list, cut to [FROM, TO), make of a node.
static void expect_node(const struct tp_profile *profile, uint32_t node, uint64_t from, uint64_t to)
{
	uint64_t count = 0;
	uint64_t inclusive = 0;
	uint64_t below = 0;
	uint64_t min = UINT64_MAX;
	uint64_t max = 0;
	for (uint32_t i = 0; i < call_count; i++) {
		const struct tp_call *call = &calls[i];
		if (call->end < from || call->start >= to)
			continue;
		const uint64_t start = call->start > from ? call->start : from;
		const uint64_t end = call->end < to ? call->end : to;
		if (profile->nodes[call->node].parent == node)
			below += end - start;
		if (call->node != node)
			continue;
		count++;
		inclusive += end - start;
		min = end - start < min ? end - start : min;
		max = end - start > max ? end - start : max;
	}
	assert_true(profile->nodes[node].calls == count);
	assert_true(profile->nodes[node].inclusive == inclusive);
	assert_true(profile->nodes[node].self == inclusive - below);
	assert_true(profile->nodes[node].min == min);
	assert_true(profile->nodes[node].max == max);
	assert_true(tp_histogram_total(&profile->nodes[node].times) == count);
}

static void begin(uint32_t round)
{
	seed = round + 1;
	make_records();
	call_count = open_count = 0;
	last_time = 0;
}

static void calls_add_up_to_the_profile(void **state)
{
	(void)state;
	for (uint32_t round = 0; round < ROUNDS; round++) {
		struct tp_profile profile;
		begin(round);
		replay(&profile, 0, UINT64_MAX, 0, true);
		for (uint32_t i = 1; i < profile.node_count; i++)
			expect_node(&profile, i, 0, UINT64_MAX);
		tp_profile_release(&profile);
	}
}

static void a_range_cuts_calls(void **state)
{
	(void)state;
	uint64_t counted = 0;
	for (uint32_t round = 0; round < ROUNDS; round++) {
		struct tp_profile profile;
		begin(round);
		replay(&profile, 0, UINT64_MAX, 0, true);
		const uint64_t end = last_time;
		tp_profile_release(&profile);
		for (int i = 0; i < 8; i++) {
			const uint64_t from = 90 + pick((uint32_t)end);
			const uint64_t to = from + 1 + pick((uint32_t)end);
			replay(&profile, from, to, 0, false);
			// Paths are numbered alike until the range ends.
			for (uint32_t j = 1; from <= end && j < profile.node_count; j++) {
				expect_node(&profile, j, from, to);
				counted += profile.nodes[j].calls;
			}
			for (uint32_t j = 1; from > end && j < profile.node_count; j++)
				assert_true(profile.nodes[j].calls == 0);
			tp_profile_release(&profile);
		}
	}
	assert_true(counted > ROUNDS * 100);
}

// With a range the sink sees the same calls that the profile adds up.
static void a_range_for_the_sink(void **state)
{
	(void)state;
	for (uint32_t round = 0; round < ROUNDS; round++) {
		struct tp_profile profile;
		begin(round);
		const uint64_t from = 100 + pick(3000);
		replay(&profile, from, from + 1 + pick(3000), 0, true);
		for (uint32_t i = 1; i < profile.node_count; i++)
			expect_node(&profile, i, 0, UINT64_MAX);
		tp_profile_release(&profile);
	}
}

static void short_calls_are_part_of_their_callers(void **state)
{
	(void)state;
	uint64_t dropped = 0;
	for (uint32_t round = 0; round < ROUNDS; round++) {
		struct tp_profile profile;
		begin(round);
		replay(&profile, 0, UINT64_MAX, 0, true);
		tp_profile_release(&profile);
		const uint64_t least = 1 + pick(60);
		replay(&profile, 0, UINT64_MAX, least, false);
		uint32_t kept = 0;
		for (uint32_t i = 0; i < call_count; i++)
			if (calls[i].duration >= least)
				calls[kept++] = calls[i];
		dropped += call_count - kept;
		call_count = kept;
		for (uint32_t i = 1; i < profile.node_count; i++)
			expect_node(&profile, i, 0, UINT64_MAX);
		tp_profile_release(&profile);
	}
	assert_true(dropped > ROUNDS * 10);
}

#define MANY 400000

// Records of a walk over very many paths, so that the quick way for these is taken.
static uint64_t *make_many(void)
{
	static uint32_t open[64];
	uint64_t *many = malloc(MANY * sizeof(*many));
	assert_non_null(many);
	uint32_t depth = 0;
	uint32_t time = 1;
	for (uint32_t i = 0; i < MANY; i++) {
		// Some are long: their counts need more room while others wait for theirs.
		time += pick(200) ? pick(20) : pick(4000);
		if (depth < 9 && (!depth || pick(2))) {
			open[depth] = 0x401000 + 16 * pick(11);
			many[i] = (uint64_t)open[depth++] << 32 | time;
		} else {
			many[i] = (uint64_t)(open[--depth] | TEEPERF_KIND_EXIT) << 32 | time;
		}
	}
	return many;
}

static void ignore_call(void *context, const struct tp_call *call)
{
	(void)context;
	(void)call;
}

// A range needs the slow way for each record; both have the same result, and so does a sink.
static void the_quick_way_is_the_same(void **state)
{
	(void)state;
	seed = 7;
	uint64_t *many = make_many();
	struct tp_profile profiles[3];
	struct tp_call_sink sink = {.leave = ignore_call};
	const struct tp_gaps none = {NULL, 0};
	for (int i = 0; i < 3; i++) {
		struct tp_stack stack;
		assert_int_equal(tp_profile_init(&profiles[i]), 0);
		profiles[i].cost = (struct tp_profile_cost){.in = 700,
		    .out = 300,
		    .untimed = 900,
		    .wait_share = 20,
		    .period = 3,
		    .debt_max = 9000};
		assert_true(tp_profile_keep_waited(&profiles[i]));
		assert_int_equal(tp_stack_init(&stack, &profiles[i]), 0);
		if (i == 1)
			tp_stack_set_sink(&stack, &sink);
		if (i == 2)
			tp_stack_set_range(&stack, 0, UINT64_MAX);
		tp_stack_set_gaps(&stack, &none, false);
		for (uint32_t at = 0; at < MANY; at += 8000)
			assert_int_equal(
			    tp_stack_replay(&stack, many + at, 8000, 0, 64 + 8 * (uint64_t)at), 0);
		tp_stack_finish(&stack);
		assert_true(stack.counts.events == MANY);
		tp_stack_release(&stack);
	}
	assert_true(profiles[0].node_count > 50000);
	assert_int_equal(profiles[0].node_count, profiles[1].node_count);
	assert_int_equal(profiles[0].node_count, profiles[2].node_count);
	uint64_t waited = 0;
	for (uint32_t j = 0; j < 2 * profiles[0].node_count; j++) {
		const uint32_t i = j / 2;
		const struct tp_node *a = &profiles[0].nodes[i];
		const struct tp_node *b = &profiles[1 + j % 2].nodes[i];
		assert_memory_equal(a, b, offsetof(struct tp_node, times));
		assert_int_equal(a->times.start, b->times.start);
		assert_int_equal(a->times.size, b->times.size);
		if (a->times.size)
			assert_memory_equal(a->times.counts, b->times.counts, a->times.size * 4);
		assert_true(tp_histogram_total(&a->times) == a->calls);
		assert_true(profiles[0].waited[i] == profiles[1 + j % 2].waited[i]);
		waited += profiles[0].waited[i];
	}
	assert_true(waited > MANY);
	tp_profile_release(&profiles[0]);
	tp_profile_release(&profiles[1]);
	tp_profile_release(&profiles[2]);
	free(many);
}

static uint64_t lost_at[4];
static uint64_t lost_count;

static void on_lost(void *context, uint64_t count, uint64_t time)
{
	(void)context;
	assert_true(count < 4);
	lost_at[count] = time;
	lost_count++;
}

// With the time before them, and only in the range of time.
static void losses_are_told(void **state)
{
	(void)state;
	const uint64_t name = UINT64_C(0x401000) << 32;
	const uint64_t lost = (uint64_t)TEEPERF_CONTROL_LOST << 32;
	const uint64_t some[] = {name | 10, lost | 1, name | 20, lost | 2,
	    name | (uint64_t)TEEPERF_KIND_EXIT << 32 | 30, lost | 3,
	    name | (uint64_t)TEEPERF_KIND_EXIT << 32 | 40};
	for (uint64_t from = 0; from < 20; from += 15) {
		struct tp_profile profile;
		struct tp_stack stack;
		struct tp_call_sink sink = {.lost = on_lost};
		const struct tp_gaps none = {NULL, 0};
		memset(lost_at, 0, sizeof(lost_at));
		lost_count = 0;
		assert_int_equal(tp_profile_init(&profile), 0);
		assert_int_equal(tp_stack_init(&stack, &profile), 0);
		tp_stack_set_range(&stack, from, 35);
		tp_stack_set_sink(&stack, &sink);
		tp_stack_set_gaps(&stack, &none, false);
		assert_int_equal(tp_stack_replay(&stack, some, 7, 0, FIRST_POSITION), 0);
		tp_stack_finish(&stack);
		assert_int_equal(lost_count, from ? 2 : 3);
		assert_int_equal(lost_at[1], from ? 0 : 10);
		assert_int_equal(lost_at[2], 20);
		assert_int_equal(lost_at[3], 30);
		tp_stack_release(&stack);
		tp_profile_release(&profile);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(calls_add_up_to_the_profile),
	    cmocka_unit_test(a_range_cuts_calls),
	    cmocka_unit_test(a_range_for_the_sink),
	    cmocka_unit_test(short_calls_are_part_of_their_callers),
	    cmocka_unit_test(the_quick_way_is_the_same),
	    cmocka_unit_test(losses_are_told),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
