// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Switches of threads: what stretches they make on the trace's clock, of odd and hostile ones, too;
// and which calls of a random program had no processor, against an account that the program keeps
// of each nanosecond.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/replay/stack.h"
#include "analyzer/replay/stack_part.h"
#include "analyzer/trace/sched.h"

static uint64_t seed;

static uint32_t pick(uint32_t below)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(seed >> 33) % below;
}

// One tick is a nanosecond, 1000 later.
static const struct teeperf_trace_clock tsc = {.kind = TEEPERF_CLOCK_TSC, .point_count = 2};
static const struct teeperf_trace_point line[] = {{0, 1000}, {1000000, 1001000}};

struct read {
	struct tp_sched_read sched;
	struct tp_arena arena;
};

static void add(struct read *read, uint64_t from_ns, uint64_t lost,
    const struct teeperf_trace_sched_switch *switches, uint32_t count)
{
	char payload[sizeof(struct teeperf_trace_sched) + 64 * sizeof(*switches)];
	const struct teeperf_trace_sched head = {.from_ns = from_ns, .lost = lost};
	assert_true(count <= 64);
	memcpy(payload, &head, sizeof(head));
	memcpy(payload + sizeof(head), switches, count * sizeof(*switches));
	assert_int_equal(
	    tp_sched_read_add(&read->sched, payload, sizeof(head) + count * sizeof(*switches)), 0);
}

static void begin(struct read *read)
{
	memset(read, 0, sizeof(*read));
	tp_arena_init(&read->arena);
}

static void finish(struct read *read, const struct teeperf_trace_clock *clock,
    const struct teeperf_trace_point *points)
{
	assert_int_equal(tp_sched_read_finish(&read->sched, clock, points, 0, &read->arena), 0);
}

static void end(struct read *read)
{
	tp_sched_read_release(&read->sched);
	tp_arena_release(&read->arena);
}

static const struct tp_off_list *off_of(const struct tp_sched_read *sched, uint64_t os_tid)
{
	const struct tp_sched_thread *thread = tp_sched_find(sched, os_tid);
	return thread ? &thread->off : NULL;
}

static void expect(
    const struct tp_off_list *list, const struct tp_off_stretch *stretches, uint32_t count)
{
	assert_non_null(list);
	assert_int_equal(list->count, count);
	for (uint32_t i = 0; i < count; i++) {
		assert_int_equal(list->items[i].from, stretches[i].from);
		assert_int_equal(list->items[i].to, stretches[i].to);
		assert_int_equal(list->items[i].preempted, stretches[i].preempted);
	}
}

#define ON TEEPERF_SCHED_ON
#define BLOCKED TEEPERF_SCHED_BLOCKED
#define PREEMPTED TEEPERF_SCHED_PREEMPTED
#define ENDED TEEPERF_SCHED_ENDED

static void stretches_of_threads(void **state)
{
	(void)state;
	struct read read;
	// In no order, and of two threads.
	static const struct teeperf_trace_sched_switch first[] = {
	    {1700, 7, ON, 1}, {1500, 7, BLOCKED, 0}, {1200, 9, ON, 0}, {1100, 7, ON, 0}};
	static const struct teeperf_trace_sched_switch second[] = {
	    {1900, 7, PREEMPTED, 1}, {1950, 9, BLOCKED, 1}, {2000, 7, ON, 1}};
	begin(&read);
	add(&read, 1050, 0, first, 4);
	add(&read, 1050, 3, second, 3);
	finish(&read, &tsc, line);
	assert_int_equal(read.sched.lost, 3);
	expect(off_of(&read.sched, 7),
	    (const struct tp_off_stretch[]){{50, 100, false}, {500, 700, false}, {900, 1000, true}},
	    3);
	expect(off_of(&read.sched, 9), (const struct tp_off_stretch[]){{50, 200, false}}, 1);
	assert_null(off_of(&read.sched, 8));
	end(&read);
}

