// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Stacks that move between threads: random programs whose calls each keep their own account, and
// what the analysis makes of their records, in all and in parts of the time; then threads that wait
// for one another in vain.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/profile/analysis.h"
#include "analyzer/profile/calls.h"
#include "analyzer/trace/text/dump_text.h"

#define THREADS 4
#define STACKS 11
#define DEPTH 8
#define FUNCTIONS 5
#define STEPS 1500
#define PATHS 4096

static uint64_t seed;

static uint32_t pick(uint32_t below)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(seed >> 33) % below;
}

static uint32_t name_of(uint32_t function)
{
	return 0x401000 + 16 * function;
}

struct call {
	uint32_t function;
	uint32_t thread; // in which it began
	uint64_t position;
	uint64_t path;
	uint64_t ran;
	uint64_t own;
};

struct stack {
	struct call calls[DEPTH];
	uint32_t depth;
	bool begun;
	int runs_in;         // thread, or -1
	uint32_t left_by;    // thread, and position of the record
	uint64_t left_place; // 0: it was not left
};

struct path {
	uint64_t id;
	uint64_t calls, inclusive, self;
};

static struct stack stacks[STACKS];
static int current[THREADS];
static struct tp_buf text[THREADS];
static uint64_t words[THREADS];
static uint64_t busy[THREADS];
static uint64_t ended_in[THREADS];
static struct path paths[PATHS];
static uint64_t now, moves;

static struct path *path_of(uint64_t id)
{
	uint32_t at = 0;
	while (paths[at].id && paths[at].id != id)
		at++;
	assert_true(at + 1 < PATHS);
	paths[at].id = id;
	return &paths[at];
}

// Each thread begins with another chunk, as after forks, so that no two calls have one position.
static uint64_t place(uint32_t thread)
{
	return ((uint64_t)thread << TEEPERF_CHUNK_SHIFT_DEFAULT) + sizeof(struct teeperf_chunk) +
	       8 * words[thread];
}

static void run(uint32_t ticks)
{
	now += ticks;
	for (uint32_t t = 0; t < THREADS; t++) {
		struct stack *stack = &stacks[current[t]];
		for (uint32_t i = 0; i < stack->depth; i++)
			stack->calls[i].ran += ticks;
		if (stack->depth) {
			stack->calls[stack->depth - 1].own += ticks;
			busy[t] += ticks;
		}
	}
}

static void enter(uint32_t thread)
{
	struct stack *stack = &stacks[current[thread]];
	const uint32_t function = pick(FUNCTIONS);
	const uint64_t above = stack->depth ? stack->calls[stack->depth - 1].path : 0;
	stack->calls[stack->depth++] = (struct call){
	    .function = function,
	    .thread = thread,
	    .position = place(thread),
	    .path = above * (FUNCTIONS + 1) + function + 1,
	};
	tp_buf_addf(
	    &text[thread], "\t%llu enter 0x%x\n", (unsigned long long)now, name_of(function));
	words[thread]++;
}

static void ended(const struct call *call, uint32_t thread)
{
	struct path *path = path_of(call->path);
	path->calls++;
	path->inclusive += call->ran;
	path->self += call->own;
	ended_in[thread]++;
}

static void exit_call(uint32_t thread)
{
	struct stack *stack = &stacks[current[thread]];
	const struct call *call = &stack->calls[--stack->depth];
	tp_buf_addf(
	    &text[thread], "\t%llu exit 0x%x\n", (unsigned long long)now, name_of(call->function));
	words[thread]++;
	ended(call, thread);
}

// An exception is caught further down, perhaps by a call that began in another thread.
static void catch_throw(uint32_t thread)
{
	struct stack *stack = &stacks[current[thread]];
	const uint32_t back = 1 + pick(stack->depth);
	while (stack->depth > back)
		ended(&stack->calls[--stack->depth], thread);
	const struct call *call = &stack->calls[back - 1];
	tp_buf_addf(&text[thread], "\t%llu resync 0x%x %llu\n", (unsigned long long)now,
	    name_of(call->function), (unsigned long long)call->position);
	words[thread] += 2;
}

