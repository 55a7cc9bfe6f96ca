// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Between hostile_program and a port without a system below it: the hooks of 'bare' and the
// functions of the SDKs of others, and a log that comes and goes. It is there from the beginning;
// with HOSTILE_BY_REGION it is handed over once; with HOSTILE_BY_CALL it is there for a few bursts
// of work at a time, in another place each time, and a page fault in between. Not instrumented.
#include "hostile_bare.h"

#include <csignal>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <teeperf/bare.h>
#include <teeperf/teeperf.h>

static const uint64_t ROOM = UINT64_C(1) << 24;
static char *room; // where nobody may go but for the log in the middle of it
static int log_fd = -1;
static uint64_t log_size;
static uint64_t times;

static char *map_log()
{
	if (log_fd < 0) {
		struct stat status;
		const char *path = getenv(TEEPERF_LOG_ENV);
		log_fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
		if (log_fd < 0 || fstat(log_fd, &status))
			return nullptr;
		log_size = static_cast<uint64_t>(status.st_size);
		room = reinterpret_cast<char *>(
		    syscall(SYS_mmap, static_cast<void *>(nullptr), ROOM + 2 * log_size, PROT_NONE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1L, 0L));
	}
	// Nothing of the last place is in the next one.
	char *at = room + ROOM / 4 + times % 32 * 4096 + times % 2 * (ROOM / 2 + log_size);
	times++;
	return reinterpret_cast<char *>(syscall(
	    SYS_mmap, at, log_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, log_fd, 0L));
}

void *teeperf_bare_region(uint64_t *size)
{
#if defined(HOSTILE_BY_CALL) || defined(HOSTILE_BY_REGION)
	(void)size;
	return nullptr;
#else
	char *log = map_log();
	*size = log_size;
	return log;
#endif
}

int teeperf_bare_is_outside(const void *base, uint64_t size)
{
	const char *from = static_cast<const char *>(base);
	return from >= room && from + size <= room + ROOM + 2 * log_size;
}

uint64_t teeperf_bare_thread()
{
	return static_cast<uint64_t>(syscall(SYS_gettid));
}

void teeperf_bare_module(const void *anchor, teeperf_module *module)
{
	const uint64_t at = reinterpret_cast<uint64_t>(anchor);
	module->start = at & ~UINT64_C(0xfffff);
	module->end = module->start + (1 << 21);
}

// ---- the SDKs: of memory that is shared the host's copy of the log is all

extern "C" int sgx_is_outside_enclave(const void *address, size_t size)
{
	return teeperf_bare_is_outside(address, size);
}

extern "C" bool oe_is_outside_enclave(const void *address, size_t size)
{
	return teeperf_bare_is_outside(address, size);
}

extern "C" const char __executable_start;
extern "C" const void *__oe_get_enclave_start_address()
{
	return &__executable_start;
}

extern "C" uint32_t TEE_CheckMemoryAccessRights(uint32_t flags, void *buffer, size_t size)
{
	const bool any_owner = flags & 4;
	return any_owner && teeperf_bare_is_outside(buffer, size) ? 0 : 0xffff0001;
}

extern "C" void TEE_GenerateRandom(void *buffer, size_t size)
{
	memset(buffer, 0x5a, size);
}

extern "C" uint32_t TEE_GetPropertyAsUUID(void *, const char *, void *)
{
	return 0xffff0008; // there is none
}

static void heard(int number)
{
	if (number == SIGRTMIN)
		teeperf_on();
	else if (number == SIGRTMIN + 1)
		teeperf_off();
	else
		teeperf_poll();
}

bool hostile_bare_begin()
{
	signal(SIGURG, heard);
	signal(SIGRTMIN, heard);
	signal(SIGRTMIN + 1, heard);
#ifdef HOSTILE_BY_REGION
	char *log = map_log();
	teeperf_region(log, log_size);
#endif
	return true;
}

static char *now;
static bool entered;

void hostile_bare_enter()
{
#ifdef HOSTILE_BY_CALL
	now = map_log();
	entered = now && teeperf_enter(now, log_size);
#endif
}

void hostile_bare_leave()
{
#ifdef HOSTILE_BY_CALL
	if (entered)
		teeperf_leave_region();
	entered = false;
	if (now)
		syscall(SYS_mmap, now, log_size, PROT_NONE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1L, 0L);
#endif
}
