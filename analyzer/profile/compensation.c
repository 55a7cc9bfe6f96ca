// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Taking off times what recording them has cost.
#include "compensation.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/chunks/event_cost.h"

// Of a call, in parts of a tick: whatever rate a trace may have, 2^32 calls do not overflow.
#define COST_MAX (UINT64_C(1) << 32)

// More are not taken off at once.
#define TICKS_MAX (UINT64_C(1) << 62)

// A whole number of picoseconds; false if the trace has none that can be believed.
static bool read_cost(
    const struct tp_tracefile *trace, const char *key, uint64_t *value, struct tp_problems *notes)
{
	char text[32];
	uint64_t number = 0;
	if (!tp_tracefile_host(trace, key, text, sizeof(text)))
		return false;
	bool digits = text[0] != '\0';
	for (const char *at = text; *at && digits; at++) {
		digits = *at >= '0' && *at <= '9' && number <= TP_COMPENSATION_MAX_PS;
		number = number * 10 + (uint64_t)(*at - '0');
	}
	if (digits && number <= TP_COMPENSATION_MAX_PS) {
		*value = number;
		return true;
	}
	tp_problems_add(notes, TP_ERR_FORMAT, trace->source.name,
	    "%s is '%s', not a number of picoseconds up to %" PRIu64 ": %s", key, text,
	    TP_COMPENSATION_MAX_PS,
	    strstr(key, "_off_")     ? "the uncertainty of times is not shown"
	    : strstr(key, "_wait_")  ? "waits are not compensated"
	    : strstr(key, "_least_") ? "whether costs can be true is not checked with it"
				     : "times are shown as recorded");
	return false;
}

// A whole number of seconds, on which nothing depends; any other text is ignored.
static bool read_age(const struct tp_tracefile *trace, uint64_t *age_s)
{
	char text[32];
	if (!tp_tracefile_host(trace, "cost_age_s", text, sizeof(text)) || !text[0] ||
	    strlen(text) > 18 || text[strspn(text, "0123456789")])
		return false;
	*age_s = strtoull(text, NULL, 10);
	return true;
}

void tp_compensation_init(struct tp_compensation *compensation, const struct tp_tracefile *trace,
    const struct tp_timebase *time, struct tp_problems *notes)
{
	*compensation = (struct tp_compensation){0};
	const bool in = read_cost(trace, "cost_in_ps", &compensation->in_ps, notes);
	const bool out = read_cost(trace, "cost_out_ps", &compensation->out_ps, notes);
	const bool untimed = read_cost(trace, "cost_untimed_ps", &compensation->untimed_ps, notes);
	compensation->known = in && out && untimed && time->known;
	const bool in_off = read_cost(trace, "cost_in_off_ps", &compensation->in_off_ps, notes);
	const bool out_off = read_cost(trace, "cost_out_off_ps", &compensation->out_off_ps, notes);
	compensation->bounded = compensation->known && in_off && out_off;
	compensation->kept = compensation->known && read_age(trace, &compensation->age_s);
	const bool least = read_cost(trace, "cost_least_ps", &compensation->least_ps, notes);
	const double all_ns = (double)(compensation->in_ps + compensation->out_ps) / 1000;
	// A soft clock's costs contain waits, and earlier versions did not say what a call costs at
	// least.
	const bool soft = trace->has_clock && TEEPERF_CLOCK_IS_SOFT(trace->clock.kind);
	compensation->absurd =
	    compensation->known && (least || !soft) &&
	    tp_event_cost_is_absurd(all_ns, (double)compensation->least_ps / 1000);
	if (soft) {
		compensation->period_ns = trace->clock.period_ns;
		read_cost(trace, "cost_wait_ps", &compensation->wait_ps, notes);
	}
}

uint64_t tp_compensation_parts(double ps, const struct tp_timebase *time)
{
	const double parts = tp_timebase_real_ticks(time, ps / 1000) * TP_COST_PARTS;
	const double most = (double)COST_MAX;
	return parts < most ? (uint64_t)(parts + 0.5) : COST_MAX;
}

struct tp_profile_cost tp_compensation_cost(
    const struct tp_compensation *compensation, const struct tp_timebase *time)
{
	struct tp_profile_cost cost = {0};
	if (!compensation->known || compensation->absurd)
		return cost;
	cost.in = tp_compensation_parts((double)compensation->in_ps, time);
	cost.out = tp_compensation_parts((double)compensation->out_ps, time);
	cost.untimed = tp_compensation_parts((double)compensation->untimed_ps, time);
	const double period = tp_timebase_real_ticks(time, (double)compensation->period_ns);
	cost.period = period < (double)TICKS_MAX ? (uint64_t)(period + 0.5) : TICKS_MAX;
	const double wait = tp_timebase_real_ticks(
	    time, (double)compensation->wait_ps / 1000 * TP_COMPENSATION_WAIT_SHOWS);
	if (cost.period)
		cost.wait_share = wait / (double)cost.period * TP_COST_PARTS;
	// The steps in which time is seen to go on: of a soft clock its period, else a tick, or
	// what a look may be early or late by, some part of its cost.
	const double step = fmax((double)cost.period * TP_COST_PARTS,
	    fmax((double)cost.in + (double)cost.out, TP_COST_PARTS));
	cost.debt_max = (int32_t)fmin(step * TP_COMPENSATION_STEPS, (double)INT32_MAX);
	return cost;
}

uint64_t tp_compensation_uncertainty(const struct tp_compensation *compensation,
    const struct tp_timebase *time, double costs_ps, uint64_t looks, uint64_t waited)
{
	const double period = tp_timebase_real_ticks(time, (double)compensation->period_ns);
	double ps = costs_ps;
	if (period > 0)
		ps += (double)waited / period * (double)compensation->wait_ps *
		      TP_COMPENSATION_WAIT_SHOWS;
	const double ticks = tp_timebase_real_ticks(time, ps / 1000) + period * sqrt((double)looks);
	return ticks < 9e18 ? (uint64_t)(ticks + 0.5) : UINT64_MAX / 2;
}

bool tp_compensation_is_far(
    const struct tp_compensation *compensation, const struct tp_timebase *time)
{
	return tp_timebase_ns(time, compensation->missing) >= TP_COMPENSATION_FAR_NS &&
	       compensation->missing / TP_COMPENSATION_FAR >= compensation->taken;
}

void tp_compensation_count(
    const struct tp_profile *profile, uint64_t recorded, uint64_t *taken, uint64_t *missing)
{
	const struct tp_profile_cost *cost = &profile->cost;
	const uint64_t left = profile->nodes[0].inclusive;
	double due = 0;
	for (uint32_t i = 1; i < profile->node_count; i++) {
		const struct tp_node *node = &profile->nodes[i];
		const struct tp_local_function *function = &profile->functions[node->function];
		const double calls =
		    (double)node->calls + (double)(profile->dropped ? profile->dropped[i] : 0);
		// The thread itself has no time of its own that the outermost calls could take
		// from, nor has what was running before.
		const bool inner =
		    node->parent && profile->nodes[node->parent].name != TP_NAME_ATTACHED;
		due += calls * (double)(function->untimed ? cost->untimed : function->in);
		due += inner && !function->untimed ? calls * (double)function->out : 0;
		due += profile->waited ? (double)profile->waited[i] * cost->wait_share : 0;
	}
	const uint64_t off = recorded > left ? recorded - left : 0;
	const double all = fmin(due / TP_COST_PARTS + 0.5, (double)TICKS_MAX);
	*taken += off;
	*missing += (uint64_t)all > off ? (uint64_t)all - off : 0;
}