static void change(uint32_t thread)
{
	const int to = (int)pick(STACKS);
	struct stack *from = &stacks[current[thread]];
	struct stack *stack = &stacks[to];
	if (stack->runs_in >= 0 || !from->depth)
		return;
	const struct call *top = &from->calls[from->depth - 1];
	const bool its = top->thread == thread;
	from->left_by = thread;
	from->left_place = place(thread);
	from->runs_in = -1;
	tp_buf_addf(&text[thread], "\t%llu leave 0x%x %llu\n", (unsigned long long)now,
	    name_of(top->function), (unsigned long long)(its ? top->position : 0));
	words[thread] += 2;
	current[thread] = to;
	stack->runs_in = (int)thread;
	// Meanwhile the others run.
	const uint32_t ticks = pick(10);
	const uint32_t depth = stack->depth;
	stack->depth = 0;
	run(ticks);
	stack->depth = depth;
	if (!stack->begun) {
		stack->begun = true;
		enter(thread);
		return;
	}
	top = &stack->calls[depth - 1];
	if (stack->left_by == thread && top->thread == thread) {
		tp_buf_addf(&text[thread], "\t%llu resync 0x%x %llu\n", (unsigned long long)now,
		    name_of(top->function), (unsigned long long)top->position);
		words[thread] += 2;
		return;
	}
	const uint64_t departure = TEEPERF_DEPARTURE(stack->left_by + 1, stack->left_place);
	tp_buf_addf(&text[thread], "\tleft %llu\n\tleft %llu\n\t%llu resync 0x%x 5\n",
	    (unsigned long long)(departure >> 32), (unsigned long long)(departure & UINT32_MAX),
	    (unsigned long long)now, name_of(top->function));
	words[thread] += 4;
	moves++;
}

static void make_program(void)
{
	memset(stacks, 0, sizeof(stacks));
	memset(words, 0, sizeof(words));
	memset(busy, 0, sizeof(busy));
	memset(ended_in, 0, sizeof(ended_in));
	memset(paths, 0, sizeof(paths));
	now = 1000;
	moves = 0;
	for (int s = 0; s < STACKS; s++)
		stacks[s].runs_in = s < THREADS ? s : -1;
	for (uint32_t t = 0; t < THREADS; t++) {
		tp_buf_init(&text[t]);
		current[t] = (int)t;
		stacks[t].begun = true;
		enter(t);
	}
	const uint32_t often = 2 + pick(8);
	for (uint32_t i = 0; i < STEPS; i++) {
		const uint32_t thread = pick(THREADS);
		const uint32_t depth = stacks[current[thread]].depth;
		if (pick(often) == 0)
			change(thread);
		else if (depth && pick(12) == 0)
			catch_throw(thread);
		else if (depth > 1 && (depth == DEPTH - 1 || pick(2)))
			exit_call(thread);
		else if (depth < DEPTH - 1)
			enter(thread);
		run(pick(20));
	}
	// Each thread's time runs on to its last record.
	for (uint32_t t = 0; t < THREADS; t++)
		enter(t);
	for (uint32_t s = 0; s < STACKS; s++)
		while (stacks[s].depth)
			ended(&stacks[s].calls[--stacks[s].depth],
			    stacks[s].runs_in < 0 ? stacks[s].left_by
						  : (uint32_t)stacks[s].runs_in);
}

static void assemble(struct tp_buf *file, bool packed)
{
	struct tp_buf whole;
	struct tp_err err;
	tp_buf_init(&whole);
	tp_buf_init(file);
	tp_buf_add_string(&whole, "clock kind=tsc hz=1000000000\nthreads\n");
	for (uint32_t t = 0; t < THREADS; t++)
		tp_buf_addf(&whole, "\tthread tid=%u first=%u name=\"t\"\n", 11 + t, t);
	for (uint32_t t = 0; t < THREADS; t++) {
		tp_buf_addf(&whole, "chunk thread=%u sequence=%u tid=%u home=%u%s\n", t, t, 11 + t,
		    t + 1, packed ? " packed=1" : "");
		tp_buf_add(&whole, text[t].data, text[t].size);
		tp_buf_release(&text[t]);
	}
	tp_buf_add_string(&whole, "end\n");
	if (tp_dump_assemble(whole.data, whole.size, "text", file, &err))
		fail_msg("line %u: %s", err.line, err.what);
	tp_buf_release(&whole);
}

