// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What it costs to record a call at each level; calibrates the cost of events on this machine.
#include "cost.h"

#include "common/chunks/event_cost.h"

#include <stddef.h>
#include <teeperf/log.h>

// docs/overhead.md: a call and its return in a loop that does nothing else.
#define TSC_EVENT_NS 15.5
#define SOFT_EVENT_NS 2.5
#define NONE_EVENT_NS 1.4
// Load, add, store; nothing in that loop, but it takes issue slots that a busy program needs.
#define COUNT_NS 1.0
// A sampled call counts down as well: so much dearer than counting.
#define SAMPLE_COUNTS 1.5

// Entry and exit make a function larger by some 235 bytes; an instruction of LLVM makes 3.9.
#define CODE_INSTRS 60
// With the same gates, in line, and code that is 33 and 57 % larger, SQLite took 8 % and Lua 16 %
// more.
#define CODE_PART 0.25
// Code that fits the first cache of today's processors, of 32 KiB, may grow up to there.
#define CACHED_INSTRS (32 * 1024 / 3.9)
// But never more than the misses for its lines in a call.
#define CODE_CALL_NS 8.0

// research: 15.8 ns a call in LevelDB where the loop said 37; half or less of the prediction
// elsewhere.
#define LOW_OF_LOOP 0.35
// Two measurements of the same program agree to about this.
#define IN_SITU_NOISE 0.2

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
	struct tp_event_cost measured;
	if (calibrate && tp_event_cost_measure(&measured, clock_kind, NULL)) {
		cost->event_ns = measured.in_ns + measured.out_ns;
		cost->source = TP_COST_CALIBRATED;
	}
}

double tp_cost_code_ns(const struct tp_cost_code *code, double calls)
{
	if (code->instrs + CODE_INSTRS * code->functions <= CACHED_INSTRS || code->instrs <= 0)
		return 0;
	const double by_size = CODE_PART * code->time_ns * CODE_INSTRS / code->instrs;
	const double by_calls = calls * CODE_CALL_NS;
	return by_size < by_calls ? by_size : by_calls;
}

double tp_cost_call_ns(const struct tp_cost *cost, enum tp_category level, uint32_t sample)
{
	if (level == TP_CATEGORY_ALLOW || level == TP_CATEGORY_FORCE)
		return cost->event_ns;
	if (level == TP_CATEGORY_SAMPLE)
		return cost->count_ns * SAMPLE_COUNTS + cost->event_ns / sample;
	return level == TP_CATEGORY_COUNT ? cost->count_ns : cost->closed_ns;
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
