// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Threads with several stacks: random programs whose calls each keep their own account of time, and
// what the stack makes of their records; then hostile records, which must only be survived.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/replay/profile.h"
#include "analyzer/replay/stack.h"

#define STACKS 9
#define DEPTH 12
#define WORDS 600
#define FUNCTIONS 5
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

static uint64_t word(uint64_t time, uint32_t name, uint32_t kind)
{
	return (uint64_t)(name | kind) << 32 | (uint32_t)time;
}

// A call of the program: the time for which it was open on the stack that ran.
struct call {
	uint32_t function;
	uint64_t position;
	uint64_t ran;
};

struct program {
	struct call stacks[STACKS][DEPTH];
	uint32_t depth[STACKS];
	uint64_t named[STACKS]; // how it was left; 0: it runs, or has not begun
	uint32_t current;
	uint64_t time;
	uint64_t words[WORDS + 4];
	uint32_t count;
	// Expected results.
	uint64_t calls[FUNCTIONS], inclusive[FUNCTIONS];
	uint64_t busy, contexts, left, open;
};

static struct program program;

static uint64_t here(void)
{
	return FIRST_POSITION + 8 * (uint64_t)program.count;
}

// Time passes for the calls on the current stack.
static void run(void)
{
	const uint32_t ticks = pick(20);
	program.time += ticks;
	for (uint32_t i = 0; i < program.depth[program.current]; i++)
		program.stacks[program.current][i].ran += ticks;
	if (program.depth[program.current])
		program.busy += ticks;
}

static void add(uint32_t function, uint32_t kind)
{
	program.words[program.count++] = word(program.time, name_of(function), kind);
}

static void enter(void)
{
	struct call *call = &program.stacks[program.current][program.depth[program.current]++];
	*call = (struct call){.function = pick(FUNCTIONS), .position = here()};
	add(call->function, TEEPERF_KIND_ENTER);
}

static void ended(const struct call *call)
{
	program.calls[call->function]++;
	program.inclusive[call->function] += call->ran;
}

static void exit_call(void)
{
	const struct call *call =
	    &program.stacks[program.current][--program.depth[program.current]];
	add(call->function, TEEPERF_KIND_EXIT);
	ended(call);
}

static void resync(uint32_t function, uint64_t position)
{
	add(function, TEEPERF_KIND_RESYNC);
	program.words[program.count++] = position;
}

// Leave for another stack, by a leave or, as longjmp does, without one; or by the end of this
// stack.
static void change(void)
{
	const uint32_t from = program.current;
	const uint32_t to = pick(STACKS);
	const uint32_t depth = program.depth[from];
	if (to == from)
		return;
	struct call *top = depth ? &program.stacks[from][depth - 1] : NULL;
	const bool jumps = program.named[to] && program.named[to] % 8 == 0 && top && pick(3) == 0;
	if (top && pick(4) && !jumps) {
		program.named[from] = top->position;
		resync(top->function, top->position | TEEPERF_POSITION_LEAVES);
	} else if (!jumps) {
		// A function without records leaves. If nothing of the stack is, it still has a
		// name.
		program.named[from] = here() - TEEPERF_POSITION_BETWEEN;
		resync(pick(FUNCTIONS), program.named[from] | TEEPERF_POSITION_LEAVES);
	} else {
		program.named[from] = top->position;
	}
	if (jumps)
		run();
	else
		program.time += pick(10); // nobody's
	program.current = to;
	if (!program.named[to]) {
		program.contexts++;
		enter();
		return;
	}
	const uint64_t position = program.named[to];
	program.named[to] = 0;
	uint32_t function = pick(FUNCTIONS);
	// Back to a call further down: those above it have ended.
	if (position % 8 == 0) {
		const uint32_t back = 1 + pick(program.depth[to]);
		while (program.depth[to] > back)
			ended(&program.stacks[to][--program.depth[to]]);
		function = program.stacks[to][back - 1].function;
		resync(function, program.stacks[to][back - 1].position);
	} else {
		resync(function, position);
	}
}

static void replay(const uint64_t *words, uint32_t count, struct tp_stack *stack)
{
	// In parts, as chunks would bring them.
	uint32_t half = pick(count);
	while (half && (words[half - 1] >> 32 & TEEPERF_KIND_MASK) == TEEPERF_KIND_RESYNC)
		half--;
	assert_int_equal(tp_stack_replay(stack, words, half, 0, FIRST_POSITION), 0);
	assert_int_equal(tp_stack_replay(stack, words + half, count - half, 0,
			     FIRST_POSITION + 8 * (uint64_t)half),
	    0);
}

static void compare(const struct tp_stack *stack, const struct tp_profile *profile)
{
	uint64_t calls[FUNCTIONS] = {0};
	uint64_t inclusive[FUNCTIONS] = {0};
	uint64_t self = 0;
	for (uint32_t i = 1; i < profile->node_count; i++) {
		const struct tp_node *node = &profile->nodes[i];
		const uint32_t function = (node->name - name_of(0)) / 16;
		calls[function] += node->calls;
		inclusive[function] += node->inclusive;
		self += node->self;
	}
	assert_memory_equal(calls, program.calls, sizeof(calls));
	assert_memory_equal(inclusive, program.inclusive, sizeof(inclusive));
	assert_int_equal(self, program.busy);
	assert_int_equal(stack->frames[0].children, program.busy);
	assert_int_equal(stack->counts.contexts, program.contexts);
	assert_int_equal(stack->counts.left, program.left);
	assert_int_equal(stack->counts.open, program.open);
	assert_int_equal(stack->counts.unmatched_enters, 0);
	assert_int_equal(stack->counts.unmatched_exits, 0);
	assert_int_equal(stack->counts.unknown_resyncs, 0);
	for (uint32_t i = 1; i < profile->function_count; i++)
		assert_int_equal(profile->functions[i].active, 0);
}

