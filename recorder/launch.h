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
#include "recorder/region/region.h"

struct tp_launch {
	pid_t pid;               /* the program, 0 before it was started; any thread may look */
	int start_errno;         /* why it could not be started, 0 otherwise */
	uint32_t interrupts;     /* SIGINTs taken so far */
	uint64_t interrupted_ns; /* when the last of them was */
	bool background; /* SIGINT was ignored when we came, as it is in a shell's background job */
	bool ended;      /* the program has, and was waited for */
	int signal;      /* of TP_LAUNCH_SIGNAL; 0: it has reached our processes already */
	enum teeperf_exit_kind exit_kind;
	uint32_t exit_value;
	/*
	 * Called when the program has ended and is not waited for yet, so that the kernel still
	 * knows of it; or NULL.
	 */
	void (*look)(void *context, pid_t pid);
	/*
	 * Called when the program's process is there and waits, before it becomes the program; or
	 * NULL.
	 */
	void (*begin)(void *context, pid_t pid);
	void *context;  /* of both */
	sigset_t taken; /* what tp_launch_wait takes */
	sigset_t old_mask;
	struct sigaction old_pipe;
	struct sigaction old_file_size;
	struct sigaction old_child;
};

enum tp_launch_event {
	TP_LAUNCH_TIMEOUT = 0,
	TP_LAUNCH_ENDED, /* the program has ended: see exit_kind */
	/* a second SIGINT, or one that the program ignores: stop recording, let it run on */
	TP_LAUNCH_RELEASE,
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
	const int *errors;   /* what its standard error is; NULL: ours */
};

/* Call it before any thread is created, so that all of them have the signals blocked. */
void tp_launch_prepare(struct tp_launch *launch);

/*
 * Start argv[0], found along PATH, with the settings in its environment and the signal state from
 * before prepare. A failure of exec itself is reported here: TP_ERR_NOT_FOUND if there is no such
 * program, TP_ERR_SYSTEM otherwise, with start_errno set.
 */
int tp_launch_start(struct tp_launch *launch, char *const *argv,
    const struct tp_launch_settings *settings, struct tp_err *err);

/*
 * Wait up to timeout_ms for the next event, passing signals on meanwhile; also behind
 * TP_LAUNCH_ENDED. If no program was started, each signal that would have ended it is
 * TP_LAUNCH_RELEASE.
 */
enum tp_launch_event tp_launch_wait(struct tp_launch *launch, uint32_t timeout_ms);

/* Back to the signal state from before prepare. */
void tp_launch_restore(struct tp_launch *launch);

/*
 * A program that somebody else has started: how we learn that it is over. Its process id in the log
 * is one of its own world, a virtual machine's or a library OS's, and says nothing here.
 */
enum tp_guest_state {
	TP_GUEST_AWAITED = 0, /* none has come */
	TP_GUEST_RUNS,
	TP_GUEST_ENDED,   /* it says so (log.h, header.ended) */
	TP_GUEST_GONE,    /* the process that was to be watched has ended */
	TP_GUEST_LEFT,    /* nobody has the log mapped any more */
	TP_GUEST_MISSING, /* none has come in time */
};

struct tp_guest {
	const struct tp_region *region; /* NULL: its memory is not shared */
	uint64_t deadline_ns;           /* for it to come; UINT64_MAX: never */
	pid_t watched;                  /* 0: no process is watched */
	int watched_fd;                 /* a pidfd; -1: this kernel has none */
	pid_t user; /* a process that was seen to have the log mapped; 0: none */
	int user_fd;
	uint64_t look_ns; /* when to look for one */
};

/*
 * Watch the region, if there is one, and process `pid`, if it is not 0: TP_ERR_NOT_FOUND if it does
 * not exist.
 */
int tp_guest_start(struct tp_guest *guest, const struct tp_region *region, pid_t pid,
    uint64_t timeout_ms, struct tp_err *err);
void tp_guest_stop(struct tp_guest *guest);

/* Costs next to nothing, so call it often. */
enum tp_guest_state tp_guest_look(struct tp_guest *guest);

#endif
