// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Starts the program, passes signals on to it, and waits for its end.
#define _GNU_SOURCE
#include "launch.h"

#include "common/process.h"
#include "common/read_all.h"
#include "recorder/clock/host_clock.h"
#include "recorder/region/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <teeperf/log.h>

static const int forwarded[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
enum { FORWARDED_COUNT = sizeof(forwarded) / sizeof(forwarded[0]) };

void tp_launch_prepare(struct tp_launch *launch)
{
	memset(launch, 0, sizeof(*launch));
	sigemptyset(&launch->taken);
	for (int i = 0; i < FORWARDED_COUNT; i++) {
		// What was ignored when we came (nohup, a shell's background job) stays so, but for
		// a SIGINT that somebody sends on purpose: see tp_launch_wait. Linux keeps a signal
		// that is blocked, be it ignored or not.
		struct sigaction old;
		if (sigaction(forwarded[i], NULL, &old))
			continue;
		const bool ignored = old.sa_handler == SIG_IGN;
		launch->background |= ignored && forwarded[i] == SIGINT;
		if (!ignored || forwarded[i] == SIGINT)
			sigaddset(&launch->taken, forwarded[i]);
	}
	sigaddset(&launch->taken, SIGCHLD);
	sigprocmask(SIG_BLOCK, &launch->taken, &launch->old_mask);
	// A closed pipe and a file too large are errors of write(), not the end of us; and an
	// ignored SIGCHLD would lose the exit code.
	const struct sigaction ignore = {.sa_handler = SIG_IGN};
	const struct sigaction fallback = {.sa_handler = SIG_DFL};
	sigaction(SIGPIPE, &ignore, &launch->old_pipe);
	sigaction(SIGXFSZ, &ignore, &launch->old_file_size);
	sigaction(SIGCHLD, &fallback, &launch->old_child);
}

void tp_launch_restore(struct tp_launch *launch)
{
	sigaction(SIGPIPE, &launch->old_pipe, NULL);
	sigaction(SIGXFSZ, &launch->old_file_size, NULL);
	sigaction(SIGCHLD, &launch->old_child, NULL);
	sigprocmask(SIG_SETMASK, &launch->old_mask, NULL);
}

// Whether `entry` of the environment sets variable `name`.
static bool sets(const char *entry, const char *name)
{
	const size_t length = strlen(name);
	return !strncmp(entry, name, length) && entry[length] == '=';
}

static const char *const names[] = {TEEPERF_LOG_ENV, TEEPERF_LOG_OFFSET_ENV, TEEPERF_CONTROL_ENV,
    TEEPERF_FORK_ENV, TEEPERF_TEE_LOG_ENV};
enum { SETTINGS = sizeof(names) / sizeof(names[0]) };

// The environment with the settings in place of what it says about the log; its strings are those
// of environ and the settings, of which those that are NULL are left out.
static char **make_environment(char *const settings[SETTINGS])
{
	size_t count = 0;
	while (environ[count])
		count++;
	char **copy = malloc((count + SETTINGS + 1) * sizeof(*copy));
	if (!copy)
		return NULL;
	size_t kept = 0;
	for (size_t i = 0; i < count; i++) {
		bool replaced = false;
		for (int k = 0; k < SETTINGS; k++)
			replaced |= sets(environ[i], names[k]);
		if (!replaced)
			copy[kept++] = environ[i];
	}
	for (int i = 0; i < SETTINGS; i++)
		if (settings[i])
			copy[kept++] = settings[i];
	copy[kept] = NULL;
	return copy;
}

// "NAME=value" for each setting that there is, to be freed. False: there is no memory.
static bool make_settings(
    char *made[SETTINGS], const struct tp_launch_settings *settings, int inherited)
{
	char log[32];
	char offset[32];
	snprintf(log, sizeof(log), TEEPERF_LOG_INHERITED "%d", inherited);
	snprintf(offset, sizeof(offset), "%llu", (unsigned long long)settings->log_offset);
	const char *const values[SETTINGS] = {inherited >= 0 ? log : settings->log,
	    settings->log_offset ? offset : NULL, settings->control, settings->follow,
	    settings->tee};
	for (int i = 0; i < SETTINGS; i++) {
		if (values[i] && asprintf(&made[i], "%s=%s", names[i], values[i]) < 0) {
			made[i] = NULL;
			return false;
		}
	}
	return true;
}

// Signals that came before the program did, which begins without them.
struct early {
	sigset_t keyboards; // for both; the child has those that came when it was there
	sigset_t ours;      // that others sent to us, to be passed on
};

// Take them over. pre: the child is there, and has not looked at its own.
static struct early take_early(struct tp_launch *launch)
{
	const struct timespec now = {0};
	struct early early;
	sigset_t pending;
	sigemptyset(&early.keyboards);
	sigemptyset(&early.ours);
	sigpending(&pending);
	for (int number = 1; number < NSIG; number++) {
		sigset_t one;
		siginfo_t info;
		if (number == SIGCHLD || sigismember(&pending, number) != 1 ||
		    sigismember(&launch->taken, number) != 1 ||
		    (number == SIGINT && launch->background))
			continue;
		sigemptyset(&one);
		sigaddset(&one, number);
		if (sigtimedwait(&one, &info, &now) != number)
			continue;
		if (number == SIGINT) {
			launch->interrupts++;
			launch->interrupted_ns = tp_clock_monotonic_ns();
		}
		sigaddset(info.si_code == SI_KERNEL ? &early.keyboards : &early.ours, number);
	}
	return early;
}

// In the child: those that it has missed come when signals are not blocked any more.
static void repeat_early(const struct early *early)
{
	sigset_t pending;
	sigpending(&pending);
	for (int number = 1; number < NSIG; number++)
		if (sigismember(&early->ours, number) == 1 ||
		    (sigismember(&early->keyboards, number) == 1 &&
			sigismember(&pending, number) != 1))
			kill(getpid(), number);
}

// In the child: become the program as soon as `start` says which signals came before, or tell the
// parent through `report` why not.
static _Noreturn void become(struct tp_launch *launch, char *const *argv, char **environment,
    bool away, int start, int report)
{
	struct early early;
	ssize_t size;
	do {
		size = read(start, &early, sizeof(early));
	} while (size < 0 && errno == EINTR);
	if (size == sizeof(early))
		repeat_early(&early);
	tp_launch_restore(launch);
	if (!away || dup2(STDERR_FILENO, STDOUT_FILENO) >= 0)
		execvpe(argv[0], argv, environment);
	const int error = errno;
	tp_write_all(report, &error, sizeof(error));
	_exit(127);
}

// The child's errno, 0 when exec closed the pipe.
static int read_report(int fd)
{
	int error = 0;
	ssize_t size;
	do {
		size = read(fd, &error, sizeof(error));
	} while (size < 0 && errno == EINTR);
	return size == sizeof(error) ? error : 0;
}

static int report_failure(struct tp_launch *launch, const char *program, struct tp_err *err)
{
	tp_process_wait(launch->pid);
	launch->pid = 0;
	if (launch->start_errno == ENOENT && access(program, F_OK) && strchr(program, '/'))
		return tp_err_set(
		    err, TP_ERR_NOT_FOUND, NULL, "program '%s' does not exist", program);
	if (launch->start_errno == ENOENT && !strchr(program, '/'))
		return tp_err_set(
		    err, TP_ERR_NOT_FOUND, NULL, "program '%s' was not found in PATH", program);
	if (launch->start_errno == ENOENT)
		return tp_err_set(err, TP_ERR_NOT_FOUND, NULL,
		    "program '%s' names an interpreter that does not exist", program);
	return tp_err_system(err, launch->start_errno, NULL, "cannot run '%s'", program);
}

int tp_launch_start(struct tp_launch *launch, char *const *argv,
    const struct tp_launch_settings *settings, struct tp_err *err)
{
	char *made[SETTINGS] = {NULL};
	char **environment = NULL;
	int pipe_fds[4] = {-1, -1, -1, -1}; // the child's report, and its start
	int inherited = -1;
	int r = 0;
	// Not ours: with that one the program would inherit our lock on the log.
	if (settings->inherit)
		inherited = open(settings->log, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	if (settings->inherit && inherited < 0) {
		r = tp_err_system(err, errno, settings->log, "cannot open the log for the program");
		goto out;
	}
	if (make_settings(made, settings, inherited))
		environment = make_environment(made);
	if (!environment) {
		r = tp_err_memory(err, NULL);
		goto out;
	}
	if (pipe2(pipe_fds, O_CLOEXEC) || pipe2(pipe_fds + 2, O_CLOEXEC)) {
		r = tp_err_system(err, errno, NULL, "cannot make a pipe");
		goto out;
	}
	const pid_t pid = fork();
	if (pid < 0) {
		r = tp_err_system(err, errno, NULL, "cannot start another process");
		goto out;
	}
	if (!pid) {
		if (inherited >= 0)
			fcntl(inherited, F_SETFD, 0);
		if (settings->errors)
			dup2(*settings->errors, STDERR_FILENO);
		close(pipe_fds[3]);
		become(launch, argv, environment, settings->away, pipe_fds[2], pipe_fds[1]);
	}
	__atomic_store_n(&launch->pid, pid, __ATOMIC_RELAXED);
	if (launch->begin)
		launch->begin(launch->context, pid);
	const struct early early = take_early(launch);
	tp_write_all(pipe_fds[3], &early, sizeof(early));
	for (int i = 1; i < 4; i++) {
		close(pipe_fds[i]);
		pipe_fds[i] = -1;
	}
	launch->start_errno = read_report(pipe_fds[0]);
	if (launch->start_errno)
		r = report_failure(launch, argv[0], err);
out:
	for (int i = 0; i < 4; i++) {
		if (pipe_fds[i] >= 0)
			close(pipe_fds[i]);
	}
	if (inherited >= 0)
		close(inherited);
	free(environment);
	for (int i = 0; i < SETTINGS; i++)
		free(made[i]);
	return r;
}

static bool has_ended(struct tp_launch *launch)
{
	int status;
	pid_t pid;
	siginfo_t info = {0};
	if (launch->look &&
	    waitid(P_PID, (id_t)launch->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
	    info.si_pid == launch->pid)
		launch->look(launch->context, launch->pid);
	do {
		pid = waitpid(launch->pid, &status, WNOHANG);
	} while (pid < 0 && errno == EINTR);
	if (pid != launch->pid)
		return false;
	launch->ended = true;
	if (WIFSIGNALED(status)) {
		launch->exit_kind = TEEPERF_EXIT_SIGNAL;
		launch->exit_value = (uint32_t)WTERMSIG(status);
	} else {
		launch->exit_kind = TEEPERF_EXIT_CODE;
		launch->exit_value = (uint32_t)WEXITSTATUS(status);
	}
	return true;
}

/*
 * A signal from the keyboard (si_code SI_KERNEL) has reached the program too, since it is in our
 * process group; one that another process sent to us has not. One that the program itself sent is
 * not for the program.
 */
static void forward(const struct tp_launch *launch, const siginfo_t *info)
{
	if (info->si_code != SI_KERNEL && info->si_pid != launch->pid)
		kill(launch->pid, info->si_signo);
}

// timeout(1) sends its signal to us, and again to the group that we are in, and so do others; what
// comes so soon after another one is no second wish. At the keyboard nobody is as quick.
static bool is_echo(struct tp_launch *launch, const siginfo_t *info)
{
	enum { ECHO_MS = 100 };
	const uint64_t now = tp_clock_monotonic_ns();
	const bool soon =
	    launch->interrupts && now - launch->interrupted_ns < ECHO_MS * UINT64_C(1000000);
	if (soon && info->si_code != SI_KERNEL)
		return true;
	launch->interrupted_ns = now;
	return false;
}

// Whether passing SIGINT on would do nothing: the program has inherited that from us, and wants no
// better.
static bool is_deaf(const struct tp_launch *launch)
{
	unsigned long long ignored = 0;
	return launch->ended || (tp_proc_scan(launch->pid, "status", "SigIgn: %llx", &ignored) &&
				    ignored >> (SIGINT - 1) & 1);
}

// Whether the keyboard's signal, which has reached it at the same time, ends it.
static bool ends_soon(struct tp_launch *launch)
{
	enum { LOOKS = 25 };
	const struct timespec nap = {.tv_nsec = 2 * 1000 * 1000};
	for (int i = 0; i < LOOKS; i++) {
		if (has_ended(launch))
			return true;
		nanosleep(&nap, NULL);
	}
	return false;
}

enum tp_launch_event tp_launch_wait(struct tp_launch *launch, uint32_t timeout_ms)
{
	if (launch->pid && !launch->ended && has_ended(launch))
		return TP_LAUNCH_ENDED;
	const struct timespec timeout = {
	    .tv_sec = timeout_ms / 1000, .tv_nsec = (long)(timeout_ms % 1000) * 1000000};
	siginfo_t info;
	const int signal = sigtimedwait(&launch->taken, &info, &timeout);
	if (signal < 0)
		return TP_LAUNCH_TIMEOUT;
	// The keyboard's are for the jobs in front of it.
	if (signal == SIGINT && launch->background && info.si_code == SI_KERNEL)
		return TP_LAUNCH_TIMEOUT;
	if (launch->pid && signal == SIGINT && is_echo(launch, &info))
		return TP_LAUNCH_TIMEOUT;
	if (!launch->pid)
		return signal == SIGCHLD || signal == SIGUSR1 || signal == SIGUSR2
			   ? TP_LAUNCH_TIMEOUT
			   : TP_LAUNCH_RELEASE;
	if (signal == SIGCHLD)
		return !launch->ended && has_ended(launch) ? TP_LAUNCH_ENDED : TP_LAUNCH_TIMEOUT;
	if (signal == SIGINT &&
	    (++launch->interrupts >= 2 || (launch->background && is_deaf(launch))))
		return info.si_code == SI_KERNEL && !launch->ended && ends_soon(launch)
			   ? TP_LAUNCH_ENDED
			   : TP_LAUNCH_RELEASE;
	if (launch->ended) {
		launch->signal = info.si_code == SI_KERNEL ? 0 : signal;
		return TP_LAUNCH_SIGNAL;
	}
	forward(launch, &info);
	return TP_LAUNCH_TIMEOUT;
}
