// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program without libc, and what its TEE would be: it maps the log, which is descriptor 3, makes
// thread-local storage and a second thread, and then gives up all system calls but exit_group,
// before the first constructor. Not instrumented.
//
//   PROGRAM ROUNDS THREADS
#include <stddef.h>
#include <stdint.h>

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <elf.h>

#include <teeperf/bare.h>
#include <teeperf/teeperf.h>

#include "no_libc.h"
#include "work.h"

enum { LOG_FD = 3, THREADS_MAX = 2, TLS_ROOM = 8192, STACK_ROOM = 65536 };

// ---- thread-local storage

extern const Elf64_Ehdr __ehdr_start __attribute__((visibility("hidden")));
static _Alignas(64) unsigned char tls[THREADS_MAX][TLS_ROOM];

// The value of the thread pointer for thread `n`.
static char *make_tls(int n)
{
	const char *image = (const char *)&__ehdr_start;
	const Elf64_Phdr *segment = (const void *)(image + __ehdr_start.e_phoff);
	int left = __ehdr_start.e_phnum;
	while (left && segment->p_type != PT_TLS) {
		segment++;
		left--;
	}
	if (!left || segment->p_memsz > TLS_ROOM / 2 || segment->p_align > 64)
		leave(90);
#if defined(__x86_64__)
	const uint64_t rounded = (segment->p_memsz + segment->p_align - 1) & -segment->p_align;
	char *pointer = (char *)tls[n] + TLS_ROOM / 2;
	memcpy(pointer - rounded, (const void *)segment->p_vaddr, segment->p_filesz);
	*(char **)(void *)pointer = pointer;
#elif defined(__riscv)
	// The thread pointer is where thread-local storage begins.
	char *pointer = (char *)tls[n];
	memcpy(pointer, (const void *)segment->p_vaddr, segment->p_filesz);
#else
	char *pointer = (char *)tls[n];
	memcpy(pointer + 64 / segment->p_align * segment->p_align - 64 +
		   (16 + segment->p_align - 1) / segment->p_align * segment->p_align,
	    (const void *)segment->p_vaddr, segment->p_filesz);
#endif
	return pointer;
}

// ---- the hooks

static char *region;
static uint64_t region_size;
static uint64_t next_thread = 1000;

void *teeperf_bare_region(uint64_t *size)
{
	*size = region_size;
	return region;
}

// Private memory is the program's image, with its stacks, and the first stack, which is above it.
int teeperf_bare_is_outside(const void *base, uint64_t size)
{
	extern const char _end __attribute__((visibility("hidden")));
	const char *from = base;
	char here;
#ifdef EMULATED // mapped memory comes behind the stack, whose end this function is at
	const char *top = &here;
#else
	const char *top = (const char *)UINTPTR_MAX;
#endif
	return (from + size <= (const char *)&__ehdr_start || from >= &_end) &&
	       (from + size < &here || from > top);
}

uint64_t teeperf_bare_thread(void)
{
	return __atomic_add_fetch(&next_thread, 1, __ATOMIC_RELAXED);
}

void teeperf_bare_module(const void *anchor, struct teeperf_module *module)
{
	(void)anchor;
	module->start = (uint64_t)(uintptr_t)&__ehdr_start;
	module->end = module->start + (1 << 24);
	for (const char *from = WORK_PATH, *to = from; *from; from++)
		module->path[from - to] = *from;
}

// ---- the program

static uint64_t rounds;
static int go, done;

static void give_up_system_calls(void)
{
#ifndef EMULATED // qemu-user has no seccomp
#if defined(__x86_64__)
	enum { ARCH = AUDIT_ARCH_X86_64 };
#elif defined(__riscv)
	enum { ARCH = AUDIT_ARCH_RISCV64 };
#else
	enum { ARCH = AUDIT_ARCH_AARCH64 };
#endif
	struct sock_filter code[] = {
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)ARCH, 0, 2),
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 1, 0),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = {sizeof(code) / sizeof(code[0]), code};
	if (call6(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0, 0) ||
	    call6(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, (long)&program,
		0, 0, 0))
		leave(92);
#endif
}

__attribute__((noreturn, used)) static void second_thread(void)
{
	while (!__atomic_load_n(&go, __ATOMIC_ACQUIRE))
		;
	if (work(rounds) != WORK_SUM(rounds))
		leave(93);
	teeperf_thread_over();
	__atomic_store_n(&done, 1, __ATOMIC_RELEASE);
	for (;;)
		;
}

