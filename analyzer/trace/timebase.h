/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Ticks to nanoseconds, by the rule in trace.h: the line through the first and the last point of
 * the clock section, else its nominal rate, else not at all.
 */
#ifndef TP_TIMEBASE_H
#define TP_TIMEBASE_H

#include <stdbool.h>
#include <stdint.h>
#include <teeperf/trace.h>

struct tp_timebase {
	uint64_t ns;    /* this number of nanoseconds ... */
	uint64_t ticks; /* ... is this number of ticks; never 0 */
	bool known;     /* false: no rate is known, and "nanoseconds" are ticks */
	/* A point of time by both: only from points of the clock section, else 0. */
	uint64_t origin_ticks;
	uint64_t origin_ns;
	bool has_origin;
};

/* POINTS: clock->point_count of them. */
void tp_timebase_init(struct tp_timebase *base, const struct teeperf_trace_clock *clock,
    const struct teeperf_trace_point *points);
/* A duration, rounded to the nearest; UINT64_MAX if it does not fit. */
uint64_t tp_timebase_ns(const struct tp_timebase *base, uint64_t ticks);
/* The other way round, rounded up; UINT64_MAX if it does not fit. */
uint64_t tp_timebase_ticks(const struct tp_timebase *base, uint64_t ns);
/* The same, neither rounded nor bounded. */
static inline double tp_timebase_real_ticks(const struct tp_timebase *base, double ns)
{
	return ns * (double)base->ticks / (double)base->ns;
}
/*
 * When the recorder's clock stood at NS, by the two points around it, between which the trace's
 * clock may run otherwise than on the whole (a soft clock). pre: base->has_origin, of this clock
 * and these points.
 */
uint64_t tp_timebase_find(const struct tp_timebase *base, const struct teeperf_trace_clock *clock,
    const struct teeperf_trace_point *points, uint64_t ns);
/* A point of time as nanoseconds of the recorder's clock, or from tick 0 on without an origin. */
uint64_t tp_timebase_at(const struct tp_timebase *base, uint64_t ticks);
#endif
