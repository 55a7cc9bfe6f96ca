// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Threads replayed in parts give what one replay gives, to the last number: on random records,
// proper ones with unwinding and losses, and hostile ones.
#include <setjmp.h>
#include <stdarg.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/replay/stack_part.h"

#define WORDS 900
#ifdef __SANITIZE_ADDRESS__
#define ROUNDS 500 // each takes eight times as long, and goes the same ways
#else
#define ROUNDS 3000
#endif
#define FIRST_POSITION 64
#define PARTS_MAX 5

static uint64_t seed;
static uint64_t first_seed; // of this round

static uint32_t pick(uint32_t below)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(seed >> 33) % below;
}

static uint64_t words[WORDS + 8];
static uint32_t word_count;
// Where a chunk may begin.
static uint32_t borders[WORDS + 8];
static uint32_t border_count;

static void add(uint32_t name, uint32_t kind, uint32_t time)
{
	words[word_count++] = (uint64_t)(name | kind) << 32 | time;
}

// HOSTILE: in how many of a thousand records something odd happens.
static void make_records(uint32_t hostile)
{
	static uint32_t open[WORDS + 8];
	static uint64_t position[WORDS + 8];
	uint32_t depth = 0;
	uint32_t time = 100;
	word_count = border_count = 0;
	while (word_count < WORDS) {
		if (!border_count || borders[border_count - 1] != word_count)
			borders[border_count++] = word_count;
		time += pick(4) ? pick(30) : 0;
		if (pick(1000) < hostile) {
			const uint32_t name = 0x401000 + 16 * pick(6);
			const uint32_t odd = pick(9);
			if (odd == 0)
				add(name, TEEPERF_KIND_EXIT, time);
			else if (odd == 1)
				add(name, TEEPERF_KIND_UNTIMED, 0);
			else if (odd == 2)
				add(name, TEEPERF_KIND_EXIT, pick(time));
			else if (odd == 3)
				add(TEEPERF_CONTROL_LOST, 0, 3);
			else if (odd == 4)
				add(TEEPERF_CONTROL_FORK, 0, 1);
			else if (odd == 5)
				add(TEEPERF_CONTROL_EMPTY, 0, 0);
			else if (odd == 6)
				depth -= depth != 0; // without its exit
			else {
				add(name, TEEPERF_KIND_RESYNC, time);
				const uint32_t near = FIRST_POSITION + 4 * pick(word_count * 2);
				words[word_count++] = odd == 7 ? pick(WORDS * 8) : near;
			}
			continue;
		}
		const uint32_t what = pick(41);
		if (what < 20 && depth < 60) {
			open[depth] = 0x401000 + 16 * pick(6);
			position[depth] = FIRST_POSITION + 8 * (uint64_t)word_count;
			add(open[depth++], TEEPERF_KIND_ENTER, time);
		} else if (what < 38 && depth) {
			add(open[--depth], TEEPERF_KIND_EXIT, time);
		} else if (what == 38 && depth > 1) {
			depth = 1 + pick(depth - 1);
			add(open[depth - 1], TEEPERF_KIND_RESYNC, time);
			words[word_count++] = position[depth - 1];
		} else if (what == 39) {
			add(TEEPERF_CONTROL_COUNTS, 0, 1);
			words[word_count++] = 0x7f0000401000 + 16 * pick(3);
			words[word_count++] = pick(100);
		} else if (what == 40) {
			add(pick(2) ? TEEPERF_CONTROL_MARK : TEEPERF_CONTROL_PHASE_END, 0, time);
		}
	}
	borders[border_count++] = word_count;
}

static const struct tp_profile_cost cost = {
    .in = 700, .out = 300, .untimed = 900, .wait_share = 20, .period = 7, .debt_max = 9000};
static const struct tp_gaps no_gaps;
static uint32_t most_nodes; // 0: any number
static bool costs = true;

static void begin(struct tp_stack *stack, struct tp_profile *profile)
{
	assert_int_equal(tp_profile_init(profile), 0);
	if (costs)
		profile->cost = cost;
	profile->most_nodes = most_nodes;
	assert_true(tp_profile_keep_waited(profile));
	assert_int_equal(tp_stack_init(stack, profile), 0);
	tp_stack_set_gaps(stack, &no_gaps, false);
}

// Parts begin where debts are forgotten.
static void replay(struct tp_stack *stack, uint32_t from, uint32_t to)
{
	tp_profile_begin_window(stack->profile, FIRST_POSITION + 8 * (uint64_t)from);
	assert_int_equal(
	    tp_stack_replay(stack, words + from, to - from, 0, FIRST_POSITION + 8 * (uint64_t)from),
	    0);
}

static int32_t debt_of(const struct tp_profile *profile, const struct tp_node *node)
{
	return node->debts_of == profile->debts ? node->debt : 0;
}

