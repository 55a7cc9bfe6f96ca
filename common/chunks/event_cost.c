// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What recording a call costs, by a loop of such calls and a loop of calls without events; and how
// much that depends on what the program does around it, by loops that do.
#include "event_cost.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <teeperf/abi.h>
#include <teeperf/hardware_clock.h>
#include <time.h>

#include "common/array.h"

enum {
	// Of these rounds the least quarter counts; interrupted rounds lie at the upper end. Each
	// is short, so that a busy machine leaves a quarter of them alone.
	ROUNDS = 84,
	ROUNDS_LEAST = 20, // where a look at the clock is slow
	CALLS = 500,
	SOFT_CALLS = 1000, // shorter ones, so that the line moves between the cores now and then
	WORK_CALLS = 100,
	SOFT_WORK_CALLS = 250,
	GLANCES = 32,
	GLANCES_LEAST = 4,
	GLANCE_CALLS = 100,
	FENCES = 4, // some 20 ns
	STEPS = 30, // some 40 ns
	WAITS = 1000,
	WAIT_BEFORE_NS = 3000, // longer than the usual period
	SLOTS_SIZE = 65536,    // a chunk of the log
};

// Longer than usual: a slow clock, or a busy machine, gets fewer rounds.
static const double ROUNDS_MOST_NS = 30e6;
static const double GLANCES_MOST_NS = 2e6;

#define UNLIKELY(condition) __builtin_expect((condition), 0)

enum shape {
	NO_EVENTS,
	TIMED,
	UNTIMED,
};

// What caller and callee do besides.
enum work {
	NO_WORK,
	// the same arithmetic goes on through all calls: nearly all of it hides, and reads of the
	// clock come early
	FENCED, // all that is begun ends before anything else begins: nothing of the cost hides
	CHAINED,
};

// What a thread of the runtime has, where it has it; volatile, as the sequence has nothing in
// registers either.
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
	const uint64_t value = tp_hardware_clock();
	return (struct halves){(uint32_t)value, (uint32_t)(value >> 32)};
#endif
}

// One record, as the sequence of abi.h writes it, with the same jumps: rare or slow code stands
// apart.
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
	uint64_t at = writer.block.cursor + sizeof(uint64_t);
	if (UNLIKELY(writer.block.start >= at) || UNLIKELY(writer.block.end < at))
		at = (uintptr_t)writer.slots + sizeof(uint64_t);
	writer.block.cursor = at;
	volatile uint64_t *place = (volatile uint64_t *)(uintptr_t)at - 1;
	if (UNLIKELY(*place != 0))
		place = writer.slots;
	*place = name << 32 | time.low;
}

static volatile uint64_t chain = 88172645463325252;

static inline __attribute__((always_inline)) void do_work(enum work work)
{
	if (work == FENCED) {
		for (int i = 0; i < FENCES; i++)
#if defined(__x86_64__)
			__builtin_ia32_lfence();
#elif defined(__aarch64__)
			__asm__ volatile("isb");
#else
			__atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
	} else if (work == CHAINED) {
		uint64_t x = chain;
		for (int i = 0; i < STEPS; i++) {
			x = x * 6364136223846793005U + 1442695040888963407U;
			__asm__ volatile("" : "+r"(x));
		}
		chain = x;
	}
}

static inline __attribute__((always_inline)) void call(enum shape shape, enum work work)
{
	if (shape != NO_EVENTS)
		record(true, TEEPERF_NAME_FIRST);
	__asm__ volatile("" : : : "memory");
	do_work(work);
	if (shape == NO_EVENTS)
		return;
	record(shape == TIMED, TEEPERF_NAME_FIRST + TEEPERF_KIND_EXIT);
	__builtin_prefetch((void *)(uintptr_t)(writer.block.cursor + 1024), 1);
}

#define CALLEE(name, shape, work)                        \
	static __attribute__((noinline)) void name(void) \
	{                                                \
		call(shape, work);                       \
	}
CALLEE(call_nothing, NO_EVENTS, NO_WORK)
CALLEE(call_timed, TIMED, NO_WORK)
CALLEE(call_untimed, UNTIMED, NO_WORK)
CALLEE(call_fenced, NO_EVENTS, FENCED)
CALLEE(call_fenced_timed, TIMED, FENCED)
CALLEE(call_chained, NO_EVENTS, CHAINED)
CALLEE(call_chained_timed, TIMED, CHAINED)

