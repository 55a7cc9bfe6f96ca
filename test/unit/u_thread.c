// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The runtime's cold path: chunks, tickets, losses, threads that end, and sequences that are
// interrupted. One file above 600 lines: a test is a few lines, and all of them stand on the same
// log and the same ways to interrupt a thread.
#define _GNU_SOURCE
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <signal.h>

#include "test/lib/play_host.h"

static void test_first_event(void **state)
{
	(void)state;
	attach(TEEPERF_CLOCK_SOFT_TSC);
	serve(3);
	header->counter = 0x500000007;
	assert_int_equal(event(0x401000), 64);
	header->counter++;
	assert_int_equal(event(0x401001), 72);
	assert_int_equal(header->pid, getpid());
	assert_int_equal(header->attach, TEEPERF_ATTACH_DONE);
	assert_int_equal(header->tail, 1);
	assert_int_equal(header->thread_count, 1);
	assert_int_equal(states[3], TEEPERF_CHUNK_OWNED);
	assert_int_equal(chunk_at(3)->first_time, 0x500000007);
	assert_int_equal(chunk_at(3)->sequence, 0);
	assert_int_equal(chunk_at(3)->os_tid, gettid());
	assert_int_equal(words_of(3)[0], word(7, 0x401000));
	assert_int_equal(words_of(3)[1], word(8, 0x401001));
	assert_int_equal(words_of(3)[2], 0);
}

static void test_sync(void **state)
{
	(void)state;
	attach(TEEPERF_CLOCK_SOFT_TSC);
	serve(0);
	header->counter = 0x1fffffff0;
	event(0x401000);
	header->counter = 0x200000010;
	assert_int_equal(event(0x401001), 80);
	assert_int_equal(words_of(0)[1], word(2, TEEPERF_CONTROL_SYNC));
	assert_int_equal(words_of(0)[2], word(0x10, 0x401001));
}

static void test_chunks_in_turn(void **state)
{
	(void)state;
	attach(TEEPERF_CLOCK_SOFT_TSC);
	header->counter = 1;
	for (uint64_t i = 0; i < 3; i++)
		serve(i);
	for (uint64_t i = 0; i < 2 * PER_CHUNK + 1; i++)
		assert_int_not_equal(event(0x401000), 0);
	assert_int_equal(header->tail, 3);
	// A chunk is given back one switch late.
	assert_int_equal(states[0], TEEPERF_CHUNK_DONE);
	assert_int_equal(chunk_at(0)->used, CHUNK);
	assert_int_equal(states[1], TEEPERF_CHUNK_OWNED);
	assert_int_equal(states[2], TEEPERF_CHUNK_OWNED);
	assert_int_equal(chunk_at(2)->sequence, 2);
	assert_int_equal(words_of(0)[PER_CHUNK - 1], word(1, 0x401000));
	assert_int_equal(__teeperf_thread.cursor + __teeperf_thread.bias, 2 * CHUNK + 72);
}

// Between the header of the first chunk and its first record.
enum { CHUNK_HEADER_POSITION = 4 };

static void test_losses_are_exact(void **state)
{
	(void)state;
	attach(TEEPERF_CLOCK_SOFT_TSC);
	header->counter = 1;
	const struct teeperf_thread *thread =
	    (const void *)((char *)header + header->threads_offset);
	// Behind what there is, nothing, and before what comes.
	for (int i = 0; i < 100; i++)
		assert_int_equal(event(0x401000), CHUNK_HEADER_POSITION);
	assert_int_equal(thread->lost, 100);
	assert_int_equal(header->tail, 0);
	serve(5);
	assert_int_equal(event(0x402000), 72);
	assert_int_equal(words_of(5)[0], word(100, TEEPERF_CONTROL_LOST));
	assert_int_equal(words_of(5)[1], word(1, 0x402000));
	for (int i = 0; i < PER_CHUNK - 2 + 17; i++)
		event(0x401000);
	assert_int_equal(thread->lost, 117);
	// What cannot go on is given back, so that the host may drain and recycle it.
	assert_int_equal(states[5], TEEPERF_CHUNK_DONE);
	assert_int_equal(header->tail, 1);
}

