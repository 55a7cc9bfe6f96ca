/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The paths of one trace in another one: of the same program at another time, or of another version of it. A path is
 * the same if its functions have the same names; threads are taken together.
 */
#ifndef TP_PATH_MATCH_H
#define TP_PATH_MATCH_H

#include "analyzer/output/format/export.h"
#include "analyzer/profile/paths.h"

struct tp_path_match {
	/* What each path weighs alone in the other trace: calls, or ticks as if of this trace's clock. */
	double *self;
	double gone; /* the same of paths that this trace does not have */
};

/*
 * PATHS are those of ANALYSIS, OTHER is the other trace. 0 or a negative tp_error: TP_ERR_NOT_FOUND if the times
 * of the two cannot be compared. Release it in any case.
 */
int tp_path_match_init(struct tp_path_match *match, const struct tp_analysis *analysis,
    const struct tp_paths *paths, const struct tp_analysis *other, enum tp_weight weight,
    struct tp_err *err);
void tp_path_match_release(struct tp_path_match *match);

#endif
