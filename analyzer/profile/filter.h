/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Which paths an analysis keeps, by functions (pattern.h) and depth:
 *
 *   ignore  paths through a function that matches are left out, with their times;
 *   focus   only times of paths through a function that matches are kept, and the way to them: the
 *           functions above keep their calls, and of their times what is below them and kept;
 *   depth   what is deeper is part of its callers.
 *
 * Nodes that are left out stay in the profile's array, without calls and times, with function 0, and
 * are no one's children.
 */
#ifndef TP_FILTER_H
#define TP_FILTER_H

#include "analyzer/profile/analysis.h"

/*
 * Apply the options to an analysis that has its functions' names but not their sums. 0; TP_ERR_SYNTAX
 * for a bad pattern; TP_ERR_NOT_FOUND if one matches no function; TP_ERR_MEMORY.
 */
int tp_filter_apply(
    struct tp_analysis *analysis, const struct tp_analysis_options *options, struct tp_err *err);

#endif
