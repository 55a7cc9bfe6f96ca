/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Counters of the kernel and the processor (perf_event_open) for a program with all its threads and
 * children:
 *
 *	tp_counters_open(&counters, "cycles,page-faults", 0, &err);
 *	pid = fork(); if (!pid) execvp(...);      // by the thread that opened them
 *	tp_counters_read(&counters, readings);    // as often as is wanted, also behind its end
 *	tp_counters_close(&counters);
 *
 * For an ordinary user the kernel counts only what happens in user space, unless
 * kernel.perf_event_paranoid is below 2. The meters say so (TEEPERF_METER_USER_ONLY). A counter
 * that is not available is no error: its meter has a note.
 */
#ifndef TP_COUNTERS_H
#define TP_COUNTERS_H

#include <sys/types.h>

#include "common/buf.h"
#include "common/err.h"
#include "recorder/kernel/meter.h"

enum { TP_COUNTERS_MOST = 64 };

/* What may stand in a list beside perf's names: cgroup.h and gramine.h have these. */
#define TP_COUNTERS_CGROUP "cgroup"
#define TP_COUNTERS_GRAMINE "gramine"

struct tp_counter_fds {
	int *fds; /* one, or one for each thread */
	uint32_t count;
};

struct tp_counters {
	struct teeperf_trace_meter meters[TP_COUNTERS_MOST];
	struct tp_counter_fds of[TP_COUNTERS_MOST];
	uint32_t count;
	bool with_cgroup;  /* the list has TP_COUNTERS_CGROUP, for which no meter stands here */
	bool with_gramine; /* the same of TP_COUNTERS_GRAMINE */
};

/* Whether LIST, or no list, has the name WORD. */
bool tp_counters_has(const char *list, const char *word);

/*
 * Whether LIST, names separated by commas, is one. TP_ERR_SYNTAX names the wrong word, and one that
 * was perhaps meant.
 */
int tp_counters_check(const char *list, struct tp_err *err);

/*
 * Open the counters of LIST. PID 0: of the programs that the calling thread starts from now on,
 * each from its exec on; otherwise of process PID, of the threads that it has and those that it
 * will have. 0, or TP_ERR_SYNTAX or TP_ERR_MEMORY. Close it in any case.
 */
int tp_counters_open(struct tp_counters *counters, const char *list, pid_t pid, struct tp_err *err);

/*
 * Read all into READINGS, counters->count of them. Any thread may, one at a time. One that can no
 * longer be read is marked TEEPERF_METER_BROKEN.
 */
void tp_counters_read(struct tp_counters *counters, struct tp_meter_value *readings);

void tp_counters_close(struct tp_counters *counters);

/*
 * What was counted between two readings of a TEEPERF_METER_TIMED meter, as if the hardware had
 * counted all the time. False: it did not count at all while the program ran.
 */
bool tp_counters_scale(
    const struct tp_meter_value *from, const struct tp_meter_value *to, double *value);

/* Add the names that a list may have, several to a line, each line behind INDENT. */
void tp_counters_list(struct tp_buf *out, const char *indent);

#endif
