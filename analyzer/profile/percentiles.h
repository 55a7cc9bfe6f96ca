/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Exact percentiles of how long the calls of each function were. The histograms of an analysis say
 * in which bucket each of them lies; the trace is replayed once more for the values in these few
 * buckets only, threads and parts of long ones at the same time.
 *
 * The value that a part p of n calls do not exceed is the one with rank ceil(p * n) in ascending
 * order.
 */
#ifndef TP_PERCENTILES_H
#define TP_PERCENTILES_H

#include "analyzer/profile/analysis.h"

#include <stdatomic.h>

#define TP_PERCENTILE_COUNT 4 /* 0.5, 0.9, 0.99, 0.999 */

struct tp_function_percentiles {
	uint64_t calls;                       /* timed ones */
	uint64_t values[TP_PERCENTILE_COUNT]; /* ticks; the times of the analysis */
	bool exact; /* false: within a sixteenth (a bucket that overflowed, or no memory) */
};

struct tp_percentiles {
	struct tp_function_percentiles *functions; /* as in the analysis */
	uint32_t function_count;
};

/*
 * 0; TP_ERR_LIMIT if *give_up (which may be NULL) was set meanwhile; or what went wrong. Release it
 * in any case.
 */
int tp_percentiles_init(struct tp_percentiles *percentiles, const struct tp_analysis *analysis,
    const atomic_bool *give_up, struct tp_err *err);
void tp_percentiles_release(struct tp_percentiles *percentiles);

/*
 * The value with this rank (from 0 on, below COUNT) of COUNT values below 2^BITS, BITS up to 63; in
 * a time that does not depend on their order.
 */
uint64_t tp_select_value(const uint64_t *values, uint64_t count, uint64_t rank, uint32_t bits);

#endif
