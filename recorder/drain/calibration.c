// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which functions to leave out of the next window.
#include "calibration.h"

#include "common/array.h"

#include <stdlib.h>
#include <string.h>

int tp_calibration_init(struct tp_calibration *calibration, const struct tp_region_only *base,
    const struct tp_region_only *functions, struct tp_err *err)
{
	const size_t count = functions->count;
	*calibration = (struct tp_calibration){
	    .base = *base,
	    .functions = malloc((count + 1) * sizeof(*calibration->functions)),
	    .count = functions->count,
	    .random = 0x9e3779b97f4a7c15u, // the same windows each time
	    .list = malloc((count + base->count + 1) * sizeof(*calibration->list)),
	};
	if (!calibration->functions || !calibration->list)
		return tp_err_memory(err, NULL);
	memcpy(calibration->functions, functions->hashes, count * sizeof(*calibration->functions));
	return 0;
}

void tp_calibration_release(struct tp_calibration *calibration)
{
	free(calibration->functions);
	free(calibration->list);
	*calibration = (struct tp_calibration){0};
}

// Xorshift: below BOUND, nearly evenly.
static uint32_t draw(struct tp_calibration *calibration, uint32_t bound)
{
	uint64_t x = calibration->random;
	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	calibration->random = x;
	return (uint32_t)((x >> 32) % bound);
}

static void shuffle(struct tp_calibration *calibration)
{
	uint64_t *functions = calibration->functions;
	for (uint32_t i = calibration->count; i > 1; i--) {
		const uint32_t other = draw(calibration, i);
		const uint64_t swap = functions[i - 1];
		functions[i - 1] = functions[other];
		functions[other] = swap;
	}
}

// What BASE has and OUT has not, both ascending, into TO. Returns how many those are.
static uint32_t without(
    uint64_t *to, const struct tp_region_only *base, const uint64_t *out, uint32_t out_count)
{
	uint32_t count = 0;
	for (uint32_t i = 0, j = 0; i < base->count; i++) {
		while (j < out_count && out[j] < base->hashes[i])
			j++;
		if (j == out_count || out[j] != base->hashes[i])
			to[count++] = base->hashes[i];
	}
	return count;
}

struct tp_region_only tp_calibration_next(struct tp_calibration *calibration)
{
	const struct tp_region_only *base = &calibration->base;
	const bool listed = base->kind == TEEPERF_ONLY_LISTED;
	uint64_t *list = calibration->list;
	uint32_t count = 0;
	if (!calibration->window)
		shuffle(calibration);
	// Those of this window.
	for (uint32_t i = calibration->window; i < calibration->count; i += TP_CALIBRATION_SHARE)
		list[count++] = calibration->functions[i];
	qsort(list, count, sizeof(*list), tp_compare_u64);
	if (listed) {
		// All that are listed except these: functions that are only counted or sampled stay
		// on.
		uint64_t *rest = list + count;
		count = without(rest, base, list, count);
		list = rest;
	} else if (base->kind == TEEPERF_ONLY_REST) {
		memcpy(list + count, base->hashes, base->count * sizeof(*list));
		count += base->count;
		qsort(list, count, sizeof(*list), tp_compare_u64);
	}
	calibration->window = (calibration->window + 1) % TP_CALIBRATION_SHARE;
	return (struct tp_region_only){
	    .kind = listed ? TEEPERF_ONLY_LISTED : TEEPERF_ONLY_REST,
	    .hashes = list,
	    .count = count,
	};
}