static void test_promise_without_chunk(void **state)
{
	(void)state;
	attach(TEEPERF_CLOCK_SOFT_TSC);
	header->counter = 1;
	// The hint says that there is a chunk, the slot says that there is not.
	header->head = 1;
	for (int i = 0; i < 10; i++)
		assert_int_equal(event(0x401000), CHUNK_HEADER_POSITION);
	assert_int_equal(header->tail, 0);
	header->head = 0;
	serve(2);
	assert_int_equal(event(0x401000), sizeof(struct teeperf_chunk) + 8);
	assert_int_equal(header->tail, 1);
	assert_int_equal(states[2], TEEPERF_CHUNK_OWNED);
}

// Mode ring: a log whose threads keep this number of chunks.
static void attach_ring(uint32_t keeps)
{
	make_log(TEEPERF_CLOCK_SOFT_TSC);
	header->mode = TEEPERF_MODE_RING;
	header->ring = keeps;
	__teeperf_module(TEEPERF_ABI << 8 | TEEPERF_COMPILED_AUTO, &anchor);
	unlink(getenv(TEEPERF_LOG_ENV));
	header->counter = 1;
}

static void test_ticket_is_kept(void **state)
{
	(void)state;
	attach_ring(2);
	header->head = 1;
	for (int i = 0; i < 10; i++)
		assert_int_equal(event(0x401000), CHUNK_HEADER_POSITION);
	assert_int_equal(header->tail, 1);
	header->head = 0;
	serve(2);
	assert_int_equal(event(0x401000), sizeof(struct teeperf_chunk) + 8);
	assert_int_equal(header->tail, 1);
	assert_int_equal(states[2], TEEPERF_CHUNK_OWNED);
}

/*
 * The thread gets no processor while it draws a chunk: it stops at the first access that a page's
 * PROTECTION forbids, and meanwhile others draw and give back all that there is, twice.
 */
static int stops;

static void others_go_on(int signal)
{
	(void)signal;
	stops++;
	mprotect(tp_process.header, 2 * 4096, PROT_READ | PROT_WRITE);
	for (int i = 0; i < 2 * CHUNKS; i++) {
		const uint64_t number = supply[header->tail % CHUNKS] % CHUNKS;
		header->tail++;
		serve(number);
	}
}

// Each chunk is the thread's, or in the supply, and once.
static void check_no_chunk_is_gone(void)
{
	int seen[CHUNKS] = {0};
	for (uint64_t i = 0; i < CHUNKS; i++)
		seen[i] += states[i] == TEEPERF_CHUNK_OWNED;
	for (uint64_t t = header->tail; t != header->head; t++) {
		assert_int_equal(supply[t % CHUNKS] >> TEEPERF_SUPPLY_CHUNK_BITS, t + 1);
		seen[supply[t % CHUNKS] % CHUNKS]++;
	}
	for (int i = 0; i < CHUNKS; i++)
		assert_int_equal(seen[i], 1);
}

static void stop_while_drawing(uint64_t page, int protection)
{
	header->counter = 1;
	for (uint64_t i = 0; i < CHUNKS; i++)
		serve(i);
	for (int i = 0; i < PER_CHUNK; i++)
		event(0x401000);
	signal(SIGSEGV, others_go_on);
	assert_int_equal(mprotect((char *)tp_process.header + page, 4096, protection), 0);
	assert_int_equal(event(0x402000), CHUNK + sizeof(struct teeperf_chunk));
	assert_int_equal(stops, 1);
	const struct teeperf_thread *thread =
	    (const void *)((char *)header + header->threads_offset);
	assert_int_equal(thread->lost, 0);
	check_no_chunk_is_gone();
}

static void test_stop_before_slot(void **state)
{
	(void)state;
	attach(TEEPERF_CLOCK_SOFT_TSC);
	stop_while_drawing(4096, PROT_NONE);
}

static void test_stop_behind_slot(void **state)
{
	(void)state;
	attach(TEEPERF_CLOCK_SOFT_TSC);
	stop_while_drawing(0, PROT_READ);
}

static void test_stop_before_slot_in_ring(void **state)
{
	(void)state;
	attach_ring(3);
	stop_while_drawing(4096, PROT_NONE);
}

static void test_stop_behind_slot_in_ring(void **state)
{
	(void)state;
	attach_ring(3);
	stop_while_drawing(0, PROT_READ);
}