static void losses_never_make_waiting_longer(void **state)
{
	(void)state;
	struct read read;
	static const struct teeperf_trace_sched_switch odd[] = {{1100, 7, ON, 0},
	    {1200, 7, BLOCKED, 0}, {1300, 7, PREEMPTED, 0}, {1400, 7, ON, 0}, {1450, 7, ON, 0},
	    {1500, 7, BLOCKED, 0}, {1500, 7, ON, 0}};
	begin(&read);
	add(&read, 1100, 2, odd, 7);
	finish(&read, &tsc, line);
	expect(off_of(&read.sched, 7), (const struct tp_off_stretch[]){{300, 400, true}}, 1);
	end(&read);
	// A flight recorder: what was before is not known, but for what it leaves open.
	static const struct teeperf_trace_sched_switch ring[] = {
	    {1100, 7, BLOCKED, 0}, {1600, 7, ON, 0}, {1100, 8, ON, 0}, {1700, 8, BLOCKED, 0}};
	begin(&read);
	add(&read, 1500, 0, ring, 4);
	finish(&read, &tsc, line);
	expect(off_of(&read.sched, 7), (const struct tp_off_stretch[]){{500, 600, false}}, 1);
	expect(off_of(&read.sched, 8), NULL, 0);
	end(&read);
}

// When it had lost the processor for good.
static void ends_of_threads(void **state)
{
	(void)state;
	struct read read;
	static const struct teeperf_trace_sched_switch switches[] = {{1100, 7, ON, 0},
	    {1300, 7, ENDED, 0}, {1100, 8, ON, 0}, {1400, 8, BLOCKED, 0}, {1100, 9, ON, 0},
	    {1100, 6, ON, 0}, {1200, 6, ENDED, 0}, {1500, 6, ON, 0}};
	begin(&read);
	add(&read, 1000, 0, switches, 8);
	finish(&read, &tsc, line);
	assert_int_equal(read.sched.thread_count, 4);
	// Number 6 was given again.
	static const uint64_t ends[] = {UINT64_MAX, 300, 400, UINT64_MAX};
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(read.sched.threads[i].os_tid, 6 + i);
		assert_int_equal(read.sched.threads[i].end, ends[i]);
	}
	assert_int_equal(read.sched.threads[0].end_count, 1);
	assert_int_equal(read.sched.threads[0].ends[0], 200);
	assert_int_equal(read.sched.threads[1].ends[0], 300);
	assert_int_equal(read.sched.threads[2].end_count, 0);
	expect(off_of(&read.sched, 7), (const struct tp_off_stretch[]){{0, 100, false}}, 1);
	expect(off_of(&read.sched, 6),
	    (const struct tp_off_stretch[]){{0, 100, false}, {200, 500, false}}, 2);
	end(&read);
}

// Ticks of a soft clock come as its thread runs: here none between 2000 and 3000 ns.
static void soft_clocks_go_by_their_points(void **state)
{
	(void)state;
	struct read read;
	static const struct teeperf_trace_clock soft = {
	    .kind = TEEPERF_CLOCK_SOFT_TSC, .point_count = 4};
	static const struct teeperf_trace_point points[] = {
	    {0, 1000}, {1000, 2000}, {1000, 3000}, {3000, 5000}};
	static const struct teeperf_trace_sched_switch switches[] = {{1000, 7, ON, 0},
	    {1500, 7, BLOCKED, 0}, {2500, 7, ON, 0}, {4000, 7, BLOCKED, 0}, {5000, 7, ON, 0}};
	begin(&read);
	add(&read, 1000, 0, switches, 5);
	finish(&read, &soft, points);
	expect(off_of(&read.sched, 7),
	    (const struct tp_off_stretch[]){{500, 1000, false}, {2000, 3000, false}}, 2);
	end(&read);
	// Without two points nothing is known.
	begin(&read);
	add(&read, 1000, 0, switches, 5);
	finish(&read, &(struct teeperf_trace_clock){.kind = TEEPERF_CLOCK_TSC, .point_count = 1},
	    points);
	assert_null(off_of(&read.sched, 7));
	end(&read);
}

