// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// 'teeperf record --all': each process that fits is recorded by a recorder of its own, a child of
// this one.
#define _GNU_SOURCE
#include "record.h"
#include "common/units.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	PROCESSES_MOST = 64,
	TOLD_MOST = 8,
	LOG_BYTES = 64 << 20, // of each process, where nothing else was asked for
	READY_BYTES = 8 << 20,
};

#define SECOND UINT64_C(1000000000)

static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
enum { END_COUNT = sizeof(ends) / sizeof(ends[0]) };

struct recorder {
	pid_t child; // 0: it has ended
	pid_t process;
};

// One look for processes, and their recorders.
struct round {
	struct recorder recorders[PROCESSES_MOST];
	size_t running;
	size_t count;
	size_t failed;
	size_t fitting;
	size_t strange;   // without our code, or gone meanwhile
	size_t refused;   // for another reason
	size_t left_over; // more than PROCESSES_MOST
	struct tp_err why;
};

// What outlives a round.
struct all {
	struct tp_record_options *options;
	struct tp_pid_pattern pattern;
	int (*record)(struct tp_record_options *options);
	sigset_t old_mask;
	sigset_t awaited; // the signals that we take
	int signal;       // that ends all; 0: none has come
	// Processes that were refused in the last round, which are not reported again.
	pid_t *told;
	size_t told_count;
	bool told_none;
};

// ---- one recorder

// In the child.
static _Noreturn void become_recorder(const struct all *all, pid_t parent, pid_t process)
{
	struct tp_record_options *options = all->options;
	struct tp_session_options *wanted = &options->wanted;
	char *path;
	// Signals of the keyboard are for the parent, who passes them on; and without it there is
	// nobody who would end us.
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(TP_EXIT_FAILED);
	setvbuf(stderr, NULL, _IOLBF, BUFSIZ); // several recorders write to it
	sigprocmask(SIG_SETMASK, &all->old_mask, NULL);
	if (options->all.daemon)
		path = tp_record_daemon_path(&options->all, process);
	else if (asprintf(&path, "%s.%d", wanted->output, (int)process) < 0)
		path = NULL;
	if (!path) {
		tp_command_warn("out of memory: process %d is not recorded", (int)process);
		_exit(TP_EXIT_FAILED);
	}
	wanted->output = path;
	wanted->watch = process;
	options->attach.pid = (uint64_t)process;
	const int status = all->record(options);
	fflush(NULL);
	_exit(status);
}

static void start_recorder(struct all *all, struct round *round, pid_t process)
{
	const pid_t parent = getpid();
	fflush(NULL);
	const pid_t child = fork();
	if (!child)
		become_recorder(all, parent, process);
	if (child < 0) {
		tp_err_system(&round->why, errno, NULL, "cannot start a recorder for process %d",
		    (int)process);
		round->refused++;
		return;
	}
	round->recorders[round->count++] = (struct recorder){child, process};
	round->running++;
}

static void see_ended(const struct all *all, struct round *round)
{
	int status;
	pid_t child;
	while ((child = waitpid(-1, &status, WNOHANG)) > 0)
		for (size_t i = 0; i < round->count; i++) {
			if (round->recorders[i].child != child)
				continue;
			round->recorders[i].child = 0;
			round->running--;
			if (!WIFEXITED(status) || WEXITSTATUS(status))
				round->failed++;
			// A recorder that we ended before it had begun is not reported.
			if (WIFSIGNALED(status) && !(all->signal && WTERMSIG(status) == SIGTERM))
				tp_command_warn(
				    "the recorder of process %d was killed by signal %d: "
				    "'teeperf recover' "
				    "completes its trace",
				    (int)round->recorders[i].process, WTERMSIG(status));
		}
}

static void end_recorders(const struct round *round)
{
	for (size_t i = 0; i < round->count; i++)
		if (round->recorders[i].child)
			kill(round->recorders[i].child, SIGTERM);
}

// Wait for one of our signals, for so long at most. 0: none came; SIGCHLD is none that ends.
static int await_signal(struct all *all, const struct timespec *timeout)
{
	const int signal = sigtimedwait(&all->awaited, NULL, timeout);
	if (signal > 0 && signal != SIGCHLD && !all->signal)
		all->signal = signal;
	return signal > 0 ? signal : 0;
}

static void wait_for_recorders(struct all *all, struct round *round)
{
	bool ended = false;
	while (see_ended(all, round), round->running) {
		if (all->signal && !ended)
			end_recorders(round);
		ended = all->signal;
		await_signal(all, NULL);
	}
}

// ---- which processes

static bool was_told(const struct all *all, pid_t process)
{
	for (size_t i = 0; i < all->told_count; i++)
		if (all->told[i] == process)
			return true;
	return false;
}

static void refuse(struct all *all, struct round *round, const struct tp_err *err, pid_t process)
{
	if (round->refused < TOLD_MOST && !was_told(all, process))
		tp_command_fail(err);
	round->refused++;
	round->why = *err;
}

static void try_process(
    struct all *all, struct round *round, pid_t process, size_t *refused, pid_t *refused_processes)
{
	struct tp_pid target;
	struct tp_err err;
	if (round->count == PROCESSES_MOST) {
		round->left_over++;
		return;
	}
	int r = tp_pid_find(&target, process, all->options->attach.force, &err);
	// A process that is not ours, or has ended, was not meant.
	if (r == TP_ERR_NOT_FOUND) {
		round->strange++;
		round->why = err;
		return;
	}
	if (!r && tp_pid_is_recorded(process))
		r = tp_err_set(
		    &err, TP_ERR_LIMIT, NULL, "process %d is recorded already", (int)process);
	if (r) {
		refuse(all, round, &err, process);
		refused_processes[(*refused)++] = process;
		return;
	}
	start_recorder(all, round, process);
}