static void expect_same(const struct tp_stack *a, const struct tp_stack *b)
{
	if (memcmp(&a->counts, &b->counts, sizeof(a->counts)) != 0)
		fail_msg("seed %" PRIu64 ": events %" PRIu64 " and %" PRIu64 ", resyncs %" PRIu64
			 " and %" PRIu64 ", open %" PRIu64 " and %" PRIu64,
		    first_seed, a->counts.events, b->counts.events, a->counts.unknown_resyncs,
		    b->counts.unknown_resyncs, a->counts.open, b->counts.open);
	assert_true(a->first == b->first && a->last == b->last && a->ended == b->ended);
	assert_true(a->frames[0].children == b->frames[0].children);
	if (a->frames[0].net != b->frames[0].net)
		fail_msg("seed %" PRIu64 ": net %" PRIu64 " and %" PRIu64, first_seed,
		    a->frames[0].net, b->frames[0].net);
	assert_int_equal(a->calls.count, b->calls.count);
	for (uint32_t i = 0; i < a->calls.count; i++)
		assert_memory_equal(
		    &a->calls.items[i], &b->calls.items[i], sizeof(a->calls.items[i]));
	assert_int_equal(a->profile->node_count, b->profile->node_count);
	assert_int_equal(a->profile->function_count, b->profile->function_count);
	for (uint32_t i = 0; i < a->profile->node_count; i++) {
		const struct tp_node *x = &a->profile->nodes[i];
		const struct tp_node *y = &b->profile->nodes[i];
		assert_memory_equal(x, y, offsetof(struct tp_node, debt));
		assert_int_equal(debt_of(a->profile, x), debt_of(b->profile, y));
		assert_int_equal(x->times.start, y->times.start);
		assert_int_equal(x->times.size, y->times.size);
		if (x->times.size)
			assert_memory_equal(x->times.counts, y->times.counts, x->times.size * 4);
		if (a->profile->waited[i] != b->profile->waited[i])
			fail_msg("seed %" PRIu64 ": node %u waited %" PRIu64 " and %" PRIu64,
			    first_seed, i, a->profile->waited[i], b->profile->waited[i]);
	}
}

// All calls that a sink received, in any order.
struct heap {
	const struct tp_profile *profile; // that call->node is of
	uint64_t count;
	uint64_t sum;
	uint64_t product;
};

static void take_call(void *context, const struct tp_call *call)
{
	struct heap *heap = context;
	const uint64_t parts[] = {call->id, call->start, call->end, call->duration, call->self,
	    call->net.inclusive, call->net.self, call->how, heap->profile->nodes[call->node].name};
	uint64_t hash = 1;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		hash = (hash ^ parts[i]) * UINT64_C(0x9e3779b97f4a7c15) + (hash >> 29);
	heap->count++;
	heap->sum += hash;
	heap->product *= hash | 1;
}

static uint32_t joined;
static uint32_t stepped;

// The same with sinks: each call is reported once, by the part that has it or by the thread.
static void compare_calls(const uint32_t *at, uint32_t parts)
{
	struct heap all = {.product = 1};
	struct heap whole = {.product = 1};
	for (uint32_t apart = 0; apart < 2; apart++) {
		struct tp_profile profile;
		struct tp_stack stack;
		struct heap *heap = apart ? &all : &whole;
		struct tp_call_sink sink = {.context = heap, .leave = take_call};
		begin(&stack, &profile);
		heap->profile = &profile;
		tp_stack_set_sink(&stack, &sink);
		stack.only_calls = true;
		replay(&stack, 0, at[1]);
		for (uint32_t i = 1; i < parts; i++) {
			if (!apart) {
				replay(&stack, at[i], at[i + 1]);
				continue;
			}
			struct tp_part part;
			struct heap own = {.profile = &part.profile, .product = 1};
			struct tp_call_sink own_sink = {.context = &own, .leave = take_call};
			assert_int_equal(tp_part_init(&part, &cost), 0);
			part.profile.most_nodes = most_nodes;
			tp_stack_set_sink(&part.stack, &own_sink);
			part.stack.only_calls = true;
			tp_part_replay(&part, words + at[i], at[i + 1] - at[i], 0,
			    FIRST_POSITION + 8 * (uint64_t)at[i]);
			if (tp_part_fits(&part, &stack)) {
				assert_int_equal(tp_part_join(&part, &stack), 0);
				all.count += own.count;
				all.sum += own.sum;
				all.product *= own.product;
			} else {
				replay(&stack, at[i], at[i + 1]);
			}
			tp_part_release(&part);
		}
		tp_stack_finish(&stack);
		tp_stack_release(&stack);
		tp_profile_release(&profile);
	}
	if (whole.count != all.count || whole.sum != all.sum || whole.product != all.product)
		fail_msg("seed %" PRIu64 ": %" PRIu64 " calls, in parts %" PRIu64, first_seed,
		    whole.count, all.count);
}

