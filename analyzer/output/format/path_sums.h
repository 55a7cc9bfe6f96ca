/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What the exports write that are sums by call path: the self time of each path in each thread, in
 * whole nanoseconds that add up. A thread's times are rounded as they are summed in the order of
 * paths, so that what a thread has spent in a path with all below it is right to a nanosecond,
 * however many paths these are, and all of these exports say the same of a trace.
 */
#ifndef TP_PATH_SUMS_H
#define TP_PATH_SUMS_H

#include "analyzer/output/format/export.h"
#include "analyzer/profile/paths.h"

struct tp_path_sums {
	struct tp_paths paths;
	/* Of each row: nanoseconds, ticks if no rate is known, 0 without a clock; or its calls. */
	uint64_t *self;
	uint64_t total;
	uint32_t deepest; /* calls of a path */
};

/* 0 or TP_ERR_MEMORY. Release it in any case. The analysis must outlive it. */
int tp_path_sums_init(struct tp_path_sums *sums, const struct tp_analysis *analysis,
    enum tp_weight weight, struct tp_err *err);
void tp_path_sums_release(struct tp_path_sums *sums);

/* The node that a row is of. */
static inline const struct tp_node *tp_path_sums_node(
    const struct tp_analysis *analysis, const struct tp_path_row *row)
{
	return &analysis->threads[row->thread].profile.nodes[row->node];
}

/*
 * For exports that repeat all callers with each path: how many functions they write. TP_ERR_LIMIT
 * with a remedy if no reader could take so much: a recursion 100,000 deep would be 5,000,000,000 of
 * them.
 */
#define TP_PATH_FRAMES_MAX (UINT64_C(1) << 28)
int tp_path_sums_check(
    const struct tp_path_sums *sums, const struct tp_analysis *analysis, struct tp_err *err);

/* The same for a number of functions, and paths up to a number of calls deep. */
int tp_path_frames_check(
    uint64_t frames, uint32_t deepest, const struct tp_analysis *analysis, struct tp_err *err);

/* The address of a function at run time, or its low half. */
static inline uint64_t tp_path_sums_address(
    const struct tp_analysis *analysis, const struct tp_function *function)
{
	const uint32_t place = function->symbol.place;
	return function->symbol.address +
	       (place < analysis->trace->map.count ? analysis->trace->map.modules[place].bias : 0);
}

#endif
