// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ticks to nanoseconds.
#include "timebase.h"

#include "common/array.h"

#include <stddef.h>

void tp_timebase_init(struct tp_timebase *base, const struct teeperf_trace_clock *clock,
    const struct teeperf_trace_point *points)
{
	*base = (struct tp_timebase){.ns = 1, .ticks = 1};
	if (clock->kind == TEEPERF_CLOCK_NONE)
		return;
	if (clock->point_count >= 2) {
		const struct teeperf_trace_point *first = &points[0];
		const struct teeperf_trace_point *last = &points[clock->point_count - 1];
		if (last->ticks > first->ticks && last->monotonic_ns > first->monotonic_ns) {
			base->ns = last->monotonic_ns - first->monotonic_ns;
			base->ticks = last->ticks - first->ticks;
			base->known = true;
			base->origin_ticks = first->ticks;
			base->origin_ns = first->monotonic_ns;
			base->has_origin = true;
			return;
		}
	}
	if (clock->hz) {
		base->ns = UINT64_C(1000000000);
		base->ticks = clock->hz;
		base->known = true;
	}
}

uint64_t tp_timebase_ns(const struct tp_timebase *base, uint64_t ticks)
{
	const unsigned __int128 ns =
	    ((unsigned __int128)ticks * base->ns + base->ticks / 2) / base->ticks;
	return ns > UINT64_MAX ? UINT64_MAX : (uint64_t)ns;
}

uint64_t tp_timebase_ticks(const struct tp_timebase *base, uint64_t ns)
{
	if (!base->ns)
		return ns ? UINT64_MAX : 0;
	const unsigned __int128 ticks =
	    ((unsigned __int128)ns * base->ticks + base->ns - 1) / base->ns;
	return ticks > UINT64_MAX ? UINT64_MAX : (uint64_t)ticks;
}

uint64_t tp_timebase_at(const struct tp_timebase *base, uint64_t ticks)
{
	if (ticks < base->origin_ticks) {
		const uint64_t before = tp_timebase_ns(base, base->origin_ticks - ticks);
		return before < base->origin_ns ? base->origin_ns - before : 0;
	}
	const uint64_t behind = tp_timebase_ns(base, ticks - base->origin_ticks);
	return behind < UINT64_MAX - base->origin_ns ? base->origin_ns + behind : UINT64_MAX;
}

uint64_t tp_timebase_find(const struct tp_timebase *base, const struct teeperf_trace_clock *clock,
    const struct teeperf_trace_point *points, uint64_t ns)
{
	const uint32_t behind =
	    TP_LOWER_BOUND(0U, clock->point_count, middle, points[middle].monotonic_ns <= ns);
	if (behind && behind < clock->point_count) {
		const struct teeperf_trace_point *a = &points[behind - 1];
		const struct teeperf_trace_point *b = &points[behind];
		if (b->monotonic_ns > a->monotonic_ns && b->ticks >= a->ticks &&
		    ns >= a->monotonic_ns)
			return a->ticks + (uint64_t)((unsigned __int128)(ns - a->monotonic_ns) *
						     (b->ticks - a->ticks) /
						     (b->monotonic_ns - a->monotonic_ns));
	}
	if (ns < base->origin_ns) {
		const uint64_t before = tp_timebase_ticks(base, base->origin_ns - ns);
		return before < base->origin_ticks ? base->origin_ticks - before : 0;
	}
	const uint64_t past = tp_timebase_ticks(base, ns - base->origin_ns);
	return past < UINT64_MAX - base->origin_ticks ? base->origin_ticks + past : UINT64_MAX;
}