static void damaged_sections(void **state)
{
	(void)state;
	struct tp_sched_read sched = {0};
	static const char bytes[64];
	for (uint64_t size = 0; size < sizeof(bytes); size++)
		assert_int_equal(tp_sched_read_add(&sched, bytes, size),
		    size >= 16 && size % 16 == 0 ? 0 : TP_ERR_FORMAT);
	assert_int_equal(sched.count, 0 + 1 + 2);
	tp_sched_read_release(&sched);
	// Any bytes: stretches are in order, and do not overlap.
	seed = 5;
	for (int round = 0; round < 2000; round++) {
		struct read read;
		struct teeperf_trace_sched_switch switches[64];
		for (uint32_t i = 0; i < 64; i++)
			switches[i] = (struct teeperf_trace_sched_switch){
			    .time_ns =
				pick(8) ? pick(4000) : (uint64_t)pick(UINT32_MAX) << pick(33),
			    .os_tid = pick(3),
			    .kind = (uint16_t)pick(5),
			};
		begin(&read);
		add(&read, pick(3000), UINT64_MAX, switches, 64);
		finish(&read, &tsc, line);
		for (uint32_t t = 0; t < 3; t++) {
			const struct tp_off_list *list = off_of(&read.sched, t);
			for (uint32_t i = 0; list && i < list->count; i++) {
				assert_true(list->items[i].from < list->items[i].to);
				assert_true(!i || list->items[i - 1].to <= list->items[i].from);
			}
		}
		end(&read);
	}
}

// ---- which calls

#define FIRST_NAME 0x401000
#define FUNCTIONS 4
#define DEPTH 8
#define WORDS 400
#define POSITION 64

struct call {
	uint32_t function;
	struct tp_off own, all;
};

struct program {
	struct call stack[DEPTH];
	uint32_t depth;
	uint64_t time;
	uint64_t words[WORDS + DEPTH];
	uint32_t count;
	struct tp_off_stretch stretches[WORDS];
	uint32_t stretch_count;
	// Expected results.
	struct tp_off self[FUNCTIONS];
	struct tp_off calls[WORDS]; // of each call that has ended, in this order
	uint32_t ended;
};
static struct program program;

static void record(uint32_t name, uint32_t kind)
{
	program.words[program.count++] = (uint64_t)(name | kind) << 32 | (uint32_t)program.time;
}

// Time goes on, at times without a processor.
static void pass(void)
{
	program.time += 1 + pick(20);
	if (pick(4))
		return;
	const uint64_t length = 1 + pick(50);
	const bool preempted = pick(2);
	program.stretches[program.stretch_count++] =
	    (struct tp_off_stretch){program.time, program.time + length, preempted};
	program.time += length + pick(2) * pick(20);
	if (!program.depth)
		return;
	struct tp_off *own = &program.stack[program.depth - 1].own;
	*(preempted ? &own->preempted : &own->blocked) += length;
}

static void leave(void)
{
	struct call *call = &program.stack[--program.depth];
	record(FIRST_NAME + 16 * call->function, TEEPERF_KIND_EXIT);
	tp_off_add(&call->all, &call->own);
	tp_off_add(&program.self[call->function], &call->own);
	program.calls[program.ended++] = call->all;
	if (program.depth)
		tp_off_add(&program.stack[program.depth - 1].all, &call->all);
}

static void run_program(void)
{
	memset(&program, 0, sizeof(program));
	program.time = 100;
	while (program.count < WORDS) {
		pass();
		if (program.depth < DEPTH && (!program.depth || pick(2))) {
			const uint32_t function = pick(FUNCTIONS);
			record(FIRST_NAME + 16 * function, TEEPERF_KIND_ENTER);
			program.stack[program.depth++] = (struct call){.function = function};
		} else {
			leave();
		}
	}
	while (program.depth) {
		pass();
		leave();
	}
}

static uint32_t told;

static void take(void *context, const struct tp_call *call)
{
	(void)context;
	assert_int_equal(call->off.blocked, program.calls[told].blocked);
	assert_int_equal(call->off.preempted, program.calls[told].preempted);
	assert_int_equal(call->chosen, call->duration - call->off.blocked - call->off.preempted);
	told++;
}

