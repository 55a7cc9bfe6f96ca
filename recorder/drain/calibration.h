/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Which functions to leave out of the next window, so that the times of their callers tell what
 * recording them costs there (docs/decisions/0040-measured-costs.md). In each block of
 * TP_CALIBRATION_SHARE windows each function is left out of exactly one, and which functions that
 * are together is drawn anew for each block.
 */
#ifndef TP_CALIBRATION_H
#define TP_CALIBRATION_H

#include "common/err.h"
#include "recorder/region/region.h"

/* A function is left out of one window in this number. */
enum { TP_CALIBRATION_SHARE = 8 };

struct tp_calibration {
	uint64_t *functions; /* in the order of this block */
	uint32_t count;
	uint32_t window; /* of the block, that is next */
	uint64_t random;
	uint64_t *list;             /* of the window */
	struct tp_region_only base; /* what records without calibration; the caller's */
};

/*
 * FUNCTIONS are those to be measured, whose hashes ascend: BASE records them. 0 or TP_ERR_MEMORY.
 * Release it in any case.
 */
int tp_calibration_init(struct tp_calibration *calibration, const struct tp_region_only *base,
    const struct tp_region_only *functions, struct tp_err *err);
void tp_calibration_release(struct tp_calibration *calibration);

/* The functions to record in the next window; valid until the next call. */
struct tp_region_only tp_calibration_next(struct tp_calibration *calibration);

#endif
