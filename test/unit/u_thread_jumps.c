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

int main(void)
{
	const struct CMUnitTest tests[] = {TEST(test_jump_out_of_runtime),
	    TEST(test_thread_ends_inside_runtime), TEST(test_interrupted_thread_ends)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
