/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* All threads of an analysis, replayed at the same time; long ones in parts (stack_part.h). */
#ifndef TP_REPLAY_ALL_H
#define TP_REPLAY_ALL_H

#include "analyzer/profile/analysis.h"

/*
 * Fill the analysis's threads: profile, calls, counts, and the rest up to err. What goes wrong with a
 * thread is in its code and err. TP_ERR_MEMORY if not even the list of what to do can be made.
 */
int tp_replay_all(
    struct tp_analysis *analysis, const struct tp_analysis_options *options, struct tp_err *err);

#endif
