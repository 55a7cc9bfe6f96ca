// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The runtime's cold path left by a signal handler that jumps out of it or ends the thread.
#define _GNU_SOURCE
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "test/lib/play_host.h"

// The page that is touched next faults, and the handler of the fault jumps out of the runtime.
static sigjmp_buf out;
static uint64_t from_handler;

static void jump_out(int signal)
{
	(void)signal;
	from_handler = event(0x501000);
	siglongjmp(out, 1);
}

static void jump_out_at_chunk(uint64_t number)
{
	void *at = (void *)(uintptr_t)(tp_process.chunks + number * CHUNK);
	signal(SIGSEGV, jump_out);
	assert_int_equal(mprotect(at, CHUNK, PROT_NONE), 0);
	if (!sigsetjmp(out, 1)) {
		event(0x402000);
		fail_msg("nothing faulted");
	}
	assert_int_equal(mprotect(at, CHUNK, PROT_READ | PROT_WRITE), 0);
	assert_int_equal(from_handler, 0);
}

static void test_jump_out_of_runtime(void **state)
{
	(void)state;
	attach(TEEPERF_CLOCK_SOFT_TSC);
	header->counter = 1;
	for (uint64_t i = 0; i < 3; i++)
		serve(i);
	const uint64_t position = event(0x401000);
	for (int i = 1; i < PER_CHUNK; i++)
		event(0x401001);
	jump_out_at_chunk(1);
	// Nobody tells the runtime, until an older activation goes on. No loss is silent.
	const struct teeperf_thread *thread =
	    (const void *)((char *)header + header->threads_offset);
	assert_int_equal(event(0x403000), 0);
	assert_int_equal(thread->lost, 2);
	__teeperf_resync(position, 0x401003);
	assert_int_equal(words_of(1)[0], word(2, TEEPERF_CONTROL_LOST));
	assert_int_equal(words_of(1)[1], word(1, 0x401003));
	assert_int_equal(words_of(1)[2], position);
	assert_int_not_equal(event(0x404000), 0);
	assert_int_equal(chunk_at(1)->sequence, 1);
	// The chunk that the interrupted call had drawn is the one in use.
	assert_int_equal(header->tail, 2);
	assert_int_equal(states[1], TEEPERF_CHUNK_OWNED);
}

// A thread that leaves the log with a chunk that it has drawn and not begun gives it back, empty.
static void test_drawn_chunk_goes_back(void **state)
{
	(void)state;
	attach(TEEPERF_CLOCK_SOFT_TSC);
	header->counter = 1;
	for (uint64_t i = 0; i < 3; i++)
		serve(i);
	for (int i = 0; i < PER_CHUNK; i++)
		event(0x401001);
	jump_out_at_chunk(1);
	tp_thread_depart();
	assert_int_equal(header->tail, 2);
	assert_int_equal(states[0], TEEPERF_CHUNK_DONE);
	assert_int_equal(chunk_at(0)->used, CHUNK);
	assert_int_equal(states[1], TEEPERF_CHUNK_DONE);
	assert_int_equal(chunk_at(1)->used, sizeof(struct teeperf_chunk));
}

static void *remove_module(void *block)
{
	tp_gates_remove(block);
	return NULL;
}

// A handler jumps out while the thread sets gates, and the process, or a library, ends: by itself,
// or in another thread when the first one goes on in the program.
static void test_jump_out_of_gates(void **state)
{
	(void)state;
	attach(TEEPERF_CLOCK_SOFT_TSC);
	header->counter = 1;
	serve(0);
	const uint64_t position = event(0x401000);
	uint8_t *page =
	    mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(page != MAP_FAILED);
	static struct teeperf_module_block blocks[2];
	for (int i = 0; i < 2; i++) {
		blocks[i] =
		    (struct teeperf_module_block){.functions = page, .functions_end = page + 4096};
		tp_gates_add(&blocks[i], true);
	}
	signal(SIGSEGV, jump_out);
	assert_int_equal(mprotect(page, 4096, PROT_NONE), 0);
	header->control = 2; // off: an order
	if (!sigsetjmp(out, 1)) {
		tp_switch_look();
		fail_msg("nothing faulted");
	}
	assert_int_equal(mprotect(page, 4096, PROT_READ | PROT_WRITE), 0);
	assert_true(tp_switch_is_busy());
	alarm(20);
	tp_gates_remove(&blocks[0]);
	__teeperf_resync(position, 0x401003);
	assert_false(tp_switch_is_busy());
	pthread_t thread;
	assert_int_equal(pthread_create(&thread, NULL, remove_module, &blocks[1]), 0);
	pthread_join(thread, NULL);
	alarm(0);
	munmap(page, 4096);
}

