// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Executes a program in a process group of its own, with a time limit, and takes what the kernel
// says of it in the end.
#define _GNU_SOURCE
#include "run.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// Between asking a program to end and ending it.
#define GRACE_NS UINT64_C(2000000000)

static const int taken[] = {SIGINT, SIGTERM, SIGHUP};
enum { TAKEN_COUNT = sizeof(taken) / sizeof(taken[0]) };

static sigset_t wanted;
static sigset_t old_mask;
static struct sigaction old_child;
static int caught;

// One that was ignored when we came stays so, as SIGINT is in a shell's background jobs.
void tp_signals_take(void)
{
	const struct sigaction by_default = {.sa_handler = SIG_DFL};
	sigemptyset(&wanted);
	sigaddset(&wanted, SIGCHLD);
	for (int i = 0; i < TAKEN_COUNT; i++) {
		struct sigaction old;
		if (sigaction(taken[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
			sigaddset(&wanted, taken[i]);
	}
	// Whoever ignores SIGCHLD does not learn how a child ended.
	sigaction(SIGCHLD, &by_default, &old_child);
	sigprocmask(SIG_BLOCK, &wanted, &old_mask);
}

void tp_signals_restore(void)
{
	sigaction(SIGCHLD, &old_child, NULL);
	sigprocmask(SIG_SETMASK, &old_mask, NULL);
}

int tp_signals_caught(void)
{
	const struct timespec at_once = {0};
	sigset_t others = wanted;
	sigdelset(&others, SIGCHLD);
	if (!caught && !sigisemptyset(&others)) {
		const int number = sigtimedwait(&others, NULL, &at_once);
		caught = number > 0 ? number : 0;
	}
	return caught;
}

static uint64_t now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static bool put(const char *path, int fd)
{
	const int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	return file >= 0 && dup2(file, fd) >= 0;
}

// In the child; errno says why it comes back.
static void become(const struct tp_execution *what)
{
	setpgid(0, 0);
	// A program must not run on beside those of the next session if this one is killed.
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigaction(SIGCHLD, &old_child, NULL);
	sigprocmask(SIG_SETMASK, &old_mask, NULL);
	const int input = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (input < 0 || dup2(input, STDIN_FILENO) < 0 || !put(what->output, STDOUT_FILENO) ||
	    !put(what->errors, STDERR_FILENO) || chdir(what->cwd))
		return;
	for (char *const *variable = what->variables; variable && *variable; variable++)
		putenv(*variable);
	execvp(what->argv[0], what->argv);
}

// Start it: its process id, or -1 and errno.
static pid_t start(const struct tp_execution *what, uint64_t *start_ns)
{
	int fds[2];
	int error = 0;
	if (pipe2(fds, O_CLOEXEC))
		return -1;
	fflush(NULL);
	*start_ns = now_ns();
	const pid_t pid = fork();
	if (pid == 0) {
		become(what);
		error = errno;
		const ssize_t written = write(fds[1], &error, sizeof(error));
		_exit(written > 0 ? 127 : 126);
	}
	error = pid < 0 ? errno : 0;
	close(fds[1]);
	if (pid > 0) {
		setpgid(pid, pid);
		// Ends when the program has begun.
		if (read(fds[0], &error, sizeof(error)) == (ssize_t)sizeof(error))
			waitpid(pid, NULL, 0);
		else
			error = 0;
	}
	close(fds[0]);
	errno = error;
	return error ? -1 : pid;
}

struct watch {
	const struct tp_execution *what;
	pid_t pid;
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t kill_ns; /* when it is killed that was asked to end; 0: it was not */
	bool timed_out;
	uint64_t next_tick_ns[TP_COLLECTORS_MOST];
};

static void tick(struct watch *watch, uint64_t now, uint64_t *next)
{
	const struct tp_collector *const *collectors = watch->what->collectors;
	for (int i = 0; collectors && collectors[i]; i++) {
		if (!collectors[i]->tick || !collectors[i]->tick_ns)
			continue;
		if (now >= watch->next_tick_ns[i]) {
			if (watch->next_tick_ns[i])
				collectors[i]->tick();
			watch->next_tick_ns[i] = now + collectors[i]->tick_ns;
		}
		if (watch->next_tick_ns[i] < *next)
			*next = watch->next_tick_ns[i];
	}
}

static void ask_to_end(struct watch *watch, uint64_t now)
{
	if (watch->kill_ns)
		return;
	kill(-watch->pid, SIGTERM);
	kill(-watch->pid, SIGCONT);
	watch->kill_ns = now + GRACE_NS;
}

// Until it has ended, and is not waited for.
static void await_end(struct watch *watch)
{
	const uint64_t timeout_ns = watch->what->timeout_ns;
	const uint64_t deadline = timeout_ns ? watch->start_ns + timeout_ns : UINT64_MAX;
	for (;;) {
		siginfo_t info = {0};
		uint64_t now = now_ns();
		if (waitid(P_PID, (id_t)watch->pid, &info, WEXITED | WNOHANG | WNOWAIT) ||
		    info.si_pid)
			break;
		if (now >= deadline) {
			watch->timed_out = true;
			ask_to_end(watch, now);
		}
		if (watch->kill_ns && now >= watch->kill_ns)
			kill(-watch->pid, SIGKILL);
		uint64_t next = now + UINT64_C(60000000000);
		tick(watch, now, &next);
		if (!watch->kill_ns && deadline < next)
			next = deadline;
		if (watch->kill_ns && watch->kill_ns < next)
			next = watch->kill_ns > now ? watch->kill_ns : now + 100000000;
		now = now_ns();
		const uint64_t left = next > now ? next - now : 0;
		const struct timespec wait = {
		    (time_t)(left / 1000000000), (long)(left % 1000000000)};
		const int number = sigtimedwait(&wanted, NULL, &wait);
		if (number > 0 && number != SIGCHLD) {
			// Who sends a second one does not want to wait.
			if (caught)
				kill(-watch->pid, SIGKILL);
			caught = number;
			ask_to_end(watch, now_ns());
		}
	}
	watch->end_ns = now_ns();
}

// ---- what the kernel says of it

// Opened while the process runs: once it has ended, the file belongs to root. NULL: errno says why.
static FILE *open_io(pid_t pid)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/io", (int)pid);
	return fopen(path, "re");
}

// Read FILE, of a process that has ended and is not waited for yet. The children that it has waited
// for are in it. NULL: it could not be opened, for ERROR.
static void read_io(FILE *file, int error, struct tp_measured *to)
{
	static const struct {
		const char *key;
		const char *name;
		const char *unit;
	} rows[] = {
	    {"rchar", "read_call_bytes", "bytes"},
	    {"wchar", "write_call_bytes", "bytes"},
	    {"syscr", "read_calls", "count"},
	    {"syscw", "write_calls", "count"},
	    {"read_bytes", "disk_read_bytes", "bytes"},
	    {"write_bytes", "disk_written_bytes", "bytes"},
	};
	char key[32];
	uint64_t value;
	uint32_t found = 0;
	errno = error;
	while (file && fscanf(file, "%31[^:]: %" SCNu64 "\n", key, &value) == 2)
		for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
			if (strcmp(key, rows[i].key) == 0) {
				tp_measured_add(to, rows[i].name, rows[i].unit, (double)value);
				found++;
			}
	if (!found)
		tp_measured_note(to, "reads and writes are unknown: cannot read /proc/PID/io: %s",
		    strerror(errno));
}

static double seconds(const struct timeval *time)
{
	return (double)time->tv_sec + (double)time->tv_usec / 1e6;
}

static void add_usage(struct tp_measured *to, const struct rusage *used)
{
	tp_measured_add(to, "cpu_time", "s", seconds(&used->ru_utime) + seconds(&used->ru_stime));
	tp_measured_add(to, "user_time", "s", seconds(&used->ru_utime));
	tp_measured_add(to, "system_time", "s", seconds(&used->ru_stime));
	tp_measured_add(to, "max_rss", "bytes", (double)used->ru_maxrss * 1024);
	tp_measured_add(to, "minor_faults", "count", (double)used->ru_minflt);
	tp_measured_add(to, "major_faults", "count", (double)used->ru_majflt);
	tp_measured_add(to, "voluntary_switches", "count", (double)used->ru_nvcsw);
	tp_measured_add(to, "involuntary_switches", "count", (double)used->ru_nivcsw);
}

static void set_status(struct tp_measured *to, int status, const struct watch *watch)
{
	char text[128];
	if (watch->timed_out)
		snprintf(text, sizeof(text), "killed after %.3g s",
		    (double)watch->what->timeout_ns / 1e9);
	else if (WIFSIGNALED(status))
		snprintf(text, sizeof(text), "signal %d (%s)", WTERMSIG(status),
		    strsignal(WTERMSIG(status)));
	else
		snprintf(text, sizeof(text), "exit status %d", WEXITSTATUS(status));
	to->status = watch->timed_out ? TP_RUN_TIMED_OUT : status ? TP_RUN_FAILED : TP_RUN_DONE;
	to->how = tp_arena_copy(&to->arena, text, strlen(text));
	to->failed |= !to->how;
}

int tp_execute(const struct tp_execution *what, struct tp_measured *measured, struct tp_err *err)
{
	struct watch watch = {.what = what};
	struct rusage used;
	int status = 0;
	if (tp_signals_caught())
		return tp_err_set(err, TP_ERR_SYSTEM, NULL, "interrupted: %s", strsignal(caught));
	for (int i = 0; what->collectors && what->collectors[i]; i++)
		what->collectors[i]->start(measured);
	watch.pid = start(what, &watch.start_ns);
	const int error = errno;
	FILE *io = watch.pid > 0 && what->collectors ? open_io(watch.pid) : NULL;
	const int io_error = errno;
	if (watch.pid > 0)
		await_end(&watch);
	if (watch.pid > 0 && what->collectors)
		tp_measured_add(
		    measured, "wall_time", "s", (double)(watch.end_ns - watch.start_ns) / 1e9);
	for (int i = 0; what->collectors && what->collectors[i]; i++)
		what->collectors[i]->stop(measured);
	if (watch.pid < 0)
		return error == ENOENT
			   ? tp_err_set(err, TP_ERR_NOT_FOUND, NULL,
				 "cannot run '%s' in '%s': the program, its interpreter or the "
				 "folder does not exist",
				 what->argv[0], what->cwd)
			   : tp_err_system(err, error, NULL, "cannot run '%s' in '%s'",
				 what->argv[0], what->cwd);
	if (what->collectors)
		read_io(io, io_error, measured);
	if (io)
		fclose(io);
	while (wait4(watch.pid, &status, 0, &used) < 0 && errno == EINTR)
		;
	// What it has left behind would disturb the runs that follow.
	kill(-watch.pid, SIGKILL);
	if (what->collectors)
		add_usage(measured, &used);
	set_status(measured, status, &watch);
	if (caught)
		return tp_err_set(err, TP_ERR_SYSTEM, NULL, "interrupted: %s", strsignal(caught));
	return 0;
}
