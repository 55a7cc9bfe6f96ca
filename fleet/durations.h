/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * How often calls were how long, in buckets that are the same in each run: the fine ones of a
 * histogram, of nanoseconds, so that what stands for a bucket is at most 1/64 off any of its
 * durations (docs/fleet.md).
 */
#ifndef TP_FLEET_DURATIONS_H
#define TP_FLEET_DURATIONS_H

#include "analyzer/profile/paths.h"

#define TP_FLEET_NO_SLOT UINT32_MAX

/* What stands for the durations of a bucket. */
static inline uint64_t tp_fleet_bucket_value(uint32_t bucket)
{
	const uint32_t above = bucket >> TP_HISTOGRAM_FINE_BITS;
	const uint32_t shift = above ? above - 1 : 0;
	const uint64_t low = (uint64_t)(bucket - (shift << TP_HISTOGRAM_FINE_BITS)) << shift;
	return low + (shift ? UINT64_C(1) << (shift - 1) : 0);
}

/* Counts of the buckets from `first` on. */
struct tp_duration_counts {
	uint64_t *counts;
	uint32_t first;
	uint32_t size;
};

struct tp_durations {
	struct tp_duration_counts *slots; /* of functions, then of paths */
	uint32_t slot_count;
};

/*
 * Of each function, and each path that has one: FUNCTION_SLOTS and PATH_SLOTS say which is whose,
 * TP_FLEET_NO_SLOT: none. Times are those of the analysis, which must have fine histograms of
 * nanoseconds. 0 or a negative tp_error; release it in any case.
 */
int tp_durations_init(struct tp_durations *durations, const struct tp_analysis *analysis,
    const struct tp_paths *paths, const uint32_t *function_slots, const uint32_t *path_slots,
    uint32_t slot_count, struct tp_err *err);
void tp_durations_release(struct tp_durations *durations);

#endif