static void test_lying_supply(void **state)
{
	(void)state;
	attach(TEEPERF_CLOCK_SOFT_TSC);
	header->counter = 1;
	header->head = 1;
	supply[0] = TEEPERF_SUPPLY_SLOT(0, 0xfffff3);
	assert_int_not_equal(event(0x401000), 0);
	// Its number is masked: chunk 3 of 8.
	assert_int_equal(__teeperf_thread.cursor, tp_process.chunks + 3 * CHUNK + 72);
}

static void test_resync(void **state)
{
	(void)state;
	attach(TEEPERF_CLOCK_SOFT_TSC);
	serve(0);
	header->counter = 9;
	const uint64_t position = event(0x401000);
	event(0x402000);
	__teeperf_resync(position, 0x401003);
	assert_int_equal(words_of(0)[2], word(9, 0x401003));
	assert_int_equal(words_of(0)[3], position);
	// No position: the enter record was not written.
	__teeperf_resync(0, 0x401003);
	assert_int_equal(words_of(0)[4], 0);
	// Both words stay in one chunk.
	while (__teeperf_thread.cursor % CHUNK != CHUNK - 8)
		event(0x403000);
	serve(1);
	__teeperf_resync(position, 0x401003);
	assert_int_equal(words_of(0)[PER_CHUNK - 1], word(0, TEEPERF_CONTROL_PAD));
	assert_int_equal(words_of(1)[0], word(9, 0x401003));
	assert_int_equal(words_of(1)[1], position);
}

// A resync that finds no chunk is lost like any other event, and the next chunk begins with that.
static void test_resync_without_chunk(void **state)
{
	(void)state;
	attach(TEEPERF_CLOCK_SOFT_TSC);
	serve(0);
	header->counter = 9;
	const uint64_t position = event(0x401000);
	for (int i = 1; i < PER_CHUNK; i++)
		event(0x402000);
	const struct teeperf_thread *thread =
	    (const void *)((char *)header + header->threads_offset);
	assert_int_equal(thread->lost, 0);
	__teeperf_resync(position, 0x401003);
	assert_int_equal(thread->lost, 1);
	serve(1);
	__teeperf_resync(position, 0x401003);
	assert_int_equal(thread->lost, 1);
	assert_int_equal(words_of(1)[0], word(1, TEEPERF_CONTROL_LOST));
	assert_int_equal(words_of(1)[1], word(9, 0x401003));
	assert_int_equal(words_of(1)[2], position);
}

// A signal handler that switches chunks inside another sequence, between load and store of the
// cursor.
static void test_interrupted_sequence(void **state)
{
	(void)state;
	attach(TEEPERF_CLOCK_SOFT_TSC);
	header->counter = 1;
	for (uint64_t i = 0; i < 3; i++)
		serve(i);
	for (int i = 0; i < PER_CHUNK - 5; i++)
		event(0x401000);
	const uint64_t loaded = __teeperf_thread.cursor;
	for (int i = 0; i < 8; i++)
		event(0x501000); // the handler: five here, three in the next chunk
	assert_int_equal(states[0], TEEPERF_CHUNK_OWNED);
	// It stores its cursor, finds the place taken, and comes here.
	__teeperf_thread.cursor = loaded + 8;
	assert_int_equal(tp_slow(0x402000), CHUNK + sizeof(struct teeperf_chunk) + 24);
	event(0x403000);
	for (int i = 5; i; i--)
		assert_int_equal(words_of(0)[PER_CHUNK - i], word(1, 0x501000));
	for (int i = 0; i < 3; i++)
		assert_int_equal(words_of(1)[i], word(1, 0x501000));
	assert_int_equal(words_of(1)[3], word(1, 0x402000));
	assert_int_equal(words_of(1)[4], word(1, 0x403000));
	assert_int_equal(words_of(1)[5], 0);
	assert_int_equal(chunk_at(1)->sequence, 1);
	assert_int_equal(header->tail, 2);
}

// The handler stays in the chunk: what it wrote is kept, too.
static void test_interrupted_in_chunk(void **state)
{
	(void)state;
	attach(TEEPERF_CLOCK_SOFT_TSC);
	header->counter = 1;
	serve(0);
	event(0x401000);
	const uint64_t loaded = __teeperf_thread.cursor;
	for (int i = 0; i < 3; i++)
		event(0x501000);
	__teeperf_thread.cursor = loaded + 8;
	tp_slow(0x402000);
	for (int i = 1; i < 4; i++)
		assert_int_equal(words_of(0)[i], word(1, 0x501000));
	assert_int_equal(words_of(0)[4], word(1, 0x402000));
	assert_int_equal(words_of(0)[5], 0);
}

