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

/* There may be millions, most with one value: 12 bytes. */
struct __attribute__((packed, aligned(4))) tp_histogram {
	uint32_t *counts; /* of the buckets from the first on; each stays at UINT32_MAX */
	uint16_t start;   /* the first bucket, with the flags below */
	uint16_t size;    /* 0: empty, or of one value */
};

#define TP_HISTOGRAM_FAILED 0x8000 /* there was no memory for some values */
#define TP_HISTOGRAM_ONE 0x4000    /* one value, in the first bucket, and no counts */

static inline uint32_t tp_histogram_first(const struct tp_histogram *histogram)
{
	return histogram->start & ~(uint32_t)(TP_HISTOGRAM_FAILED | TP_HISTOGRAM_ONE);
}

static inline bool tp_histogram_is_one(const struct tp_histogram *histogram)
{
	return (histogram->start & TP_HISTOGRAM_ONE) != 0;
}

static inline bool tp_histogram_failed(const struct tp_histogram *histogram)
{
	return (histogram->start & TP_HISTOGRAM_FAILED) != 0;
}

/* How many buckets it has, from the first on. */
static inline uint32_t tp_histogram_size(const struct tp_histogram *histogram)
{
	return tp_histogram_is_one(histogram) ? 1 : histogram->size;
}

/* The count of its bucket number I, of that size. */
static inline uint32_t tp_histogram_at(const struct tp_histogram *histogram, uint32_t i)
{
	return tp_histogram_is_one(histogram) ? 1 : histogram->counts[i];
}

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
/* The values in BUCKET. */
static inline uint32_t tp_histogram_in(const struct tp_histogram *histogram, uint32_t bucket)
{
	const uint32_t at = bucket - tp_histogram_first(histogram);
	return at < tp_histogram_size(histogram) ? tp_histogram_at(histogram, at) : 0;
}

/* Make room for BUCKET, in the POOL unless it is NULL; false: no memory. */
bool tp_histogram_reach(struct tp_histogram *histogram, uint32_t bucket, struct tp_pool *pool);
/*
 * The same for a value that is to be counted; false, too: it has been, as the only one. With a POOL
 * that takes no memory.
 */
bool tp_histogram_begin(struct tp_histogram *histogram, uint32_t bucket, struct tp_pool *pool);

/* Whether there is room. With a flag there never seems to be. */
static inline bool tp_histogram_has(const struct tp_histogram *histogram, uint32_t bucket)
{
	return (uint32_t)(bucket - histogram->start) < histogram->size;
}

static inline void tp_histogram_count(uint32_t *count)
{
	*count += *count != UINT32_MAX;
}

static inline void tp_histogram_add_bucket(
    struct tp_histogram *histogram, uint32_t bucket, struct tp_pool *pool)
{
	if (__builtin_expect(!tp_histogram_has(histogram, bucket), 0) &&
	    !tp_histogram_begin(histogram, bucket, pool))
		return;
	tp_histogram_count(&histogram->counts[bucket - histogram->start]);
}

static inline void tp_histogram_add(
    struct tp_histogram *histogram, uint64_t value, struct tp_pool *pool)
{
	tp_histogram_add_bucket(histogram, tp_histogram_bucket(value), pool);
}

/* Add FROM; POOL as for tp_histogram_reach. On lack of memory tp_histogram_failed. */
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
