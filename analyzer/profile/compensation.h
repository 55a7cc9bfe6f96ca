/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Taking off times what recording them has cost: of each call with its return a part lies between
 * its own two looks at the clock, the rest in its caller's time. How much that is, the recorder has
 * measured (docs/format.md, HOST: cost_in_ps, ...); docs/decisions/0016-compensation.md says why
 * so.
 *
 *     self      = recorded self time - in - calls that it made x out - waits - debt (at least 0)
 *     debt      = what could not come off the calls before of the same path, up to some steps of
 *                 the clock (tp_ended_net)
 *     inclusive = self + inclusive of all that it called
 *     waits     = sum of min(1, stretch / period) x half a wait for the clock's cache line, of all
 *                 stretches of self time from look to look, with a clock that another core stores
 *                 each period
 *
 * That is of each call; all sums, percentiles and histograms are of these times.
 */
#ifndef TP_COMPENSATION_H
#define TP_COMPENSATION_H

#include "common/err.h"
#include "analyzer/replay/profile.h"
#include "analyzer/trace/timebase.h"
#include "analyzer/trace/tracefile.h"

#include <stdbool.h>
#include <stdint.h>

/* A call cannot have cost more than this: then the constants are wrong. */
#define TP_COMPENSATION_MAX_PS UINT64_C(100000000)

/* Of a wait for the clock: the processor hides between nothing and all of it behind other work. */
#define TP_COMPENSATION_WAIT_SHOWS 0.5

/* Steps of the clock that a call may leave to the next ones. */
#define TP_COMPENSATION_STEPS 4

/*
 * Calls that are this many times shorter than what recording them costs are none: then the costs
 * are of another machine, or another moment. Where arithmetic hides nearly all of a cost, it is
 * four times. Less than this in all is left to chance.
 */
#define TP_COMPENSATION_FAR 8
#define TP_COMPENSATION_FAR_NS UINT64_C(1000000)

struct tp_compensation {
	bool known;   /* the trace says what a call has cost, and times can be compared with it */
	bool absurd;  /* but no call can have cost so much: times are as recorded */
	bool applied; /* and it has been taken off */
	bool chooses; /* calls are chosen by times without it (a least time), but shown with it */
	bool kept;    /* an earlier recording measured that, age_s seconds before this one */
	uint64_t age_s;
	uint64_t in_ps;
	uint64_t out_ps;
	uint64_t least_ps;   /* the shortest of many calls when that was measured; 0: not known */
	uint64_t untimed_ps; /* of a call without a time at its end, all of it in its own time */
	bool bounded;        /* the trace says how far off in_ps and out_ps may be */
	uint64_t in_off_ps;
	uint64_t out_off_ps;
	/*
	 * by which a look at a soft clock may be late, if it was stored since the last one; else 0
	 */
	uint64_t wait_ps;
	uint64_t taken;     /* ticks that were taken off self times */
	uint64_t period_ns; /* of a soft clock, else 0 */
	uint64_t missing;   /* ticks that should have been, but the self times were not so long */
};

/* What the trace says. NOTES gets what cannot be believed. */
void tp_compensation_init(struct tp_compensation *compensation, const struct tp_tracefile *trace,
    const struct tp_timebase *time, struct tp_problems *notes);
/* The same as a profile needs it while calls are added to it; nothing if it is not known. */
struct tp_profile_cost tp_compensation_cost(
    const struct tp_compensation *compensation, const struct tp_timebase *time);
/* Picoseconds in the unit of tp_profile_cost; the rate is anything that a trace may say. */
uint64_t tp_compensation_parts(double ps, const struct tp_timebase *time);
/*
 * How far off, in ticks, a self time may be for all that was taken off it, or should have been,
 * which may be off by COSTS_PS picoseconds. With a soft clock also for its period: between two
 * LOOKS at it, it has moved or not, which adds up like steps of a random walk; and for the waits
 * that its stores make, by the ticks WAITED of its profile.
 */
uint64_t tp_compensation_uncertainty(const struct tp_compensation *compensation,
    const struct tp_timebase *time, double costs_ps, uint64_t looks, uint64_t waited);
/* Whether the missing ticks show that the costs cannot be those of this program. */
bool tp_compensation_is_far(
    const struct tp_compensation *compensation, const struct tp_timebase *time);
/*
 * How much came off the calls of a profile that is complete, which took RECORDED ticks, and how
 * much did not because they were too short. Adds to *taken and *missing.
 */
void tp_compensation_count(
    const struct tp_profile *profile, uint64_t recorded, uint64_t *taken, uint64_t *missing);

#endif