// The handler's chunks ran out meanwhile, so that the interrupted code's chunk was given back.
static void test_interrupted_sequence_without_chunk(void **state)
{
	(void)state;
	attach(TEEPERF_CLOCK_SOFT_TSC);
	header->counter = 1;
	serve(0);
	for (int i = 0; i < PER_CHUNK - 5; i++)
		event(0x401000);
	const uint64_t loaded = __teeperf_thread.cursor;
	for (int i = 0; i < 8; i++)
		event(0x501000);
	assert_int_equal(states[0], TEEPERF_CHUNK_DONE);
	__teeperf_thread.cursor = loaded + 8;
	serve(1);
	event(0x403000);
	assert_int_equal(words_of(0)[PER_CHUNK - 4], word(1, 0x501000));
	assert_int_equal(words_of(1)[0], word(3, TEEPERF_CONTROL_LOST));
	assert_int_equal(words_of(1)[1], word(1, 0x403000));
}

static pthread_key_t later_key;

static void later_destructor(void *value)
{
	(void)value;
	event(0x405000);
}

static void *thread_with_destructor(void *argument)
{
	event(0x401000);
	pthread_setspecific(later_key, argument);
	return NULL;
}

// Events of destructors that run behind the runtime's own are reported to the host, too.
static void test_destructors_log(void **state)
{
	(void)state;
	attach(TEEPERF_CLOCK_SOFT_TSC);
	header->counter = 1;
	serve(0);
	serve(1);
	assert_int_equal(pthread_key_create(&later_key, later_destructor), 0);
	pthread_t thread;
	assert_int_equal(pthread_create(&thread, NULL, thread_with_destructor, &later_key), 0);
	pthread_join(thread, NULL);
	assert_int_equal(header->thread_count, 1);
	assert_int_equal(states[0], TEEPERF_CHUNK_DONE);
	assert_int_equal(states[1], TEEPERF_CHUNK_DONE);
	assert_int_equal(chunk_at(1)->thread, 0);
	assert_int_equal(chunk_at(1)->sequence, 1);
	assert_int_equal(words_of(1)[0], word(1, 0x405000));
	assert_int_equal(words_of(1)[1], word(0, TEEPERF_CONTROL_THREAD_END));
}

static void *thread_without_chunk(void *argument)
{
	(void)argument;
	header->head = header->tail + 1; // a chunk is promised ...
	event(0x401000);
	header->head = header->tail - 1; // ... and not served
	return NULL;
}

// Mode ring: a thread that ends with a ticket leaves it to the next that needs one.
static void test_ticket_is_inherited(void **state)
{
	(void)state;
	attach_ring(2);
	serve(0);
	pthread_t thread;
	for (int i = 0; i < 2; i++) {
		event(0x401000);
		assert_int_equal(pthread_create(&thread, NULL, thread_without_chunk, NULL), 0);
		pthread_join(thread, NULL);
	}
	assert_int_equal(header->tail, 2);
	serve(1);
	for (int i = 0; i < PER_CHUNK; i++)
		assert_int_not_equal(event(0x401000), 0);
	assert_int_equal(header->tail, 2);
	assert_int_equal(states[1], TEEPERF_CHUNK_OWNED);
}

static void *run_thread(void *argument)
{
	(void)argument;
	event(0x401000);
	event(0x401001);
	return NULL;
}

static void test_threads_end(void **state)
{
	(void)state;
	attach(TEEPERF_CLOCK_SOFT_TSC);
	header->counter = 1;
	for (uint64_t i = 0; i < 3; i++)
		serve(i);
	event(0x400000);
	for (int i = 0; i < 2; i++) {
		pthread_t thread;
		assert_int_equal(pthread_create(&thread, NULL, run_thread, NULL), 0);
		pthread_join(thread, NULL);
	}
	const struct teeperf_thread *threads =
	    (const void *)((char *)header + header->threads_offset);
	assert_int_equal(threads[0].ended, 0);
	for (uint32_t i = 1; i < 3; i++) {
		assert_int_equal(chunk_at(i)->thread, i);
		assert_int_equal(chunk_at(i)->sequence, 0);
		assert_int_equal(chunk_at(i)->used, 64 + 3 * 8);
		assert_int_equal(states[i], TEEPERF_CHUNK_DONE);
		assert_int_equal(words_of(i)[2], word(0, TEEPERF_CONTROL_THREAD_END));
		assert_int_equal(threads[i].ended, 1);
		assert_int_equal(threads[i].chunks, 1);
	}
}

