// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The quick way to replay records gives what the long way gives, to the last number, in the middle
// of a thread and at its end: on random records, proper and hostile ones, which the long way gets
// one by one from tp_record_next; and it is taken: counts tell how often.
#include <setjmp.h>
#include <stdarg.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/replay/stack.h"

#ifdef __SANITIZE_ADDRESS__
#define ROUNDS 300 // each takes eight times as long, and goes the same ways
#else
#define ROUNDS 1500
#endif
#define WORDS_MAX 400000
#define DEPTH_MAX 60
#define FIRST_POSITION 64
#define CHUNK 700 // words

static uint64_t seed;
static uint64_t first_seed; // of this round
static uint64_t words[WORDS_MAX + 8];
static uint32_t word_count;

static uint32_t pick(uint32_t below)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(seed >> 33) % below;
}

static void add(uint32_t name, uint32_t kind, uint32_t time)
{
	words[word_count++] = (uint64_t)(name | kind) << 32 | time;
}

static void add_resync(uint32_t name, uint32_t time, uint64_t position)
{
	add(name, TEEPERF_KIND_RESYNC, time);
	words[word_count++] = position;
}

// A record that proper programs have seldom, or never.
static void add_odd(uint32_t name, uint32_t time, uint32_t *depth)
{
	switch (pick(15)) {
	case 0:
		add(name, TEEPERF_KIND_EXIT, time);
		break;
	case 1:
		add(name, TEEPERF_KIND_UNTIMED, 0);
		break;
	case 2:
		add(name, TEEPERF_KIND_EXIT, pick(time)); // backwards
		break;
	case 3:
		add(name, TEEPERF_KIND_ENTER, pick(time));
		break;
	case 4:
		add(TEEPERF_CONTROL_LOST, 0, 3);
		break;
	case 5:
		add(TEEPERF_CONTROL_FORK, 0, 1);
		break;
	case 6:
		add(TEEPERF_CONTROL_SYNC, 0, pick(2));
		break;
	case 7:
		add(pick(30), 0, pick(3)); // any control record
		break;
	case 8:
		*depth -= *depth != 0; // without its exit
		break;
	case 9:
		add_resync(name, time, TEEPERF_POSITION_ELSEWHERE);
		break;
	case 10:
		add_resync(name, time,
		    (FIRST_POSITION + 8 * (uint64_t)pick(word_count + 1)) |
			TEEPERF_POSITION_LEAVES);
		break;
	case 11:
		words[word_count++] = (uint64_t)pick(1 << 30) << 34 | seed >> 30;
		break;
	default:
		add_resync(name, time, FIRST_POSITION + 4 * (uint64_t)pick(word_count * 2 + 1));
	}
}

// COUNT words of a program with FUNCTIONS functions. HOSTILE: the number of odd records in a
// thousand.
static void make_records(uint32_t count, uint32_t functions, uint32_t hostile)
{
	static uint32_t open[DEPTH_MAX];
	static uint64_t position[DEPTH_MAX];
	uint32_t depth = 0;
	uint32_t time = 100;
	word_count = 0;
	while (word_count < count) {
		time += pick(4) ? pick(30) : 0;
		const uint32_t name = 0x401000 + 16 * pick(functions);
		const uint32_t what = pick(40);
		if (pick(1000) < hostile) {
			add_odd(name, time, &depth);
		} else if (what < 10) {
			add(name, TEEPERF_KIND_ENTER, time);
			add(name, TEEPERF_KIND_EXIT, time + pick(3));
			time += 3;
		} else if (what < 25 && depth < DEPTH_MAX) {
			open[depth] = name;
			position[depth] = FIRST_POSITION + 8 * (uint64_t)word_count;
			add(open[depth++], TEEPERF_KIND_ENTER, time);
		} else if (what < 39 && depth) {
			add(open[--depth], TEEPERF_KIND_EXIT, time);
		} else if (what == 39 && depth > 1) {
			depth = 1 + pick(depth - 1);
			add_resync(open[depth - 1], time, position[depth - 1]);
		}
	}
}

// ---- two stacks, one of which goes the long way

struct side {
	struct tp_profile profile;
	struct tp_stack stack;
	struct tp_call_sink sink;
	uint64_t told; // a hash of all that the sink received, in order
	uint64_t calls;
};

static void tell(struct side *side, uint64_t what)
{
	side->told = (side->told ^ what) * UINT64_C(0x9e3779b97f4a7c15) + (side->told >> 29);
}

static void take_enter(void *context, uint64_t id, uint32_t node, uint64_t time)
{
	tell(context, id);
	tell(context, node);
	tell(context, time);
}

static void take_call(void *context, const struct tp_call *call)
{
	struct side *side = context;
	const uint64_t parts[] = {call->id, call->parent, call->start, call->end, call->duration,
	    call->self, call->net.inclusive, call->net.self, call->chosen, call->off.blocked,
	    call->node, call->depth, call->how};
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		tell(side, parts[i]);
	side->calls++;
}

