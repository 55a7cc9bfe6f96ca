// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The enclave's part of the SDK that border.h stands in for: a process of its own. Not
// instrumented.
//
//   PROGRAM LANES ARENA END...       (descriptors)
#define _GNU_SOURCE
#include "border.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fcntl.h>

#include <teeperf/log.h>
#include <teeperf/teeperf.h>

extern const char __executable_start, _end;
const char *const teeperf_image_path = IMAGE_PATH;

#ifdef OPTEE
/* tee_internal_api.h */
extern uint32_t TA_InvokeCommandEntryPoint(
    void *session, uint32_t command, uint32_t types, void *parameters);
#else
extern const struct {
	size_t count;
	struct {
		void *function;
		uint8_t is_private, is_switchless;
	} entries[ECALLS];
} g_ecall_table;
#endif

static int ends[LANES_MAX];
static _Thread_local int own;

static struct lane *lane_of(int number)
{
	return (struct lane *)(void *)(ARENA + (size_t)number * LANE_SIZE);
}

int sgx_is_outside_enclave(const void *address, size_t size)
{
	const char *from = address;
	return from + size >= from && (from + size <= &__executable_start || from >= &_end);
}

void *sgx_ocalloc(size_t size)
{
	struct lane *lane = lane_of(own);
	void *at = lane->ocalls + lane->ocalls_used;
	lane->ocalls_used += (size + 15) / 16 * 16;
	return at;
}

void sgx_ocfree(void)
{
	lane_of(own)->ocalls_used = 0;
}

// The host's turn, and then ours again: false if there is none any more.
static bool turn(void)
{
	char byte = 1;
	return write(ends[own], &byte, 1) == 1 && read(ends[own], &byte, 1) == 1;
}

#ifdef OPTEE

// Where the log is now, at another address in each command, if it is.
static char *region;
static size_t region_size;

uint32_t TEE_CheckMemoryAccessRights(uint32_t flags, void *buffer, size_t size)
{
	const char *from = buffer;
	const bool shared = region && from >= region && from + size <= region + region_size;
	return shared && flags & 4 ? 0 : 0xffff0001; // ANY_OWNER
}

void TEE_GenerateRandom(void *buffer, size_t size)
{
	memset(buffer, 0x5a, size);
}

// The application is found by its path.
uint32_t TEE_GetPropertyAsUUID(void *properties, const char *name, void *value)
{
	(void)properties;
	(void)name;
	(void)value;
	return 0xffff0008;
}

// A command, with the log mapped for its time. One at a time, as the framework has it.
static void ecall(struct lane *lane)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static uint64_t count;
	const char *path = getenv("TEEPERF_TEE_LOG");
	pthread_mutex_lock(&lock);
	const int fd = path ? open(path, O_RDWR) : -1;
	struct stat status;
	if (fd >= 0 && fstat(fd, &status) == 0) {
		region_size = (size_t)status.st_size;
		char *room = mmap(NULL, region_size + (1 << 17), PROT_NONE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		char *at = room + (-(uintptr_t)room & 0xffff) + count++ % 16 * 4096;
		region =
		    mmap(at, region_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0);
		close(fd);
	}
	const int log = teeperf_enter(region, region_size);
	const uint64_t handle = ((struct ms_sum *)lane->parameters)->handle;
	if (handle)
		teeperf_border_handle(handle);
	lane->status =
	    (int)TA_InvokeCommandEntryPoint(NULL, (uint32_t)lane->index, 0, lane->parameters);
	if (log)
		teeperf_leave_region();
	if (region)
		mmap(
		    region, region_size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	region = NULL;
	pthread_mutex_unlock(&lock);
	lane->what = LANE_RETURN;
}

#else

#ifdef GARBAGE
static uint64_t *garbled;
static uint64_t garbled_size;

// What a broken enclave, or a hostile one, may leave in the log that it was given: anything.
static void garble(uint64_t *log, uint64_t size)
{
	static uint64_t state = 0x2545f4914f6cdd1d;
	for (uint64_t i = 4096 / 8; i < size / 8; i++) {
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		if (log[i] && state % GARBAGE == 0)
			log[i] = state;
	}
}
#endif

static void ecall(struct lane *lane)
{
	sgx_status_t (*bridge)(void *) =
	    (sgx_status_t(*)(void *))g_ecall_table.entries[lane->index].function;
	// Where the log is in the host's memory is somewhere else in ours.
	if (lane->index == ECALL_LOG && ((struct ms_log *)lane->parameters)->log) {
		struct ms_log *ms = lane->parameters;
		const int fd = open(getenv("TEEPERF_TEE_LOG"), O_RDWR);
		ms->log = mmap(NULL, ms->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
#ifdef GARBAGE
		garbled = ms->log;
		garbled_size = ms->size;
#endif
		close(fd);
	}
#ifdef GARBAGE
	if (lane->index == ECALL_OVER && garbled)
		garble(garbled, garbled_size);
#endif
	const sgx_status_t status = bridge(lane->parameters);
	lane->what = LANE_RETURN;
	lane->status = status;
}

#endif

sgx_status_t sgx_ocall(unsigned index, void *parameters)
{
	struct lane *lane = lane_of(own);
	lane->what = LANE_OCALL;
	lane->index = (int)index;
	lane->parameters = parameters;
	while (turn()) {
		if (lane->what == LANE_RETURN)
			return lane->status;
		ecall(lane);
	}
	exit(1);
}

static void *thread(void *argument)
{
	own = (int)(intptr_t)argument;
	char byte;
	if (read(ends[own], &byte, 1) != 1)
		exit(1);
	struct lane *lane = lane_of(own);
	while (lane->what == LANE_ECALL) {
		ecall(lane);
		if (!turn())
			exit(1);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[LANES_MAX];
	const int lanes = argc > 3 ? atoi(argv[1]) : 0;
	if (lanes < 1 || lanes > LANES_MAX)
		return 2;
	if (mmap(ARENA, LANES_MAX * LANE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
		atoi(argv[2]), 0) != ARENA)
		return 3;
	for (int i = 0; i < lanes; i++) {
		ends[i] = atoi(argv[3 + i]);
		pthread_create(&threads[i], NULL, thread, (void *)(intptr_t)i);
	}
	for (int i = 0; i < lanes; i++)
		pthread_join(threads[i], NULL);
	teeperf_over(0);
	return 0;
}
