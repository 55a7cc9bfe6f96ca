/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A process that is recorded beside the program: a log and a trace of its own. The clock and the supply are the session's. */
#ifndef TP_RECORDING_H
#define TP_RECORDING_H

#include "trace_ends.h"

/* What is the same for all of them. */
struct tp_recording_options {
	uint32_t clock;
	int compress; /* level for tp_trace_writer_open */
	enum tp_drain_policy policy;
	struct teeperf_trace_point origin;       /* where the clock began */
	const struct tp_counter_thread *counter; /* NULL: not a soft clock */
	bool start_off;
	struct tp_host_facts facts;
};

struct tp_recording {
	struct tp_region region;
	struct tp_trace_writer writer;
	struct tp_clock_log clock_log;
	struct tp_drain drain; /* the caller has filled what concerns its process */
};

/* What became of it. */
struct tp_recording_result {
	bool failed;     /* the trace lacks chunks: the file could not be written */
	uint32_t attach; /* enum teeperf_attach */
	uint64_t records;
	uint64_t lost;
	uint64_t forked;  /* as in struct tp_session_counts, for its log */
	uint64_t refused; /* and so are these */
	uint64_t modules_refused;
	uint64_t log_gone_bytes;
	bool stunted;
};

/* The log, and an empty trace at `path`, a new file. 0, or all is undone. */
int tp_recording_create(struct tp_recording *recording, const struct tp_region_options *region,
    const char *path, int compress, struct tp_err *err);

/* What the clock and the drain are; then the caller adds what the trace begins with. pre: the clock runs. */
void tp_recording_prepare(
    struct tp_recording *recording, const struct tp_recording_options *options);

/* Record. Undone by tp_drain_stop; on failure discard it. */
int tp_recording_start(struct tp_recording *recording, struct tp_err *err);

/*
 * pre: its drain was stopped. Take the rest, and end the trace: `facts` as at the beginning, `known` by the session. All of
 * *result but `failed`. Then discard it, or close it.
 */
void tp_recording_finish(struct tp_recording *recording, const struct tp_host_facts *facts,
    const struct teeperf_trace_end *known, struct tp_recording_result *result);

/* Close the trace and free everything. 0, or the file's first failure. */
int tp_recording_close(struct tp_recording *recording);

/* Remove the trace and free everything. */
void tp_recording_discard(struct tp_recording *recording);

#endif
