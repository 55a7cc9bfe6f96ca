// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How often a time was how long.
#include "time_histogram.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK (1U << TP_HISTOGRAM_BITS)
#define UNIT 4U // of buckets that are allocated

uint64_t tp_histogram_low(uint32_t bucket)
{
	if (bucket < 2 * BLOCK)
		return bucket;
	const uint32_t shift = bucket / BLOCK - 1;
	return (uint64_t)(bucket % BLOCK + BLOCK) << shift;
}

uint64_t tp_histogram_width(uint32_t bucket)
{
	return bucket < 2 * BLOCK ? 1 : UINT64_C(1) << (bucket / BLOCK - 1);
}

void tp_histogram_release(struct tp_histogram *histogram)
{
	free(histogram->counts);
	*histogram = (struct tp_histogram){0};
}

bool tp_histogram_reach(struct tp_histogram *histogram, uint32_t bucket, struct tp_pool *pool)
{
	_Static_assert(UNIT * sizeof(uint32_t) == TP_POOL_UNIT, "");
	_Static_assert(TP_HISTOGRAM_BUCKETS / UNIT <= TP_POOL_UNITS_MAX, "all fit a piece");
	_Static_assert(TP_HISTOGRAM_FINE_BUCKETS / UNIT <= TP_POOL_UNITS_MAX, "fine ones, too");
	// Of millions of paths most have one call. Then whole doublings: growing is rare, and half
	// of what was added is used.
	const uint32_t step = histogram->size ? BLOCK : UNIT;
	uint32_t first = bucket / step * step;
	uint32_t end = first + step;
	if (histogram->size && histogram->first < first)
		first = histogram->first / step * step;
	if (histogram->size && (uint32_t)histogram->first + histogram->size > end)
		end = ((uint32_t)histogram->first + histogram->size + step - 1) / step * step;
	uint32_t *counts =
	    pool ? tp_pool_alloc(pool, (end - first) / UNIT) : calloc(end - first, sizeof(*counts));
	if (!counts) {
		histogram->failed = true;
		return false;
	}
	if (histogram->size)
		memcpy(counts + (histogram->first - first), histogram->counts,
		    histogram->size * sizeof(*counts));
	if (!pool)
		free(histogram->counts);
	else if (histogram->size)
		tp_pool_give_back(pool, histogram->counts, histogram->size / UNIT);
	histogram->counts = counts;
	histogram->first = (uint16_t)first;
	histogram->size = (uint16_t)(end - first);
	return true;
}

void tp_histogram_merge_in(
    struct tp_histogram *histogram, const struct tp_histogram *from, struct tp_pool *pool)
{
	histogram->failed |= from->failed;
	if (!from->size)
		return;
	const uint32_t last = (uint32_t)from->first + from->size - 1;
	if (!tp_histogram_has(histogram, from->first) &&
	    !tp_histogram_reach(histogram, from->first, pool))
		return;
	if (!tp_histogram_has(histogram, last) && !tp_histogram_reach(histogram, last, pool))
		return;
	uint32_t *counts = histogram->counts + (from->first - histogram->first);
	for (uint32_t i = 0; i < from->size; i++)
		counts[i] = counts[i] > UINT32_MAX - from->counts[i] ? UINT32_MAX
								     : counts[i] + from->counts[i];
}

uint64_t tp_histogram_total(const struct tp_histogram *histogram)
{
	uint64_t total = 0;
	for (uint32_t i = 0; i < histogram->size; i++)
		total += histogram->counts[i];
	return total;
}

uint64_t tp_histogram_percentile(
    const struct tp_histogram *histogram, double part, uint64_t min, uint64_t max)
{
	const uint64_t total = tp_histogram_total(histogram);
	if (!total)
		return 0;
	uint64_t rank = (uint64_t)ceil(part * (double)total);
	rank = rank < 1 ? 1 : rank > total ? total : rank;
	uint64_t below = 0;
	uint32_t at = 0;
	while (below + histogram->counts[at] < rank)
		below += histogram->counts[at++];
	const uint32_t bucket = histogram->first + at;
	const double inside = ((double)(rank - below) - 0.5) / (double)histogram->counts[at];
	uint64_t value =
	    tp_histogram_low(bucket) + (uint64_t)(inside * (double)tp_histogram_width(bucket));
	if (value < min)
		value = min;
	return value > max ? max : value;
}
