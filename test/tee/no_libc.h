/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * For programs without libc: system calls, the thread pointer, and what compilers call. One file of
 * a program has it.
 */
#ifndef NO_LIBC_H
#define NO_LIBC_H

#include <stddef.h>
#include <stdint.h>

#include <sys/syscall.h>

static long call6(long number, long a, long b, long c, long d, long e, long f)
{
#if defined(__x86_64__)
	long result;
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
#elif defined(__aarch64__)
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;
	__asm__ volatile("svc 0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
			 : "memory");
	return x0;
#elif defined(__riscv)
	register long a7 __asm__("a7") = number;
	register long a0 __asm__("a0") = a;
	register long a1 __asm__("a1") = b;
	register long a2 __asm__("a2") = c;
	register long a3 __asm__("a3") = d;
	register long a4 __asm__("a4") = e;
	register long a5 __asm__("a5") = f;
	__asm__ volatile("ecall"
			 : "+r"(a0)
			 : "r"(a7), "r"(a1), "r"(a2), "r"(a3), "r"(a4), "r"(a5)
			 : "memory");
	return a0;
#endif
}

__attribute__((noreturn)) static void leave(int code)
{
	for (;;)
		call6(SYS_exit_group, code, 0, 0, 0, 0, 0);
}

/* 0 if it is set. */
static long set_thread_pointer(uint64_t to)
{
#if defined(__x86_64__)
	enum { ARCH_SET_FS = 0x1002 };
	return call6(SYS_arch_prctl, ARCH_SET_FS, (long)to, 0, 0, 0, 0);
#elif defined(__aarch64__)
	__asm__ volatile("msr tpidr_el0, %0" : : "r"(to));
	return 0;
#elif defined(__riscv)
	__asm__ volatile("mv tp, %0" : : "r"(to));
	return 0;
#endif
}

/* The compiler may make calls of loops: these are none that it knows. */
void *memset(void *at, int value, size_t size)
{
	volatile unsigned char *to = at;
	while (size--)
		*to++ = (unsigned char)value;
	return at;
}

void *memcpy(void *at, const void *from, size_t size)
{
	volatile unsigned char *to = at;
	const unsigned char *bytes = from;
	while (size--)
		*to++ = *bytes++;
	return at;
}

static uint64_t number_of(const char *text)
{
	uint64_t number = 0;
	while (*text)
		number = 10 * number + (uint64_t)(*text++ - '0');
	return number;
}

#endif
