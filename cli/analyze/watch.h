/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* analyze --watch: a view of a trace that is being written, again and again. */
#ifndef TP_ANALYZE_WATCH_H
#define TP_ANALYZE_WATCH_H

#include "analyzer/output/view.h"
#include "cli/analyze/open_trace.h"

/* 0; TP_ERR_NOT_FOUND if the view is made of times, and FILE was recorded without a clock. */
int tp_view_check_clock(const struct tp_view *view, const struct tp_analysis *analysis,
    const char *file, struct tp_err *err);

/*
 * Show the view of WHAT, a trace or the process id of a recording, every INTERVAL_MS until the recording has
 * ended, or q or Ctrl-C is pressed. Returns an exit code.
 */
int tp_analyze_watch(const char *what, const struct tp_view *view,
    const struct tp_view_options *view_options, const struct tp_open_options *open_options,
    uint64_t interval_ms);

#endif