static void programs(void **state)
{
	(void)state;
	for (uint64_t i = 1; i <= 3000; i++) {
		seed = i * 7919;
		struct tp_profile profile;
		struct tp_stack stack;
		memset(&program, 0, sizeof(program));
		assert_int_equal(tp_profile_init(&profile), 0);
		assert_int_equal(tp_stack_init(&stack, &profile), 0);
		const uint32_t often = 2 + pick(8);
		while (program.count < WORDS - 4) {
			const uint32_t depth = program.depth[program.current];
			if (pick(often) == 0)
				change();
			else if (depth && (depth == DEPTH - 1 || pick(2)))
				exit_call();
			else if (depth < DEPTH - 1)
				enter();
			run();
		}
		// The time runs on to the last record.
		enter();
		for (uint32_t s = 0; s < STACKS; s++) {
			program.left += s != program.current && program.depth[s];
			program.open += program.depth[s];
			while (program.depth[s])
				ended(&program.stacks[s][--program.depth[s]]);
		}
		replay(program.words, program.count, &stack);
		tp_stack_finish(&stack);
		compare(&stack, &profile);
		tp_stack_release(&stack);
		tp_profile_release(&profile);
	}
}

// Any words, switches in plenty, gaps: nothing but counts and paths may come of them.
static void hostile(void **state)
{
	(void)state;
	static const struct tp_gap gap[] = {{500, 900}, {2000, UINT64_MAX}};
	static const struct tp_gaps gaps = {.items = (struct tp_gap *)gap, .count = 2};
	for (uint64_t i = 1; i <= 3000; i++) {
		seed = i * 104729;
		struct tp_profile profile;
		struct tp_stack stack;
		uint64_t words[WORDS];
		uint64_t time = 0;
		assert_int_equal(tp_profile_init(&profile), 0);
		assert_int_equal(tp_stack_init(&stack, &profile), 0);
		if (pick(2))
			tp_stack_set_gaps(&stack, &gaps, false);
		for (uint32_t j = 0; j < WORDS; j++) {
			static const uint32_t kinds[] = {TEEPERF_KIND_ENTER, TEEPERF_KIND_ENTER,
			    TEEPERF_KIND_EXIT, TEEPERF_KIND_UNTIMED, TEEPERF_KIND_RESYNC,
			    TEEPERF_KIND_RESYNC};
			const uint32_t kind = kinds[pick(6)];
			time = pick(20) ? time + pick(10) : time / 2;
			words[j] = word(kind == TEEPERF_KIND_UNTIMED ? 0 : time,
			    name_of(pick(FUNCTIONS)), kind);
			if (kind == TEEPERF_KIND_RESYNC && j + 1 < WORDS) {
				const uint64_t to = (FIRST_POSITION + 4 * pick(2 * j + 1)) |
						    (pick(2) ? TEEPERF_POSITION_LEAVES : 0);
				words[++j] = pick(8) ? to : pick(8);
			}
		}
		replay(words, WORDS, &stack);
		tp_stack_finish(&stack);
		assert_int_equal(stack.depth, 1);
		assert_int_equal(stack.contexts.live, 0);
		uint64_t self = 0;
		for (uint32_t j = 1; j < profile.node_count; j++)
			self += profile.nodes[j].self;
		// A silent thread is taken to run on until recording is switched off.
		assert_true(self <= (stack.last > gap[1].from ? stack.last : gap[1].from));
		for (uint32_t j = 1; j < profile.function_count; j++)
			assert_int_equal(profile.functions[j].active, 0);
		tp_stack_release(&stack);
		tp_profile_release(&profile);
	}
}

// Ten thousand stacks, to which the program returns by turns: none of this may take a search.
static void many(void **state)
{
	(void)state;
	enum { COUNT = 10000, ROUNDS = 20 };
	struct tp_profile profile;
	struct tp_stack stack;
	static uint64_t positions[COUNT];
	uint64_t position = FIRST_POSITION;
	uint64_t time = 0;
	assert_int_equal(tp_profile_init(&profile), 0);
	assert_int_equal(tp_stack_init(&stack, &profile), 0);
	for (uint32_t round = 0; round < ROUNDS; round++)
		for (uint32_t i = 0; i < COUNT; i++) {
			uint64_t words[4];
			uint32_t count = 0;
			time++;
			if (round == 0)
				positions[i] = position;
			words[count++] = word(
			    time, name_of(1), round ? TEEPERF_KIND_RESYNC : TEEPERF_KIND_ENTER);
			if (round)
				words[count++] = positions[i];
			time++;
			words[count++] = word(time, name_of(1), TEEPERF_KIND_RESYNC);
			words[count++] = positions[i] | TEEPERF_POSITION_LEAVES;
			assert_int_equal(tp_stack_replay(&stack, words, count, 0, position), 0);
			position += 8 * (uint64_t)count;
		}
	tp_stack_finish(&stack);
	assert_int_equal(stack.counts.contexts, COUNT - 1); // one is the thread's own
	assert_int_equal(stack.counts.left, COUNT);
	assert_int_equal(stack.counts.unknown_resyncs, 0);
	assert_int_equal(profile.nodes[1].calls, COUNT);
	assert_int_equal(profile.nodes[1].self, COUNT * ROUNDS);
	assert_int_equal(profile.nodes[1].min, ROUNDS);
	assert_int_equal(profile.nodes[1].max, ROUNDS);
	tp_stack_release(&stack);
	tp_profile_release(&profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(programs),
	    cmocka_unit_test(hostile),
	    cmocka_unit_test(many),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
