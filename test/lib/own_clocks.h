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

static inline void spin(long long ns)
{
	const long long until = now(CLOCK_THREAD_CPUTIME_ID) + ns;
	while (now(CLOCK_THREAD_CPUTIME_ID) < until)
		;
}

static inline void rest(long long ns)
{
	const struct timespec t = {.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
	nanosleep(&t, NULL);
}

/* NAME WALL CPU STOLEN: what the thread's own clocks say of a piece of work. */
#define TELL(name, work)                                                                 \
	do {                                                                             \
		const long long before = stolen();                                       \
		const long long wall = now(CLOCK_MONOTONIC_RAW);                         \
		const long long cpu = now(CLOCK_THREAD_CPUTIME_ID);                      \
		work;                                                                    \
		const long long end = now(CLOCK_MONOTONIC_RAW);                          \
		const long long ran = now(CLOCK_THREAD_CPUTIME_ID) - cpu;                \
		printf("%s %lld %lld %lld\n", name, end - wall, ran, stolen() - before); \
	} while (0)

#endif