// A thread from start to end, with chunks 0 and 1 to record into.
static void run_with_two_chunks(void *(*body)(void *))
{
	attach(TEEPERF_CLOCK_SOFT_TSC);
	header->counter = 1;
	serve(0);
	serve(1);
	pthread_t thread;
	assert_int_equal(pthread_create(&thread, NULL, body, NULL), 0);
	pthread_join(thread, NULL);
}

static void *jump_out_and_end(void *argument)
{
	(void)argument;
	event(0x401000);
	for (int i = 1; i < PER_CHUNK; i++)
		event(0x401001);
	jump_out_at_chunk(1);
	return NULL;
}

// A handler may also end the thread.
static void test_thread_ends_inside_runtime(void **state)
{
	(void)state;
	run_with_two_chunks(jump_out_and_end);
	assert_int_equal(states[0], TEEPERF_CHUNK_DONE);
	assert_int_equal(states[1], TEEPERF_CHUNK_DONE);
}

static void *interrupted_thread(void *argument)
{
	(void)argument;
	for (int i = 0; i < PER_CHUNK - 5; i++)
		event(0x401000);
	const uint64_t loaded = __teeperf_thread.cursor;
	for (int i = 0; i < 8; i++)
		event(0x501000);
	__teeperf_thread.cursor = loaded + 8;
	return NULL;
}

static void test_interrupted_thread_ends(void **state)
{
	(void)state;
	run_with_two_chunks(interrupted_thread);
	assert_int_equal(chunk_at(0)->used, CHUNK);
	assert_int_equal(words_of(0)[PER_CHUNK - 1], word(1, 0x501000));
	assert_int_equal(chunk_at(1)->used, 64 + 4 * 8);
	assert_int_equal(words_of(1)[2], word(1, 0x501000));
	assert_int_equal(words_of(1)[3], word(0, TEEPERF_CONTROL_THREAD_END));
}

#if defined(__x86_64__)
// Steps of the processor until the handler is to jump out; and how many there were when it did not.
static uint64_t steps_left;
static uint64_t steps;

static void on_step(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)info;
	(void)context;
	steps++;
	if (!--steps_left)
		siglongjmp(out, 1);
}

// A signal after each instruction.
static inline __attribute__((always_inline)) void begin_steps(void)
{
	__asm__ volatile("pushfq\n\torq $0x100, (%%rsp)\n\tpopfq" ::: "memory", "cc");
}

static inline __attribute__((always_inline)) void end_steps(void)
{
	__asm__ volatile("pushfq\n\tandq $~0x100, (%%rsp)\n\tpopfq" ::: "memory", "cc");
}

// An event that is left for good at its instruction number COUNT. False: it has no more than
// `steps`.
static bool jump_out_at_step(uint64_t count, uint64_t name)
{
	const struct sigaction action = {.sa_sigaction = on_step, .sa_flags = SA_SIGINFO};
	sigaction(SIGTRAP, &action, NULL);
	steps = 0;
	steps_left = count;
	if (sigsetjmp(out, 1))
		return true;
	begin_steps();
	event(name);
	end_steps();
	return false;
}

// Looked at between any two instructions: is a chunk given back before it says how long it is?
static int given_early;

static void look_at_chunk(int signal)
{
	(void)signal;
	steps++;
	given_early += states[0] == TEEPERF_CHUNK_DONE && chunk_at(0)->used != CHUNK;
}

// The host takes a chunk as soon as its state says so, and believes how much of it is used.
static void test_used_before_state(void **state)
{
	(void)state;
	attach(TEEPERF_CLOCK_SOFT_TSC);
	header->counter = 1;
	for (uint64_t i = 0; i < 3; i++)
		serve(i);
	// It is given back one switch late.
	for (int i = 0; i < 2 * PER_CHUNK; i++)
		event(0x401000);
	assert_int_equal(states[0], TEEPERF_CHUNK_OWNED);
	signal(SIGTRAP, look_at_chunk);
	steps = 0;
	begin_steps();
	event(0x402000);
	end_steps();
	assert_int_equal(states[0], TEEPERF_CHUNK_DONE);
	assert_true(steps > 100);
	assert_int_equal(given_early, 0);
}

