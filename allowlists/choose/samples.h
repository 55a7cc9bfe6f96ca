/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Samples of a profiler that interrupts the program now and then: perf.data, by perf itself; folded
 * stacks ("main;f;g 12", the last function counts); or lines "NAME<TAB>SAMPLES".
 */
#ifndef TP_SAMPLES_H
#define TP_SAMPLES_H

#include "common/buf.h"
#include "allowlists/choose/workload.h"

struct tp_samples {
	uint64_t all;
	uint64_t known; /* of these, in functions of the workload */
	double time_ns; /* that they cover, if the file tells; else 0 */
};

/*
 * Read FILE into samples of the workload's functions. 0 or an error: TP_ERR_NOT_FOUND if none is in
 * a function of the workload, TP_ERR_SYNTAX for a line that is none of the above, TP_ERR_SYSTEM if
 * perf is needed and does not run.
 */
int tp_samples_read(
    struct tp_samples *samples, struct tp_workload *workload, const char *file, struct tp_err *err);

/* The times of the workload's functions from their samples, so that all of them make TIME_NS. */
void tp_samples_apply(
    const struct tp_samples *samples, struct tp_workload *workload, double time_ns);

/*
 * What `perf report` says of FILE, a perf.data of whatever version, a line "SAMPLES<TAB>[.] LINKAGE-NAME" for each function. 0, or
 * TP_ERR_SYSTEM if perf cannot be run or does not read the file; the message says what to do.
 */
int tp_perf_report(const char *file, struct tp_buf *report, struct tp_err *err);

#endif