// What a replay has besides its records, by chance.
struct setting {
	bool costs;
	bool waits;
	bool sinks;
	bool only_calls;
	struct tp_gaps gaps;
	struct tp_gap gap;
	struct tp_off_list off;
	struct tp_off_stretch stretches[3];
};

static void choose(struct setting *setting)
{
	*setting = (struct setting){.costs = pick(2), .waits = pick(2), .sinks = pick(3) == 0};
	setting->only_calls = setting->sinks && pick(2);
	setting->gap = (struct tp_gap){.from = 2000 + pick(2000)};
	setting->gap.to = setting->gap.from + pick(500);
	if (pick(4) == 0)
		setting->gaps = (struct tp_gaps){&setting->gap, 1};
	for (uint32_t i = 0, time = 300; i < 3; i++) {
		setting->stretches[i].from = time += pick(2000);
		setting->stretches[i].to = time += pick(100);
		setting->stretches[i].preempted = pick(2);
	}
	if (pick(3) == 0)
		setting->off = (struct tp_off_list){setting->stretches, 3};
}

static void begin(struct side *side, const struct setting *setting, bool slow)
{
	struct tp_profile *profile = &side->profile;
	*side = (struct side){.told = 0};
	assert_int_equal(tp_profile_init(profile), 0);
	if (setting->costs)
		profile->cost = (struct tp_profile_cost){.in = 700, .out = 300, .untimed = 900};
	if (setting->waits) {
		profile->cost.wait_share = 20;
		profile->cost.period = 7;
	}
	profile->cost.debt_max = 9000;
	assert_true(tp_profile_keep_waited(profile));
	assert_int_equal(tp_stack_init(&side->stack, profile), 0);
	tp_stack_set_gaps(&side->stack, &setting->gaps, false);
	if (setting->off.count) {
		tp_stack_set_off(&side->stack, &setting->off);
		assert_true(tp_profile_keep_parts(profile));
	}
	side->sink =
	    (struct tp_call_sink){.context = side, .enter = take_enter, .leave = take_call};
	if (setting->sinks)
		tp_stack_set_sink(&side->stack, &side->sink);
	side->stack.only_calls = setting->only_calls;
	side->stack.slow = slow;
}

static void end(struct side *side)
{
	tp_stack_release(&side->stack);
	tp_profile_release(&side->profile);
}

static void expect_same_profile(const struct tp_profile *a, const struct tp_profile *b)
{
	assert_int_equal(a->node_count, b->node_count);
	assert_int_equal(a->function_count, b->function_count);
	for (uint32_t i = 0; i < a->function_count; i++)
		if (a->functions[i].active != b->functions[i].active)
			fail_msg("seed %" PRIu64 ": function %u is active %u times and %u times",
			    first_seed, i, a->functions[i].active, b->functions[i].active);
	for (uint32_t i = 0; i < a->node_count; i++) {
		const struct tp_node *x = &a->nodes[i];
		const struct tp_node *y = &b->nodes[i];
		if (memcmp(x, y, offsetof(struct tp_node, times)) != 0)
			fail_msg("seed %" PRIu64 ": node %u has %" PRIu64 " and %" PRIu64 " calls",
			    first_seed, i, x->calls, y->calls);
		assert_int_equal(x->times.start, y->times.start);
		assert_int_equal(x->times.size, y->times.size);
		if (x->times.size)
			assert_memory_equal(x->times.counts, y->times.counts, x->times.size * 4);
	}
	if (a->waited)
		assert_memory_equal(a->waited, b->waited, a->node_count * sizeof(*a->waited));
	for (uint32_t i = 0; a->parts_of && i < a->node_count; i++) {
		const struct tp_node_parts x = tp_profile_parts(a, i);
		const struct tp_node_parts y = tp_profile_parts(b, i);
		assert_memory_equal(&x, &y, sizeof(x));
	}
}

static void expect_same(const struct side *a, const struct side *b)
{
	const struct tp_stack *x = &a->stack;
	const struct tp_stack *y = &b->stack;
	if (memcmp(&x->counts, &y->counts, sizeof(x->counts)) != 0)
		fail_msg("seed %" PRIu64 ": events %" PRIu64 " and %" PRIu64, first_seed,
		    x->counts.events, y->counts.events);
	assert_true(x->first == y->first && x->last == y->last && x->ended == y->ended);
	assert_int_equal(x->depth, y->depth);
	if (x->depth)
		assert_memory_equal(x->frames, y->frames, x->depth * sizeof(*x->frames));
	assert_int_equal(a->calls, b->calls);
	assert_true(a->told == b->told);
	expect_same_profile(&a->profile, &b->profile);
}

// Of the quick one of the last round.
static uint64_t unusual;
static uint32_t paths;

