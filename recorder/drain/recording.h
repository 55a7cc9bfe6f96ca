/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What a trace has that the drain does not move; and a process that is recorded beside the program:
 * a log and a trace of its own, but the session's clock and supply.
 */
#ifndef TP_RECORDING_H
#define TP_RECORDING_H

#include "common/chunks/event_cost.h"
#include "drain.h"

/* What each trace begins and ends with, besides its tables: sections HOST, COMMAND, LOG and END. */

/* Of 'record --budget'. */
struct tp_budget_facts {
	double share;      /* of the running time that events may cost; 0: no budget */
	double overhead;   /* reckoned, from the second second on; below 0: not known */
	uint32_t switched; /* functions that were off at least once */
};

/* What the recording chose; the rest is asked of the system. */
struct tp_host_facts {
	uint32_t ring;   /* mode ring: chunks that a thread keeps; else 0 */
	int cores;       /* that could be used at the start */
	int counter_cpu; /* -1: none */
	const char *clock;
	const char *mode;
	const char *drain;
	bool start_off;  /* recording began switched off */
	bool only;       /* some functions were not to record */
	bool calibrated; /* functions were left out in turns */
	struct tp_event_cost cost;
	bool has_cost;
	uint64_t cost_age_ns; /* since an earlier recording measured it; 0: this one did */
	struct tp_budget_facts budget;
	/* One of several processes: its number, and its parent's if it was forked. 0: unknown. */
	uint64_t process;
	uint64_t parent;
	uint64_t unrecorded; /* instrumented programs that other processes ran without a log */
	const char
	    *attached; /* ids of the threads that were there before us, "1,2,3"; NULL: none */
	/* the longest time for which a thread was stopped for us; 0: none was */
	uint64_t attach_pause_ns;
	uint64_t attach_waited_ns; /* of which it waited for a processor */
	const char *port;          /* of the TEE, NULL: none was named */
	const char *transport;     /* NULL: the program was started here and shares the log */
	/* "foreign": its process and thread ids are of a world of its own, "virtual"; NULL: ours */
	const char *ids;
	/* why there are no events of SGX, though there are others; NULL: as below */
	const char *sgx_refused;
	const char
	    *events_refused; /* why there are no system events; NULL: there are, or nobody asked */
};

/*
 * Add HOST: lines "key=value" (docs/format.md); once more when it has `ended`, with the facts known
 * then.
 */
void tp_trace_add_host(const struct tp_drain *drain, const struct tp_host_facts *facts, bool ended);

/*
 * Add COMMAND: that of ARGV, or if it is NULL that of the running process `pid`. 0 or
 * TP_ERR_MEMORY.
 */
int tp_trace_add_command(
    const struct tp_drain *drain, char *const *argv, pid_t pid, struct tp_err *err);

/*
 * Add LOG, and note the trace beside the log: where to find what has not been written, should we be
 * killed. Nothing if the trace is no regular file. An error if all sections so far could not be
 * written.
 */
int tp_trace_add_log(const struct tp_drain *drain, struct tp_err *err);

/* Fill what the header of a log says, of whose table of threads `filled` entries are in use. */
void tp_trace_end_count(
    struct teeperf_trace_end *end, const struct teeperf_log_header *header, uint64_t filled);

/*
 * Add END: `known` (exit and times), and the rest from the log. pre: the drain has finished, or
 * writes a snapshot.
 */
void tp_trace_add_end(const struct tp_drain *drain, const struct teeperf_trace_end *known);

/* Values that are the same for all processes beside the program. */
struct tp_recording_options {
	uint32_t clock;
	int compress; /* level for tp_trace_writer_open */
	enum tp_drain_policy policy;
	struct teeperf_trace_point origin;       /* where the clock began */
	const struct tp_counter_thread *counter; /* NULL: not a soft clock */
	bool start_off;
	bool no_sched; /* do not ask the kernel when threads run and wait */
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
	uint64_t early;   /* events before it had its log */
	uint64_t forked;  /* as in struct tp_session_counts, for its log */
	uint64_t refused; /* and so are these */
	uint64_t modules_refused;
	uint64_t log_gone_bytes;
	bool stunted;
};

/* The log, and an empty trace at `path`, a new file. 0, or all is undone. */
int tp_recording_create(struct tp_recording *recording, const struct tp_region_options *region,
    const char *path, int compress, struct tp_err *err);

/*
 * What the clock and the drain are; then the caller adds what the trace begins with. pre: the clock
 * runs.
 */
void tp_recording_prepare(
    struct tp_recording *recording, const struct tp_recording_options *options);

/* Record. Undone by tp_drain_stop; on failure discard it. */
int tp_recording_start(struct tp_recording *recording, struct tp_err *err);

/*
 * pre: its drain was stopped. Take the rest, and end the trace: `facts` as at the beginning,
 * `known` by the session. All of *result but `failed`. Then discard it, or close it.
 */
void tp_recording_finish(struct tp_recording *recording, const struct tp_host_facts *facts,
    const struct teeperf_trace_end *known, struct tp_recording_result *result);

/* Close the trace and free everything. 0, or the file's first failure. */
int tp_recording_close(struct tp_recording *recording);

/* Remove the trace and free everything. */
void tp_recording_discard(struct tp_recording *recording);

#endif
