/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* analyze --watch: a view of a trace that is being written, again and again. */
#ifndef TP_ANALYZE_WATCH_H
#define TP_ANALYZE_WATCH_H

#include "analyzer/output/view.h"
#include "cli/analyze/open_trace.h"

/*
 * Show the view of WHAT, a trace or the process id of a recording, every INTERVAL_MS until the recording has
 * ended, or q or Ctrl-C is pressed. Returns an exit code.
 */
int tp_analyze_watch(const char *what, const struct tp_view *view,
    const struct tp_view_options *view_options, const struct tp_open_options *open_options,
    uint64_t interval_ms);

#endif
