// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The phases of known.c: in each a caller works by itself and calls a leaf. Compiled twice, plain
// (-DPLAIN, names begin with plain_) and for the tool that is looked at. Hollow callers call leaves
// that return at once.
#include <stdint.h>

#include "known.h"

#ifdef PLAIN
#define COPY(name) plain_##name
#else
#define COPY(name) name
#endif

#ifdef __clang__
#define KEPT __attribute__((noinline)) void
#else
#define KEPT __attribute__((noinline, noclone)) void
#endif

static volatile uint64_t seed = 88172645463325252;

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

// Busy until TICKS have passed: a known time at any frequency of the core. It begins when all
// earlier work is done, or else the time would be that of two functions at once.
static inline __attribute__((always_inline)) void spin(uint64_t ticks)
{
	fence(1);
	const uint64_t start = read_ticks();
	while (read_ticks() - start < ticks) {
	}
}

// Busy with a chain of multiplications, each waiting for the one before it, in this call and the
// last.
static inline __attribute__((always_inline)) uint64_t chain(uint64_t x, uint64_t steps)
{
	for (uint64_t i = 0; i < steps; i++) {
		x = x * 6364136223846793005u + i;
		__asm__ volatile("" : "+r"(x));
	}
	return x;
}

static inline uint64_t to_ticks(double ns)
{
	return (uint64_t)(ns * (double)ticks_per_ms / 1e6);
}

// ---- phases: spins of known length

#define SPIN_PHASE(name, own_ns, ns)                              \
	KEPT COPY(name##_leaf)(uint64_t ticks)                    \
	{                                                         \
		if (ticks)                                        \
			spin(ticks);                              \
	}                                                         \
	KEPT COPY(name##_caller)(uint64_t calls, int hollow)      \
	{                                                         \
		const uint64_t own = to_ticks(own_ns);            \
		const uint64_t ticks = hollow ? 0 : to_ticks(ns); \
		for (uint64_t i = 0; i < calls; i++) {            \
			spin(own);                                \
			COPY(name##_leaf)(ticks);                 \
		}                                                 \
	}

SPIN_PHASE(spin50, 50, 50)
SPIN_PHASE(spin200, 100, 200)
SPIN_PHASE(spin1us, 500, 1000)
SPIN_PHASE(spin100us, 50000, 100000)
SPIN_PHASE(spin10ms, 5e6, 1e7)

// ---- phases: arithmetic

#define CHAIN_PHASE(name, own, steps)                        \
	KEPT COPY(name##_leaf)(uint64_t * x, uint64_t count) \
	{                                                    \
		if (count)                                   \
			*x = chain(*x, count);               \
	}                                                    \
	KEPT COPY(name##_caller)(uint64_t calls, int hollow) \
	{                                                    \
		uint64_t x = seed;                           \
		const uint64_t count = hollow ? 0 : (steps); \
		for (uint64_t i = 0; i < calls; i++) {       \
			x = chain(x, own);                   \
			COPY(name##_leaf)(&x, count);        \
		}                                            \
		seed = x;                                    \
	}

CHAIN_PHASE(chain50, 50, 50)
CHAIN_PHASE(chain200, 100, 200)
CHAIN_PHASE(chain1us, 500, 1000)

#define FENCE_PHASE(name, own, steps)                        \
	KEPT COPY(name##_leaf)(uint64_t count)               \
	{                                                    \
		fence(count);                                \
	}                                                    \
	KEPT COPY(name##_caller)(uint64_t calls, int hollow) \
	{                                                    \
		const uint64_t count = hollow ? 0 : (steps); \
		for (uint64_t i = 0; i < calls; i++) {       \
			fence(own);                          \
			COPY(name##_leaf)(count);            \
		}                                            \
	}

FENCE_PHASE(fence50, 10, 10)
FENCE_PHASE(fence200, 20, 40)
FENCE_PHASE(fence1us, 100, 200)

// A burst of 100 tiny calls beside 20 us of own work.
KEPT COPY(burst_leaf)(uint64_t *x)
{
	*x = *x * 6364136223846793005u + 1;
}

KEPT COPY(burst_caller)(uint64_t calls, int hollow)
{
	(void)hollow;
	uint64_t x = seed;
	const uint64_t own = to_ticks(20000);
	for (uint64_t i = 0; i < calls; i += 100) {
		spin(own);
		for (int j = 0; j < 100; j++)
			COPY(burst_leaf)(&x);
	}
	seed = x;
}

// Each level of a deep recursion has its own time.
KEPT COPY(deep_leaf)(uint64_t levels, uint64_t ticks)
{
	spin(ticks);
	if (levels > 1)
		COPY(deep_leaf)(levels - 1, ticks);
	__asm__ volatile("");
}

KEPT COPY(deep_caller)(uint64_t calls, int hollow)
{
	(void)hollow;
	for (uint64_t i = 0; i < calls; i += 1000)
		COPY(deep_leaf)(1000, to_ticks(100));
}

// The same leaf, very often.
KEPT COPY(many_leaf)(uint64_t *x, uint64_t count)
{
	if (count)
		*x = chain(*x, 8);
}

KEPT COPY(many_caller)(uint64_t calls, int hollow)
{
	uint64_t x = seed;
	for (uint64_t i = 0; i < calls; i++)
		COPY(many_leaf)(&x, !hollow);
	seed = x;
}

// Computing beside calls, as long as each other.
KEPT COPY(compute_leaf)(uint64_t steps)
{
	seed = chain(seed, steps);
}

KEPT COPY(compute_caller)(uint64_t calls, int hollow)
{
	for (uint64_t i = 0; i < calls; i++)
		COPY(compute_leaf)(hollow ? 0 : 300000);
}

// Two threads at once, each with functions of its own; only where there is a core for each.
CHAIN_PHASE(thread0, 100, 300)
CHAIN_PHASE(thread1, 300, 100)

const struct phase COPY(phases)[PHASES] = {
    {"spin50", COPY(spin50_caller), 2e6, 1},
    {"spin200", COPY(spin200_caller), 1e6, 1},
    {"spin1us", COPY(spin1us_caller), 2e5, 1},
    {"spin100us", COPY(spin100us_caller), 2000, 1},
    {"spin10ms", COPY(spin10ms_caller), 20, 1},
    {"chain50", COPY(chain50_caller), 2e6, 1},
    {"chain200", COPY(chain200_caller), 1e6, 1},
    {"chain1us", COPY(chain1us_caller), 2e5, 1},
    {"fence50", COPY(fence50_caller), 2e6, 1},
    {"fence200", COPY(fence200_caller), 1e6, 1},
    {"fence1us", COPY(fence1us_caller), 2e5, 1},
    {"burst", COPY(burst_caller), 1e6, 100},
    {"deep", COPY(deep_caller), 1e6, 1000},
    {"many", COPY(many_caller), 1e7, 1},
    {"compute", COPY(compute_caller), 900, 1},
};

const struct phase COPY(thread_phases)[THREADS] = {
    {"thread0", COPY(thread0_caller), 1e6, 1},
    {"thread1", COPY(thread1_caller), 1e6, 1},
};