// The part of the time that passed inside of calls, as the records in the slots say.
static double part_of(const uint64_t *slots, uint64_t count)
{
	double enters = 0;
	for (uint64_t i = 0; i < count; i += 2)
		enters += (uint32_t)((uint32_t)slots[i + 1] - (uint32_t)slots[i]);
	const double all = (uint32_t)((uint32_t)slots[count - 2] - (uint32_t)slots[0]);
	return enters <= all && all > 0 ? enters / all : 0.5;
}

// Nanoseconds for each of CALLS calls, which fit the slots, and the caller's work before each.
static inline __attribute__((always_inline)) double time_calls(
    void (*callee)(void), uint64_t calls, enum work work)
{
	memset(writer.slots, 0, SLOTS_SIZE);
	writer.block.cursor = (uintptr_t)writer.slots;
	writer.block.start = writer.block.cursor;
	writer.block.end = writer.block.cursor + SLOTS_SIZE;
	const double start = now_ns();
	for (uint64_t j = 0; j < calls; j++) {
		do_work(work);
		callee();
	}
	return (now_ns() - start) / (double)calls;
}

static double median(double *values, size_t count)
{
	qsort(values, count, sizeof(values[0]), tp_compare_double);
	return values[count / 2];
}

// The mean of the least quarter.
static double least_quarter(double *values, int count)
{
	qsort(values, (size_t)count, sizeof(values[0]), tp_compare_double);
	const int few = count / 4 ? count / 4 : 1;
	double sum = 0;
	for (int i = 0; i < few; i++)
		sum += values[i];
	return sum / few;
}

// The first round warms up.
static int kept(int round)
{
	return round < 0 ? 0 : round;
}

// Whether there is time for another round after ROUND of them, which began at START_NS.
static bool goes_on(int round, double start_ns)
{
	return round < ROUNDS && (round < ROUNDS_LEAST || now_ns() - start_ns < ROUNDS_MOST_NS);
}

// Of a call with its return, in nanoseconds: between its looks at the clock, and around them.
struct parts {
	double in, out;
};

static struct parts measure_bare(bool soft, double *untimed)
{
	const uint64_t calls = soft ? SOFT_CALLS : CALLS;
	const double start = now_ns();
	double nothing[ROUNDS];
	double timed[ROUNDS];
	double without_time[ROUNDS];
	double part[ROUNDS];
	int count = -1;
	for (; goes_on(count, start); count++) {
		const int i = kept(count);
		nothing[i] = time_calls(call_nothing, calls, NO_WORK);
		without_time[i] = time_calls(call_untimed, calls, NO_WORK);
		timed[i] = time_calls(call_timed, calls, NO_WORK);
		part[i] = part_of(writer.slots, calls * 2);
	}
	const double without = least_quarter(nothing, count);
	const double with = least_quarter(timed, count);
	const double all = with - without;
	*untimed = least_quarter(without_time, count) - without;
	// Between its looks at the clock the call has no work of its own: all that passes there is
	// what recording costs. A round that was interrupted is far off at either end.
	const double in = with * median(part, (size_t)count);
	// A soft clock hardly moves meanwhile, or not at all if its thread has no processor: half
	// is inside then.
	const double inside = soft || in > all ? all / 2 : in;
	return (struct parts){inside, all - inside};
}

// The same where caller and callee do that work.
static inline __attribute__((always_inline)) struct parts measure_work(
    enum work work, void (*plain)(void), void (*recorded)(void), bool soft)
{
	const uint64_t calls = soft ? SOFT_WORK_CALLS : WORK_CALLS;
	const double start = now_ns();
	double without[ROUNDS];
	double hollow[ROUNDS];
	double with[ROUNDS];
	double part[ROUNDS];
	int count = -1;
	for (; goes_on(count, start); count++) {
		const int i = kept(count);
		without[i] = time_calls(plain, calls, work);
		hollow[i] = time_calls(call_nothing, calls, work);
		with[i] = time_calls(recorded, calls, work);
		part[i] = part_of(writer.slots, calls * 2);
	}
	const double plain_ns = least_quarter(without, count);
	const double recorded_ns = least_quarter(with, count);
	const double all = recorded_ns - plain_ns;
	const double inside = soft ? all / 2
				   : recorded_ns * median(part, (size_t)count) -
					 (plain_ns - least_quarter(hollow, count));
	return (struct parts){inside, all - inside};
}

