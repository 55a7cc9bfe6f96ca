// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Stands in for the host and for the SDK of a port, in one process: it maps the log that
// TEEPERF_LOG names, or opens the stream that SDK_STREAM names, and makes the calls into the TEE.
// Not instrumented.
//
//   PROGRAM ROUNDS THREADS [STRUCTURES]     exits with 7
//
// An enclave's calls have one of STRUCTURES (THREADS) thread control structures each, in turn, as
// both SDKs have it in simulation: the thread pointer's register stays the host's, the word at fs:0
// is the structure's, and thread-local storage below that is new in each call.
//
// PORT is sgxsdk, openenclave (the log comes with an ECALL), optee (it comes with each command,
// elsewhere each time, and is gone behind it) or keystone (frames go out).
#define _GNU_SOURCE
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <teeperf/keystone.h>
#include <teeperf/teeperf.h>

#include "work.h"

extern const char __executable_start, _end;
#ifdef WORK_PATH
const char *const teeperf_image_path = WORK_PATH;
#endif

static uint64_t rounds, thread_count;
static int failed;
static char *region; // where the log is now, if it is
static size_t region_size;
static int log_fd = -1;

#define IS(port) (!strcmp(PORT, port))

static void check(bool right, const char *what)
{
	if (right)
		return;
	fprintf(stderr, "FAILED: %s\n", what);
	failed = 1;
}

// ---- the SDKs

static bool is_outside(const char *from, size_t size)
{
	return from + size >= from && (from + size <= &__executable_start || from >= &_end);
}

int sgx_is_outside_enclave(const void *address, size_t size)
{
	return is_outside(address, size);
}

bool oe_is_outside_enclave(const void *address, size_t size)
{
	return is_outside(address, size);
}

const void *__oe_get_enclave_start_address(void)
{
	return &__executable_start;
}

// Questions since the command began. In OP-TEE each is a system call.
static unsigned asked;

uint32_t TEE_CheckMemoryAccessRights(uint32_t flags, void *buffer, size_t size)
{
	const char *from = buffer;
	asked++;
	for (const char *at = from; at < from + size; at++) {
		const bool shared = region && at >= region && at < region + region_size;
		const bool own = !shared && !is_outside(at, 1);
		// ANY_OWNER, NONSECURE
		if (!(own && !(flags & 0x10000000)) && !(shared && flags & 4))
			return 0xffff0001;
		at += (4095 - (uintptr_t)at % 4096); // the same for all of a page
	}
	return 0;
}

void TEE_GenerateRandom(void *buffer, size_t size)
{
	memset(buffer, 0x5a, size);
}

// 8aaaf200-2450-11e4-abe2-0002a5d5c51b, as the SDK's struct has it.
uint32_t TEE_GetPropertyAsUUID(void *properties, const char *name, void *value)
{
	static const struct {
		uint32_t low;
		uint16_t middle, high;
		uint8_t rest[8];
	} uuid = {0x8aaaf200, 0x2450, 0x11e4, {0xab, 0xe2, 0, 2, 0xa5, 0xd5, 0xc5, 0x1b}};
	if ((uintptr_t)properties != 0xffffffff || strcmp(name, "gpd.ta.appID") != 0)
		return 0xffff0008;
	memcpy(value, &uuid, sizeof(uuid));
	return 0;
}

const uint64_t teeperf_keystone_clock_hz = 0;

int teeperf_keystone_send(
    const void *head, uint64_t head_size, const void *body, uint64_t body_size)
{
	static int fd = -2;
	const char *path = getenv("SDK_STREAM");
	struct iovec parts[2] = {
	    {(void *)(uintptr_t)head, head_size}, {(void *)(uintptr_t)body, body_size}};
	if (fd == -2)
		fd = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;
	return fd < 0 || writev(fd, parts, 2) != (ssize_t)(head_size + body_size);
}

// ---- the calls