// The numbers of the thread's chunks follow one another, up to the newest; returns how many there
// are.
static uint64_t count_kept(uint64_t *newest)
{
	uint64_t kept = 0;
	uint64_t oldest = UINT64_MAX;
	*newest = 0;
	for (uint64_t i = 0; i < CHUNKS; i++) {
		if (states[i] != TEEPERF_CHUNK_OWNED)
			continue;
		const uint64_t sequence = chunk_at(i)->sequence;
		kept++;
		oldest = sequence < oldest ? sequence : oldest;
		*newest = sequence > *newest ? sequence : *newest;
	}
	assert_int_equal(*newest - oldest + 1, kept);
	return kept;
}

static void fill_chunk(void)
{
	do
		event(0x402000);
	while (__teeperf_thread.cursor % CHUNK);
}

// As if the oldest chunk had hardly been used: clearing it is most of the steps otherwise, each as
// the next one.
static void empty_oldest(void)
{
	uint64_t oldest = CHUNKS;
	for (uint64_t i = 0; i < CHUNKS; i++)
		if (states[i] == TEEPERF_CHUNK_OWNED &&
		    (oldest == CHUNKS || chunk_at(i)->sequence < chunk_at(oldest)->sequence))
			oldest = i;
	memset(words_of(oldest), 0, CHUNK - sizeof(struct teeperf_chunk));
	words_of(oldest)[1] = word(1, 0x402000);
	chunk_at(oldest)->used = sizeof(struct teeperf_chunk) + 16;
}

// One round: the steps that there are, all done if STEP is more than that.
static uint64_t jump_and_go_on(uint64_t step, bool short_way, uint64_t position)
{
	uint64_t newest;
	uint64_t before;
	fill_chunk();
	assert_int_equal(count_kept(&before), 3);
	if (short_way)
		empty_oldest();
	const bool jumped = jump_out_at_step(step, 0x404000);
	const uint64_t done = steps;
	__teeperf_resync(position, 0x401003);
	fill_chunk();
	assert_int_equal(count_kept(&newest), 3);
	assert_true(newest > before);
	// But for the place of the record that it jumped out of.
	for (uint64_t i = 0; i < CHUNKS; i++) {
		int holes = 0;
		if (states[i] != TEEPERF_CHUNK_OWNED || chunk_at(i)->sequence <= before)
			continue;
		for (int j = 0; j < PER_CHUNK; j++)
			holes += !words_of(i)[j];
		assert_true(holes <= jumped);
	}
	fill_chunk();
	fill_chunk();
	assert_int_equal(count_kept(&newest), 3);
	return jumped ? 0 : done;
}

/*
 * Mode ring: a handler jumps out of any instruction with which the thread goes on in its oldest
 * chunk. It keeps as many chunks as before from then on, each with what it should have, and asks
 * for no other one.
 */
static void test_jump_out_of_ring(void **state)
{
	(void)state;
	make_log(TEEPERF_CLOCK_SOFT_TSC);
	header->mode = TEEPERF_MODE_RING;
	header->ring = 3;
	__teeperf_module(TEEPERF_ABI << 8 | TEEPERF_COMPILED_AUTO, &anchor);
	unlink(getenv(TEEPERF_LOG_ENV));
	header->counter = 1;
	for (uint64_t i = 0; i < CHUNKS; i++)
		serve(i);
	const uint64_t position = event(0x401000);
	for (int i = 0; i < 4; i++)
		fill_chunk();
	uint64_t step = 0;
	while (!jump_and_go_on(++step, true, position))
		;
	assert_true(step > 100 && step < 2000);
	// And in the middle of clearing all of it.
	assert_int_equal(jump_and_go_on(1000, false, position), 0);
	assert_int_equal(jump_and_go_on(5000, false, position), 0);
	assert_int_equal(header->tail, 3);
	assert_int_equal(header->head, CHUNKS);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_jump_out_of_runtime),
		TEST(test_drawn_chunk_goes_back),
		TEST(test_jump_out_of_gates),
		TEST(test_thread_ends_inside_runtime),
		TEST(test_interrupted_thread_ends),
#if defined(__x86_64__)
		TEST(test_used_before_state),
		TEST(test_jump_out_of_ring),
#endif
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
