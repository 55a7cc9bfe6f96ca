// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Chooses the thread that is stopped for a call of the runtime: one that sleeps in a system call
// which the kernel begins again by itself, if there is one.
#define _GNU_SOURCE
#include "pid.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>

#include <teeperf/abi.h>

#include "common/buf.h"
#include "recorder/clock/host_clock.h"
#include "recorder/region/proc.h"

// For RINGS_MS a thread is looked for that is not in such a call.
enum { CANDIDATES = 16, PATIENCE_MS = 5000, RINGS_MS = 1000, CRASHES_MAX = 3 };
static const struct timespec NAP = {.tv_nsec = 1000 * 1000};

// How willingly a thread is stopped, the less the better.
enum rank {
	RANK_SLEEPS,  // in a system call that goes on as if nothing had been
	RANK_RUNS,    // in the program's code
	RANK_WAITS,   // in another system call: it may have done a part of its work
	RANK_RINGS,   // in one that comes back without what it was to wait for
	RANK_CHANGES, // it could not be seen
	RANK_STUCK,   // the kernel holds it
	RANK_ENDED,
	RANKS,
};

// Not by its name, which older headers lack.
enum { IO_URING_ENTER = 426 };

static bool goes_on(long call)
{
	static const long calls[] = {
#ifdef SYS_poll
	    SYS_poll, SYS_select, SYS_pause, SYS_epoll_wait,
#endif
	    SYS_futex, SYS_ppoll, SYS_pselect6, SYS_nanosleep, SYS_clock_nanosleep, SYS_wait4,
	    SYS_waitid, SYS_epoll_pwait, SYS_rt_sigsuspend, SYS_rt_sigtimedwait};
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (calls[i] == call)
			return true;
	return false;
}

static enum rank rank_of(pid_t pid, pid_t tid)
{
	char name[40];
	char text[512];
	snprintf(name, sizeof(name), "task/%d/stat", (int)tid);
	tp_proc_read(pid, name, text, sizeof(text));
	const char *state = strrchr(text, ')');
	if (!state || !state[1] || strchr("ZX", state[2]))
		return RANK_ENDED;
	if (state[2] == 'D')
		return RANK_STUCK;
	snprintf(name, sizeof(name), "task/%d/syscall", (int)tid);
	if (!tp_proc_read(pid, name, text, sizeof(text)))
		return RANK_CHANGES;
	if (!strncmp(text, "running", 7))
		return RANK_RUNS;
	const long call = strtol(text, NULL, 10);
	return call < 0                 ? RANK_CHANGES
	       : goes_on(call)          ? RANK_SLEEPS
	       : call == IO_URING_ENTER ? RANK_RINGS
					: RANK_WAITS;
}

struct candidates {
	pid_t tids[RANKS][CANDIDATES];
	int counts[RANKS];
};

// Of many threads the first are enough. False: there is no such process, or it has ended and its
// parent has not noticed.
static bool look(pid_t pid, struct candidates *found)
{
	char path[32];
	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	DIR *folder = opendir(path);
	*found = (struct candidates){.counts = {0}};
	if (!folder)
		return false;
	for (struct dirent *entry;
	     found->counts[RANK_SLEEPS] < CANDIDATES / 4 && (entry = readdir(folder));) {
		const pid_t tid = (pid_t)atoi(entry->d_name);
		if (tid <= 0)
			continue;
		const enum rank rank = rank_of(pid, tid);
		if (found->counts[rank] < CANDIDATES)
			found->tids[rank][found->counts[rank]++] = tid;
	}
	closedir(folder);
	int alive = 0;
	for (enum rank rank = 0; rank < RANK_ENDED; rank++)
		alive += found->counts[rank];
	return alive;
}

char *tp_pid_threads(pid_t pid)
{
	char path[40];
	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	DIR *folder = opendir(path);
	struct tp_buf ids;
	tp_buf_init(&ids);
	for (struct dirent *entry; folder && (entry = readdir(folder));) {
		// In each namespace of processes it has another one; its own is the last.
		char text[128] = "";
		snprintf(path, sizeof(path), "task/%.16s/status", entry->d_name);
		if (atoi(entry->d_name) > 0 &&
		    tp_proc_scan(pid, path, "NSpid: %127[0-9\t ]", text)) {
			const char *last = strrchr(text, '\t');
			tp_buf_addf(&ids, "%s%d", ids.size ? "," : "", atoi(last ? last : text));
		}
	}
	if (folder)
		closedir(folder);
	tp_buf_add_char(&ids, '\0');
	if (ids.failed || ids.size == 1) {
		tp_buf_release(&ids);
		return NULL;
	}
	return ids.data;
}

struct request {
	struct tp_pid *target;
	enum teeperf_late_command command;
	const char *path;
	struct tp_err *err;
	int status;
};

