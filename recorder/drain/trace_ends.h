/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the trace of each process begins and ends with, besides its tables. */
#ifndef TP_TRACE_ENDS_H
#define TP_TRACE_ENDS_H

#include "recorder/region/host_facts.h"
#include "recorder/region/region.h"
#include "trace_writer.h"

/* Add HOST. */
void tp_trace_add_host(struct tp_trace_writer *writer, const struct tp_host_facts *facts);

/*
 * Add LOG, and note the trace beside the log: where to find what has not been written, should we be
 * killed. Nothing if the trace is no regular file. An error if all sections so far could not be written.
 */
int tp_trace_add_log(struct tp_trace_writer *writer, struct tp_region *region, int compress,
    bool start_off, const char *path, struct tp_err *err);

/* Add END: `known` (exit and times), and the rest from the region. pre: the drain has finished. */
void tp_trace_add_end(struct tp_trace_writer *writer, const struct tp_region *region,
    const struct teeperf_trace_end *known);

#endif