// What was not recorded.
static void tell_rest(struct all *all, const struct round *round, bool again)
{
	const char *pattern = all->options->all.pattern;
	const bool none = !round->count;
	if (round->left_over)
		tp_command_warn(
		    "%zu more processes match '%s' but are not recorded: %d at a time are",
		    round->left_over, pattern, PROCESSES_MOST);
	if (round->refused > TOLD_MOST && !again)
		tp_command_warn("%zu processes cannot be recorded", round->refused);
	if (none && !all->told_none && !round->fitting)
		tp_command_warn("no process matches '%s': %s", pattern,
		    all->pattern.is_group
			? "/proc/PID/cgroup has the path of a process's group"
			: "it is for names as 'ps -e' shows them, or those of executable files");
	else if (none && !all->told_none && round->strange == round->fitting)
		tp_command_warn(
		    "of %zu process%s that match%s '%s', none has code built with 'teeperf cc' "
		    "for Linux",
		    round->fitting, tp_by_count(round->fitting, "", "es"),
		    tp_by_count(round->fitting, "es", ""), pattern);
	else if (round->strange && !again && !none && !all->options->quiet)
		tp_command_tell(
		    "%zu other%s that match%s '%s' %s no code built with 'teeperf cc'\n",
		    round->strange, tp_plural(round->strange),
		    tp_by_count(round->strange, "es", ""), pattern,
		    tp_by_count(round->strange, "has", "have"));
	all->told_none = none;
}

// Record all that fit, to the end. 0, or an error: they could not be looked for.
static int go_round(struct all *all, struct round *round, bool again, struct tp_err *err)
{
	pid_t *processes;
	size_t refused = 0;
	*round = (struct round){.running = 0};
	int r = tp_pid_match(&all->pattern, &processes, &round->fitting, err);
	if (r)
		return r;
	pid_t *refused_processes = calloc(round->fitting + 1, sizeof(*refused_processes));
	if (!refused_processes)
		r = tp_err_memory(err, NULL);
	for (size_t i = 0; !r && i < round->fitting && !all->signal; i++)
		try_process(all, round, processes[i], &refused, refused_processes);
	free(processes);
	if (r)
		return r;
	free(all->told);
	all->told = refused_processes;
	all->told_count = refused;
	tell_rest(all, round, again);
	wait_for_recorders(all, round);
	return 0;
}

// ---- again and again

static void rest_until(struct all *all, uint64_t when_ns)
{
	for (uint64_t now = tp_clock_monotonic_ns(); !all->signal && now < when_ns;
	     now = tp_clock_monotonic_ns()) {
		const uint64_t left = when_ns - now;
		const struct timespec timeout = {
		    .tv_sec = (time_t)(left / SECOND), .tv_nsec = (long)(left % SECOND)};
		await_signal(all, &timeout);
	}
}

static int go_on(struct all *all, void (*recover)(void))
{
	const struct tp_record_all *options = &all->options->all;
	uint64_t next_ns = tp_clock_monotonic_ns();
	struct round round;
	struct tp_err err;
	tp_record_daemon_tell(all->options);
	for (bool again = false; !all->signal; again = true) {
		const time_t began = time(NULL);
		recover();
		if (go_round(all, &round, again, &err))
			tp_command_fail(&err);
		tp_record_daemon_tidy(options, began, all->options->quiet);
		// A round that took longer is followed by the next at its time, not at once.
		do
			next_ns += options->every_ns;
		while (next_ns < tp_clock_monotonic_ns());
		rest_until(all, next_ns);
	}
	return TP_EXIT_DONE;
}

static int go_once(struct all *all, void (*recover)(void))
{
	struct round round;
	struct tp_err err;
	recover();
	if (go_round(all, &round, false, &err))
		return tp_command_fail(&err);
	return round.count && !round.failed && !round.refused ? TP_EXIT_DONE : TP_EXIT_FAILED;
}

int tp_record_all(struct tp_record_options *options,
    int (*record)(struct tp_record_options *options), void (*recover)(void))
{
	struct all all = {.options = options, .record = record};
	struct tp_session_options *wanted = &options->wanted;
	struct tp_err err;
	if (tp_pid_pattern_read(&all.pattern, options->all.pattern, &err))
		return tp_options_usage(
		    "option '--all' of '%s' %s", options->all.pattern, err.what);
	if (!wanted->size_bytes)
		wanted->size_bytes = LOG_BYTES;
	if (!wanted->ready_bytes)
		wanted->ready_bytes = READY_BYTES;
	// Who has it ignored would not hear of recorders that end.
	signal(SIGCHLD, SIG_DFL);
	sigemptyset(&all.awaited);
	sigaddset(&all.awaited, SIGCHLD);
	for (int i = 0; i < END_COUNT; i++) {
		struct sigaction old;
		if (!sigaction(ends[i], NULL, &old) && old.sa_handler != SIG_IGN)
			sigaddset(&all.awaited, ends[i]);
	}
	sigprocmask(SIG_BLOCK, &all.awaited, &all.old_mask);
	const int status = options->all.daemon ? go_on(&all, recover) : go_once(&all, recover);
	sigprocmask(SIG_SETMASK, &all.old_mask, NULL);
	free(all.told);
	return status;
}