static void check_sums(const struct tp_profile *profile)
{
	struct tp_off self[FUNCTIONS] = {0};
	for (uint32_t i = 1; i < profile->node_count; i++) {
		const struct tp_off off = tp_profile_parts(profile, i).self_off;
		tp_off_add(&self[(profile->nodes[i].name - FIRST_NAME) / 16], &off);
	}
	for (uint32_t i = 0; i < FUNCTIONS; i++) {
		assert_int_equal(self[i].blocked, program.self[i].blocked);
		assert_int_equal(self[i].preempted, program.self[i].preempted);
	}
}

static void start(struct tp_profile *profile, struct tp_stack *stack)
{
	const struct tp_off_list list = {program.stretches, program.stretch_count};
	assert_int_equal(tp_profile_init(profile), 0);
	assert_int_equal(tp_stack_init(stack, profile), 0);
	profile->time = TP_TIME_CPU;
	assert_true(tp_profile_keep_parts(profile));
	tp_stack_set_off(stack, &list);
}

// The parts of each node's time against sums over all nodes, for each of the times that may count.
// Then the last node's time is its caller's.
static void check_parts(struct tp_profile *profile, enum tp_time time)
{
	const uint32_t count = profile->node_count;
	struct tp_node_parts *wanted = calloc(count, sizeof(*wanted));
	uint64_t *own = calloc(count, sizeof(*own));
	assert_true(wanted && own);
	for (uint32_t i = 1; i < count; i++) {
		const struct tp_off off = tp_profile_parts(profile, i).self_off;
		const uint64_t cpu = profile->nodes[i].self - off.blocked - off.preempted;
		wanted[i] = (struct tp_node_parts){off, off, cpu, cpu};
		own[i] = time == TP_TIME_WALL   ? profile->nodes[i].self
			 : time == TP_TIME_CPU  ? cpu
			 : time == TP_TIME_WAIT ? off.blocked
						: off.preempted;
	}
	for (uint32_t i = count; i-- > 1;) {
		struct tp_node_parts *caller = &wanted[profile->nodes[i].parent];
		tp_off_add(&caller->inclusive_off, &wanted[i].inclusive_off);
		caller->inclusive_cpu += wanted[i].inclusive_cpu;
	}
	profile->time = time;
	assert_true(tp_profile_choose_time(profile));
	for (uint32_t i = 0; i < count; i++) {
		const struct tp_node_parts parts = tp_profile_parts(profile, i);
		assert_memory_equal(&parts, &wanted[i], sizeof(parts));
		assert_int_equal(profile->nodes[i].self, own[i]);
	}
	const uint32_t caller = profile->nodes[count - 1].parent;
	if (caller) {
		assert_true(tp_profile_take_over(profile, caller, count - 1));
		tp_off_add(&wanted[caller].self_off, &wanted[count - 1].self_off);
		const struct tp_node_parts parts = tp_profile_parts(profile, caller);
		assert_memory_equal(
		    &parts.self_off, &wanted[caller].self_off, sizeof(struct tp_off));
		assert_int_equal(
		    parts.self_cpu, wanted[caller].self_cpu + wanted[count - 1].self_cpu);
		assert_int_equal(profile->nodes[caller].self, own[caller] + own[count - 1]);
	}
	free(wanted);
	free(own);
}

static void release(struct tp_profile *profile, struct tp_stack *stack)
{
	tp_stack_release(stack);
	tp_profile_release(profile);
}

static void calls_of_random_programs(void **state)
{
	(void)state;
	seed = 1;
	for (int round = 0; round < 300; round++) {
		struct tp_profile profile;
		struct tp_stack stack;
		struct tp_call_sink sink = {.leave = take};
		run_program();
		for (int with_sink = 0; with_sink < 2; with_sink++) {
			start(&profile, &stack);
			told = 0;
			if (with_sink)
				tp_stack_set_sink(&stack, &sink);
			assert_int_equal(
			    tp_stack_replay(&stack, program.words, program.count, 0, POSITION), 0);
			tp_stack_finish(&stack);
			assert_int_equal(told, with_sink ? program.ended : 0);
			// Room for those that are open at once, and for the thread itself.
			assert_in_range(stack.frame_off_count, 0, DEPTH + 2);
			check_sums(&profile);
			uint64_t wall = 0;
			tp_profile_choose_time(&profile);
			for (uint32_t i = 1; i < profile.node_count; i++)
				wall += profile.nodes[i].self +
					tp_profile_parts(&profile, i).self_off.blocked +
					tp_profile_parts(&profile, i).self_off.preempted;
			assert_int_equal(wall, stack.frames[0].children);
			release(&profile, &stack);
		}
		for (int time = TP_TIME_WALL; time <= TP_TIME_PREEMPTED; time++) {
			start(&profile, &stack);
			assert_int_equal(
			    tp_stack_replay(&stack, program.words, program.count, 0, POSITION), 0);
			tp_stack_finish(&stack);
			check_parts(&profile, (enum tp_time)time);
			release(&profile, &stack);
		}
	}
}

