/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The texts of a trace about where and how it was recorded: sections COMMAND and HOST. */
#ifndef TP_HOST_FACTS_H
#define TP_HOST_FACTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/buf.h"
#include "common/chunks/event_cost.h"

/* What the recording chose; the rest is asked of the system. */
struct tp_host_facts {
	const char *clock;
	const char *mode;
	const char *drain;
	uint32_t ring;   /* mode ring: chunks that a thread keeps; else 0 */
	int cores;       /* that could be used at the start */
	int counter_cpu; /* -1: none */
	uint64_t log_bytes;
	bool start_off;      /* recording began switched off */
	bool ended;          /* the rest is known */
	uint64_t clock_gaps; /* times that a soft clock stood still */
	uint64_t switches_missed;
	uint64_t log_gone_bytes; /* memory of the log that went away */
	bool only;               /* some functions were not to record */
	uint64_t functions;
	uint64_t functions_left_out;
	struct tp_event_cost cost;
	bool has_cost;
	/* One of several processes: its number, and its parent's if it was forked. 0: unknown. */
	uint64_t process;
	uint64_t parent;
	const char *port;      /* of the TEE, NULL: none was named */
	const char *transport; /* NULL: the program was started here and shares the log */
};

/* Append the working directory and each argument, NUL-ended. */
void tp_host_facts_command(struct tp_buf *buf, char *const *argv);

/* The same of a running process. */
void tp_host_facts_command_of(struct tp_buf *buf, pid_t pid);

/* Append "key=value\n" lines: teeperf, os, machine, cpu, cores, clock, mode, log_bytes, drain, ... */
void tp_host_facts_text(struct tp_buf *buf, const struct tp_host_facts *facts);

#endif
