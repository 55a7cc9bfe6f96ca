/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * For tests of the runtime: a log in /dev/shm that the test plays the host of, and the inlined
 * sequence in C. Included once by each test, which also includes cmocka.h.
 */
#ifndef TP_PLAY_HOST_H
#define TP_PLAY_HOST_H

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/runtime.h"

enum { CHUNKS = 8, THREADS = 16, MODULES = 4 };
#define CHUNK ((uint64_t)1 << TEEPERF_CHUNK_SHIFT_DEFAULT)
#define REGION (CHUNK * (1 + CHUNKS))
enum { PER_CHUNK = (1 << TEEPERF_CHUNK_SHIFT_DEFAULT) / 8 - 8 };

static __attribute__((unused)) struct teeperf_log_header *header;
static __attribute__((unused)) uint64_t *supply, *states;

static __attribute__((unused)) struct teeperf_chunk *chunk_at(uint64_t number)
{
	return (struct teeperf_chunk *)(void *)((char *)header + CHUNK * (1 + number));
}

static __attribute__((unused)) uint64_t *words_of(uint64_t number)
{
	return (uint64_t *)(void *)(chunk_at(number) + 1);
}

static __attribute__((unused)) void serve(uint64_t chunk)
{
	supply[header->head % CHUNKS] = TEEPERF_SUPPLY_SLOT(header->head, chunk);
	header->head++;
}

static __attribute__((unused)) void make_log(uint32_t clock)
{
	// Not a name that a recorder sweeps away.
	char path[] = "/dev/shm/unit-teeperf-XXXXXX";
	const int fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)REGION), 0);
	header = mmap(NULL, REGION, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_true(header != MAP_FAILED);
	header->magic = TEEPERF_LOG_MAGIC;
	teeperf_log_init(header, CHUNKS, clock, TEEPERF_MODE_STREAM);
	header->region_size = REGION;
	header->supply_offset = 4096;
	header->state_offset = header->supply_offset + 8 * CHUNKS;
	header->modules_offset = header->state_offset + 8 * CHUNKS;
	header->threads_offset = header->modules_offset + MODULES * sizeof(struct teeperf_module);
	header->chunks_offset = CHUNK;
	header->module_capacity = MODULES;
	header->thread_capacity = THREADS;
	header->control = TEEPERF_ACTIVE;
	supply = (uint64_t *)(void *)((char *)header + header->supply_offset);
	states = (uint64_t *)(void *)((char *)header + header->state_offset);
	close(fd);
	setenv(TEEPERF_LOG_ENV, path, 1);
}

// One module with three functions.
static struct {
	struct teeperf_functions head;
	uint8_t gates[8];
	uint64_t hashes[3];
} functions = {{sizeof(functions), 3}, {TEEPERF_GATE_SOFT, TEEPERF_GATE_SOFT, TEEPERF_GATE_SOFT},
    {10, 20, 30}};
static __attribute__((unused)) struct teeperf_module_block anchor = {
    .functions = (uint8_t *)&functions, .functions_end = (uint8_t *)(&functions + 1)};

static __attribute__((unused)) void attach(uint32_t clock)
{
	make_log(clock);
	__teeperf_module(TEEPERF_ABI << 8 | TEEPERF_COMPILED_AUTO, &anchor);
	unlink(getenv(TEEPERF_LOG_ENV));
}

// The inlined sequence, as abi.h writes it, for a soft clock.
static __attribute__((unused)) uint64_t event(uint64_t name)
{
	struct teeperf_thread_block *block = &__teeperf_thread;
	if (functions.gates[0] == TEEPERF_GATE_OFF)
		return TEEPERF_POSITION_OFF;
	const uint64_t time = *block->counter;
	if (time >> 32 == block->clock_high && block->cursor + 8 > block->start &&
	    block->cursor + 8 <= block->end) {
		uint64_t *at = (uint64_t *)(uintptr_t)block->cursor;
		const uint64_t position = (uint64_t)(uintptr_t)at + block->bias;
		block->cursor += 8;
		if (*at)
			return tp_slow(name);
		*at = (time & UINT32_MAX) | name << 32;
		return position;
	}
	return tp_slow(name);
}

static __attribute__((unused)) uint64_t word(uint64_t time, uint64_t name)
{
	return (time & UINT32_MAX) | name << 32;
}

// The runtime's state is once per process: each test runs in one of its own.
typedef void test_function(void **state);

static __attribute__((unused)) void run_in_child(void **state)
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

/* A test of that name, in a process of its own. */
#define TEST(name)                                                  \
	{                                                           \
#name, run_in_child, NULL, NULL, &(test_function *) \
		{                                                   \
			name                                        \
		}                                                   \
	}

// A module of two functions, 20 and 40, that comes when the runtime is there already.
struct late_module {
	struct teeperf_functions head;
	uint8_t gates[8];
	uint64_t hashes[2];
};

#define LATE_MODULE                                                                                \
	{                                                                                          \
		{sizeof(struct late_module), 2}, {TEEPERF_GATE_SOFT, TEEPERF_GATE_SOFT}, {20, 40}, \
	}

#define LATE_BLOCK(module)                                                                      \
	{                                                                                       \
		.functions = (uint8_t *)&(module), .functions_end = (uint8_t *)(&(module) + 1), \
	}

#endif
