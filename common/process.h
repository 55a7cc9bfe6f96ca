/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Child processes: programs whose output is needed, and work in a separate process, because it may
 * crash. (recorder/launch.h starts the recorded program.)
 */
#ifndef TP_PROCESS_H
#define TP_PROCESS_H

#include "common/buf.h"

#include <limits.h>
#include <stdint.h>
#include <sys/types.h>

/* A program and its standard streams. */
struct tp_program {
	const char *const *argv; /* the first is looked for in PATH; NULL at the end */
	const char *input;       /* its input, less than fits a pipe; NULL: nothing */
	struct tp_buf *output;   /* its output is added here; NULL: it is lost */
	bool keep_errors;        /* its standard error is ours; else it is lost as well */
};

/*
 * Run PROGRAM to its end. Returns 0, or an errno if it could not be started; *STATUS is then that
 * of tp_process_wait.
 */
int tp_process_run(const struct tp_program *program, int *status);

/* A process that does some work of ours. */
struct tp_process {
	pid_t pid;
	int fd; /* what it writes */
};

/* Does the work, writes its result to FD, and returns the exit status. */
typedef int tp_process_work(void *context, int fd);

/*
 * Start a process that becomes another program: BECOME does so in it, and returns, with errno, only
 * where that failed. 0 and *PID, once it has, or that errno.
 */
typedef void tp_process_become(const void *context);
int tp_process_start(pid_t *pid, tp_process_become *become, const void *context);

/* Start it. 0, or an errno. Nothing that was registered to run at exit runs in it. */
int tp_process_fork(struct tp_process *process, tp_process_work *work, void *context);
/*
 * Add all that it writes to GOT, and wait for its end. True if that was at most MOST bytes; with
 * more, or without memory, it is killed. *STATUS is that of tp_process_wait.
 */
bool tp_process_take(struct tp_process *process, uint64_t most, struct tp_buf *got, int *status);
/* End it at once. */
void tp_process_kill(struct tp_process *process);

/* The program NAME along PATH, or where its slashes say. False if there is none. */
bool tp_find_program(const char *name, char path[PATH_MAX]);

/*
 * Wait for the end of PID. Its status, as of waitpid; 0 where that is not known, as SIGCHLD is
 * ignored.
 */
int tp_process_wait(pid_t pid);

#endif