static void fill(uint64_t chunks, uint64_t name)
{
	for (uint64_t i = 0; i < chunks * PER_CHUNK; i++)
		assert_int_not_equal(event(name), 0);
}

// Which chunk has the thread's chunk number SEQUENCE; CHUNKS: none.
static uint64_t find_chunk(uint32_t thread, uint64_t sequence)
{
	uint64_t number = 0;
	while (number < CHUNKS &&
	       (states[number] == TEEPERF_CHUNK_FREE || chunk_at(number)->thread != thread ||
		   chunk_at(number)->sequence != sequence))
		number++;
	return number;
}

static void test_ring(void **state)
{
	(void)state;
	attach_ring(3);
	assert_int_equal(header->keeps, 3);
	for (uint64_t i = 0; i < CHUNKS; i++)
		serve(i);
	fill(3, 0x401000);
	assert_int_equal(header->tail, 3);
	for (uint64_t i = 0; i < 3; i++)
		assert_int_equal(states[i], TEEPERF_CHUNK_OWNED);
	// It goes on in its own oldest, where nothing is left of what was there.
	event(0x402000);
	assert_int_equal(header->tail, 3);
	assert_int_equal(find_chunk(0, 0), CHUNKS);
	assert_int_equal(find_chunk(0, 3), 0);
	assert_int_equal(words_of(0)[0], word(1, 0x402000));
	for (int i = 1; i < PER_CHUNK; i++)
		assert_int_equal(words_of(0)[i], 0);
	assert_int_equal(chunk_at(0)->used, 0);
	assert_int_equal(__teeperf_thread.cursor + __teeperf_thread.bias, 3 * CHUNK + 72);
	// In turn, for ever, and without the host.
	fill(100, 0x403000);
	for (uint64_t i = 101; i < 104; i++)
		assert_int_equal(find_chunk(0, i), i % 3);
	assert_int_equal(header->tail, 3);
	assert_int_equal(header->head, CHUNKS);
}

// The smallest ring, and one that the host says is none, or larger than could be.
static void test_smallest_ring(void **state)
{
	(void)state;
	attach_ring(0);
	assert_int_equal(header->keeps, 2);
	serve(4);
	serve(1);
	fill(9, 0x401000);
	assert_int_equal(find_chunk(0, 7), 1);
	assert_int_equal(find_chunk(0, 8), 4);
	assert_int_equal(header->tail, 2);
}

static void test_largest_ring(void **state)
{
	(void)state;
	attach_ring(UINT32_MAX);
	assert_int_equal(header->keeps, CHUNKS / 2);
	for (uint64_t i = 0; i < CHUNKS; i++)
		serve(i);
	// No more than is left for others, and one besides.
	fill(20, 0x401000);
	assert_int_equal(header->tail, 4);
}

// With one chunk and no other available: that one is given back, and drawn again.
static void test_ring_without_room(void **state)
{
	(void)state;
	attach_ring(4);
	serve(6);
	fill(1, 0x401000);
	assert_int_equal(event(0x402000), CHUNK + CHUNK_HEADER_POSITION);
	assert_int_equal(states[6], TEEPERF_CHUNK_DONE);
	assert_int_equal(header->head, 2);
	assert_int_equal(event(0x403000), CHUNK + sizeof(struct teeperf_chunk) + 8);
	assert_int_equal(words_of(6)[0], word(1, TEEPERF_CONTROL_LOST));
	assert_int_equal(words_of(6)[1], word(1, 0x403000));
	assert_int_equal(words_of(6)[2], 0);
	const struct teeperf_thread *thread =
	    (const void *)((char *)header + header->threads_offset);
	assert_int_equal(thread->lost, 1);
}

