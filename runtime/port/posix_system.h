/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * System calls of the POSIX ports. A program may have its own mmap, open or getpid: ISO C reserves
 * no such name, and ours must be the system's.
 */
#ifndef TP_PORT_POSIX_SYSTEM_H
#define TP_PORT_POSIX_SYSTEM_H

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * tp_system(NUMBER, up to six ARGUMENTS): as syscall(2), which it is where a library stands for the
 * kernel (TP_SYSTEM_IN_LIBRARY): an instruction would leave a TEE there.
 */
#define tp_system(...) TP_SYSTEM_SIX(__VA_ARGS__, 0, 0, 0, 0, 0, 0, 0)
#define TP_SYSTEM_SIX(number, a, b, c, d, e, f, ...) \
	tp_system_six(number, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))

static inline long tp_system_six(long number, long a, long b, long c, long d, long e, long f)
{
#ifdef TP_SYSTEM_IN_LIBRARY
	return syscall(number, a, b, c, d, e, f);
#else
#if defined(__x86_64__)
	register long fourth __asm__("r10") = d;
	register long fifth __asm__("r8") = e;
	register long sixth __asm__("r9") = f;
	long result = number;
	__asm__ volatile("syscall"
			 : "+a"(result)
			 : "D"(a), "S"(b), "d"(c), "r"(fourth), "r"(fifth), "r"(sixth)
			 : "rcx", "r11", "memory");
#elif defined(__aarch64__)
	register long which __asm__("x8") = number;
	register long result __asm__("x0") = a;
	register long second __asm__("x1") = b;
	register long third __asm__("x2") = c;
	register long fourth __asm__("x3") = d;
	register long fifth __asm__("x4") = e;
	register long sixth __asm__("x5") = f;
	__asm__ volatile("svc 0"
			 : "+r"(result)
			 : "r"(which), "r"(second), "r"(third), "r"(fourth), "r"(fifth), "r"(sixth)
			 : "memory");
#elif defined(__riscv)
	register long which __asm__("a7") = number;
	register long result __asm__("a0") = a;
	register long second __asm__("a1") = b;
	register long third __asm__("a2") = c;
	register long fourth __asm__("a3") = d;
	register long fifth __asm__("a4") = e;
	register long sixth __asm__("a5") = f;
	__asm__ volatile("ecall"
			 : "+r"(result)
			 : "r"(which), "r"(second), "r"(third), "r"(fourth), "r"(fifth), "r"(sixth)
			 : "memory");
#else
#error "no system calls for this processor"
#endif
	if (result >= 0 || result < -4095)
		return result;
	errno = (int)-result;
	return -1;
#endif
}

/* MAP_FAILED, as mmap(2). */
static inline void *tp_system_map(
    void *at, uint64_t size, int protection, int flags, int fd, uint64_t offset)
{
	const long result = tp_system(SYS_mmap, at, size, protection, flags, fd, offset);
	return (void *)(intptr_t)result;
}

static inline void tp_system_unmap(void *at, uint64_t size)
{
	(void)tp_system(SYS_munmap, at, size);
}

static inline int tp_system_open(const char *path, int flags)
{
	return (int)tp_system(SYS_openat, AT_FDCWD, path, flags, 0600);
}

static inline void tp_system_close(int fd)
{
	(void)tp_system(SYS_close, fd);
}

static inline int tp_system_stat(int fd, struct stat *status)
{
	return (int)tp_system(SYS_fstat, fd, status);
}

static inline uint64_t tp_system_process(void)
{
	return (uint64_t)tp_system(SYS_getpid, 0);
}

#endif
