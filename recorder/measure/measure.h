/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Executes one program and measures it, for 'teeperf experiment' (python/teeperf/experiment):
 * struct tp_measurement -> lines of fields with tabs in between:
 *
 *	metric	NAME	UNIT	VALUE
 *	note	TEXT
 *	status	done	exit status 0      (or "failed", "timed out")
 *	error	TEXT                       (in place of the status: it was not started)
 *
 * Single-threaded; the program has a process group of its own. A missing figure was not measured;
 * it is not 0.
 */
#ifndef TP_MEASURE_H
#define TP_MEASURE_H

#include "common/buf.h"

#include <stdbool.h>
#include <stdint.h>

struct tp_measurement {
	char *const *argv;      /* the first is found along PATH; NULL at the end */
	char *const *variables; /* "NAME=value" in addition to our own environment; NULL: none */
	const char *cwd;
	const char *output;  /* files that its output is added to */
	const char *errors;  /* may be the same */
	uint64_t timeout_ns; /* 0: none */
	bool measured;       /* false: only the status is wanted */
	char *const *events; /* counters, by perf's names; NULL at the end; NULL: none */
	const char *energy;  /* file for samples of energy; NULL: it is not read */
	uint64_t energy_interval_ns;
	bool system; /* system events, by BPF programs */
};

/*
 * Run it with all that it leaves in its process group, which is killed if it takes too long, and in
 * the end. SIGINT, SIGTERM and SIGHUP end it. False: it was not started, or it was interrupted.
 */
bool tp_measure(const struct tp_measurement *what, struct tp_buf *lines);

/* Add lines (lines.c). A value that is not finite is left out. */
void tp_measure_metric(struct tp_buf *lines, const char *name, const char *unit, double value);
void tp_measure_note(struct tp_buf *lines, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Around the program (collect.c): counters, energy and system events. */
void tp_collect_start(const struct tp_measurement *what, struct tp_buf *lines);
/* Do the work of NOW_NS; *NEXT_NS becomes no later than the next time. */
void tp_collect_tick(uint64_t now_ns, uint64_t *next_ns);
void tp_collect_stop(struct tp_buf *lines);

#endif