static uint64_t path_id(const struct tp_profile *profile, uint32_t node)
{
	return node ? path_id(profile, profile->nodes[node].parent) * (FUNCTIONS + 1) +
			  (profile->nodes[node].name - name_of(0)) / 16 + 1
		    : 0;
}

struct seen {
	uint64_t calls;
	const struct tp_profile *profile;
};

static void on_leave(void *context, const struct tp_call *call)
{
	struct seen *seen = context;
	seen->calls++;
	assert_true(call->id && call->id != call->parent);
	assert_true(call->self <= call->duration);
	assert_true(call->node < seen->profile->node_count);
	assert_true((call->parent != 0) == (seen->profile->nodes[call->node].parent != 0));
}

static void compare(const struct tp_analysis *analysis)
{
	uint64_t self = 0;
	for (uint32_t t = 0; t < THREADS; t++) {
		const struct tp_thread_result *thread = &analysis->threads[t];
		struct seen seen = {.profile = &thread->profile};
		uint64_t calls = 0;
		uint64_t of_thread = 0;
		assert_int_equal(thread->busy, busy[t]);
		for (uint32_t i = 1; i < thread->profile.node_count; i++) {
			const struct tp_node *node = &thread->profile.nodes[i];
			struct path *path = path_of(path_id(&thread->profile, i));
			path->calls -= node->calls;
			path->inclusive -= node->inclusive;
			path->self -= node->self;
			calls += node->calls;
			of_thread += node->self;
			assert_true(!node->calls || node->max >= node->min);
		}
		assert_int_equal(of_thread, busy[t]);
		assert_int_equal(calls, ended_in[t]);
		self += of_thread;
		struct tp_call_sink sink = {.context = &seen, .leave = on_leave};
		struct tp_err err;
		assert_int_equal(tp_calls_each(analysis, t, &sink, &err), 0);
		assert_int_equal(seen.calls, calls);
		for (uint32_t i = 1; i < thread->profile.function_count; i++)
			assert_int_equal(thread->profile.functions[i].active, 0);
	}
	assert_true(self > 0);
	for (uint32_t i = 0; paths[i].id; i++) {
		assert_int_equal(paths[i].calls, 0);
		assert_int_equal(paths[i].inclusive, 0);
		assert_int_equal(paths[i].self, 0);
	}
	assert_int_equal(analysis->counts.moved, moves);
	assert_int_equal(analysis->counts.apart, 0);
	assert_int_equal(analysis->counts.unmatched_enters, 0);
	assert_int_equal(analysis->counts.unmatched_exits, 0);
	assert_int_equal(analysis->counts.unknown_resyncs, 0);
}

static uint64_t self_in(
    const struct tp_tracefile *trace, uint64_t from, uint64_t to, uint64_t least)
{
	struct tp_analysis analysis;
	struct tp_err err;
	const struct tp_analysis_options options = {
	    .from_ns = from, .to_ns = to, .least_ns = least, .workers = 2};
	assert_int_equal(tp_analysis_init(&analysis, trace, &options, &err), 0);
	uint64_t self = 0;
	for (uint32_t t = 0; t < THREADS; t++)
		for (uint32_t i = 1; i < analysis.threads[t].profile.node_count; i++)
			self += analysis.threads[t].profile.nodes[i].self;
	assert_int_equal(analysis.counts.apart, 0);
	tp_analysis_release(&analysis);
	return self;
}

