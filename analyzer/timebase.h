/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Ticks to nanoseconds, by the rule in trace.h: the line through the first and the last point of the
 * clock section, else its nominal rate, else not at all.
 */
#ifndef TP_TIMEBASE_H
#define TP_TIMEBASE_H

#include <stdbool.h>
#include <stdint.h>
#include <teeperf/trace.h>

struct tp_timebase {
	uint64_t ns;    /* so many nanoseconds ... */
	uint64_t ticks; /* ... are so many ticks; never 0 */
	bool known;     /* false: no rate is known, and "nanoseconds" are ticks */
};

/* POINTS: clock->point_count of them. */
void tp_timebase_init(struct tp_timebase *base, const struct teeperf_trace_clock *clock,
    const struct teeperf_trace_point *points);
/* A duration, rounded to the nearest; UINT64_MAX if it does not fit. */
uint64_t tp_timebase_ns(const struct tp_timebase *base, uint64_t ticks);
/* "tsc", "soft-monotonic", ... or "unknown". */
const char *tp_timebase_clock_name(uint32_t kind);

#endif