// Replay in parts at borders that are chosen by chance, and compare.
static void compare_parts(void)
{
	struct tp_profile whole_profile;
	struct tp_profile profile;
	struct tp_stack whole;
	struct tp_stack stack;
	const uint32_t parts = 2 + pick(PARTS_MAX - 1);
	uint32_t at[PARTS_MAX + 1] = {0};
	for (uint32_t i = 1; i < parts; i++)
		at[i] = borders[border_count * i / parts];
	at[parts] = word_count;
	begin(&whole, &whole_profile);
	for (uint32_t i = 0; i < parts; i++)
		replay(&whole, at[i], at[i + 1]);
	tp_stack_finish(&whole);
	begin(&stack, &profile);
	replay(&stack, 0, at[1]);
	for (uint32_t i = 1; i < parts; i++) {
		struct tp_part part;
		assert_int_equal(tp_part_init(&part, &cost), 0);
		part.profile.most_nodes = most_nodes;
		// Two chunks, since a part is of many.
		uint32_t middle = at[i];
		for (uint32_t j = 0; j < border_count; j++)
			if (borders[j] <= (at[i] + at[i + 1]) / 2 && borders[j] > middle)
				middle = borders[j];
		tp_part_replay(
		    &part, words + at[i], middle - at[i], 0, FIRST_POSITION + 8 * (uint64_t)at[i]);
		tp_part_replay(&part, words + middle, at[i + 1] - middle, 0,
		    FIRST_POSITION + 8 * (uint64_t)middle);
		if (tp_part_fits(&part, &stack)) {
			joined++;
			stepped += part.step_count;
			assert_int_equal(tp_part_join(&part, &stack), 0);
		} else {
			replay(&stack, at[i], at[i + 1]);
		}
		tp_part_release(&part);
	}
	tp_stack_finish(&stack);
	expect_same(&whole, &stack);
	compare_calls(at, parts);
	tp_stack_release(&whole);
	tp_stack_release(&stack);
	tp_profile_release(&whole_profile);
	tp_profile_release(&profile);
}

static void proper_records(void **state)
{
	(void)state;
	joined = stepped = 0;
	uint32_t parts = 0;
	for (uint32_t round = 0; round < ROUNDS; round++) {
		first_seed = seed = round + 1;
		make_records(0);
		compare_parts();
		parts++;
	}
	// None of these is unusual.
	assert_true(joined >= parts);
	assert_true(stepped > parts * 10);
}

// All calls and all time are there, each node has what those below it have, and functions say how
// many of their calls are those of another.
static void compare_limited(void)
{
	struct tp_profile profiles[2];
	uint64_t calls[2][8] = {{0}};
	uint64_t self[2] = {0};
	bool limited = false;
	const uint32_t most = most_nodes;
	costs = false; // what a call cannot pay depends on who pays with it
	for (uint32_t i = 0; i < 2; i++) {
		struct tp_profile *profile = &profiles[i];
		struct tp_stack stack;
		most_nodes = i ? most : 0;
		begin(&stack, profile);
		replay(&stack, 0, word_count);
		tp_stack_finish(&stack);
		tp_stack_release(&stack);
		tp_profile_link(profile);
		uint64_t *below = calloc(profile->node_count, sizeof(*below));
		assert_non_null(below);
		for (uint32_t n = profile->node_count; n-- > 1;) {
			const struct tp_node *node = &profile->nodes[n];
			const bool more = node->name == TP_NAME_MORE;
			limited |= more;
			assert_true(!more || (i && !profile->first_child[n]));
			assert_int_equal(node->inclusive, node->self + below[n]);
			assert_true(!node->calls || node->min <= node->inclusive / node->calls);
			assert_true(node->max >= node->inclusive / (node->calls + !node->calls));
			assert_int_equal(tp_histogram_total(&node->times), node->calls);
			below[node->parent] += node->inclusive;
			self[i] += node->self;
			if (!more)
				calls[i][(node->name - 0x401000) / 16] += node->calls;
		}
		free(below);
		for (uint32_t f = 1; f < profile->function_count; f++)
			if (profile->functions[f].name != TP_NAME_MORE)
				calls[i][(profile->functions[f].name - 0x401000) / 16] +=
				    profile->functions[f].more;
	}
	assert_true(limited || profiles[0].node_count <= most);
	assert_true(profiles[1].node_count <= 2 * most);
	assert_memory_equal(calls[0], calls[1], sizeof(calls[0]));
	assert_int_equal(self[0], self[1]);
	costs = true;
	tp_profile_release(&profiles[0]);
	tp_profile_release(&profiles[1]);
}

static void more_paths_than_nodes(void **state)
{
	(void)state;
	joined = 0;
	for (uint32_t round = 0; round < ROUNDS; round++) {
		first_seed = seed = round + 2000001;
		make_records(0);
		most_nodes = 2 + pick(400);
		compare_parts();
		compare_limited();
	}
	most_nodes = 0;
	assert_true(joined);
}

static void hostile_records(void **state)
{
	(void)state;
	joined = 0;
	for (uint32_t round = 0; round < ROUNDS; round++) {
		first_seed = seed = round + 1000001;
		make_records(1U << round % 10);
		compare_parts();
	}
	assert_true(joined > ROUNDS / 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(proper_records),
	    cmocka_unit_test(more_paths_than_nodes),
	    cmocka_unit_test(hostile_records),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
