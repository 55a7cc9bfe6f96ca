/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What headings say as text (heading.c) and in JSON (heading_json.c). */
#ifndef TP_HEADING_H
#define TP_HEADING_H

#include "analyzer/trace/timebase.h"
#include "analyzer/trace/tracefile.h"

static inline const char *tp_heading_clock_name(const struct tp_tracefile *trace)
{
	return trace->has_clock ? teeperf_clock_name(trace->clock.kind) : "unknown";
}
static inline bool tp_heading_is_soft(const struct tp_tracefile *trace)
{
	return trace->has_clock && TEEPERF_CLOCK_IS_SOFT(trace->clock.kind);
}
/* Whether the recorder lived to say how the soft clock did. */
bool tp_heading_has_health(const struct tp_tracefile *trace);
/* The size of the log, 0 if unknown. */
uint64_t tp_heading_log_bytes(const struct tp_tracefile *trace);

#endif