static void *fill_one(void *argument)
{
	fill(1, (uint64_t)(uintptr_t)argument);
	return NULL;
}

// Threads that end give back, and what was given back first is used again first.
static void test_ring_of_ended_threads(void **state)
{
	(void)state;
	attach_ring(2);
	for (uint64_t i = 0; i < 4; i++)
		serve(i);
	event(0x400000);
	for (uint64_t i = 1; i <= 5; i++) {
		pthread_t thread;
		assert_int_equal(
		    pthread_create(&thread, NULL, fill_one, (void *)(uintptr_t)(0x401000 + 16 * i)),
		    0);
		pthread_join(thread, NULL);
	}
	assert_int_equal(states[0], TEEPERF_CHUNK_OWNED);
	assert_int_equal(words_of(0)[0], word(1, 0x400000));
	// Each took two, the second for its end. There are three for them.
	assert_int_equal(find_chunk(5, 1), 1 + 9 % 3);
	assert_int_equal(find_chunk(5, 0), 1 + 8 % 3);
	assert_int_equal(find_chunk(4, 1), 1 + 7 % 3);
	assert_int_equal(find_chunk(4, 0), CHUNKS);
	assert_int_equal(words_of(1 + 7 % 3)[0], word(0, TEEPERF_CONTROL_THREAD_END));
	assert_int_equal(words_of(1 + 8 % 3)[PER_CHUNK - 1], word(1, 0x401050));
	const struct teeperf_thread *threads =
	    (const void *)((char *)header + header->threads_offset);
	for (int i = 0; i < 6; i++)
		assert_int_equal(threads[i].lost, 0);
}

// One that is busy makes room for others.
static void test_ring_shrinks(void **state)
{
	(void)state;
	attach_ring(4);
	for (uint64_t i = 0; i < CHUNKS; i++)
		serve(i);
	fill(4, 0x401000);
	assert_int_equal(header->tail, 4);
	// Others take all that is left.
	header->tail = header->head;
	fill(1, 0x402000);
	assert_int_equal(header->head, CHUNKS + 1);
	assert_int_equal(supply[0], TEEPERF_SUPPLY_SLOT(CHUNKS, 0));
	// It is no part of what the thread keeps, which follows one another.
	assert_int_equal(states[0], TEEPERF_CHUNK_FREE);
	header->tail = header->head;
	fill(1, 0x403000);
	header->tail = header->head;
	fill(5, 0x404000);
	assert_int_equal(header->head, CHUNKS + 2);
	assert_int_not_equal(find_chunk(0, 9), CHUNKS);
	assert_int_not_equal(find_chunk(0, 10), CHUNKS);
	assert_int_equal(find_chunk(0, 8), CHUNKS);
}

// Mode ring: a ticket for which nobody came until its slot was needed again.
static void test_ticket_is_given_up(void **state)
{
	(void)state;
	attach_ring(2);
	header->head = 1;
	assert_int_equal(event(0x401000), CHUNK_HEADER_POSITION);
	supply[0] = TEEPERF_SUPPLY_SLOT(CHUNKS, 5);
	header->head = CHUNKS + 1;
	header->tail = CHUNKS;
	assert_int_equal(event(0x401000), sizeof(struct teeperf_chunk) + 8);
	assert_int_equal(states[5], TEEPERF_CHUNK_OWNED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {TEST(test_first_event), TEST(test_sync),
	    TEST(test_chunks_in_turn), TEST(test_losses_are_exact),
	    TEST(test_promise_without_chunk), TEST(test_ticket_is_kept),
	    TEST(test_stop_before_slot), TEST(test_stop_behind_slot),
	    TEST(test_stop_before_slot_in_ring), TEST(test_stop_behind_slot_in_ring),
	    TEST(test_lying_supply), TEST(test_resync), TEST(test_resync_without_chunk),
	    TEST(test_interrupted_sequence), TEST(test_interrupted_in_chunk),
	    TEST(test_interrupted_sequence_without_chunk), TEST(test_destructors_log),
	    TEST(test_ticket_is_inherited), TEST(test_threads_end), TEST(test_ring),
	    TEST(test_smallest_ring), TEST(test_largest_ring), TEST(test_ring_without_room),
	    TEST(test_ring_of_ended_threads), TEST(test_ring_shrinks),
	    TEST(test_ticket_is_given_up)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
