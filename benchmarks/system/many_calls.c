// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Prints nanoseconds for each of COUNT rounds: calls: a getppid; writes: 64 bytes into /dev/null;
// faults: a page that is touched;
// switches: one from a thread to another on the same processor, by a byte in a pipe.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int rounds;

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

__attribute__((noinline)) static void calls(void)
{
	for (int i = 0; i < rounds; i++)
		syscall(SYS_getppid);
}

__attribute__((noinline)) static void writes(void)
{
	static const char bytes[64];
	const int fd = open("/dev/null", O_WRONLY);
	for (int i = 0; i < rounds; i++)
		if (write(fd, bytes, sizeof(bytes)) != (ssize_t)sizeof(bytes))
			abort();
	close(fd);
}

__attribute__((noinline)) static void faults(void)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	const size_t size = 1000 * page;
	for (int i = 0; i < rounds / 1000; i++) {
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

static int there[2], back[2];

static void pass_on(int from, int to)
{
	char byte;
	if (read(from, &byte, 1) != 1 || write(to, &byte, 1) != 1)
		abort();
}

__attribute__((noinline)) static void *other(void *unused)
{
	for (int i = 0; i < rounds / 2; i++)
		pass_on(there[0], back[1]);
	return unused;
}

__attribute__((noinline)) static void switches(void)
{
	pthread_t thread;
	cpu_set_t one;
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	// The second thread is this one's heir.
	if (sched_setaffinity(0, sizeof(one), &one) || pipe(there) || pipe(back) ||
	    pthread_create(&thread, NULL, other, NULL))
		abort();
	for (int i = 0; i < rounds / 2; i++) {
		char byte = 0;
		if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1)
			abort();
	}
	pthread_join(thread, NULL);
}

int main(int count, char **arguments)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} kinds[] = {
	    {"calls", calls}, {"writes", writes}, {"faults", faults}, {"switches", switches}};
	rounds = count == 3 ? atoi(arguments[2]) : 0;
	for (int i = 0; i < 4 && rounds >= 1000; i++) {
		if (strcmp(arguments[1], kinds[i].name))
			continue;
		const double start = now();
		kinds[i].run();
		// On standard error: tools that trace us write to standard output.
		fprintf(stderr, "ns %.1f\n", (now() - start) / rounds);
		return 0;
	}
	fprintf(stderr, "usage: many_calls calls|writes|faults|switches COUNT, 1000 at least\n");
	return 1;
}
