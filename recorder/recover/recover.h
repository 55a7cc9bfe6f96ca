/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Completes traces whose recorder was killed, from the logs that are still in memory. May itself be
 * killed at any time: done again it goes on where it stopped. docs/decisions/0014-recover.md.
 */
#ifndef TP_RECOVER_H
#define TP_RECOVER_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "analyzer/trace/tracefile.h"
#include "common/buf.h"
#include "common/err.h"
#include "remains.h"

struct tp_recovered {
	char trace[PATH_MAX];
	bool ended;       /* the trace had its END already: there was nothing to add */
	bool gone;        /* of a sweep: the trace of the log is not there any more */
	uint64_t chunks;  /* that were added */
	uint64_t records; /* in these */
	uint64_t lost;    /* events, as the program counted them */
	uint64_t cut;     /* bytes of a half-written section that were taken off */
	bool soft;        /* the clock stopped with its recorder */
	/* By tp_recover only: what the trace lacks all the same, as no log has it any more. */
	struct tp_lacks lacks;
	bool damaged; /* it has other problems, which 'teeperf analyze' shows */
};

/* Complete the trace PATH and remove its log. pre: err is not NULL. */
int tp_recover(const char *path, struct tp_recovered *recovered, struct tp_err *err);

/* What is to be known about the log of a trace without END. */
enum tp_log_state tp_recover_look(const struct teeperf_trace_log *log, pid_t *pid);

/*
 * Do so for all logs of this user that were left behind, and remove those of which no trace is left.
 * `tell` is called for each that was taken care of, or could not be (err is not NULL; the log is kept).
 */
void tp_recover_all(void (*tell)(const struct tp_recovered *recovered, const struct tp_err *err));

/*
 * Add to OUT, as sections of a trace, the chunks in the log as they are now, and its tables. A trace that is read after
 * that has all that was recorded until now in one or the other. False, and nothing added: the log is not there, or is not to be
 * read so (mode ring, whose trace comes at the end; and a log whose chunks wait to be written by the thousand).
 */
bool tp_live_add(const struct teeperf_trace_log *log, struct tp_buf *out);

#endif