// The same replayed in two parts, cut anywhere.
static void parts_of_random_programs(void **state)
{
	(void)state;
	static const struct tp_profile_cost nothing = {0};
	seed = 2;
	for (int round = 0; round < 300; round++) {
		struct tp_profile profile;
		struct tp_stack stack;
		struct tp_part part;
		run_program();
		const struct tp_off_list list = {program.stretches, program.stretch_count};
		const uint32_t cut = 1 + pick(program.count - 1);
		start(&profile, &stack);
		assert_int_equal(tp_stack_replay(&stack, program.words, cut, 0, POSITION), 0);
		assert_int_equal(tp_part_init(&part, &nothing), 0);
		assert_int_equal(tp_part_set_time(&part, TP_TIME_CPU, &list), 0);
		tp_part_replay(
		    &part, program.words + cut, program.count - cut, 0, POSITION + 8 * cut);
		assert_true(tp_part_fits(&part, &stack));
		assert_int_equal(tp_part_join(&part, &stack), 0);
		tp_part_release(&part);
		tp_stack_finish(&stack);
		check_sums(&profile);
		// Minimum and maximum are of the calls' time with a processor: as in one replay.
		struct tp_profile whole;
		struct tp_stack other;
		start(&whole, &other);
		assert_int_equal(
		    tp_stack_replay(&other, program.words, program.count, 0, POSITION), 0);
		tp_stack_finish(&other);
		assert_int_equal(whole.node_count, profile.node_count);
		for (uint32_t i = 1; i < whole.node_count; i++) {
			const struct tp_node *one = &whole.nodes[i];
			uint32_t j = 1;
			while (profile.nodes[j].min != one->min ||
			       profile.nodes[j].max != one->max ||
			       profile.nodes[j].calls != one->calls ||
			       profile.nodes[j].name != one->name)
				assert_true(++j < profile.node_count);
		}
		release(&whole, &other);
		release(&profile, &stack);
	}
}

// A worker that waits when recording is switched off, and makes no record any more: it waits up to
// there.
static void silent_when_switched_off(void **state)
{
	(void)state;
	static const uint64_t words[] = {(uint64_t)FIRST_NAME << 32 | 100};
	static const struct tp_gap off = {.from = 1000, .to = UINT64_MAX};
	static const struct tp_off_stretch asleep = {.from = 110, .to = 5000};
	const struct tp_gaps gaps = {&off, 1};
	const struct tp_off_list list = {&asleep, 1};
	struct tp_profile profile;
	struct tp_stack stack;
	start(&profile, &stack);
	tp_stack_set_off(&stack, &list);
	tp_stack_set_gaps(&stack, &gaps, false);
	assert_int_equal(tp_stack_replay(&stack, words, 1, 0, POSITION), 0);
	tp_stack_finish(&stack);
	assert_int_equal(profile.nodes[1].self, 900);
	assert_int_equal(tp_profile_parts(&profile, 1).self_off.blocked, 890);
	tp_profile_choose_time(&profile);
	assert_int_equal(profile.nodes[1].self, 10);
	release(&profile, &stack);
}

