/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What `teeperf record` says when the recording is over. */
#ifndef TP_RECORD_END_H
#define TP_RECORD_END_H

#include "options.h"

/* Exit codes of shells and loaders for a program that cannot be run, and for one that is not there. */
enum { TP_RECORD_NOT_RUNNABLE = 126, TP_RECORD_NOT_FOUND = 127 };

/* What went wrong, and what to do about it. */
void tp_record_warn(const struct tp_session_counts *counts, const struct tp_launch *launch,
    const struct tp_record_options *options);

/* `how` it ended, if it was not started here. `can_be_read`: the output is a file of ours, no pipe or device. */
void tp_record_summarize(const struct tp_session_counts *counts, const struct tp_launch *launch,
    const struct tp_record_options *options, const char *how, bool can_be_read);

#endif
