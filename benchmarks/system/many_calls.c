// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Prints nanoseconds for each of COUNT rounds: calls: a getppid; writes: 64 bytes into /dev/null; faults: a page that is touched.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 400000 };

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

__attribute__((noinline)) static void calls(void)
{
	for (int i = 0; i < ROUNDS; i++)
		syscall(SYS_getppid);
}

__attribute__((noinline)) static void writes(void)
{
	static const char bytes[64];
	const int fd = open("/dev/null", O_WRONLY);
	for (int i = 0; i < ROUNDS; i++)
		if (write(fd, bytes, sizeof(bytes)) != (ssize_t)sizeof(bytes))
			abort();
	close(fd);
}

__attribute__((noinline)) static void faults(void)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	const size_t size = 1000 * page;
	for (int i = 0; i < ROUNDS / 1000; i++) {
		char *at =
		    mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (at == MAP_FAILED)
			abort();
		madvise(at, size, MADV_NOHUGEPAGE);
		for (size_t j = 0; j < size; j += page)
			((volatile char *)at)[j] = 1;
		munmap(at, size);
	}
}

int main(int count, char **arguments)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} kinds[] = {{"calls", calls}, {"writes", writes}, {"faults", faults}};
	for (int i = 0; i < 3; i++) {
		if (count != 2 || strcmp(arguments[1], kinds[i].name))
			continue;
		const double start = now();
		kinds[i].run();
		// On standard error: tools that trace us write to standard output.
		fprintf(stderr, "ns %.1f\n", (now() - start) / ROUNDS);
		return 0;
	}
	fprintf(stderr, "usage: many_calls calls|writes|faults\n");
	return 1;
}
