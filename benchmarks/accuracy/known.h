/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the phases and what takes their time know of each other. */
#ifndef KNOWN_H
#define KNOWN_H

#include <stdint.h>
#include <time.h>

struct phase {
	const char *name;
	void (*run)(uint64_t calls, int hollow);
	double calls;  /* at scale 1 */
	uint64_t unit; /* the size of a group of calls */
};

enum { PHASES = 15, THREADS = 2 };

/* The same twice: known_phases.c. */
extern const struct phase phases[PHASES];
extern const struct phase plain_phases[PHASES];
extern const struct phase thread_phases[THREADS]; /* run at the same time */
extern const struct phase plain_thread_phases[THREADS];

extern uint64_t ticks_per_ms;

static inline uint64_t now_ns(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static inline uint64_t read_ticks(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
	uint64_t value;
	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(value));
	return value;
#elif defined(__riscv)
	uint64_t value;
	__asm__ volatile("rdtime %0" : "=r"(value));
	return value;
#else
	return now_ns();
#endif
}

#endif