static void start_second_thread(char *pointer)
{
	static _Alignas(64) char stack[STACK_ROOM];
	const long flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
			   CLONE_SYSVSEM | CLONE_SETTLS;
	char *top = stack + sizeof(stack);
#if defined(__x86_64__)
	long result;
	register long r10 __asm__("r10") = 0;
	register char *r8 __asm__("r8") = pointer;
	__asm__ volatile("syscall\n\ttestq %%rax, %%rax\n\tjne 1f\n\txorl %%ebp, %%ebp\n\t"
			 "call *%[entry]\n1:"
			 : "=a"(result)
			 : "a"(SYS_clone), "D"(flags), "S"(top), "d"(0), "r"(r10),
			 "r"(r8), [entry] "b"(second_thread)
			 : "rcx", "r11", "memory");
#elif defined(__aarch64__)
	register long x8 __asm__("x8") = SYS_clone;
	register long x0 __asm__("x0") = flags;
	register char *x1 __asm__("x1") = top;
	register long x2 __asm__("x2") = 0;
	register char *x3 __asm__("x3") = pointer;
	register long x4 __asm__("x4") = 0;
	__asm__ volatile("svc 0\n\tcbnz x0, 1f\n\tblr %[entry]\n1:"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), [entry] "r"(second_thread)
			 : "memory", "x30");
	const long result = x0;
#elif defined(__riscv)
	register long a7 __asm__("a7") = SYS_clone;
	register long a0 __asm__("a0") = flags;
	register char *a1 __asm__("a1") = top;
	register long a2 __asm__("a2") = 0;
	register char *a3 __asm__("a3") = pointer;
	register long a4 __asm__("a4") = 0;
	__asm__ volatile("ecall\n\tbnez a0, 1f\n\tjalr %[entry]\n1:"
			 : "+r"(a0)
			 : "r"(a7), "r"(a1), "r"(a2), "r"(a3), "r"(a4), [entry] "r"(second_thread)
			 : "memory", "ra");
	const long result = a0;
#endif
	if (result < 0)
		leave(94);
}

static void map_region(void)
{
	enum { SEEK_TO_END = 2, READ_WRITE = 3, SHARED = 1 };
	const long size = call6(SYS_lseek, LOG_FD, 0, SEEK_TO_END, 0, 0, 0);
	if (size <= 0)
		return; // nobody records
	const long at = call6(SYS_mmap, 0, size, READ_WRITE, SHARED, LOG_FD, 0);
	if (at < 0 && at > -4096)
		leave(95);
	region = (char *)at;
	region_size = (uint64_t)size;
}

extern void (*const __init_array_start[])(void) __attribute__((visibility("hidden")));
extern void (*const __init_array_end[])(void) __attribute__((visibility("hidden")));

__attribute__((noreturn, used)) static void start(long *stack)
{
	char **arguments = (char **)(stack + 1);
	if (stack[0] != 3)
		leave(96);
	rounds = number_of(arguments[1]);
	const uint64_t threads = number_of(arguments[2]);
	if (set_thread_pointer((uint64_t)make_tls(0)))
		leave(91);
	map_region();
	if (threads > 1)
		start_second_thread(make_tls(1));
	give_up_system_calls();
	for (void (*const *at)(void) = __init_array_start; at < __init_array_end; at++)
		(*at)();
	__atomic_store_n(&go, 1, __ATOMIC_RELEASE);
	const int code = work(rounds) == WORK_SUM(rounds) ? 7 : 97;
	while (threads > 1 && !__atomic_load_n(&done, __ATOMIC_ACQUIRE))
		;
	teeperf_over(code);
	leave(code);
}

#if defined(__x86_64__)
__asm__(".globl _start\n_start:\n\txorl %ebp, %ebp\n\tmovq %rsp, %rdi\n\tandq $-16, %rsp\n"
	"\tcall start");
#elif defined(__aarch64__)
__asm__(".globl _start\n_start:\n\tmov x29, 0\n\tmov x0, sp\n\tb start");
#elif defined(__riscv)
__asm__(".globl _start\n_start:\n\t.option push\n\t.option norelax\n\tla gp, __global_pointer$\n\t"
	".option pop\n\tmv a0, sp\n\tj start");
#endif
