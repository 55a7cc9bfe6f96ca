/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The TEE's side of a recording of a host program and its TEE: a log and a trace of its own, which the host program
 * hands on. The clock, the supply thread, the commands and the end are the session's. docs/decisions/0028-joined-traces.md.
 */
#ifndef TP_INNER_H
#define TP_INNER_H

#include "recorder/drain/drain.h"
#include "recorder/region/host_facts.h"
#include "recorder/region/region.h"
#include "recorder/drain/trace_writer.h"

struct tp_inner {
	struct tp_region region;
	struct tp_trace_writer writer;
	struct tp_clock_log clock_log;
	struct tp_drain drain;
};

/* What became of it. */
struct tp_inner_result {
	bool failed;     /* the trace lacks chunks: the file could not be written */
	uint32_t attach; /* enum teeperf_attach */
	uint64_t records;
	uint64_t lost;
	uint64_t modules_refused;
	uint64_t log_gone_bytes;
	bool stunted;
};

/* The log and an empty trace at `path`, a new file. 0, or all is undone. */
int tp_inner_create(struct tp_inner *inner, const struct tp_region_options *region,
    const char *path, int compress, struct tp_err *err);

/*
 * Record. The clock runs by now, and began at `origin`; `counter` is NULL if it is none of soft clocks. Undone by
 * tp_drain_stop. On failure discard it.
 */
int tp_inner_start(struct tp_inner *inner, uint32_t clock, const struct teeperf_trace_point *origin,
    const struct tp_counter_thread *counter, enum tp_drain_policy policy, bool start_off,
    const struct tp_host_facts *facts, struct tp_err *err);

/* Undo tp_inner_create. */
void tp_inner_discard(struct tp_inner *inner);

/* pre: its drain was stopped. Take the rest; `facts` as at the start, but known to the end. Free everything. */
void tp_inner_finish(struct tp_inner *inner, const struct tp_host_facts *facts,
    const struct teeperf_trace_end *known, struct tp_inner_result *result);

#endif
