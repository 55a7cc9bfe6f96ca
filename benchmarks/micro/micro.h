// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the micro benchmarks share: options, rounds and their times, and the hand-written limit.
//
// The limit is what no recording can do without, without any check: built with
//   -DLIMIT        enter and exit read the hardware clock and store 8 bytes in a private buffer;
//   -DLIMIT_SOFT   the same, but load a counter that a thread on another core stores a clock into;
//   -DLIMIT_NONE   the same without a clock: the store alone;
//   -DLIMIT_COUNT  enter adds one to a private counter, exit does nothing.
// Without any of these micro_enter() and micro_exit() are nothing.
#ifndef MICRO_H
#define MICRO_H

#include <stdint.h>
#include <time.h>

enum { MICRO_MAX_ROUNDS = 1000 };

struct micro_options {
	unsigned rounds;
	uint64_t calls; // in each round
};

// Times per call, a number for each round.
struct micro_times {
	const char *name;
	unsigned rounds;
	double wall_ns[MICRO_MAX_ROUNDS];
	double cpu_ns[MICRO_MAX_ROUNDS]; // of the measuring thread
};

struct micro_watch {
	uint64_t wall_ns;
	uint64_t cpu_ns;
};

// --help and wrong usage do not return. With -DLIMIT_SOFT the counter's thread runs from here on;
// THREADS of the program need a core besides it.
struct micro_options micro_start(
    int argc, char **argv, const char *name, uint64_t default_calls, unsigned threads);

struct micro_watch micro_watch_now(void);

// Add a round of CALLS calls that began at START.
void micro_times_add(struct micro_times *times, const struct micro_watch *start, uint64_t calls);

// The same with what was measured elsewhere.
void micro_times_add_ns(struct micro_times *times, double wall_ns, double cpu_ns);

// Print "NAME wall_best cpu_best wall_median cpu_median", in ns per call.
void micro_times_print(struct micro_times *times);

// The exit status of main: 1 if standard output could not be written.
int micro_finish(void);

// The hardware clock, as cheap as it comes: no barrier.
static inline __attribute__((always_inline)) uint64_t micro_clock(void)
{
#if defined(__x86_64__)
	uint32_t low, high;
	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return (uint64_t)high << 32 | low;
#elif defined(__aarch64__)
	uint64_t ticks;
	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
	return ticks;
#elif defined(__riscv)
	uint64_t ticks;
	__asm__ volatile("rdtime %0" : "=r"(ticks));
	return ticks;
#else
#error "no clock is known for this architecture"
#endif
}

#define MICRO_HIDDEN __attribute__((visibility("hidden")))
#define MICRO_PRIVATE _Thread_local __attribute__((visibility("hidden"), tls_model("local-exec")))

#if defined(LIMIT) || defined(LIMIT_SOFT) || defined(LIMIT_NONE)

enum { MICRO_RECORDS = 8192 }; // 64 KiB

// Not static: the compiler would see that nobody reads it, and drop the stores.
extern MICRO_PRIVATE uint64_t micro_buffer[MICRO_RECORDS];
extern MICRO_PRIVATE uint64_t micro_next;
extern MICRO_HIDDEN uint64_t micro_counter; // on a cache line of its own

static inline __attribute__((always_inline)) uint32_t micro_time(void)
{
#if defined(LIMIT)
	return (uint32_t)micro_clock();
#elif defined(LIMIT_SOFT)
	return (uint32_t)__atomic_load_n(&micro_counter, __ATOMIC_RELAXED);
#else
	return 0;
#endif
}

static inline __attribute__((always_inline)) void micro_record(uint32_t name)
{
	micro_buffer[micro_next++ % MICRO_RECORDS] = (uint64_t)name << 32 | micro_time();
}

// pre: ID is a constant, below 2048 (what LIMIT_COUNT has room for).
#define micro_enter(id) micro_record(2 * (id))
#define micro_exit(id) micro_record(2 * (id) + 1)

#elif defined(LIMIT_COUNT)

enum { MICRO_IDS = 2048 };
extern MICRO_PRIVATE uint64_t micro_counts[MICRO_IDS];

#define micro_enter(id) (void)micro_counts[id]++
#define micro_exit(id) ((void)0)

#else

#define micro_enter(id) ((void)0)
#define micro_exit(id) ((void)0)

#endif
#endif
