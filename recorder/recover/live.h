/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the log of a recording has, and its trace does not have yet: the chunks that threads are filling. */
#ifndef TP_LIVE_H
#define TP_LIVE_H

#include <stdbool.h>

#include <teeperf/trace.h>

#include "common/buf.h"

/*
 * Add to OUT, as sections of a trace, the chunks in the log as they are now, and its tables. A trace that is read after
 * that has all that was recorded until now in one or the other. False, and nothing added: the log is not there, or is not to be
 * read so (mode ring, whose trace comes at the end; and a log whose chunks wait to be written by the thousand).
 */
bool tp_live_add(const struct teeperf_trace_log *log, struct tp_buf *out);

#endif
