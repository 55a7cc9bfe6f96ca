// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The runtime's cold path against a log that the test plays the host of: chunks, tickets, losses,
// interrupted sequences, and a host that lies.
#define _GNU_SOURCE
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/runtime.h"

enum { CHUNKS = 8, THREADS = 16, MODULES = 4 };
#define CHUNK ((uint64_t)1 << TEEPERF_CHUNK_SHIFT_DEFAULT)
#define REGION (CHUNK * (1 + CHUNKS))
enum { PER_CHUNK = (1 << TEEPERF_CHUNK_SHIFT_DEFAULT) / 8 - 8 };

static struct teeperf_log_header *header;
static uint64_t *supply, *states;

static struct teeperf_chunk *chunk_at(uint64_t number)
{
	return (struct teeperf_chunk *)(void *)((char *)header + CHUNK * (1 + number));
}

static uint64_t *words_of(uint64_t number)
{
	return (uint64_t *)(void *)(chunk_at(number) + 1);
}

static void serve(uint64_t chunk)
{
	supply[header->head % CHUNKS] = TEEPERF_SUPPLY_SLOT(header->head, chunk);
	header->head++;
}

static void make_log(uint32_t clock)
{
	char path[] = "/dev/shm/teeperf-unit-XXXXXX";
	const int fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)REGION), 0);
	header = mmap(NULL, REGION, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_true(header != MAP_FAILED);
	header->magic = TEEPERF_LOG_MAGIC;
	header->major = TEEPERF_LOG_MAJOR;
	header->header_size = TEEPERF_LOG_HEADER_SIZE;
	header->chunk_shift = TEEPERF_CHUNK_SHIFT_DEFAULT;
	header->chunk_count = CHUNKS;
	header->region_size = REGION;
	header->supply_offset = 4096;
	header->state_offset = header->supply_offset + 8 * CHUNKS;
	header->modules_offset = header->state_offset + 8 * CHUNKS;
	header->threads_offset = header->modules_offset + MODULES * sizeof(struct teeperf_module);
	header->chunks_offset = CHUNK;
	header->module_capacity = MODULES;
	header->thread_capacity = THREADS;
	header->clock = clock;
	supply = (uint64_t *)(void *)((char *)header + header->supply_offset);
	states = (uint64_t *)(void *)((char *)header + header->state_offset);
	close(fd);
	setenv(TEEPERF_LOG_ENV, path, 1);
}

static const char anchor;

static void attach(uint32_t clock)
{
	make_log(clock);
	__teeperf_module(TEEPERF_ABI << 8 | TEEPERF_COMPILED_AUTO, &anchor);
	unlink(getenv(TEEPERF_LOG_ENV));
}

// The inlined sequence, as abi.h writes it, for a soft clock.
static uint64_t event(uint64_t name)
{
	struct teeperf_thread_block *block = &__teeperf_thread;
	const uint64_t time = *block->counter;
	if (time >> 32 == block->clock_high && block->cursor & 0xffff) {
		uint64_t *at = (uint64_t *)(uintptr_t)block->cursor;
		block->cursor += 8;
		*at = (time & UINT32_MAX) | name << 32;
		return (uint64_t)(uintptr_t)at + block->bias;
	}
	return block->skip ? 0 : tp_slow(name);
}

static uint64_t word(uint64_t time, uint64_t name)
{
	return (time & UINT32_MAX) | name << 32;
}

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

