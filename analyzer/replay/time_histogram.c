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
	_Static_assert(TP_HISTOGRAM_FINE_BUCKETS <= TP_HISTOGRAM_ONE, "the flags are free");
	if (tp_histogram_failed(histogram))
		return false;
	const bool is_one = tp_histogram_is_one(histogram);
	const uint32_t old = tp_histogram_first(histogram);
	// One value is as good as the smallest piece.
	const uint32_t old_first = is_one ? old / UNIT * UNIT : old;
	const uint32_t old_size = is_one ? UNIT : histogram->size;
	// Of millions of paths most have few calls. Then whole doublings: growing is rare, and half
	// of what was added is used.
	const uint32_t step = old_size && bucket - old_first >= old_size ? BLOCK : UNIT;
	uint32_t first = bucket / step * step;
	uint32_t end = first + step;
	if (old_size && old_first < first)
		first = old_first / step * step;
	if (old_size && old_first + old_size > end)
		end = (old_first + old_size + step - 1) / step * step;
	uint32_t *counts =
	    pool ? tp_pool_alloc(pool, (end - first) / UNIT) : calloc(end - first, sizeof(*counts));
	if (!counts) {
		histogram->start |= TP_HISTOGRAM_FAILED;
		return false;
	}
	if (is_one)
		counts[old - first] = 1;
	else if (old_size)
		memcpy(counts + (old - first), histogram->counts, old_size * sizeof(*counts));
	if (!pool)
		free(histogram->counts);
	else if (histogram->size)
		tp_pool_give_back(pool, histogram->counts, histogram->size / UNIT);
	histogram->counts = counts;
	histogram->start = (uint16_t)first;
	histogram->size = (uint16_t)(end - first);
	return true;
}

bool tp_histogram_begin(struct tp_histogram *histogram, uint32_t bucket, struct tp_pool *pool)
{
	if (!pool || histogram->size || histogram->start)
		return tp_histogram_reach(histogram, bucket, pool);
	histogram->start = (uint16_t)(bucket | TP_HISTOGRAM_ONE);
	return false;
}

void tp_histogram_merge_in(
    struct tp_histogram *histogram, const struct tp_histogram *from, struct tp_pool *pool)
{
	const uint32_t size = from->size;
	const uint32_t first = tp_histogram_first(from);
	if (tp_histogram_is_one(from))
		tp_histogram_add_bucket(histogram, first, pool);
	if (size &&
	    (tp_histogram_has(histogram, first) || tp_histogram_reach(histogram, first, pool)) &&
	    (tp_histogram_has(histogram, first + size - 1) ||
		tp_histogram_reach(histogram, first + size - 1, pool))) {
		uint32_t *counts = histogram->counts + (first - histogram->start);
		for (uint32_t i = 0; i < size; i++)
			counts[i] = counts[i] > UINT32_MAX - from->counts[i]
					? UINT32_MAX
					: counts[i] + from->counts[i];
	}
	histogram->start |= from->start & TP_HISTOGRAM_FAILED;
}

uint64_t tp_histogram_total(const struct tp_histogram *histogram)
{
	uint64_t total = 0;
	for (uint32_t i = 0; i < tp_histogram_size(histogram); i++)
		total += tp_histogram_at(histogram, i);
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
	while (below + tp_histogram_at(histogram, at) < rank)
		below += tp_histogram_at(histogram, at++);
	const uint32_t bucket = tp_histogram_first(histogram) + at;
	const double inside =
	    ((double)(rank - below) - 0.5) / (double)tp_histogram_at(histogram, at);
	uint64_t value =
	    tp_histogram_low(bucket) + (uint64_t)(inside * (double)tp_histogram_width(bucket));
	if (value < min)
		value = min;
	return value > max ? max : value;
}
