/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A program's own clocks, to which the columns of its trace are compared. */
#ifndef OWN_CLOCKS_H
#define OWN_CLOCKS_H

#include <stdio.h>
#include <time.h>
#include <unistd.h>

static inline long long now(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/*
 * What the kernel takes off a thread's processor time and no switch tells: time of the hypervisor
 * and of interrupts, here of all processors.
 */
static inline long long stolen(void)
{
	long long irq = 0, softirq = 0, steal = 0;
	FILE *stat = fopen("/proc/stat", "r");
	if (!stat ||
	    fscanf(stat, "cpu %*d %*d %*d %*d %*d %lld %lld %lld", &irq, &softirq, &steal) < 2)
		irq = softirq = steal = 0;
	if (stat)
		fclose(stat);
	return (irq + softirq + steal) * (1000000000 / sysconf(_SC_CLK_TCK));
}

/*
 * What of a piece of work is within the function that does it. A busy machine may stop a thread
 * between its function and the clocks around that, for as long as it likes: the function's times
 * are between these and those of TELL.
 */
static __thread struct {
	long long wall;
	long long cpu;
} inside;
#define INSIDE(work)                                                   \
	do {                                                           \
		const long long wall_at = now(CLOCK_MONOTONIC_RAW);    \
		const long long cpu_at = now(CLOCK_THREAD_CPUTIME_ID); \
		work;                                                  \
		inside.wall += now(CLOCK_MONOTONIC_RAW) - wall_at;     \
		inside.cpu += now(CLOCK_THREAD_CPUTIME_ID) - cpu_at;   \
	} while (0)

static inline void spin(long long ns)
{
	const long long until = now(CLOCK_THREAD_CPUTIME_ID) + ns;
	INSIDE(while (now(CLOCK_THREAD_CPUTIME_ID) < until));
}

static inline void rest(long long ns)
{
	const struct timespec t = {.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
	INSIDE(nanosleep(&t, NULL));
}

/*
 * NAME WALL CPU STOLEN WALL_INSIDE CPU_INSIDE: what the thread's own clocks say of a piece of work.
 */
#define TELL(name, work)                                                                          \
	do {                                                                                      \
		const long long before = stolen();                                                \
		inside.wall = inside.cpu = 0;                                                     \
		const long long wall = now(CLOCK_MONOTONIC_RAW);                                  \
		const long long cpu = now(CLOCK_THREAD_CPUTIME_ID);                               \
		work;                                                                             \
		const long long end = now(CLOCK_MONOTONIC_RAW);                                   \
		const long long ran = now(CLOCK_THREAD_CPUTIME_ID) - cpu;                         \
		printf("%s %lld %lld %lld %lld %lld\n", name, end - wall, ran, stolen() - before, \
		    inside.wall, inside.cpu);                                                     \
	} while (0)

#endif