static void test_module_table(void **state)
{
	(void)state;
	attach(TEEPERF_CLOCK_SOFT_TSC);
	const struct teeperf_module *module =
	    (const void *)((char *)header + header->modules_offset);
	assert_int_equal(header->module_count, 1);
	assert_int_equal(module->anchor, (uint64_t)(uintptr_t)&anchor);
	assert_in_range(module->anchor, module->start, module->end - 1);
	char self[4096];
	const ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
	assert_true(length > 0);
	self[length] = '\0';
	assert_string_equal(module->path, self);
	assert_int_equal(module->build_id_size, 20);
	// Registering it again (other objects of the module, another clock) adds nothing.
	__teeperf_module(TEEPERF_ABI << 8 | TEEPERF_COMPILED_SOFT, &anchor);
	assert_int_equal(header->module_count, 1);
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

static void test_losses_are_exact(void **state)
{
	(void)state;
	attach(TEEPERF_CLOCK_SOFT_TSC);
	header->counter = 1;
	const struct teeperf_thread *thread =
	    (const void *)((char *)header + header->threads_offset);
	for (int i = 0; i < 100; i++)
		assert_int_equal(event(0x401000), 0);
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

static void test_ticket_is_kept(void **state)
{
	(void)state;
	attach(TEEPERF_CLOCK_SOFT_TSC);
	header->counter = 1;
	// The hint says that there is a chunk, the slot says that there is not.
	header->head = 1;
	for (int i = 0; i < 10; i++)
		assert_int_equal(event(0x401000), 0);
	assert_int_equal(header->tail, 1);
	header->head = 0;
	serve(2);
	assert_int_not_equal(event(0x401000), 0);
	assert_int_equal(header->tail, 1);
	assert_int_equal(states[2], TEEPERF_CHUNK_OWNED);
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

// A signal handler that switches chunks inside another sequence, between load and store of the cursor.
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
	__teeperf_thread.cursor = loaded + 8;
	*(uint64_t *)(uintptr_t)loaded = word(1, 0x402000);
	for (int i = 0; i < 4; i++)
		event(0x403000);
	event(0x404000);
	assert_int_equal(words_of(0)[PER_CHUNK - 5], word(1, 0x402000));
	assert_int_equal(words_of(0)[PER_CHUNK - 1], word(1, 0x403000));
	assert_int_equal(words_of(1)[0], word(3, TEEPERF_CONTROL_LOST));
	assert_int_equal(words_of(1)[1], word(1, 0x404000));
	assert_int_equal(words_of(1)[2], 0);
	assert_int_equal(chunk_at(1)->sequence, 1);
	assert_int_equal(header->tail, 2);
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
	attach(TEEPERF_CLOCK_SOFT_TSC);
	header->counter = 1;
	serve(0);
	serve(1);
	pthread_t thread;
	assert_int_equal(pthread_create(&thread, NULL, jump_out_and_end, NULL), 0);
	pthread_join(thread, NULL);
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
	*(uint64_t *)(uintptr_t)loaded = word(1, 0x402000);
	return NULL;
}

static void test_interrupted_thread_ends(void **state)
{
	(void)state;
	attach(TEEPERF_CLOCK_SOFT_TSC);
	header->counter = 1;
	serve(0);
	serve(1);
	pthread_t thread;
	assert_int_equal(pthread_create(&thread, NULL, interrupted_thread, NULL), 0);
	pthread_join(thread, NULL);
	assert_int_equal(chunk_at(0)->used, CHUNK);
	assert_int_equal(words_of(0)[PER_CHUNK - 5], word(1, 0x402000));
	assert_int_equal(words_of(0)[PER_CHUNK - 1], word(0, TEEPERF_CONTROL_PAD));
	assert_int_equal(chunk_at(1)->used, 64 + 2 * 8);
	assert_int_equal(words_of(1)[0], word(3, TEEPERF_CONTROL_LOST));
	assert_int_equal(words_of(1)[1], word(0, TEEPERF_CONTROL_THREAD_END));
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

// What destructors log that run behind the runtime's own is told to the host too.
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

// A thread that ends with a ticket leaves it to the next that needs one.
static void test_ticket_is_inherited(void **state)
{
	(void)state;
	attach(TEEPERF_CLOCK_SOFT_TSC);
	header->counter = 1;
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

static void test_forked_child_is_silent(void **state)
{
	(void)state;
	attach(TEEPERF_CLOCK_SOFT_TSC);
	header->counter = 1;
	serve(0);
	event(0x400000);
	const pid_t child = fork();
	if (child == 0) {
		for (int i = 0; i < 10; i++)
			event(0x666000);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	assert_int_equal(words_of(0)[1], 0);
	assert_int_not_equal(event(0x400000), 0);
}

static void test_second_process_is_refused(void **state)
{
	(void)state;
	make_log(TEEPERF_CLOCK_SOFT_TSC);
	header->pid = 1;
	__teeperf_module(TEEPERF_ABI << 8, &anchor);
	unlink(getenv(TEEPERF_LOG_ENV));
	assert_int_equal(header->refused, 1);
	assert_int_equal(header->attach, TEEPERF_ATTACH_NONE);
	assert_int_equal(tp_process.state, TP_STATE_OFF);
	event(0x401000);
	assert_int_equal(__teeperf_thread.skip, 1);
}

static void test_wrong_clock(void **state)
{
	(void)state;
	make_log(TEEPERF_CLOCK_SOFT_TSC);
	__teeperf_module(TEEPERF_ABI << 8 | TEEPERF_COMPILED_HARDWARE, &anchor);
	unlink(getenv(TEEPERF_LOG_ENV));
	assert_int_equal(header->attach, TEEPERF_ATTACH_BAD_CLOCK);
	assert_int_equal(tp_process.state, TP_STATE_OFF);
}

static void test_wrong_abi(void **state)
{
	(void)state;
	make_log(TEEPERF_CLOCK_SOFT_TSC);
	__teeperf_module((TEEPERF_ABI + 1) << 8, &anchor);
	unlink(getenv(TEEPERF_LOG_ENV));
	assert_int_equal(header->attach, TEEPERF_ATTACH_BAD_MODULE);
}

static void test_early_events_are_counted(void **state)
{
	(void)state;
	for (int i = 0; i < 7; i++)
		event(0x401000);
	attach(TEEPERF_CLOCK_SOFT_TSC);
	assert_int_equal(header->lost_early, 7);
	serve(0);
	header->counter = 1;
	assert_int_equal(event(0x401000), 64);
}

// Words that a host might choose: promised chunks that do not exist, tickets served for ever, chance.
static bool scribbling;

static void *scribble(void *argument)
{
	uint64_t random = (uint64_t)(uintptr_t)argument | 1;
	uint64_t *const words = (uint64_t *)(void *)header;
	while (__atomic_load_n(&scribbling, __ATOMIC_RELAXED)) {
		random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		const uint64_t where = random >> 33;
		const uint64_t value = where % 4 == 0   ? UINT64_MAX
				       : where % 4 == 1 ? (uint64_t)1 << 62
							: random;
		// Nearly anywhere, and more often where the cold path looks: but who holds a ticket
		// for which there is no slot gets no further, so the tail only counts.
		const uint64_t near = where / 4 % (4096 / 8);
		__atomic_store_n(&words[512 + where % (REGION / 8 - 512)], value, __ATOMIC_RELAXED);
		if (near != offsetof(struct teeperf_log_header, tail) / 8)
			__atomic_store_n(&words[near], value, __ATOMIC_RELAXED);
		const uint64_t ticket =
		    __atomic_load_n(&header->tail, __ATOMIC_RELAXED) - where % (8 * CHUNKS);
		__atomic_store_n(&supply[ticket % CHUNKS],
		    TEEPERF_SUPPLY_SLOT(ticket, random >> 40), __ATOMIC_RELAXED);
		__atomic_store_n(&header->head, ticket + 16 * CHUNKS, __ATOMIC_RELAXED);
	}
	return NULL;
}

static uint64_t written_in_all;

static void *run_against_scribbler(void *argument)
{
	(void)argument;
	uint64_t written = 0;
	for (int i = 0; i < 100000; i++) {
		const uint64_t position = event(0x401000);
		written += position != 0;
		__teeperf_resync(position, 0x401003);
		const uint64_t cursor = __teeperf_thread.cursor;
		if (cursor && cursor - tp_process.chunks > CHUNKS * CHUNK)
			return NULL;
	}
	__atomic_fetch_add(&written_in_all, written, __ATOMIC_RELAXED);
	return &written_in_all;
}

// A host that writes over all that is shared while four generations of threads run. What the runtime
// stores stays in the log: around its mapping there is nothing to write to.
static void test_scribbling_host(void **state)
{
	(void)state;
	attach(TEEPERF_CLOCK_SOFT_TSC);
	struct tp_process before = tp_process;
	header->tail = UINT64_MAX - 20; // it wraps
	pthread_t host;
	scribbling = true;
	assert_int_equal(pthread_create(&host, NULL, scribble, &supply), 0);
	for (int round = 0; round < 4; round++) {
		pthread_t threads[2];
		for (int i = 0; i < 2; i++)
			assert_int_equal(
			    pthread_create(&threads[i], NULL, run_against_scribbler, NULL), 0);
		for (int i = 0; i < 2; i++) {
			void *fine;
			pthread_join(threads[i], &fine);
			assert_non_null(fine);
		}
	}
	__atomic_store_n(&scribbling, false, __ATOMIC_RELAXED);
	pthread_join(host, NULL);
	before.next_thread = tp_process.next_thread;
	before.lost_overflow = tp_process.lost_overflow;
	memcpy(before.tickets, tp_process.tickets, sizeof(before.tickets));
	assert_memory_equal(&before, &tp_process, sizeof(before));
	assert_int_equal(tp_process.next_thread, 8);
	assert_true(written_in_all > 1000);
}

// Each of these words, wrong in each of these ways, must be refused before anything is stored.
static void test_hostile_headers(void **state)
{
	(void)state;
	make_log(TEEPERF_CLOCK_SOFT_TSC);
	const struct teeperf_log_header good = *header;
	static const struct {
		size_t offset;
		uint64_t value;
		size_t size;
	} bad[] = {
#define BAD(field, value) {offsetof(struct teeperf_log_header, field), value, sizeof(good.field)}
	    BAD(magic, 0),
	    BAD(major, 2),
	    BAD(chunk_shift, 12),
	    BAD(chunk_shift, 40),
	    BAD(chunk_count, 0),
	    BAD(chunk_count, 7),
	    BAD(chunk_count, 16),
	    BAD(chunk_count, UINT32_C(1) << 31),
	    BAD(supply_offset, REGION),
	    BAD(supply_offset, UINT64_MAX - 7),
	    BAD(supply_offset, 4097),
	    BAD(state_offset, REGION - 8),
	    BAD(modules_offset, REGION - 511),
	    BAD(module_capacity, UINT32_MAX),
	    BAD(thread_capacity, 3),
	    BAD(thread_capacity, 0),
	    BAD(threads_offset, REGION - 64),
	    BAD(thread_capacity, UINT32_C(1) << 30),
	    BAD(chunks_offset, 4096),
	    BAD(chunks_offset, 2 * CHUNK),
	    BAD(chunks_offset, UINT64_MAX - CHUNK + 1),
	};
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		*header = good;
		memcpy((char *)header + bad[i].offset, &bad[i].value, bad[i].size);
		tp_process.state = TP_STATE_START;
		__teeperf_module(TEEPERF_ABI << 8, &anchor);
		if (tp_process.state != TP_STATE_OFF || header->pid)
			fail_msg("header %zu was accepted", i);
	}
	*header = good;
	tp_process.state = TP_STATE_START;
	__teeperf_module(TEEPERF_ABI << 8, &anchor);
	assert_int_equal(tp_process.state, TP_STATE_RECORDING);
	unlink(getenv(TEEPERF_LOG_ENV));
}

// The runtime's state is once per process: each test runs in one of its own.
typedef void test_function(void **state);

static void run_in_child(void **state)
{
	test_function *test = *(test_function **)*state;
	fflush(NULL);
	const pid_t child = fork();
	if (child == 0) {
		const struct CMUnitTest inner = {.name = "child", .test_func = test};
		freopen("/dev/null", "w", stdout);
		_exit(_cmocka_run_group_tests("child", &inner, 1, NULL, NULL));
	}
	int status;
	waitpid(child, &status, 0);
	assert_int_equal(status, 0);
}

int main(void)
{
#define TEST(name)                                                  \
	{                                                           \
#name, run_in_child, NULL, NULL, &(test_function *) \
		{                                                   \
			name                                        \
		}                                                   \
	}
	const struct CMUnitTest tests[] = {TEST(test_first_event), TEST(test_module_table),
	    TEST(test_sync), TEST(test_chunks_in_turn), TEST(test_losses_are_exact),
	    TEST(test_ticket_is_kept), TEST(test_lying_supply), TEST(test_resync),
	    TEST(test_interrupted_sequence), TEST(test_interrupted_sequence_without_chunk),
	    TEST(test_interrupted_thread_ends), TEST(test_jump_out_of_runtime),
	    TEST(test_thread_ends_inside_runtime), TEST(test_destructors_log),
	    TEST(test_ticket_is_inherited), TEST(test_threads_end),
	    TEST(test_forked_child_is_silent), TEST(test_second_process_is_refused),
	    TEST(test_wrong_clock), TEST(test_wrong_abi), TEST(test_early_events_are_counted),
	    TEST(test_hostile_headers), TEST(test_scribbling_host)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
