// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program whose functions take known times: phases, each a caller and what it calls, timed by the
// program itself around the whole phase. Prints a line for each phase:
//
//   phase NAME CALLS WALL_NS CPU_NS
//
// What the functions take without instrumentation follows from two runs of the native program: as it
// is, and hollow, where the callees return at once: the second one's time is the caller's, the
// difference is the callee's. Nothing of that knows of records or of their cost.
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef __clang__
#define KEPT __attribute__((noinline)) void
#else
#define KEPT __attribute__((noinline, noclone)) void
#endif

static uint64_t ticks_per_ms;
static volatile uint64_t seed = 88172645463325252;
static uint64_t hollow; // callees return at once
static double scale = 1;

static inline uint64_t now_ns(clockid_t clock)
{
	struct timespec time;
	clock_gettime(clock, &time);
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
	return now_ns(CLOCK_MONOTONIC);
#endif
}

// Busy until so many ticks have passed: a known time, whatever the core's frequency is.
static inline __attribute__((always_inline)) void spin(uint64_t ticks)
{
	const uint64_t start = read_ticks();
	while (read_ticks() - start < ticks) {
	}
}

// Busy with a chain of multiplications, each waiting for the one before it, in this call and the last.
static inline __attribute__((always_inline)) uint64_t chain(uint64_t x, uint64_t steps)
{
	for (uint64_t i = 0; i < steps; i++) {
		x = x * 6364136223846793005u + i;
		__asm__ volatile("" : "+r"(x));
	}
	return x;
}

// Busy with steps none of which begins before the last one has ended.
static inline __attribute__((always_inline)) void fence(uint64_t steps)
{
	for (uint64_t i = 0; i < steps; i++)
#if defined(__x86_64__)
		__asm__ volatile("lfence");
#else
		__asm__ volatile("isb");
#endif
}

static inline uint64_t to_ticks(double ns)
{
	return (uint64_t)(ns * (double)ticks_per_ms / 1e6);
}

// ---- phases: spins of known length

#define SPIN_PHASE(name, own_ns, ns)                              \
	KEPT name##_leaf(uint64_t ticks)                          \
	{                                                         \
		if (ticks)                                        \
			spin(ticks);                              \
	}                                                         \
	KEPT name##_caller(uint64_t calls)                        \
	{                                                         \
		const uint64_t own = to_ticks(own_ns);            \
		const uint64_t ticks = hollow ? 0 : to_ticks(ns); \
		for (uint64_t i = 0; i < calls; i++) {            \
			spin(own);                                \
			name##_leaf(ticks);                       \
		}                                                 \
	}

SPIN_PHASE(spin50, 50, 50)
SPIN_PHASE(spin200, 100, 200)
SPIN_PHASE(spin1us, 500, 1000)
SPIN_PHASE(spin100us, 50000, 100000)
SPIN_PHASE(spin10ms, 5e6, 1e7)

// ---- phases: arithmetic

#define CHAIN_PHASE(name, own, steps)                        \
	KEPT name##_leaf(uint64_t *x, uint64_t count)        \
	{                                                    \
		if (count)                                   \
			*x = chain(*x, count);               \
	}                                                    \
	KEPT name##_caller(uint64_t calls)                   \
	{                                                    \
		uint64_t x = seed;                           \
		const uint64_t count = hollow ? 0 : (steps); \
		for (uint64_t i = 0; i < calls; i++) {       \
			x = chain(x, own);                   \
			name##_leaf(&x, count);              \
		}                                            \
		seed = x;                                    \
	}

CHAIN_PHASE(chain50, 50, 50)
CHAIN_PHASE(chain200, 100, 200)
CHAIN_PHASE(chain1us, 500, 1000)

#define FENCE_PHASE(name, own, steps)                        \
	KEPT name##_leaf(uint64_t count)                     \
	{                                                    \
		fence(count);                                \
	}                                                    \
	KEPT name##_caller(uint64_t calls)                   \
	{                                                    \
		const uint64_t count = hollow ? 0 : (steps); \
		for (uint64_t i = 0; i < calls; i++) {       \
			fence(own);                          \
			name##_leaf(count);                  \
		}                                            \
	}

FENCE_PHASE(fence50, 10, 10)
FENCE_PHASE(fence200, 20, 40)
FENCE_PHASE(fence1us, 100, 200)

// A burst of 100 tiny calls beside 20 us of own work.
KEPT burst_leaf(uint64_t *x)
{
	*x = *x * 6364136223846793005u + 1;
}

