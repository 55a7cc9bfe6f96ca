/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the trace of each process begins and ends with, besides its tables: sections HOST, COMMAND, LOG and END. */
#ifndef TP_TRACE_ENDS_H
#define TP_TRACE_ENDS_H

#include "common/chunks/event_cost.h"
#include "drain.h"

/* What the recording chose; the rest is asked of the system. */
struct tp_host_facts {
	const char *clock;
	const char *mode;
	const char *drain;
	uint32_t ring;   /* mode ring: chunks that a thread keeps; else 0 */
	int cores;       /* that could be used at the start */
	int counter_cpu; /* -1: none */
	bool start_off;  /* recording began switched off */
	bool only;       /* some functions were not to record */
	struct tp_event_cost cost;
	bool has_cost;
	/* One of several processes: its number, and its parent's if it was forked. 0: unknown. */
	uint64_t process;
	uint64_t parent;
	const char *port;      /* of the TEE, NULL: none was named */
	const char *transport; /* NULL: the program was started here and shares the log */
};

/* Add HOST: lines "key=value" (docs/format.md); once more when it has `ended`, with what is known then. */
void tp_trace_add_host(const struct tp_drain *drain, const struct tp_host_facts *facts, bool ended);

/* Add COMMAND: that of ARGV, or if it is NULL that of the running process `pid`. 0 or TP_ERR_MEMORY. */
int tp_trace_add_command(
    const struct tp_drain *drain, char *const *argv, pid_t pid, struct tp_err *err);

/*
 * Add LOG, and note the trace beside the log: where to find what has not been written, should we be
 * killed. Nothing if the trace is no regular file. An error if all sections so far could not be written.
 */
int tp_trace_add_log(const struct tp_drain *drain, struct tp_err *err);

/* Fill what the header of a log says, of whose table of threads `filled` entries are in use. */
void tp_trace_end_count(
    struct teeperf_trace_end *end, const struct teeperf_log_header *header, uint64_t filled);

/* Add END: `known` (exit and times), and the rest from the log. pre: the drain has finished, or writes a snapshot. */
void tp_trace_add_end(const struct tp_drain *drain, const struct teeperf_trace_end *known);

#endif
