// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What recording a call costs, by a loop of such calls and a loop of calls without events.
#include "event_cost.h"

#include <stdlib.h>
#include <string.h>
#include <teeperf/abi.h>
#include <time.h>

enum {
	ROUNDS = 21, // the median of so many; those in which we are interrupted lie at its end
	CALLS = 2000,
	SOFT_CALLS = 4000,  // shorter ones, so that the line moves between the cores now and then
	SLOTS_SIZE = 65536, // a chunk of the log
};

#define UNLIKELY(condition) __builtin_expect((condition), 0)

enum shape {
	NO_EVENTS,
	TIMED,
	UNTIMED,
};

// What a thread of the runtime has, where it has it; volatile, as the sequence has nothing in registers either.
struct writer {
	volatile struct teeperf_thread_block block;
	volatile uint8_t gate;
	uint64_t *slots;
};
static _Thread_local struct writer writer __attribute__((tls_model("initial-exec")));

static double now_ns(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

// In halves, as the sequence has it from x86-64's instruction.
struct halves {
	uint32_t low, high;
};

static inline __attribute__((always_inline)) struct halves read_counter_word(void)
{
	const uint32_t *word = (const uint32_t *)writer.block.counter;
	const uint32_t low = __atomic_load_n(&word[0], __ATOMIC_RELAXED);
	return (struct halves){low, __atomic_load_n(&word[1], __ATOMIC_RELAXED)};
}

static inline __attribute__((always_inline)) struct halves read_hardware(uint8_t gate)
{
#if defined(__x86_64__)
	struct halves time;
	if (gate == TEEPERF_GATE_ORDERED)
		__builtin_ia32_lfence();
	__asm__ volatile("rdtsc" : "=a"(time.low), "=d"(time.high));
	if (gate == TEEPERF_GATE_ORDERED)
		__builtin_ia32_lfence();
	return time;
#else
	(void)gate;
	uint64_t value = 0;
#if defined(__aarch64__)
	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(value));
#elif defined(__riscv) && __riscv_xlen == 64
	__asm__ volatile("rdtime %0" : "=r"(value));
#endif
	return (struct halves){(uint32_t)value, (uint32_t)(value >> 32)};
#endif
}

// One record, as the sequence of abi.h writes it, with the same jumps: what is rare, or slow, stands apart.
static inline __attribute__((always_inline)) void record(bool timed, uint64_t name)
{
	const uint8_t gate = writer.gate;
	if (UNLIKELY(gate == TEEPERF_GATE_OFF))
		return;
	struct halves time = {0, 0};
	if (timed) {
		time =
		    UNLIKELY(gate != TEEPERF_GATE_SOFT) ? read_hardware(gate) : read_counter_word();
		if (UNLIKELY(time.high != writer.block.clock_high))
			writer.block.clock_high = time.high;
	}
	uint64_t at = writer.block.cursor;
	if (UNLIKELY((at & (SLOTS_SIZE - 1)) == 0))
		at = (uintptr_t)writer.slots;
	at += sizeof(uint64_t);
	writer.block.cursor = at;
	volatile uint64_t *place = (volatile uint64_t *)(uintptr_t)at - 1;
	if (UNLIKELY((writer.block.end - at) >> 16 != 0) || UNLIKELY(*place != 0))
		place = writer.slots;
	*place = name << 32 | time.low;
}

static inline __attribute__((always_inline)) void call(enum shape shape)
{
	if (shape != NO_EVENTS)
		record(true, TEEPERF_NAME_FIRST);
	__asm__ volatile("" : : : "memory");
	if (shape == NO_EVENTS)
		return;
	record(shape == TIMED, TEEPERF_NAME_FIRST + TEEPERF_KIND_EXIT);
	__builtin_prefetch((void *)(uintptr_t)(writer.block.cursor + 1024), 1);
}

#define CALLEE(name, shape)                              \
	static __attribute__((noinline)) void name(void) \
	{                                                \
		call(shape);                             \
	}
CALLEE(call_nothing, NO_EVENTS)
CALLEE(call_timed, TIMED)
CALLEE(call_untimed, UNTIMED)

static int compare(const void *a, const void *b)
{
	const double x = *(const double *)a;
	const double y = *(const double *)b;
	return (x > y) - (x < y);
}

// The part of the time that passed inside of calls, as the records in the slots say.
static double part_of(const uint64_t *slots, uint64_t count)
{
	double enters = 0;
	for (uint64_t i = 0; i < count; i += 2)
		enters += (uint32_t)((uint32_t)slots[i + 1] - (uint32_t)slots[i]);
	const double all = (uint32_t)((uint32_t)slots[count - 2] - (uint32_t)slots[0]);
	return enters <= all && all > 0 ? enters / all : 0.5;
}

// Nanoseconds for each of CALLS calls, which fit the slots.
static double time_calls(void (*callee)(void), uint64_t calls)
{
	memset(writer.slots, 0, SLOTS_SIZE);
	writer.block.cursor = (uintptr_t)writer.slots;
	writer.block.end = writer.block.cursor + SLOTS_SIZE;
	const double start = now_ns();
	for (uint64_t j = 0; j < calls; j++)
		callee();
	return (now_ns() - start) / (double)calls;
}

static double median(double *values, size_t count)
{
	qsort(values, count, sizeof(values[0]), compare);
	return values[count / 2];
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
	writer.slots = aligned_alloc(SLOTS_SIZE, SLOTS_SIZE);
	if (!writer.slots)
		return false;
	writer.gate = soft                                 ? TEEPERF_GATE_SOFT
		      : clock == TEEPERF_CLOCK_TSC_ORDERED ? TEEPERF_GATE_ORDERED
							   : TEEPERF_GATE_HARDWARE;
	writer.block.counter = (const uint64_t *)word;
	double nothing[ROUNDS];
	double timed[ROUNDS];
	double untimed[ROUNDS];
	double part[ROUNDS];
	// One more at first, which warms up.
	for (int i = -1; i < ROUNDS; i++) {
		const int at = i < 0 ? 0 : i;
		nothing[at] = time_calls(call_nothing, calls);
		untimed[at] = time_calls(call_untimed, calls);
		timed[at] = time_calls(call_timed, calls);
		part[at] = part_of(writer.slots, calls * 2);
	}
	free(writer.slots);
	const double without = median(nothing, ROUNDS);
	const double with = median(timed, ROUNDS);
	const double with_untimed = median(untimed, ROUNDS);
	if (with <= without)
		return false;
	// A soft clock hardly moves meanwhile, or not at all if its thread has no processor: half is inside then.
	// Between its looks at the clock the call has no work of its own: all that passes there is what recording costs.
	const double in = with * median(part, ROUNDS);
	cost->in_ns = soft || in > with - without ? (with - without) / 2 : in;
	cost->out_ns = (with - without) - cost->in_ns;
	cost->untimed_ns = with_untimed > without ? with_untimed - without : 0;
	return true;
}
