// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A log that is handed to the program while it runs: that comes and goes, elsewhere each time, at
// addresses that are no multiples of the chunk size.
#define _GNU_SOURCE
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <pthread.h>
#include <string.h>

#include "test/lib/play_host.h"

static int log_fd;

// A log that the environment does not name, and a module that has registered without one.
static void begin(uint32_t clock)
{
	make_log(clock);
	const char *path = getenv(TEEPERF_LOG_ENV);
	log_fd = open(path, O_RDWR | O_CLOEXEC);
	unlink(path);
	unsetenv(TEEPERF_LOG_ENV);
	__teeperf_module(TEEPERF_ABI << 8 | TEEPERF_COMPILED_AUTO, &anchor);
	assert_int_equal(functions.gates[0], TEEPERF_GATE_OFF);
}

// Map the log so that its chunks begin `skew` bytes behind a multiple of their size.
static void *map_at(uint64_t skew)
{
	char *room = mmap(NULL, REGION + 2 * CHUNK, PROT_NONE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	assert_true(room != MAP_FAILED);
	char *at = room + (-(uintptr_t)room & (CHUNK - 1)) + skew;
	assert_ptr_equal(
	    mmap(at, REGION, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, log_fd, 0), at);
	return at;
}

// Leaves nothing there, so that what still pointed there would be seen.
static void unmap(void *at)
{
	assert_ptr_equal(mmap(at, REGION, PROT_NONE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0),
	    at);
}

static void assert_nothing_points_there(void)
{
	assert_int_equal(__teeperf_thread.cursor, 0);
	assert_int_equal(__teeperf_thread.start, 0);
	assert_int_equal(__teeperf_thread.end, 0);
	assert_ptr_equal(__teeperf_thread.counter, &tp_counter_never);
	assert_ptr_equal(tp_process.counter, &tp_counter_never);
}

static uint64_t records_in(uint64_t number)
{
	uint64_t count = 0;
	for (uint64_t i = 0; i < PER_CHUNK; i++)
		count += words_of(number)[i] >> 32 >= TEEPERF_NAME_FIRST;
	return count;
}

static bool is_in(const void *address, const void *log)
{
	const uint64_t offset = (uint64_t)(uintptr_t)address - (uint64_t)(uintptr_t)log;
	return offset < REGION;
}

// The log is elsewhere and has no chunk: losses are counted where it is now, also those that arch/
// counts without the runtime.
static void test_losses_elsewhere(void **state)
{
	(void)state;
	begin(TEEPERF_CLOCK_SOFT_TSC);
	header->counter = 5;
	serve(0);
	void *at = map_at(0);
	assert_int_equal(__teeperf_enter(at, REGION), 1);
	assert_int_not_equal(event(0x400000), TEEPERF_POSITION_OFF);
	assert_true(is_in(__teeperf_thread.lost_place, at));
	__teeperf_exit();
	assert_false(is_in(__teeperf_thread.lost_place, at));
	unmap(at);
	assert_nothing_points_there();
	const struct teeperf_thread *thread =
	    (const void *)((char *)header + header->threads_offset);
	assert_int_equal(thread->lost, 0);
	at = map_at(4096);
	assert_int_equal(__teeperf_enter(at, REGION), 1);
	for (int i = 0; i < 100; i++)
		event(0x400000);
	assert_in_range(thread->lost, 100, 104); // with the border's
	assert_true(is_in(__teeperf_thread.lost_place, at));
	__teeperf_exit();
	unmap(at);
}

static void test_comes_and_goes(void **state)
{
	(void)state;
	begin(TEEPERF_CLOCK_SOFT_TSC);
	header->counter = 5;
	static const uint64_t skews[] = {0, 4096, 12288, 61440};
	uint64_t position = 0;
	for (uint64_t i = 0; i < 4; i++) {
		serve(i);
		void *at = map_at(skews[i]);
		assert_int_equal(__teeperf_enter(at, REGION), 1);
		assert_int_equal(__teeperf_enter(at, REGION), 0); // it has already
		for (uint64_t n = 0; n < 3; n++) {
			const uint64_t next = event(0x400000 + 4 * n);
			assert_true(next > position);
			position = next;
		}
		__teeperf_exit();
		unmap(at);
		assert_nothing_points_there();
		assert_int_equal(event(0x777000), TEEPERF_POSITION_OFF);
		assert_int_equal(states[i], TEEPERF_CHUNK_DONE);
		assert_int_equal(chunk_at(i)->used, sizeof(struct teeperf_chunk) + 3 * 8);
		assert_int_equal(chunk_at(i)->sequence, i);
		assert_int_equal(words_of(i)[1], word(5, 0x400004));
	}
	// One module, one thread, and what was called outside.
	assert_int_equal(header->module_count, 1);
	assert_int_equal(header->thread_count, 1);
	serve(4);
	void *at = map_at(0);
	assert_int_equal(__teeperf_enter(at, REGION), 1);
	assert_int_equal(header->lost_early, 4);
	__teeperf_exit();
	__teeperf_exit();
	assert_int_equal(states[4], TEEPERF_CHUNK_FREE);
}

// Where chunks are not aligned, the end of each is found, and nothing is written behind it.
static void test_chunks_anywhere(void **state)
{
	(void)state;
	static const uint64_t skews[] = {0, 4096, 32768, 61440};
	begin(TEEPERF_CLOCK_SOFT_TSC);
	for (uint64_t i = 0; i < 4; i++) {
		memset(chunk_at(0), 0, CHUNKS * CHUNK);
		memset(states, 0, 8 * CHUNKS);
		for (uint64_t n = 0; n < CHUNKS - 1; n++)
			serve(n);
		void *at = map_at(skews[i]);
		assert_int_equal(__teeperf_enter(at, REGION), 1);
		const uint64_t total = 3 * PER_CHUNK + 100;
		uint64_t last = 0;
		for (uint64_t n = 0; n < total; n++) {
			const uint64_t position = event(0x400000);
			assert_true(position > last);
			assert_int_equal(__teeperf_thread.end - __teeperf_thread.start,
			    CHUNK - sizeof(struct teeperf_chunk));
			last = position;
		}
		__teeperf_exit();
		unmap(at);
		uint64_t sum = 0;
		for (uint64_t n = 0; n < CHUNKS; n++)
			sum += records_in(n);
		assert_int_equal(sum, total);
		assert_int_equal(chunk_at(0)->used, CHUNK);
		assert_int_equal(states[3], TEEPERF_CHUNK_DONE);
		assert_int_equal(states[4], TEEPERF_CHUNK_FREE);
		// The chunks that were not taken serve the next round.
		header->head = header->tail;
	}
}

static void test_counts_are_handed_over(void **state)
{
	(void)state;
	begin(TEEPERF_CLOCK_SOFT_TSC);
	static struct {
		struct teeperf_counted head;
		const void *function;
	} counted = {.head.count = 1, .function = &counted};
	static _Thread_local void *pointer;
	__teeperf_counted(&counted.head, &pointer);
	for (uint64_t i = 0; i < 2; i++) {
		serve(i);
		void *at = map_at(4096);
		assert_int_equal(__teeperf_enter(at, REGION), 1);
		pointer = (void *)(uintptr_t)tp_count((uint64_t)(uintptr_t)&counted);
		assert_non_null(pointer);
		++*(uint64_t *)(void *)((char *)pointer + TEEPERF_COUNTED_OFFSET(0));
		__teeperf_exit();
		unmap(at);
		assert_null(pointer);
		assert_int_equal(states[i], TEEPERF_CHUNK_DONE);
	}
}

// Another recorder's log: begun from the first thread and the first module on.
static void test_another_log(void **state)
{
	(void)state;
	begin(TEEPERF_CLOCK_SOFT_TSC);
	serve(0);
	void *at = map_at(4096);
	assert_int_equal(__teeperf_enter(at, REGION), 1);
	event(0x400000);
	// Losses that are reported in this log.
	while (__teeperf_thread.cursor)
		event(0x400000);
	for (int i = 0; i < 50; i++)
		event(0x400000);
	serve(1);
	event(0x400000);
	assert_int_equal(words_of(1)[0] >> 32, TEEPERF_CONTROL_LOST);
	__teeperf_exit();
	unmap(at);
	make_log(TEEPERF_CLOCK_SOFT_TSC);
	close(log_fd);
	log_fd = open(getenv(TEEPERF_LOG_ENV), O_RDWR | O_CLOEXEC);
	unlink(getenv(TEEPERF_LOG_ENV));
	at = map_at(8192);
	assert_int_equal(__teeperf_enter(at, REGION), 1);
	// Those of this one are reported from the first on.
	for (int i = 0; i < 3; i++)
		event(0x400000);
	const struct teeperf_thread *thread =
	    (const void *)((char *)header + header->threads_offset);
	const uint64_t lost = thread->lost;
	assert_in_range(lost, 3, 5);
	serve(3);
	event(0x400000);
	assert_int_equal(words_of(3)[0], word(lost, TEEPERF_CONTROL_LOST));
	__teeperf_exit();
	unmap(at);
	assert_int_equal(header->module_count, 1);
	assert_int_equal(header->function_count, 3);
	assert_int_equal(header->thread_count, 1);
	assert_int_equal(header->attach, TEEPERF_ATTACH_DONE);
	assert_int_equal(chunk_at(3)->sequence, 0);
	assert_int_equal(states[3], TEEPERF_CHUNK_DONE);
}

static void test_refusals(void **state)
{
	(void)state;
	begin(TEEPERF_CLOCK_SOFT_TSC);
	char *at = map_at(0);
	assert_int_equal(__teeperf_enter(NULL, REGION), 0);
	assert_int_equal(__teeperf_enter(at, 100), 0);
	assert_int_equal(__teeperf_enter(at, REGION - 8), 0);
	assert_int_equal(__teeperf_enter(at, UINT64_MAX), 0);
	assert_int_equal(__teeperf_enter(at + 1, REGION), 0);
	header->pid = 1;
	assert_int_equal(__teeperf_enter(at, REGION), 0);
	assert_int_equal(header->refused, 1);
	header->pid = 0;
	header->clock = 77; // none that we know
	assert_int_equal(functions.gates[0], TEEPERF_GATE_OFF);
	header->clock = TEEPERF_CLOCK_SOFT_TSC;
	header->pid = 0;
	assert_int_equal(__teeperf_enter(at, REGION), 1);
	__teeperf_exit();
	// The host may say that nobody has it: then it is a new one.
	header->pid = 0;
	assert_int_equal(__teeperf_enter(at, REGION), 1);
	__teeperf_exit();
	header->pid = 99;
	assert_int_equal(__teeperf_enter(at, REGION), 0);
	assert_int_equal(event(0x400000), TEEPERF_POSITION_OFF);
}

static void test_wrong_clock(void **state)
{
	(void)state;
	make_log(TEEPERF_CLOCK_SOFT_TSC);
	const char *path = getenv(TEEPERF_LOG_ENV);
	log_fd = open(path, O_RDWR | O_CLOEXEC);
	unlink(path);
	unsetenv(TEEPERF_LOG_ENV);
	__teeperf_module(TEEPERF_ABI << 8 | TEEPERF_COMPILED_HARDWARE, &anchor);
	void *at = map_at(0);
	assert_int_equal(__teeperf_enter(at, REGION), 0);
	assert_int_equal(header->attach, TEEPERF_ATTACH_BAD_CLOCK);
	assert_int_equal(event(0x400000), TEEPERF_POSITION_OFF);
	unmap(at);
}

// Whether it is on survives the time in between, and so does a wish.
static void test_switched_off(void **state)
{
	(void)state;
	begin(TEEPERF_CLOCK_SOFT_TSC);
	serve(0);
	void *at = map_at(0);
	assert_int_equal(__teeperf_enter(at, REGION), 1);
	__teeperf_switch(0);
	__teeperf_exit();
	unmap(at);
	at = map_at(4096);
	assert_int_equal(__teeperf_enter(at, REGION), 1);
	assert_int_equal(__teeperf_is_on(), 0);
	assert_int_equal(functions.gates[0], TEEPERF_GATE_OFF);
	__teeperf_exit();
	__teeperf_switch(1);
	unmap(at);
	at = map_at(8192);
	assert_int_equal(__teeperf_enter(at, REGION), 1);
	assert_int_equal(__teeperf_is_on(), 1);
	assert_int_not_equal(event(0x400000), TEEPERF_POSITION_OFF);
	__teeperf_exit();
	assert_int_equal(header->switch_count, 2);
}

static void test_for_good(void **state)
{
	(void)state;
	begin(TEEPERF_CLOCK_SOFT_TSC);
	serve(0);
	void *at = map_at(4096);
	assert_int_equal(__teeperf_region(at, REGION), 1);
	assert_int_equal(__teeperf_enter(at, REGION), 0);
	__teeperf_exit(); // of nothing
	event(0x400000);
	__teeperf_thread_over();
	assert_int_equal(states[0], TEEPERF_CHUNK_DONE);
	__teeperf_over(7);
	assert_int_equal(header->ended, TEEPERF_ENDED | TEEPERF_ENDED_HAS_CODE | UINT64_C(7) << 32);
	assert_int_equal(event(0x400000), TEEPERF_POSITION_OFF);
	assert_int_equal(__teeperf_enter(at, REGION), 0);
}

// A module that comes while the log is away must not look at the log's lists; nor must the
// process's end.
static void test_module_without_log(void **state)
{
	(void)state;
	static struct late_module late = LATE_MODULE;
	static struct teeperf_module_block block = LATE_BLOCK(late);
	begin(TEEPERF_CLOCK_SOFT_TSC);
	serve(0);
	header->only_offset =
	    header->threads_offset + header->thread_capacity * sizeof(struct teeperf_thread);
	header->only_count = 1;
	header->only = TEEPERF_ONLY_LISTED;
	*(uint64_t *)(void *)((char *)header + header->only_offset) = 20;
	void *at = map_at(0);
	assert_int_equal(__teeperf_enter(at, REGION), 1);
	event(0x400000);
	__teeperf_exit();
	unmap(at);
	__teeperf_module(TEEPERF_ABI << 8 | TEEPERF_COMPILED_AUTO, &block);
	assert_int_equal(late.gates[0], TEEPERF_GATE_OFF);
	assert_int_equal(late.gates[1], TEEPERF_GATE_OFF);
	tp_thread_tell_cpu();
	// It records when the log is there again.
	at = map_at(4096);
	assert_int_equal(__teeperf_enter(at, REGION), 1);
	assert_int_equal(late.gates[0], TEEPERF_GATE_SOFT);
	assert_int_equal(late.gates[1], TEEPERF_GATE_OFF);
	__teeperf_exit();
	unmap(at);
	tp_thread_tell_cpu();
	assert_null(tp_process.only_list);
	assert_null(tp_process.selection_list);
}

static void *shared;
static uint64_t entered;
enum { ROUNDS = 300, EVENTS = 50 };

static void *come_and_go(void *argument)
{
	(void)argument;
	for (int i = 0; i < ROUNDS; i++) {
		if (!__teeperf_enter(shared, REGION))
			continue;
		__atomic_fetch_add(&entered, 1, __ATOMIC_RELAXED);
		for (int n = 0; n < EVENTS; n++)
			event(0x400000);
		__teeperf_exit();
		assert_int_equal(__teeperf_thread.cursor, 0);
	}
	return NULL;
}

// Several threads at once, of which any is the first and the last; and one that never enters.
static void test_threads(void **state)
{
	(void)state;
	begin(TEEPERF_CLOCK_SOFT_TSC);
	shared = map_at(4096);
	pthread_t threads[3];
	for (int i = 0; i < 3; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, come_and_go, NULL), 0);
	for (int i = 0; i < 1000; i++)
		event(0x500000);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	assert_true(entered > 0);
	assert_nothing_points_there();
	// There were no chunks: all is lost, and counted once.
	unsetenv(TEEPERF_LOG_ENV);
	assert_int_equal(__teeperf_enter(shared, REGION), 1);
	uint64_t lost = 0;
	const struct teeperf_thread *table =
	    (const void *)((char *)header + header->threads_offset);
	for (int i = 0; i < THREADS; i++)
		lost += table[i].lost;
	assert_int_equal(lost, entered * EVENTS);
	__teeperf_exit();
}

int main(void)
{
	const struct CMUnitTest all[] = {
	    TEST(test_comes_and_goes),
	    TEST(test_losses_elsewhere),
	    TEST(test_chunks_anywhere),
	    TEST(test_counts_are_handed_over),
	    TEST(test_another_log),
	    TEST(test_refusals),
	    TEST(test_wrong_clock),
	    TEST(test_switched_off),
	    TEST(test_for_good),
	    TEST(test_module_without_log),
	    TEST(test_threads),
	};
	return cmocka_run_group_tests(all, NULL, NULL);
}
