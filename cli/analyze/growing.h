/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A trace that is being recorded, looked at again and again, of which each look reads the new
 * records: by its file, or by the process id of the recorder or of its program. A trace may be read
 * while it is written; records that are not in the file yet is read from the log itself.
 */
#ifndef TP_GROWING_H
#define TP_GROWING_H

#include "open_trace.h"

#include "recorder/control/control.h"

#include <limits.h>

struct tp_growing {
	pid_t pid; /* 0: a file, or the recording that it was has ended */
	char path[PATH_MAX];
	bool known;     /* path is valid */
	bool ring;      /* the last look saw a snapshot of a running recording with mode ring */
	bool live;      /* at the last look, the log was read, too */
	bool gone;      /* the recorder is no more, and has written no end */
	bool over;      /* it has written the end, or is gone: there will be no more */
	uint64_t looks; /* that have seen a trace */
	struct tp_control_reply reply; /* of the last look, with pid */
	uint64_t read_bytes;           /* of the trace, by the last look */
	struct tp_open_kept
	    kept; /* `last` is the caller's; kept.replay.why: the last look read all records */
	/* The rest is for tp_growing_look. */
	bool seen_gone;
	struct teeperf_trace_log
	    log; /* where the records are that are not in the trace yet; valid if has_log */
	bool has_log;
};

/* The argument is a file or, if there is no such file, a process id. */
void tp_growing_init(struct tp_growing *growing, const char *what);

/*
 * Open the trace as it is now, with tp_open_trace and without a word but of wrong usage. OPEN and
 * MORE, which must outlive it, are to be released if TP_EXIT_DONE is returned; else *ERR says what
 * went wrong: where there have been looks, the recorder may just have been about to write.
 */
int tp_growing_look(struct tp_growing *growing, struct tp_open_trace *open, struct tp_buf *more,
    const struct tp_open_options *options, struct tp_err *err);
/* When all that it opened is released. */
void tp_growing_release(struct tp_growing *growing);

#endif
