// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What it costs to record a call at each level; calibrates the cost of events on this machine.
#include "cost.h"

#include <stdlib.h>
#include <teeperf/log.h>
#include <time.h>

// docs/overhead.md: a call and its return in a loop that does nothing else.
#define TSC_EVENT_NS 15.5
#define SOFT_EVENT_NS 2.5
#define NONE_EVENT_NS 1.4
// Load, add, store; nothing in that loop, but it takes issue slots that a busy program needs.
#define COUNT_NS 1.0
// A sampled call counts down as well: so much dearer than counting.
#define SAMPLE_COUNTS 1.5

// research: 15.8 ns a call in LevelDB where the loop said 37; half or less of the prediction elsewhere.
#define LOW_OF_LOOP 0.35
// Two measurements of the same program agree to about this.
#define IN_SITU_NOISE 0.2

#if defined(__x86_64__)
#define OWN_CLOCK TEEPERF_CLOCK_TSC
static inline uint64_t read_clock(void)
{
	return __builtin_ia32_rdtsc();
}
#elif defined(__aarch64__)
#define OWN_CLOCK TEEPERF_CLOCK_CNTVCT
static inline uint64_t read_clock(void)
{
	uint64_t value;
	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(value));
	return value;
}
#endif

#ifdef OWN_CLOCK
enum {
	ROUNDS = 15,   // the median of so many loops
	CALLS = 20000, // in each: a third of a millisecond
	SLOTS = 1024,  // 16 KiB, as a chunk of the log that the first-level cache holds
};

static double now_ns(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static int compare(const void *a, const void *b)
{
	const double x = *(const double *)a;
	const double y = *(const double *)b;
	return (x > y) - (x < y);
}

// Nanoseconds that two looks at the clock and two stores take: what no recording does without.
static double time_pair(void)
{
	static uint64_t slots[SLOTS];
	double rounds[ROUNDS];
	for (int i = 0; i < ROUNDS; i++) {
		const double start = now_ns();
		for (unsigned call = 0; call < CALLS; call++) {
			slots[2 * call % SLOTS] = read_clock();
			slots[(2 * call + 1) % SLOTS] = read_clock();
			__asm__ volatile("" : : "r"(slots) : "memory");
		}
		rounds[i] = (now_ns() - start) / CALLS;
	}
	qsort(rounds, ROUNDS, sizeof(rounds[0]), compare);
	return rounds[ROUNDS / 2];
}
#endif

void tp_cost_init(struct tp_cost *cost, uint32_t clock_kind, bool calibrate)
{
	*cost = (struct tp_cost){.count_ns = COUNT_NS, .source = TP_COST_CONSTANT};
	if (clock_kind == TEEPERF_CLOCK_NONE) {
		cost->event_ns = NONE_EVENT_NS;
		return;
	}
	if (TEEPERF_CLOCK_IS_SOFT(clock_kind)) {
		cost->event_ns = SOFT_EVENT_NS;
		return;
	}
	cost->event_ns = TSC_EVENT_NS;
	(void)calibrate;
#ifdef OWN_CLOCK
	if (calibrate && clock_kind == OWN_CLOCK) {
		cost->event_ns = time_pair();
		cost->source = TP_COST_CALIBRATED;
	}
#endif
}

double tp_cost_call_ns(const struct tp_cost *cost, enum tp_category level, uint32_t sample)
{
	switch (level) {
	case TP_CATEGORY_ALLOW:
	case TP_CATEGORY_FORCE:
		return cost->event_ns;
	case TP_CATEGORY_COUNT:
		return cost->count_ns;
	case TP_CATEGORY_SAMPLE:
		return cost->count_ns * SAMPLE_COUNTS + cost->event_ns / sample;
	case TP_CATEGORY_SKIP:
	case TP_CATEGORY_FORBID:
		break;
	}
	return 0;
}

double tp_cost_call_bytes(enum tp_category level, uint32_t sample)
{
	if (level == TP_CATEGORY_ALLOW || level == TP_CATEGORY_FORCE)
		return TP_COST_PAIR_BYTES;
	return level == TP_CATEGORY_SAMPLE ? (double)TP_COST_PAIR_BYTES / sample : 0;
}

double tp_cost_low(const struct tp_cost *cost)
{
	return cost->source == TP_COST_IN_SITU ? 1 - IN_SITU_NOISE : LOW_OF_LOOP;
}

double tp_cost_high(const struct tp_cost *cost)
{
	return cost->source == TP_COST_IN_SITU ? 1 + IN_SITU_NOISE : 1;
}

const char *tp_cost_source_name(enum tp_cost_source source)
{
	static const char *const names[] = {"given", "calibrated on this machine",
	    "typical of this clock", "measured in the program"};
	return names[source];
}
