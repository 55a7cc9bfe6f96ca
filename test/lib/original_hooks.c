// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Hooks for -finstrument-functions that write the log of the original TEE-Perf, by its layout: to
// be linked with a program, -DTHREADS for entries that say their thread. The log is the file
// ORIGINAL_LOG of ORIGINAL_SIZE bytes; the counter counts the entries. When SIGUSR1 comes, a record
// that recording was switched off and one that it was switched on are written, each as the tool's
// recorder writes it.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define PLAIN __attribute__((no_instrument_function))
#define RETURNS ((uint64_t)1 << 63)
#ifdef THREADS
enum { WORDS = 3 };
#else
enum { WORDS = 2 };
#endif

static volatile uint64_t *head;

PLAIN static uint64_t take(uint64_t words, uint64_t *ticks)
{
	const uint64_t index = __atomic_fetch_add(&head[5], 1, __ATOMIC_RELAXED);
	*ticks = __atomic_add_fetch(&head[0], 1, __ATOMIC_RELAXED);
	if (56 + index * WORDS * 8 >= head[4])
		abort();
	return 7 + index * words;
}

PLAIN static void switched(int number)
{
	(void)number;
	for (uint64_t on = 0; on < 2; on++) {
		uint64_t ticks;
		const uint64_t at = take(2, &ticks);
		head[at] = ticks | (on ? RETURNS : 0);
		head[at + 1] = 0;
	}
}

PLAIN __attribute__((constructor(101))) static void __profiler_map_info(void)
{
	const char *path = getenv("ORIGINAL_LOG");
	const uint64_t size = strtoull(getenv("ORIGINAL_SIZE"), NULL, 10);
	const int fd = open(path, O_RDWR | O_CREAT, 0600);
	if (fd < 0 || pwrite(fd, "", 1, (off_t)size) != 1)
		abort();
	volatile uint64_t *map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		abort();
	map[0] = 1;
	map[1] = 0x80000001 | (WORDS == 3 ? 0x10000 : 0);
	map[2] = (uintptr_t)map;
	map[3] = (uint64_t)getpid();
	map[4] = size;
	map[5] = 0;
	map[6] = (uintptr_t)__profiler_map_info;
	signal(SIGUSR1, switched);
	head = map;
}

PLAIN static void record(void *function, uint64_t direction)
{
	uint64_t ticks;
	if (!head)
		return;
	const uint64_t at = take(WORDS, &ticks);
	head[at] = ticks | direction;
	head[at + 1] = (uintptr_t)function;
	if (WORDS == 3)
		head[at + 2] = (uint64_t)pthread_self();
}

PLAIN void __cyg_profile_func_enter(void *function, void *site)
{
	(void)site;
	record(function, 0);
}

PLAIN void __cyg_profile_func_exit(void *function, void *site)
{
	(void)site;
	record(function, RETURNS);
}
