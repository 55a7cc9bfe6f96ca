/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * How often a time was how long: counts by buckets whose width grows with the value, 16 for each
 * doubling (as HdrHistogram has them). Values below 32 are known exactly, others to a sixteenth of
 * themselves. Only the buckets from the lowest to the highest that was needed take room.
 */
#ifndef TP_TIME_HISTOGRAM_H
#define TP_TIME_HISTOGRAM_H

#include "common/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TP_HISTOGRAM_BITS 4 /* log2 of buckets for each doubling */
#define TP_HISTOGRAM_BUCKETS 976

/*
 * A histogram may have fine buckets instead: 32 for each doubling, of values below 2^63
 * (docs/fleet.md).
 */
#define TP_HISTOGRAM_FINE_BITS 5
#define TP_HISTOGRAM_FINE_BUCKETS 1888

struct tp_histogram {
	uint32_t *counts; /* of the buckets from `first` on; each stays at UINT32_MAX */
	uint16_t first;
	uint16_t size; /* 0: empty */
	bool failed;   /* there was no memory for some values */
};

/* The bucket of VALUE. */
static inline uint32_t tp_histogram_bucket(uint64_t value)
{
	const uint32_t top = 63 - (uint32_t)__builtin_clzll(value | 1 << TP_HISTOGRAM_BITS);
	const uint32_t shift = top - TP_HISTOGRAM_BITS;
	return (shift << TP_HISTOGRAM_BITS) + (uint32_t)(value >> shift);
}

static inline uint32_t tp_histogram_fine_bucket(uint64_t value)
{
	const uint32_t top = 63 - (uint32_t)__builtin_clzll(value | 1 << TP_HISTOGRAM_FINE_BITS);
	const uint32_t shift = top - TP_HISTOGRAM_FINE_BITS;
	return (shift << TP_HISTOGRAM_FINE_BITS) + (uint32_t)(value >> shift);
}

/* The lowest value of BUCKET, and how many values it has. */
uint64_t tp_histogram_low(uint32_t bucket);
uint64_t tp_histogram_width(uint32_t bucket);

/* Of one whose counts are not in a pool. */
void tp_histogram_release(struct tp_histogram *histogram);
/* Make room for BUCKET, in the POOL unless it is NULL; false: no memory. */
bool tp_histogram_reach(struct tp_histogram *histogram, uint32_t bucket, struct tp_pool *pool);

static inline bool tp_histogram_has(const struct tp_histogram *histogram, uint32_t bucket)
{
	return (uint32_t)(bucket - histogram->first) < histogram->size;
}

static inline void tp_histogram_count(uint32_t *count)
{
	*count += *count != UINT32_MAX;
}

static inline void tp_histogram_add_bucket(
    struct tp_histogram *histogram, uint32_t bucket, struct tp_pool *pool)
{
	if (__builtin_expect(!tp_histogram_has(histogram, bucket), 0) &&
	    !tp_histogram_reach(histogram, bucket, pool))
		return;
	tp_histogram_count(&histogram->counts[bucket - histogram->first]);
}

static inline void tp_histogram_add(
    struct tp_histogram *histogram, uint64_t value, struct tp_pool *pool)
{
	tp_histogram_add_bucket(histogram, tp_histogram_bucket(value), pool);
}

/* Add FROM; POOL as for tp_histogram_reach. On lack of memory histogram->failed. */
void tp_histogram_merge_in(
    struct tp_histogram *histogram, const struct tp_histogram *from, struct tp_pool *pool);
static inline void tp_histogram_merge(
    struct tp_histogram *histogram, const struct tp_histogram *from)
{
	tp_histogram_merge_in(histogram, from, NULL);
}
/* Values in it. */
uint64_t tp_histogram_total(const struct tp_histogram *histogram);
/*
 * The value that PART (0 to 1) of all values do not exceed: nearest rank, within its bucket by
 * proportion, and within [MIN, MAX], which are those of the values. 0 if it is empty.
 */
uint64_t tp_histogram_percentile(
    const struct tp_histogram *histogram, double part, uint64_t min, uint64_t max);

#endif