static int tell(const struct request *request, uint64_t result)
{
	static const char *const reasons[] = {
	    [TEEPERF_LATE_BUSY] =
		"one of its threads has been in the runtime for seconds, or is loading a library; "
		"try again",
	    [TEEPERF_LATE_NO_MODULE] = "it has only just started; try again",
	    [TEEPERF_LATE_TAKEN] =
		"it is being recorded, or was started by a recorder: end that recording, or start "
		"it without one",
	    [TEEPERF_LATE_BAD_LOG] =
		"its runtime does not support this log: rebuild it with this version of teeperf",
	    [TEEPERF_LATE_BAD_CLOCK] =
		"it was compiled for another clock: give '--clock tsc' or '--clock soft'",
	    [TEEPERF_LATE_BAD_MODULE] =
		"parts of it were compiled by different versions of teeperf; rebuild all of it",
	    [TEEPERF_LATE_COUNTS] =
		"it counts calls of some functions, and such a program can be recorded only once; "
		"restart it",
	};
	const uint32_t what = (uint32_t)result;
	request->target->result = what;
	if (what == TEEPERF_LATE_DONE)
		return 0;
	if (what == TEEPERF_LATE_NO_LOG)
		return tp_err_system(request->err, (int)(result >> 32), NULL,
		    "process %d cannot open or map the log '%s' (a smaller '--size' needs fewer "
		    "addresses)",
		    (int)request->target->pid, request->path);
	const char *reason =
	    what < sizeof(reasons) / sizeof(reasons[0]) ? reasons[what] : "it did not answer";
	return tp_err_set(request->err, TP_ERR_LIMIT, NULL, "process %d cannot be recorded: %s",
	    (int)request->target->pid, reason);
}

// What a call has begun that crashed keeps modules from coming and going.
static void abandon(struct request *request, pid_t tid)
{
	uint64_t result;
	int error;
	if (request->command == TEEPERF_LATE_ATTACH)
		tp_pid_call_in(request->target, tid, TEEPERF_LATE_ABANDON, NULL, &result, &error);
}

// One try with each thread that is fit. True: there is an answer, in request->status.
static bool try_all(
    struct request *request, const struct candidates *found, bool rings, int *crashes)
{
	struct tp_pid *target = request->target;
	for (enum rank rank = 0; rank < RANK_STUCK; rank++)
		for (int i = 0; i < found->counts[rank] && (rings || rank != RANK_RINGS); i++) {
			uint64_t result = 0;
			int error = 0;
			switch (tp_pid_call_in(target, found->tids[rank][i], request->command,
			    request->path, &result, &error)) {
			case TP_PID_CALLED:
				request->status = tell(request, result);
				return (uint32_t)result != TEEPERF_LATE_BUSY &&
				       (uint32_t)result != TEEPERF_LATE_NO_MODULE;
			case TP_PID_REFUSED:
				request->status = tp_pid_refused(target->pid, error, request->err);
				return true;
			case TP_PID_TRACED:
				request->status = tp_pid_traced(target->pid, error, request->err);
				break;
			case TP_PID_FAILED:
				request->status = tp_err_set(request->err, TP_ERR_LIMIT, NULL,
				    "thread %d of process %d could not run the runtime: its stack "
				    "is too small, or a seccomp filter forbids it to open and map "
				    "files",
				    (int)found->tids[rank][i], (int)target->pid);
				abandon(request, found->tids[rank][i]);
				if (++*crashes == CRASHES_MAX)
					return true;
				break;
			case TP_PID_LATE:
				request->status = tp_err_set(request->err, TP_ERR_LIMIT, NULL,
				    "thread %d of process %d has not run for a minute: the process "
				    "is frozen ('docker pause'), or gets no processor; try again "
				    "when it runs",
				    (int)found->tids[rank][i], (int)target->pid);
				return true;
			case TP_PID_OTHER:
				request->status = tp_err_set(request->err, TP_ERR_NOT_FOUND, NULL,
				    "process %d now runs another program", (int)target->pid);
				return true;
			case TP_PID_GONE:
			case TP_PID_UNFIT:
				break;
			}
		}
	return false;
}

// All that is traced by this thread is let go when it ends, whatever happened.
static void *serve(void *argument)
{
	struct request *request = argument;
	const uint64_t start = tp_clock_monotonic_ns();
	const uint64_t end = start + PATIENCE_MS * UINT64_C(1000000);
	const uint64_t rings = start + RINGS_MS * UINT64_C(1000000);
	int crashes = 0;
	struct candidates found;
	request->target->late_count = 0;
	if (request->command == TEEPERF_LATE_ATTACH)
		request->target->freed += tp_pid_free(request->target);
	request->status = tp_err_set(request->err, TP_ERR_LIMIT, NULL,
	    "no thread of process %d could be stopped: the kernel holds them all (state D)",
	    (int)request->target->pid);
	while (look(request->target->pid, &found)) {
		const uint64_t now = tp_clock_monotonic_ns();
		if (try_all(request, &found, now > rings, &crashes) || now > end)
			return NULL;
		nanosleep(&NAP, NULL);
	}
	request->status = tp_err_set(request->err, TP_ERR_NOT_FOUND, NULL, "process %d has ended",
	    (int)request->target->pid);
	return NULL;
}

int tp_pid_call(
    struct tp_pid *target, enum teeperf_late_command command, const char *path, struct tp_err *err)
{
	struct request request = {
	    .target = target, .command = command, .path = path, .err = err, .status = 0};
	// Two at a time could choose the same thread, which only one can stop.
	static pthread_mutex_t one_by_one = PTHREAD_MUTEX_INITIALIZER;
	pthread_t thread;
	sigset_t all;
	sigset_t before;
	pthread_mutex_lock(&one_by_one);
	// We must not end between: the thread of the program would run on where we have put it.
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	const int error = pthread_create(&thread, NULL, serve, &request);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!error)
		pthread_join(thread, NULL);
	pthread_mutex_unlock(&one_by_one);
	return error ? tp_err_system(err, error, NULL, "cannot start a thread") : request.status;
}
