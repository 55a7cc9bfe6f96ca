// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A trusted application without libc, and an imitation of OP-TEE around it: nobody calls
// constructors, the thread pointer is another one in each command and points nowhere, and the log
// is mapped for the time of a command only, elsewhere each time. A check of the log costs a system
// call there: more than one in a command is an error. Not instrumented.
//
//   PROGRAM ROUNDS COMMANDS [outside]      exits with 7; 'outside': also calls instrumented code
//                                          between commands
#include <stddef.h>
#include <stdint.h>

#include <elf.h>
#include <fcntl.h>
#include <linux/mman.h>

#include <teeperf/teeperf.h>

#include "no_libc.h"
#include "work.h"

enum { PAGE = 4096, ROOM = 1 << 16 };

static size_t length_of(const char *text)
{
	size_t length = 0;
	while (text[length])
		length++;
	return length;
}

static void check(int right, const char *what)
{
	if (right)
		return;
	call6(SYS_write, 2, (long)what, (long)length_of(what), 0, 0, 0);
	call6(SYS_write, 2, (long)"\n", 1, 0, 0, 0);
	leave(1);
}

// ---- the SDK

static char *log;
static size_t log_size;
static unsigned asked;

uint32_t TEE_CheckMemoryAccessRights(uint32_t flags, void *buffer, size_t size)
{
	enum { ANY_OWNER = 4, NONSECURE = 0x10000000 };
	const char *from = buffer;
	asked++;
	const int shared =
	    log && from >= log && size <= log_size && (size_t)(from - log) <= log_size - size;
	return shared && flags & ANY_OWNER && flags & NONSECURE ? 0 : 0xffff0001;
}

void TEE_GenerateRandom(void *buffer, size_t size)
{
	call6(SYS_getrandom, (long)buffer, (long)size, 0, 0, 0, 0);
}

// 8aaaf200-2450-11e4-abe2-0002a5d5c51b
uint32_t TEE_GetPropertyAsUUID(void *properties, const char *name, void *value)
{
	static const struct {
		uint32_t low;
		uint16_t middle, high;
		uint8_t rest[8];
	} uuid = {0x8aaaf200, 0x2450, 0x11e4, {0xab, 0xe2, 0, 2, 0xa5, 0xd5, 0xc5, 0x1b}};
	(void)properties;
	(void)name;
	memcpy(value, &uuid, sizeof(uuid));
	return 0;
}

// ---- the loader

extern const Elf64_Dyn _DYNAMIC[] __attribute__((visibility("hidden")));
extern char __text_start __attribute__((visibility("hidden")));

static void relocate(void)
{
	const uint64_t bias = (uint64_t)&__text_start; // it is linked to 0
	const Elf64_Rela *entries = NULL;
	uint64_t size = 0;
	for (const Elf64_Dyn *at = _DYNAMIC; at->d_tag != DT_NULL; at++) {
		if (at->d_tag == DT_RELA)
			entries = (const Elf64_Rela *)(bias + at->d_un.d_ptr);
		else if (at->d_tag == DT_RELASZ)
			size = at->d_un.d_val;
	}
	for (uint64_t i = 0; i < size / sizeof(*entries); i++) {
		const uint64_t type = ELF64_R_TYPE(entries[i].r_info);
		uint64_t *const to = (uint64_t *)(bias + entries[i].r_offset);
		if (type == R_X86_64_RELATIVE || type == R_AARCH64_RELATIVE)
			*to = bias + (uint64_t)entries[i].r_addend;
	}
}

// ---- the client

static int log_fd = -1;

static const char *find(char **environment, const char *name)
{
	const size_t length = length_of(name);
	for (; *environment; environment++) {
		size_t i = 0;
		while (i < length && (*environment)[i] == name[i])
			i++;
		if (i == length && (*environment)[i] == '=')
			return *environment + i + 1;
	}
	return NULL;
}

static void map_log(uint64_t n)
{
	char *room = (char *)call6(SYS_mmap, 0, (long)(log_size + 2 * ROOM), PROT_NONE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	char *at = room + (-(uintptr_t)room & (ROOM - 1)) + n % 16 * PAGE;
	log = (char *)call6(SYS_mmap, (long)at, (long)log_size, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_FIXED, log_fd, 0);
	check(log == at, "the log cannot be mapped");
}

static void unmap_log(void)
{
	call6(SYS_mprotect, (long)log, (long)log_size, PROT_NONE, 0, 0, 0);
	log = NULL;
}

__attribute__((used)) static void start(uint64_t *stack)
{
	relocate();
	const uint64_t count = stack[0];
	char **arguments = (char **)(stack + 1);
	char **environment = arguments + count + 1;
	check(count >= 3, "PROGRAM ROUNDS COMMANDS [outside]");
	const uint64_t rounds = number_of(arguments[1]);
	const uint64_t commands = number_of(arguments[2]);
	const char *path = find(environment, "TEEPERF_LOG");
	if (path) {
		log_fd = (int)call6(SYS_openat, AT_FDCWD, (long)path, O_RDWR, 0, 0, 0);
		log_size = (size_t)call6(SYS_lseek, log_fd, 0, 2, 0, 0, 0);
	}
	for (uint64_t i = 0; i < commands; i++) {
		// Another processor than before, whose register has what another application left
		// there.
		set_thread_pointer(i * PAGE + 16);
		asked = 0;
		if (path)
			map_log(i);
		const int entered = path && teeperf_enter(log, log_size);
		check(!path || entered, teeperf_why_not());
		check(work(rounds) == WORK_SUM(rounds), "wrong result");
		if (entered)
			teeperf_leave_region();
		check(asked <= 1, "a command asks more than once what its log is");
		if (path)
			unmap_log();
		if (count > 3)
			check(work(rounds) == WORK_SUM(rounds), "wrong result");
	}
	if (path) {
		map_log(0);
		teeperf_enter(log, log_size);
		teeperf_over(7);
	}
	leave(7);
}

// Emulators load a program to a multiple of 2^32. No application of OP-TEE is there: names below
// 4096 are not functions'.
__asm__(".text\n\t.space 4096\n");

#if defined(__x86_64__)
__asm__(".globl _start\n_start:\n\tmovq %rsp, %rdi\n\tandq $-16, %rsp\n\tcall start\n");
#elif defined(__aarch64__)
__asm__(".globl _start\n_start:\n\tmov x0, sp\n\tb start\n");
#endif