KEPT burst_caller(uint64_t calls)
{
	uint64_t x = seed;
	const uint64_t own = to_ticks(20000);
	for (uint64_t i = 0; i < calls; i += 100) {
		spin(own);
		for (int j = 0; j < 100; j++)
			burst_leaf(&x);
	}
	seed = x;
}

// Each level of a deep recursion has its own time.
KEPT deep_leaf(uint64_t levels, uint64_t ticks)
{
	spin(ticks);
	if (levels > 1)
		deep_leaf(levels - 1, ticks);
	__asm__ volatile("");
}

KEPT deep_caller(uint64_t calls)
{
	for (uint64_t i = 0; i < calls; i += 1000)
		deep_leaf(1000, to_ticks(100));
}

// The same leaf, very often.
KEPT many_leaf(uint64_t *x, uint64_t count)
{
	if (count)
		*x = chain(*x, 8);
}

KEPT many_caller(uint64_t calls)
{
	uint64_t x = seed;
	for (uint64_t i = 0; i < calls; i++)
		many_leaf(&x, !hollow);
	seed = x;
}

// Computing beside calls, as long as each other.
KEPT compute_leaf(uint64_t steps)
{
	seed = chain(seed, steps);
}

KEPT compute_caller(uint64_t calls)
{
	for (uint64_t i = 0; i < calls; i++)
		compute_leaf(hollow ? 0 : 300000);
}

// Two threads at once, each with functions of its own; only where there is a core for each.
CHAIN_PHASE(thread0, 100, 300)
CHAIN_PHASE(thread1, 300, 100)

struct phase {
	const char *name;
	void (*run)(uint64_t calls);
	double calls;
	uint64_t unit; /* calls come in so many */
};

static const struct phase phases[] = {
    {"spin50", spin50_caller, 2e6, 1},
    {"spin200", spin200_caller, 1e6, 1},
    {"spin1us", spin1us_caller, 2e5, 1},
    {"spin100us", spin100us_caller, 2000, 1},
    {"spin10ms", spin10ms_caller, 20, 1},
    {"chain50", chain50_caller, 2e6, 1},
    {"chain200", chain200_caller, 1e6, 1},
    {"chain1us", chain1us_caller, 2e5, 1},
    {"fence50", fence50_caller, 2e6, 1},
    {"fence200", fence200_caller, 1e6, 1},
    {"fence1us", fence1us_caller, 2e5, 1},
    {"burst", burst_caller, 1e6, 100},
    {"deep", deep_caller, 1e6, 1000},
    {"many", many_caller, 1e7, 1},
    {"compute", compute_caller, 900, 1},
};

static const struct phase thread_phases[] = {
    {"thread0", thread0_caller, 1e6, 1},
    {"thread1", thread1_caller, 1e6, 1},
};

static void run(const struct phase *phase)
{
	uint64_t calls = (uint64_t)(phase->calls * scale / (double)phase->unit);
	calls = (calls ? calls : 1) * phase->unit;
	const uint64_t cpu = now_ns(CLOCK_THREAD_CPUTIME_ID);
	const uint64_t wall = now_ns(CLOCK_MONOTONIC);
	phase->run(calls);
	printf("phase %s %llu %llu %llu\n", phase->name, (unsigned long long)calls,
	    (unsigned long long)(now_ns(CLOCK_MONOTONIC) - wall),
	    (unsigned long long)(now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu));
}

static void *run_thread(void *phase)
{
	run(phase);
	return NULL;
}

static int run_threads(void)
{
	pthread_t other;
	cpu_set_t cores;
	if (sched_getaffinity(0, sizeof(cores), &cores) || CPU_COUNT(&cores) < 2)
		return 0;
	if (pthread_create(&other, NULL, run_thread, (void *)&thread_phases[1]))
		return 1;
	run(&thread_phases[0]);
	return pthread_join(other, NULL) != 0;
}

int main(int argc, char **argv)
{
	int threads = 1;
	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--hollow")) {
			hollow = 1;
		} else if (!strcmp(argv[i], "--no-threads")) {
			threads = 0;
		} else if (!strcmp(argv[i], "--scale") && i + 1 < argc) {
			scale = atof(argv[++i]);
		} else {
			fputs("usage: known [--hollow] [--no-threads] [--scale N]\n", stderr);
			return 129;
		}
	}
	const uint64_t start = now_ns(CLOCK_MONOTONIC);
	const uint64_t first = read_ticks();
	while (now_ns(CLOCK_MONOTONIC) - start < 20000000) {
	}
	ticks_per_ms = (read_ticks() - first) / 20;
	for (size_t i = 0; i < sizeof(phases) / sizeof(phases[0]); i++)
		run(&phases[i]);
	return threads ? run_threads() : 0;
}
