/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A program that runs already and was started without a recorder: finding its runtime, and calling
 * that by ptrace(2) in one of its threads (include/teeperf/late.h). Nothing is written to its
 * memory, and no other thread is stopped.
 */
#ifndef TP_PID_H
#define TP_PID_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <teeperf/late.h>

#include "common/err.h"

enum {
	TP_PID_CODE_BYTES = 32, /* tp_late_entry is longer */
	TP_PID_LATE_MOST = 32,
};

struct tp_pid {
	pid_t pid;                             /* 0: none */
	uint64_t entry;                        /* of its runtime, of the first that is in use */
	unsigned char code[TP_PID_CODE_BYTES]; /* that is there: after exec it is another program */
	const uint32_t
	    *told;         /* in the log that it is to take: not 0 when it has; NULL: nobody says */
	uint64_t pause_ns; /* the longest time for which a thread was stopped, so far */
	/* of which it was to run, and waited for a processor; 0: or nobody knows */
	uint64_t pause_waited_ns;
	uint32_t result; /* enum teeperf_late_result of the last call */
	/*
	 * Runtimes besides that one which have instrumented code, too, and a file with one; they
	 * are left alone.
	 */
	uint32_t others;
	char other[64];
	int freed; /* threads that a killed recorder had left in the entry, and that run on now */
	/* Threads that were asked to stop and had not yet: those of the call that is made. */
	pid_t late[TP_PID_LATE_MOST];
	int late_count;
};

/*
 * Find its runtime. An error says why the process cannot be recorded, and what to do about it.
 * FORCED: a seccomp filter, which might kill the process, is no such reason.
 */
int tp_pid_find(struct tp_pid *target, pid_t pid, bool forced, struct tp_err *err);

/*
 * Call the runtime, with PATH (of less than TEEPERF_LATE_PATH_SIZE bytes, as the process sees it)
 * or NULL, in whichever thread is easily stopped, again and again while it is busy, for some
 * seconds. TEEPERF_LATE_DONE or an error.
 */
int tp_pid_call(
    struct tp_pid *target, enum teeperf_late_command command, const char *path, struct tp_err *err);

/*
 * One call in thread TID: TP_PID_CALLED and *result, or the thread is as it was. May take long only
 * where the program's own code does. pre: this thread does nothing else with children.
 */
enum tp_pid_outcome {
	TP_PID_CALLED = 0,
	TP_PID_GONE,    /* the thread has ended */
	TP_PID_UNFIT,   /* it cannot be used now */
	TP_PID_REFUSED, /* *error: by the kernel */
	TP_PID_TRACED,  /* *error: by that thread, a recorder's or a debugger's */
	TP_PID_FAILED,  /* it crashed in the call, which was undone */
	TP_PID_LATE,    /* it did not run at all; undone */
	TP_PID_OTHER,   /* it runs another program now; nothing was called */
};
enum tp_pid_outcome tp_pid_call_in(struct tp_pid *target, pid_t tid,
    enum teeperf_late_command command, const char *path, uint64_t *result, int *error);

/*
 * Threads that a recorder of this user, which was killed in a call, has left in the entry, where
 * they spin: put back to where they were. How many. Only from a thread that ends then, as the
 * calls.
 */
int tp_pid_free(struct tp_pid *target);

/* Whether it has the log of a living recorder. */
bool tp_pid_is_recorded(pid_t pid);

/*
 * The ids of its threads as it knows them itself, "1,2,3", to be freed; NULL: it has ended, or
 * there is no memory.
 */
char *tp_pid_threads(pid_t pid);

/* Which processes are meant: those with a name, or in a control group. */
struct tp_pid_pattern {
	bool is_group;
	const char *glob; /* fnmatch(3)'s */
};

/*
 * "NAME" is a glob for a process's name or its executable's, with a slash for the executable's
 * path; "cgroup:PATH" one for the path of a control group, whose groups count, too. TEXT outlives
 * the pattern. TP_ERR_SYNTAX says what it would do, or what was expected.
 */
int tp_pid_pattern_read(struct tp_pid_pattern *pattern, const char *text, struct tp_err *err);

/* The processes that it fits but this one, by rising numbers, *PIDS to be freed. 0 or an error. */
int tp_pid_match(
    const struct tp_pid_pattern *pattern, pid_t **pids, size_t *count, struct tp_err *err);

/* Says that process PID is traced by thread TRACER. Returns a tp_error. */
int tp_pid_traced(pid_t pid, int tracer, struct tp_err *err);

/* Why process PID cannot be traced, ERROR being what the kernel said. Returns a tp_error. */
int tp_pid_refused(pid_t pid, int error, struct tp_err *err);

#endif