// At an address that is a multiple of 4096 and, each time, another remainder of 65536.
static void map_log(uint64_t n)
{
	if (log_fd < 0)
		return;
	char *room = mmap(NULL, region_size + (1 << 17), PROT_NONE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	char *at = room + (-(uintptr_t)room & 0xffff) + n % 16 * 4096;
	region = mmap(at, region_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, log_fd, 0);
	check(region == at, "the log cannot be mapped");
}

static void unmap_log(void)
{
	if (log_fd < 0)
		return;
	mmap(region, region_size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	region = NULL;
}

// The application keeps the log's address, which is wrong: then a store would be seen.
static void command(uint64_t n, uint64_t some)
{
	map_log(n);
	asked = 0;
	const int log = teeperf_enter(region, region_size);
	check(log == (log_fd >= 0), log_fd >= 0 ? teeperf_why_not() : "there is no log");
	check(asked == (log_fd >= 0), "a command asks more than once what its log is");
	check(work(some) == WORK_SUM(some), "wrong result");
	if (log)
		teeperf_leave_region();
	unmap_log();
}

#ifdef __x86_64__

// Below a structure comes the program's own thread-local storage and, where calls of libc look for
// theirs, zeroes.
enum { STRUCTURES = 512, STORAGE = 1 << 14 };
static struct {
	_Alignas(4096) char storage[STORAGE];
	void *self;
	atomic_flag is_used;
} structures[STRUCTURES];
static unsigned structure_count;

// The program's thread-local storage as the loader has it: an image, zeroes up to its size, and the
// thread pointer at its end.
static const char *tls_image(size_t *filled, size_t *size)
{
	const ElfW(Ehdr) *elf = (const void *)&__executable_start;
	const ElfW(Phdr) *segment = (const void *)(&__executable_start + sizeof(*elf));
	const ElfW(Addr) bias = elf->e_type == ET_DYN ? (ElfW(Addr))elf : 0;
	*filled = *size = 0;
	for (int i = 0; i < elf->e_phnum; i++, segment++) {
		if (segment->p_type != PT_TLS)
			continue;
		*filled = segment->p_filesz;
		*size = -(-segment->p_memsz & -segment->p_align);
		return (const char *)(bias + segment->p_vaddr);
	}
	return NULL;
}

static void renew_storage(char *end)
{
	size_t filled;
	size_t size;
	const char *image = tls_image(&filled, &size);
	memset(end - STORAGE, 0, STORAGE);
	if (image)
		memcpy(end - size, image, filled);
}

// The host's own storage, which an enclave has no business with, while it is GUARD.
enum { GUARD = 0xa5, OWN_MOST = 1 << 12 };
static void hide_own(char *host, char kept[OWN_MOST])
{
	size_t filled;
	size_t size;
	tls_image(&filled, &size);
	check(size <= OWN_MOST, "more thread-local storage than there is room for");
	memcpy(kept, host - size, size);
	memset(host - size, GUARD, size);
}

static void show_own(char *host, const char kept[OWN_MOST])
{
	size_t filled;
	size_t size;
	bool whole = true;
	tls_image(&filled, &size);
	for (size_t i = 1; i <= size; i++)
		whole = whole && (unsigned char)host[-(long)i] == GUARD;
	check(whole, "the enclave has written to the thread-local storage of the host");
	memcpy(host - size, kept, size);
}

// WISH: the structure it gets if that is free.
static void ecall(uint64_t some, uint64_t wish)
{
	unsigned i = (unsigned)(wish % structure_count);
	while (atomic_flag_test_and_set(&structures[i].is_used))
		i = (i + 1) % structure_count;
	char kept[OWN_MOST];
	void *host, *self = &structures[i].self;
	structures[i].self = self;
	renew_storage(self);
	__asm__ volatile("movq %%fs:0, %0" : "=r"(host));
	hide_own(host, kept);
	__asm__ volatile("movq %0, %%fs:0" : : "r"(self) : "memory");
	const uint64_t result = work(some);
	__asm__ volatile("movq %0, %%fs:0" : : "r"(host) : "memory");
	show_own(host, kept);
	atomic_flag_clear(&structures[i].is_used);
	check(result == WORK_SUM(some), "wrong result");
}
#else
static unsigned structure_count;
static void ecall(uint64_t some, uint64_t wish)
{
	(void)some;
	(void)wish;
}
#endif

static void *thread(void *argument)
{
	const uint64_t number = (uint64_t)(uintptr_t)argument;
	if (IS("keystone")) {
		check(work(rounds) == WORK_SUM(rounds), "wrong result");
		teeperf_thread_over();
	}
	for (uint64_t i = 0; !IS("keystone") && i < rounds / 100; i++)
		ecall(100, number + i * thread_count);
	return NULL;
}

// The runtime's, of this program.
bool tp_port_is_outside(const void *base, uint64_t size);

static void partly_private(void)
{
	static _Alignas(4096) char both[2 * 4096];
	char *const was = region;
	const size_t was_size = region_size;
	region = both;
	region_size = 4096;
	check(tp_port_is_outside(both, 4096), "shared memory is not outside");
	check(!tp_port_is_outside(both, 8192), "partly private memory is outside");
	check(!tp_port_is_outside(both + 4096, 4096), "private memory is outside");
	check(!tp_port_is_outside(both + 4000, 192), "partly private memory is outside");
	region = was;
	region_size = was_size;
}

static void refusals(void)
{
	static _Alignas(65536) char own[65536 * 2];
	check(!teeperf_region(own, sizeof(own)), "private memory is taken for a log");
	check(!teeperf_region((char *)&_end - 4096, 8192),
	    "partly private memory is taken for a log");
	check(!teeperf_region(region, UINT64_MAX), "a size that wraps");
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	rounds = strtoull(argv[1], NULL, 10);
	const int threads = atoi(argv[2]);
	structure_count = (unsigned)(argc > 3 ? atoi(argv[3]) : threads);
	thread_count = (uint64_t)threads;
	const char *path = getenv("TEEPERF_LOG");
	struct stat status;
	if (path && (log_fd = open(path, O_RDWR | O_CLOEXEC)) >= 0 && fstat(log_fd, &status) == 0)
		region_size = (size_t)status.st_size;
	if (IS("optee")) {
		partly_private();
		const uint64_t commands = rounds / 100;
		for (uint64_t i = 0; i < commands; i++)
			command(i, 100);
		// How a last command says that it is one.
		map_log(0);
		teeperf_enter(region, region_size);
		teeperf_over(7);
		return failed ? 1 : 7;
	}
	if (!IS("keystone")) {
		map_log(3);
		refusals();
		check(teeperf_region(region, region_size) == (log_fd >= 0), "the log is refused");
	}
	pthread_t others[16];
	for (int i = 1; i < threads; i++)
		pthread_create(&others[i], NULL, thread, (void *)(uintptr_t)i);
	thread(NULL);
	for (int i = 1; i < threads; i++)
		pthread_join(others[i], NULL);
	teeperf_over(7);
	return failed ? 1 : 7;
}
