/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Starts the program, passes signals on to it, and waits for its end. From prepare to restore the
 * signals are blocked in the whole process and taken one by one in tp_launch_wait.
 */
#ifndef TP_LAUNCH_H
#define TP_LAUNCH_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <teeperf/trace.h>

#include "common/err.h"

struct tp_launch {
	pid_t pid;           /* the program, 0 before it was started; any thread may look */
	int start_errno;     /* why it could not be started, 0 otherwise */
	uint32_t interrupts; /* SIGINTs taken so far */
	bool background; /* SIGINT was ignored when we came, as it is in a shell's background job */
	bool ended;      /* the program has, and was waited for */
	int signal;      /* of TP_LAUNCH_SIGNAL; 0: it has reached our processes already */
	enum teeperf_exit_kind exit_kind;
	uint32_t exit_value;
	/* Called when the program has ended and is not waited for yet, so that the kernel still knows of it; or NULL. */
	void (*look)(void *context, pid_t pid);
	void *context;
	sigset_t taken; /* what tp_launch_wait takes */
	sigset_t old_mask;
	struct sigaction old_pipe;
	struct sigaction old_file_size;
	struct sigaction old_child;
};

enum tp_launch_event {
	TP_LAUNCH_TIMEOUT = 0,
	TP_LAUNCH_ENDED, /* the program has ended: see exit_kind */
	TP_LAUNCH_RELEASE, /* a second SIGINT, or one that the program ignores: stop recording, let it run on */
	TP_LAUNCH_SIGNAL, /* one that came when the program had ended */
};

/* What the program's environment says of the log; NULL: nothing. The strings are the caller's. */
struct tp_launch_settings {
	const char *log;     /* TEEPERF_LOG: a path */
	uint64_t log_offset; /* TEEPERF_LOG_OFFSET, if not 0 */
	bool inherit;        /* open the log and let the program inherit the descriptor */
	const char *control; /* TEEPERF_CONTROL */
	const char *follow;  /* TEEPERF_FORK */
	const char *tee;     /* TEEPERF_TEE_LOG */
	bool away;           /* its standard output is our standard error */
};

/* Call it before any thread is created, so that all of them have the signals blocked. */
void tp_launch_prepare(struct tp_launch *launch);

/*
 * Start argv[0], found along PATH, with the settings in its environment and the signal state from before
 * prepare. A failure of exec itself is reported here: TP_ERR_NOT_FOUND if there is no such program,
 * TP_ERR_SYSTEM otherwise, with start_errno set.
 */
int tp_launch_start(struct tp_launch *launch, char *const *argv,
    const struct tp_launch_settings *settings, struct tp_err *err);

/*
 * Wait up to timeout_ms for the next event, passing signals on meanwhile; also behind TP_LAUNCH_ENDED. If no
 * program was started, each signal that would have ended it is TP_LAUNCH_RELEASE.
 */
enum tp_launch_event tp_launch_wait(struct tp_launch *launch, uint32_t timeout_ms);

/* Back to the signal state from before prepare. */
void tp_launch_restore(struct tp_launch *launch);

#endif
