/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The calls of one thread one after another, for whoever needs more than sums: the thread is replayed
 * once more, with a sink. Needs memory for the thread's distinct paths and open calls, not for its calls.
 */
#ifndef TP_CALLS_H
#define TP_CALLS_H

#include "analyzer/profile/analysis.h"
#include "analyzer/replay/call_sink.h"

/*
 * Hand the calls of analysis->threads[THREAD] to the sink, within the analysis's range of time and from
 * its least time on. call->node is an index in that thread's profile.nodes. Of an analysis that was
 * filtered by functions or depth, only the calls of paths that are left are handed on, with the self
 * times that the sums have: 0 for callers that are only the way to what is in focus.
 * 0 or a negative tp_error; may be called for several threads at once.
 */
int tp_calls_each(const struct tp_analysis *analysis, uint32_t thread, struct tp_call_sink *sink,
    struct tp_err *err);

#endif
