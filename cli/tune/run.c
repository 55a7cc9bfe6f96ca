// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Starts build commands and runs of the program for teeperf autotune, and measures the runs.
#define _GNU_SOURCE
#include "autotune.h"

#include "common/hash.h"
#include "common/process.h"
#include "common/read_all.h"
#include "recorder/session.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TICK_MS = 200, NICE_LEAST = 19 };

// linux/ioprio.h, which older systems do not have: class 3 in the upper bits, idle.
enum { IOPRIO_WHO_PROCESS = 1, IOPRIO_IDLE = 3 << 13 };

static const int caught_signals[] = {SIGINT, SIGTERM, SIGHUP};
enum { CAUGHT_COUNT = sizeof(caught_signals) / sizeof(caught_signals[0]) };

static volatile sig_atomic_t caught;
static volatile sig_atomic_t running; // the process group that runs, 0: none

static void on_signal(int number)
{
	// Who sends a second one does not want to wait.
	if (running)
		kill(-(pid_t)running, caught ? SIGKILL : number);
	caught = number;
}

// Those that were ignored before we came stay so.
static void set_signals(void (*handler)(int number))
{
	const struct sigaction action = {.sa_handler = handler};
	for (int i = 0; i < CAUGHT_COUNT; i++) {
		struct sigaction old;
		if (sigaction(caught_signals[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
			sigaction(caught_signals[i], &action, NULL);
	}
}

void tp_autotune_catch(void)
{
	set_signals(on_signal);
}

int tp_autotune_caught(void)
{
	return caught;
}

static int interrupted(struct tp_err *err)
{
	return tp_err_set(err, TP_ERR_SYSTEM, NULL, "interrupted: %s", strsignal(caught));
}

// In the child: a group of its own, signals as they were for us, files in place of its own.
static bool begin_child(const char *input, const char *output, const char *errors)
{
	setpgid(0, 0);
	set_signals(SIG_DFL);
	const int in = open(input ? input : "/dev/null", O_RDONLY | O_CLOEXEC);
	const int out = open(output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	const int error = strcmp(output, errors)
			      ? open(errors, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)
			      : out;
	return in >= 0 && out >= 0 && error >= 0 && dup2(in, STDIN_FILENO) >= 0 &&
	       dup2(out, STDOUT_FILENO) >= 0 && dup2(error, STDERR_FILENO) >= 0;
}

// Fork with the child's group known here and there. In the parent the child's number, or -1.
static pid_t start_child(struct tp_err *err)
{
	if (caught) {
		interrupted(err);
		return -1;
	}
	fflush(NULL);
	sigset_t set;
	sigset_t old;
	sigemptyset(&set);
	for (int i = 0; i < CAUGHT_COUNT; i++)
		sigaddset(&set, caught_signals[i]);
	// A signal comes before there is a child, or when it is known.
	sigprocmask(SIG_BLOCK, &set, &old);
	const pid_t pid = fork();
	if (pid > 0) {
		setpgid(pid, pid);
		running = pid;
	}
	if (pid < 0)
		tp_err_system(err, errno, NULL, "cannot start another process");
	sigprocmask(SIG_SETMASK, &old, NULL);
	return pid;
}

static int wait_child(pid_t pid)
{
	const int status = tp_process_wait(pid);
	running = 0;
	return status;
}

// What the measuring child tells its parent.
struct report {
	int code;
	struct tp_err err;
	struct tp_autotune_ran ran;
};

static void wait_for_end(struct tp_launch *launch)
{
	enum tp_launch_event event;
	do {
		event = tp_launch_wait(launch, TICK_MS);
	} while (event == TP_LAUNCH_TIMEOUT);
}

static void note_end(struct tp_autotune_ran *ran, const struct tp_launch *launch, uint64_t start_ns)
{
	ran->wall_ns = tp_clock_monotonic_ns() - start_ns;
	ran->exit_kind = launch->exit_kind;
	ran->exit_value = launch->exit_value;
	// Nothing but the program has been waited for in this process.
	struct rusage used;
	if (getrusage(RUSAGE_CHILDREN, &used) == 0)
		ran->cpu_ns = (uint64_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000000 +
			      (uint64_t)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1000;
}

static void run_plain(const struct tp_autotune_run *run, struct report *report)
{
	struct tp_launch launch;
	tp_launch_prepare(&launch);
	const uint64_t start_ns = tp_clock_monotonic_ns();
	report->code = tp_launch_start(
	    &launch, run->argv, &(struct tp_launch_settings){.log = ""}, &report->err);
	if (report->code)
		return;
	wait_for_end(&launch);
	note_end(&report->ran, &launch, start_ns);
}

static void run_recorded(const struct tp_autotune_run *run, struct report *report)
{
	static struct tp_session session;
	const struct tp_session_options options = {
	    .output = run->trace,
	    .mode = TEEPERF_MODE_STREAM,
	    .compress = run->compress,
	    .clock = run->clock,
	    .period_ns = TP_COUNTER_PERIOD_NS,
	    .argv = run->argv,
	};
	report->code = tp_session_start(&session, &options, &report->err);
	if (report->code)
		return;
	wait_for_end(&session.launch);
	note_end(&report->ran, &session.launch, session.start_ns);
	struct tp_session_counts counts;
	report->code = tp_session_finish(&session, &counts, &report->err);
	report->ran.records = counts.records;
	report->ran.lost = counts.lost;
	report->ran.attach = counts.attach;
}

static _Noreturn void measure(const struct tp_autotune_run *run, int pipe_fd)
{
	static struct report report;
	if (!begin_child(run->input, run->output, run->errors))
		report.code =
		    tp_err_system(&report.err, errno, run->input ? run->input : run->output,
			"cannot open what the program reads or writes");
	else if (run->trace)
		run_recorded(run, &report);
	else
		run_plain(run, &report);
	tp_write_all(pipe_fd, &report, sizeof(report));
	_exit(0);
}

static bool read_report(int fd, struct report *report)
{
	struct tp_buf got;
	tp_buf_init(&got);
	const bool told = !tp_read_all(&got, fd, "", "the report", sizeof(*report), NULL) &&
			  got.size == sizeof(*report);
	if (told)
		memcpy(report, got.data, sizeof(*report));
	tp_buf_release(&got);
	return told;
}

// Of the whole file, so that runs can be compared.
static void hash_output(const char *file, struct tp_autotune_ran *ran)
{
	ran->output_hash = TEEPERF_HASH_START;
	FILE *output = fopen(file, "re");
	unsigned char bytes[16384];
	size_t size;
	while (output && (size = fread(bytes, 1, sizeof(bytes), output)) > 0) {
		ran->output_bytes += size;
		ran->output_hash = tp_hash_bytes(ran->output_hash, bytes, size);
	}
	if (output)
		fclose(output);
}

int tp_autotune_run(
    const struct tp_autotune_run *run, struct tp_autotune_ran *ran, struct tp_err *err)
{
	memset(ran, 0, sizeof(*ran));
	int fds[2];
	if (pipe2(fds, O_CLOEXEC))
		return tp_err_system(err, errno, NULL, "cannot make a pipe");
	// The recorder runs in a child, so that the program's use of time is separate from its own.
	const pid_t pid = start_child(err);
	if (pid == 0)
		measure(run, fds[1]);
	close(fds[1]);
	static struct report report;
	const bool told = pid > 0 && read_report(fds[0], &report);
	close(fds[0]);
	if (pid < 0)
		return TP_ERR_SYSTEM;
	const int status = wait_child(pid);
	if (caught)
		return interrupted(err);
	if (!told)
		return tp_err_set(err, TP_ERR_SYSTEM, NULL,
		    "the process that ran '%s' ended early, with status %d", run->argv[0], status);
	if (report.code) {
		*err = report.err;
		return report.code;
	}
	*ran = report.ran;
	hash_output(run->output, ran);
	return 0;
}

// Errors do not matter: a build at normal priority works as well.
static void become_idle(void)
{
	setpriority(PRIO_PROCESS, 0, NICE_LEAST);
	sched_setscheduler(0, SCHED_IDLE, &(struct sched_param){0});
	syscall(SYS_ioprio_set, IOPRIO_WHO_PROCESS, 0, IOPRIO_IDLE);
}

int tp_autotune_command(char *const *argv, const struct tp_autotune_setting *settings,
    const char *log, bool idle, struct tp_err *err)
{
	const pid_t pid = start_child(err);
	if (pid < 0)
		return TP_ERR_SYSTEM;
	if (pid == 0) {
		if (!begin_child(NULL, log, log))
			_exit(126);
		for (; settings->name; settings++)
			if (settings->value)
				setenv(settings->name, settings->value, 1);
			else
				unsetenv(settings->name);
		if (idle)
			become_idle();
		execvp(argv[0], argv);
		const int error = errno;
		fprintf(stderr, "cannot run '%s': %s\n", argv[0], strerror(error));
		fflush(stderr);
		_exit(error == ENOENT ? 127 : 126);
	}
	const int status = wait_child(pid);
	if (caught)
		return interrupted(err);
	if (status == 0)
		return 0;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
		return tp_err_set(err, TP_ERR_NOT_FOUND, log,
		    "'%s' was not found, or something that it runs", argv[0]);
	if (WIFSIGNALED(status))
		return tp_err_set(err, TP_ERR_SYSTEM, log, "'%s' was killed by a signal: %s",
		    argv[0], strsignal(WTERMSIG(status)));
	return tp_err_set(err, TP_ERR_SYSTEM, log, "'%s' failed with exit status %d", argv[0],
	    WEXITSTATUS(status));
}
