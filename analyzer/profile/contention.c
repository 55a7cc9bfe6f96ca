// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How many threads were in a function at once.
#include "contention.h"

#include "analyzer/replay/time_histogram.h"
#include "common/array.h"

#include <stdbool.h>
#include <stdlib.h>

static int compare_intervals(const void *a, const void *b)
{
	const struct tp_interval *x = a;
	const struct tp_interval *y = b;
	const int order = TP_COMPARE(x->start, y->start);
	return order ? order : TP_COMPARE(x->end, y->end);
}

// Calls of one kind, and the shortest and longest of them, between which their median lies.
struct side {
	struct tp_histogram times;
	uint64_t min;
	uint64_t max;
};

static void add(struct side *side, uint64_t time)
{
	tp_histogram_add(&side->times, time, NULL);
	side->min = time < side->min ? time : side->min;
	side->max = time > side->max ? time : side->max;
}

static uint64_t median(struct side *side)
{
	const uint64_t result = tp_histogram_percentile(&side->times, 0.5, side->min, side->max);
	tp_histogram_release(&side->times);
	return result;
}

// Which calls have others beside them: one that began before and has not ended, or the next one.
static void part(struct tp_contention *result, const struct tp_interval *items, uint64_t count)
{
	struct side alone = {.min = UINT64_MAX};
	struct side shared = {.min = UINT64_MAX};
	uint64_t last = 0;
	for (uint64_t i = 0; i < count; i++) {
		const struct tp_interval *item = &items[i];
		const uint64_t time = item->end - item->start;
		const bool earlier = i && last > item->start;
		// Those in between that take no time are beside no one.
		uint64_t next = i + 1;
		while (next < count && items[next].start == items[next].end &&
		       items[next].start < item->end)
			next++;
		const bool later = next < count && items[next].start < item->end;
		if (time && (earlier || later)) {
			result->shared_calls++;
			result->shared += time;
			add(&shared, time);
		} else {
			result->alone_calls++;
			result->alone += time;
			add(&alone, time);
		}
		last = time && item->end > last ? item->end : last;
	}
	result->alone_median = median(&alone);
	result->shared_median = median(&shared);
}

struct tp_contention tp_contention_sweep(struct tp_interval *items, uint64_t *ends, uint64_t count)
{
	struct tp_contention result = {.calls = count};
	if (!count)
		return result;
	qsort(items, count, sizeof(*items), compare_intervals);
	for (uint64_t i = 0; i < count; i++)
		ends[i] = items[i].end;
	qsort(ends, count, sizeof(*ends), tp_compare_u64);
	part(&result, items, count);
	uint64_t begun = 0;
	uint64_t ended = 0;
	uint64_t now = items[0].start;
	while (ended < count) {
		// An end comes before a begin at the same time, but not before its own: that took
		// no time.
		const bool begins =
		    begun < count && (begun == ended || items[begun].start < ends[ended]);
		const uint64_t time = begins ? items[begun].start : ends[ended];
		const uint64_t inside = begun - ended;
		if (inside) {
			const uint64_t ticks = time - now;
			result.busy += ticks;
			result.total += ticks * inside;
			result.overlap += inside > 1 ? ticks : 0;
			result.inside[(inside < TP_CONTENTION_COUNTED ? inside
								      : TP_CONTENTION_COUNTED) -
				      1] += ticks;
			if (ticks && inside > result.most)
				result.most = (uint32_t)(inside < UINT32_MAX ? inside : UINT32_MAX);
		}
		now = time;
		begun += begins;
		ended += !begins;
	}
	return result;
}
