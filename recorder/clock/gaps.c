// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The times during a measurement in which a soft clock stood still.
#include "gaps.h"

#include <teeperf/atomic.h>

void tp_clock_gaps_init(struct tp_clock_gaps *gaps)
{
	*gaps = (struct tp_clock_gaps){.from_ns = UINT64_MAX, .to_ns = UINT64_MAX};
}

void tp_clock_gaps_begin(struct tp_clock_gaps *gaps, uint64_t now_ns)
{
	tp_store_relaxed(&gaps->from_ns, now_ns);
}

void tp_clock_gaps_end(struct tp_clock_gaps *gaps, uint64_t now_ns)
{
	tp_store_relaxed(&gaps->to_ns, now_ns);
}

bool tp_clock_gaps_note(struct tp_clock_gaps *gaps, uint64_t now_ns, uint64_t gap_ns)
{
	const uint64_t first = tp_load_relaxed(&gaps->from_ns);
	const uint64_t last = tp_load_relaxed(&gaps->to_ns);
	uint64_t from = gap_ns < now_ns ? now_ns - gap_ns : 0;
	// The noting thread measures in ticks, so two gaps may seem to overlap a little.
	if (from < gaps->told_ns)
		from = gaps->told_ns;
	if (from < first)
		from = first;
	const uint64_t to = now_ns < last ? now_ns : last;
	if (from >= to)
		return false;
	gaps->told_ns = to;
	const uint64_t length = to - from;
	if (length > tp_load_relaxed(&gaps->max_ns))
		tp_store_relaxed(&gaps->max_ns, length);
	if (length > TP_CLOCK_STARVED_NS) {
		tp_fetch_add_relaxed(&gaps->starved_ns, length);
		tp_fetch_add_relaxed(&gaps->starved_count, 1);
	}
	return true;
}