// A range of times that ends before that, and one that begins behind its last record.
static void silent_in_ranges(void **state)
{
	(void)state;
	static const uint64_t words[] = {(uint64_t)FIRST_NAME << 32 | 100};
	static const struct tp_gap off = {.from = 1000, .to = UINT64_MAX};
	static const struct tp_off_stretch asleep = {.from = 110, .to = 5000};
	static const uint64_t ranges[][4] = {
	    {0, 600, 500, 490}, {500, 800, 300, 300}, {500, 2000, 500, 500}, {1000, 2000, 0, 0}};
	const struct tp_gaps gaps = {&off, 1};
	const struct tp_off_list list = {&asleep, 1};
	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
		struct tp_profile profile;
		struct tp_stack stack;
		start(&profile, &stack);
		tp_stack_set_off(&stack, &list);
		tp_stack_set_gaps(&stack, &gaps, false);
		tp_stack_set_range(&stack, ranges[i][0], ranges[i][1]);
		assert_int_equal(tp_stack_replay(&stack, words, 1, 0, POSITION), 0);
		tp_stack_finish(&stack);
		assert_int_equal(profile.nodes[1].self, ranges[i][2]);
		assert_int_equal(tp_profile_parts(&profile, 1).self_off.blocked, ranges[i][3]);
		release(&profile, &stack);
	}
}

// It wakes up while recording is off, and records again behind that; and a range of times ends
// while it waits.
static void awake_when_switched_off(void **state)
{
	(void)state;
	static const uint64_t words[] = {(uint64_t)FIRST_NAME << 32 | 100,
	    ((uint64_t)FIRST_NAME | TEEPERF_KIND_EXIT) << 32 | 2000};
	static const struct tp_gap off = {.from = 1000, .to = 1500};
	static const struct tp_off_stretch asleep = {.from = 110, .to = 1900};
	const struct tp_gaps gaps = {&off, 1};
	const struct tp_off_list list = {&asleep, 1};
	for (int ranged = 0; ranged < 2; ranged++) {
		struct tp_profile profile;
		struct tp_stack stack;
		start(&profile, &stack);
		tp_stack_set_off(&stack, &list);
		if (ranged)
			tp_stack_set_range(&stack, 0, 600);
		else
			tp_stack_set_gaps(&stack, &gaps, false);
		assert_int_equal(tp_stack_replay(&stack, words, 2, 0, POSITION), 0);
		tp_stack_finish(&stack);
		assert_int_equal(profile.nodes[1].self, ranged ? 500 : 900);
		assert_int_equal(
		    tp_profile_parts(&profile, 1).self_off.blocked, ranged ? 490 : 890);
		release(&profile, &stack);
	}
}

// A range of times that begins between the end of a call without a time and the next record: it is
// its caller that waits.
static void range_behind_an_untimed_exit(void **state)
{
	(void)state;
	const uint64_t inner = FIRST_NAME + 16;
	const uint64_t words[] = {(uint64_t)FIRST_NAME << 32 | 1, inner << 32 | 10,
	    (inner | TEEPERF_KIND_UNTIMED) << 32,
	    ((uint64_t)FIRST_NAME | TEEPERF_KIND_EXIT) << 32 | 110};
	static const struct tp_off_stretch asleep = {.from = 20, .to = 100};
	const struct tp_off_list list = {&asleep, 1};
	struct tp_profile profile;
	struct tp_stack stack;
	start(&profile, &stack);
	tp_stack_set_off(&stack, &list);
	tp_stack_set_range(&stack, 50, UINT64_MAX);
	assert_int_equal(tp_stack_replay(&stack, words, 4, 0, POSITION), 0);
	tp_stack_finish(&stack);
	assert_int_equal(profile.nodes[1].self, 60);
	assert_int_equal(tp_profile_parts(&profile, 1).self_off.blocked, 50);
	assert_int_equal(tp_profile_parts(&profile, 2).self_off.blocked, 0);
	release(&profile, &stack);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(stretches_of_threads),
	    cmocka_unit_test(losses_never_make_waiting_longer),
	    cmocka_unit_test(ends_of_threads),
	    cmocka_unit_test(soft_clocks_go_by_their_points),
	    cmocka_unit_test(damaged_sections),
	    cmocka_unit_test(calls_of_random_programs),
	    cmocka_unit_test(parts_of_random_programs),
	    cmocka_unit_test(silent_when_switched_off),
	    cmocka_unit_test(silent_in_ranges),
	    cmocka_unit_test(awake_when_switched_off),
	    cmocka_unit_test(range_behind_an_untimed_exit),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