// COUNT words, the long way, record by record.
static void replay_records(struct side *side, const uint64_t *at, uint32_t count, uint64_t position)
{
	struct tp_record_cursor cursor = tp_records_begin(at, count, 0);
	for (struct tp_record record; tp_record_next(&cursor, &record);)
		assert_int_equal(
		    tp_stack_replay(&side->stack, at + record.at, 1 + record.more_count,
			cursor.high, position + 8 * (uint64_t)record.at),
		    0);
}

// Replay in chunks, both ways; compare now and then, and in the end.
static void compare_ways(const struct setting *setting)
{
	struct side quick;
	struct side slow;
	begin(&quick, setting, false);
	begin(&slow, setting, true);
	for (uint32_t from = 0; from < word_count; from += CHUNK) {
		const uint32_t count = word_count - from < CHUNK ? word_count - from : CHUNK;
		const uint64_t position = FIRST_POSITION + 8 * (uint64_t)from;
		assert_int_equal(
		    tp_stack_replay(&quick.stack, words + from, count, 0, position), 0);
		replay_records(&slow, words + from, count, position);
		if (from % (CHUNK * 16) == 0)
			expect_same(&quick, &slow);
	}
	unusual = quick.stack.unusual;
	paths = quick.profile.node_count;
	tp_stack_finish(&quick.stack);
	tp_stack_finish(&slow.stack);
	expect_same(&quick, &slow);
	end(&quick);
	end(&slow);
}

static void proper_programs(void **state)
{
	(void)state;
	uint64_t all = 0;
	uint64_t odd = 0;
	for (uint32_t round = 0; round < ROUNDS; round++) {
		struct setting setting;
		first_seed = seed = round + 1;
		choose(&setting);
		make_records(900, 6, 0);
		compare_ways(&setting);
		all += word_count;
		odd += unusual - paths;
	}
	// New paths and resyncs apart, it is only what gaps and stretches without a processor make
	// of records.
	assert_true(odd < all / 20);
}

static void damaged_traces(void **state)
{
	(void)state;
	for (uint32_t round = 0; round < 2 * ROUNDS; round++) {
		struct setting setting;
		first_seed = seed = round + 1000001;
		choose(&setting);
		make_records(900, 2 + pick(12), 1U << round % 10);
		compare_ways(&setting);
	}
}

// Enough paths that nodes are far away, and ended calls wait for theirs.
static void many_paths(void **state)
{
	(void)state;
	for (uint32_t round = 0; round < 6; round++) {
		struct setting setting;
		first_seed = seed = round + 2000001;
		choose(&setting);
		setting.sinks &= round % 2;
		make_records(WORDS_MAX, 60, round % 3);
		compare_ways(&setting);
		assert_true(paths > 20000);
	}
}

// ---- counts of what makes it quick

// A million events of six paths: the first record and each new path go the long way, nothing else
// does.
static void few_records_are_unusual(void **state)
{
	(void)state;
	const uint32_t a = 0x401000;
	const uint32_t b = 0x401040;
	const uint32_t leaf = 0x401080;
	static const struct setting plain;
	struct side side;
	begin(&side, &plain, false);
	uint64_t position = FIRST_POSITION;
	uint32_t time = 1;
	word_count = 0;
	add(a, TEEPERF_KIND_ENTER, time++);
	for (uint32_t i = 0; i < 125000; i++) {
		add(leaf, TEEPERF_KIND_ENTER, time++);
		add(leaf, TEEPERF_KIND_EXIT, time++);
		add(b, TEEPERF_KIND_ENTER, time++);
		add(leaf, TEEPERF_KIND_ENTER, time++);
		add(leaf, TEEPERF_KIND_EXIT, time++);
		add(a, TEEPERF_KIND_ENTER, time++);
		add(a, TEEPERF_KIND_EXIT, time++);
		add(b, TEEPERF_KIND_EXIT, time++);
		if (word_count < 8000)
			continue;
		assert_int_equal(tp_stack_replay(&side.stack, words, word_count, 0, position), 0);
		position += 8 * (uint64_t)word_count;
		word_count = 0;
	}
	assert_int_equal(tp_stack_replay(&side.stack, words, word_count, 0, position), 0);
	assert_int_equal(side.stack.counts.events, 1000001);
	assert_int_equal(side.profile.node_count, 6);
	assert_int_equal(side.stack.unusual, 5);
	// A call that calls nothing takes no frame: the frames above the deepest call that calls
	// another were used once, by a new path.
	assert_int_equal(side.stack.depth, 2);
	assert_true(side.stack.frames[2].position > FIRST_POSITION + 8 * UINT64_C(900000));
	assert_true(side.stack.frames[3].position < FIRST_POSITION + 8 * UINT64_C(16));
	end(&side);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(proper_programs),
	    cmocka_unit_test(damaged_traces),
	    cmocka_unit_test(many_paths),
	    cmocka_unit_test(few_records_are_unusual),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
