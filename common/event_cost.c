// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What recording a call costs, by a loop of such calls and a loop of calls without events.
#include "event_cost.h"

#include <stdlib.h>
#include <string.h>
#include <teeperf/log.h>
#include <time.h>

enum {
	ROUNDS = 21, // the median of so many; those in which we are interrupted lie at its end
	CALLS = 2000,
	SOFT_CALLS = 4000, // shorter ones, so that the line moves between the cores now and then
	SLOTS = 8192,      // 64 KiB: a chunk of the log
};

enum shape {
	NO_EVENTS,
	TIMED,
	UNTIMED,
};

// What a thread of the runtime has; volatile, as the sequence has nothing in registers either.
struct writer {
	uint64_t *volatile cursor;
	volatile uint32_t upper;
	const volatile uint64_t *word;
	uint64_t *slots;
};

static double now_ns(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static inline __attribute__((always_inline)) uint64_t read_clock(
    uint32_t clock, const struct writer *writer)
{
	if (TEEPERF_CLOCK_IS_SOFT(clock))
		return __atomic_load_n(writer->word, __ATOMIC_RELAXED);
#if defined(__x86_64__)
	if (clock == TEEPERF_CLOCK_TSC)
		return __builtin_ia32_rdtsc();
	__builtin_ia32_lfence();
	const uint64_t value = __builtin_ia32_rdtsc();
	__builtin_ia32_lfence();
	return value;
#elif defined(__aarch64__)
	uint64_t value;
	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(value));
	return value;
#elif defined(__riscv) && __riscv_xlen == 64
	uint64_t value;
	__asm__ volatile("rdtime %0" : "=r"(value));
	return value;
#else
	return 0;
#endif
}

// One record, as the sequence writes it.
static inline __attribute__((always_inline)) void record(
    uint32_t clock, bool timed, uint64_t name, struct writer *writer)
{
	uint64_t time = 0;
	if (timed) {
		time = read_clock(clock, writer);
		if (__builtin_expect((uint32_t)(time >> 32) != writer->upper, 0))
			writer->upper = (uint32_t)(time >> 32);
	}
	uint64_t *at = writer->cursor;
	if (__builtin_expect(((uintptr_t)at & (SLOTS * sizeof(*at) - 1)) == 0, 0))
		at = writer->slots;
	writer->cursor = at + 1;
	*at = name << 32 | (uint32_t)time;
}

static inline __attribute__((always_inline)) void call(
    uint32_t clock, enum shape shape, struct writer *writer)
{
	if (shape != NO_EVENTS)
		record(clock, true, TEEPERF_NAME_FIRST, writer);
	__asm__ volatile("" : : : "memory");
	if (shape == NO_EVENTS)
		return;
	record(clock, shape == TIMED, TEEPERF_NAME_FIRST + TEEPERF_KIND_EXIT, writer);
	__builtin_prefetch(writer->cursor + 128, 1);
}

#define CALLEE(name, clock, shape)                                        \
	static __attribute__((noinline)) void name(struct writer *writer) \
	{                                                                 \
		call(clock, shape, writer);                               \
	}
CALLEE(call_nothing, TEEPERF_CLOCK_TSC, NO_EVENTS)
CALLEE(call_hard, TEEPERF_CLOCK_TSC, TIMED)
CALLEE(call_hard_untimed, TEEPERF_CLOCK_TSC, UNTIMED)
CALLEE(call_ordered, TEEPERF_CLOCK_TSC_ORDERED, TIMED)
CALLEE(call_ordered_untimed, TEEPERF_CLOCK_TSC_ORDERED, UNTIMED)
CALLEE(call_soft, TEEPERF_CLOCK_SOFT_TSC, TIMED)
CALLEE(call_soft_untimed, TEEPERF_CLOCK_SOFT_TSC, UNTIMED)

static int compare(const void *a, const void *b)
{
	const double x = *(const double *)a;
	const double y = *(const double *)b;
	return (x > y) - (x < y);
}

// The part of the time that passed inside of calls, as the records in the slots say.
static double part_of(const struct writer *writer, uint64_t count)
{
	double enters = 0;
	for (uint64_t i = 0; i < count; i += 2)
		enters += (uint32_t)((uint32_t)writer->slots[i + 1] - (uint32_t)writer->slots[i]);
	const double all =
	    (uint32_t)((uint32_t)writer->slots[count - 2] - (uint32_t)writer->slots[0]);
	return enters <= all && all > 0 ? enters / all : 0.5;
}

// Nanoseconds for each of CALLS calls, which fit the slots, and the part of them that is inside (may be
// NULL): medians of the rounds, for in some of them we are interrupted.
static double time_calls(
    void (*callee)(struct writer *writer), uint64_t calls, struct writer *writer, double *part)
{
	double rounds[ROUNDS];
	double parts[ROUNDS];
	// One more at first, which warms up.
	for (int i = -1; i < ROUNDS; i++) {
		writer->cursor = writer->slots;
		const double start = now_ns();
		for (uint64_t j = 0; j < calls; j++)
			callee(writer);
		const double each = (now_ns() - start) / (double)calls;
		if (i < 0)
			continue;
		rounds[i] = each;
		if (part)
			parts[i] = part_of(writer, calls * 2);
	}
	if (part) {
		qsort(parts, ROUNDS, sizeof(parts[0]), compare);
		*part = parts[ROUNDS / 2];
	}
	qsort(rounds, ROUNDS, sizeof(rounds[0]), compare);
	return rounds[ROUNDS / 2];
}

static bool has_clock(uint32_t clock)
{
#if defined(__x86_64__)
	return clock == TEEPERF_CLOCK_TSC || clock == TEEPERF_CLOCK_TSC_ORDERED;
#elif defined(__aarch64__)
	return clock == TEEPERF_CLOCK_CNTVCT;
#elif defined(__riscv) && __riscv_xlen == 64
	return clock == TEEPERF_CLOCK_RDTIME;
#else
	(void)clock;
	return false;
#endif
}

bool tp_event_cost_measure(
    struct tp_event_cost *cost, uint32_t clock, const volatile uint64_t *word)
{
	const bool soft = TEEPERF_CLOCK_IS_SOFT(clock);
	*cost = (struct tp_event_cost){0};
	if (soft ? !word : !has_clock(clock))
		return false;
	const uint64_t calls = soft ? SOFT_CALLS : CALLS;
	struct writer writer = {.word = word};
	writer.slots = aligned_alloc(SLOTS * sizeof(uint64_t), SLOTS * sizeof(uint64_t));
	if (!writer.slots)
		return false;
	memset(writer.slots, 0, SLOTS * sizeof(uint64_t));
	double part = 0.5;
	const double nothing = time_calls(call_nothing, calls, &writer, NULL);
	// A soft clock hardly moves meanwhile, or not at all if its thread has no processor: half is inside.
	const bool ordered = clock == TEEPERF_CLOCK_TSC_ORDERED;
	const double timed =
	    soft ? time_calls(call_soft, calls, &writer, NULL)
		 : time_calls(ordered ? call_ordered : call_hard, calls, &writer, &part);
	const double untimed = time_calls(soft      ? call_soft_untimed
					  : ordered ? call_ordered_untimed
						    : call_hard_untimed,
	    calls, &writer, NULL);
	free(writer.slots);
	if (timed <= nothing)
		return false;
	cost->in_ns = (timed - nothing) * part;
	cost->out_ns = (timed - nothing) - cost->in_ns;
	cost->untimed_ns = untimed > nothing ? untimed - nothing : 0;
	return true;
}
