/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The interval of a median is the percentile bootstrap (Efron and Tibshirani, An Introduction to
 * the Bootstrap, 1993, chapter 13): TP_BOOTSTRAP_SAMPLES times as many figures are drawn from those
 * that were measured, with replacement; of the sorted medians of these, the ones at 2.5 % and 97.5
 * % are the ends. Few figures make it too narrow, and with less than TP_BOOTSTRAP_LEAST there is
 * none.
 */
#ifndef TP_BOOTSTRAP_H
#define TP_BOOTSTRAP_H

#include <stdbool.h>
#include <stdint.h>

enum { TP_BOOTSTRAP_SAMPLES = 9999, TP_BOOTSTRAP_LEAST = 3 };

/*
 * SORTED has COUNT values in ascending order. False: these are too few, or no memory. The same SEED
 * gives the same interval.
 */
bool tp_bootstrap_median(
    const double *sorted, uint32_t count, uint64_t seed, double *low, double *high);

#endif