static void add_off(struct tp_event_cost *cost, struct parts elsewhere)
{
	cost->in_off_ns = fmax(cost->in_off_ns, fabs(elsewhere.in - cost->in_ns));
	cost->out_off_ns = fmax(cost->out_off_ns, fabs(elsewhere.out - cost->out_ns));
}

// How long a load takes that comes a while after the one before; less the same without a load.
static double time_look(const volatile uint64_t *word)
{
	const double start = now_ns();
	while (now_ns() - start < (double)WAIT_BEFORE_NS)
		;
	const double before = now_ns();
	if (word)
		(void)__atomic_load_n(word, __ATOMIC_RELAXED);
	atomic_thread_fence(memory_order_seq_cst);
	return now_ns() - before;
}

static double measure_wait(const volatile uint64_t *word)
{
	static double with[WAITS];
	static double without[WAITS];
	for (int i = 0; i < WAITS; i++) {
		with[i] = time_look(word);
		without[i] = time_look(NULL);
	}
	return fmax(0, median(with, WAITS) - median(without, WAITS));
}

// The writer as a thread of a recorded program. False: this machine lacks the clock, or memory.
static bool prepare(uint32_t clock, const volatile uint64_t *word)
{
	const bool soft = TEEPERF_CLOCK_IS_SOFT(clock);
	if (soft ? !word : !tp_clock_is_hardware(clock))
		return false;
	writer.slots = aligned_alloc(SLOTS_SIZE, SLOTS_SIZE);
	if (!writer.slots)
		return false;
	writer.gate = soft                                 ? TEEPERF_GATE_SOFT
		      : clock == TEEPERF_CLOCK_TSC_ORDERED ? TEEPERF_GATE_ORDERED
							   : TEEPERF_GATE_HARDWARE;
	writer.block.counter = (const uint64_t *)word;
	return true;
}

// However busy the machine is, one of them is not interrupted.
static double glance(void)
{
	double with = INFINITY;
	double without = INFINITY;
	const double start = now_ns();
	for (int i = 0; i < GLANCES && (i < GLANCES_LEAST || now_ns() - start < GLANCES_MOST_NS);
	     i++) {
		without = fmin(without, time_calls(call_nothing, GLANCE_CALLS, NO_WORK));
		with = fmin(with, time_calls(call_timed, GLANCE_CALLS, NO_WORK));
	}
	return fmax(0, with - without);
}

double tp_event_cost_least(uint32_t clock, const volatile uint64_t *word)
{
	if (!prepare(clock, word))
		return 0;
	const double least = glance();
	free(writer.slots);
	return least;
}

bool tp_event_cost_measure(
    struct tp_event_cost *cost, uint32_t clock, const volatile uint64_t *word)
{
	const bool soft = TEEPERF_CLOCK_IS_SOFT(clock);
	*cost = (struct tp_event_cost){0};
	if (!prepare(clock, word))
		return false;
	cost->least_ns = glance();
	double untimed;
	const struct parts bare = measure_bare(soft, &untimed);
	const struct parts fenced = measure_work(FENCED, call_fenced, call_fenced_timed, soft);
	const struct parts chained = measure_work(CHAINED, call_chained, call_chained_timed, soft);
	// Where each look is between fences, so is what surrounds it.
	const struct parts usual = writer.gate == TEEPERF_GATE_ORDERED ? fenced : bare;
	cost->in_ns = fmax(0, usual.in);
	cost->out_ns = fmax(0, usual.out);
	// It has one look instead of two.
	untimed += (usual.in + usual.out - bare.in - bare.out) / 2;
	cost->untimed_ns = fmax(0, untimed);
	add_off(cost, bare);
	add_off(cost, fenced);
	add_off(cost, chained);
	if (soft)
		cost->wait_ns = measure_wait(word);
	cost->in_off_ns += cost->in_ns * TP_EVENT_COST_DRIFT;
	cost->out_off_ns += cost->out_ns * TP_EVENT_COST_DRIFT;
	free(writer.slots);
	return cost->in_ns + cost->out_ns > 0;
}
