/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Processor time and memory of the control group that a process is in, of version 1 or 2. They are
 * of all processes in that group. Use as in counters.h.
 */
#ifndef TP_CGROUP_H
#define TP_CGROUP_H

#include <sys/types.h>

#include "common/err.h"
#include "recorder/kernel/meter.h"

/* cgroup-cpu, -cpu-user, -cpu-system, -throttled, -memory and -memory-peak */
enum { TP_CGROUP_METERS = 6 };

struct tp_cgroup {
	struct teeperf_trace_meter meters[TP_CGROUP_METERS];
	struct {
		int fd;          /* -1: not open */
		const char *key; /* before the number in its line; NULL: the file is the number */
		uint64_t factor; /* of the number, for ns or bytes */
	} files[TP_CGROUP_METERS];
};

/*
 * Of process PID; 0: this one. PROC: "/proc", or a folder with the files self/mountinfo and
 * PID/cgroup. Cannot fail: what cannot be read has a note. Close it.
 */
void tp_cgroup_open(struct tp_cgroup *cgroup, const char *proc, pid_t pid);
void tp_cgroup_read(struct tp_cgroup *cgroup, struct tp_meter_value readings[TP_CGROUP_METERS]);
void tp_cgroup_close(struct tp_cgroup *cgroup);

#endif