static void programs(void **state)
{
	(void)state;
	uint64_t moved = 0;
	for (uint64_t i = 1; i <= 150; i++) {
		seed = i * 7919;
		struct tp_buf file;
		struct tp_tracefile trace;
		struct tp_analysis analysis;
		struct tp_err err;
		const struct tp_analysis_options options = {.workers = 1 + pick(3)};
		make_program();
		assemble(&file, i % 3 == 0);
		assert_int_equal(
		    tp_tracefile_from_memory(&trace, "trace", file.data, file.size, &err), 0);
		assert_int_equal(trace.problems.count, 0);
		assert_int_equal(tp_analysis_init(&analysis, &trace, &options, &err), 0);
		compare(&analysis);
		tp_analysis_release(&analysis);
		uint64_t all = 0;
		for (uint32_t t = 0; t < THREADS; t++)
			all += busy[t];
		// Times begin with the first record. Two parts of them, and short calls as part of
		// their callers.
		const uint64_t middle = 1 + (uint64_t)pick((uint32_t)(now - 1000));
		assert_int_equal(
		    self_in(&trace, 0, middle, 0) + self_in(&trace, middle, now, 0), all);
		assert_true(self_in(&trace, 0, 0, 50) <= all);
		moved += moves;
		tp_tracefile_close(&trace);
		tp_buf_release(&file);
	}
	assert_true(moved > 1000);
}

// Each of two threads waits for a stack that the other leaves behind where it waits; others never
// were, or are taken twice.
static void in_vain(void **state)
{
	(void)state;
	char source[2048];
	const unsigned long long first = TEEPERF_DEPARTURE(1, 64 + 8 * 6);
	const unsigned long long second = TEEPERF_DEPARTURE(2, 64 + 8 * 6);
	const unsigned long long taken = TEEPERF_DEPARTURE(3, 64 + 8 * 1);
	snprintf(source, sizeof(source),
	    "clock kind=tsc hz=1000000000\nthreads\n\tthread tid=1 name=\"a\"\n"
	    "\tthread tid=2 name=\"b\"\n\tthread tid=3 name=\"c\"\n"
	    "chunk thread=0 home=1\n\t10 enter 0x401000\n\tleft %llu\n\tleft %llu\n"
	    "\t20 resync 0x401000 5\n"
	    "\t30 enter 0x401010\n\t40 leave 0x401010 104\n\tleft %llu\n\tleft %llu\n"
	    "\t50 resync 0x401000 5\n\t60 exit 0x401000\n"
	    "chunk thread=1 home=2\n\t10 enter 0x401000\n\tleft %llu\n\tleft %llu\n"
	    "\t20 resync 0x401000 5\n"
	    "\t30 enter 0x401010\n\t40 leave 0x401010 104\n\tleft %llu\n\tleft %llu\n"
	    "\t50 resync 0x401000 5\n\t60 exit 0x401000\n"
	    "chunk thread=2 home=3\n\t1 enter 0x401000\n\t2 leave 0x401000 64\n\t3 enter 0x401010\n"
	    "\tleft 1\n\tleft 2\n\t4 resync 0x401000 5\n\tleft 4294967295\n\tleft 4294967295\n"
	    "\t5 resync 0x401000 5\n\t6 exit 0x401000\nend\n",
	    second >> 32, second & UINT32_MAX, taken >> 32, taken & UINT32_MAX, first >> 32,
	    first & UINT32_MAX, taken >> 32, taken & UINT32_MAX);
	struct tp_buf file;
	struct tp_tracefile trace;
	struct tp_analysis analysis;
	struct tp_err err;
	const struct tp_analysis_options options = {.workers = 1};
	tp_buf_init(&file);
	if (tp_dump_assemble(source, strlen(source), "text", &file, &err))
		fail_msg("line %u: %s", err.line, err.what);
	assert_int_equal(tp_tracefile_from_memory(&trace, "trace", file.data, file.size, &err), 0);
	assert_int_equal(tp_analysis_init(&analysis, &trace, &options, &err), 0);
	assert_int_equal(analysis.counts.moved, 6);
	// One of the two goes on in vain, and the other then gets what that one leaves; and one of
	// two gets the third's.
	assert_int_equal(analysis.counts.apart, 4);
	tp_analysis_release(&analysis);
	tp_tracefile_close(&trace);
	tp_buf_release(&file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(programs),
	    cmocka_unit_test(in_vain),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
