// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Executes a program in a process group of its own, with a time limit, and adds what the kernel
// counted at its end.
#define _GNU_SOURCE
#include "measure.h"

#include "common/clean.h"
#include "common/process.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
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
static void take_signals(void)
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
static void become(const void *context)
{
	const struct tp_measurement *what = context;
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

struct watch {
	const struct tp_measurement *what;
	pid_t pid;
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t kill_ns; /* when it is killed that was asked to end; 0: it was not */
	bool timed_out;
};

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
		if (watch->what->measured)
			tp_collect_tick(now, &next);
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
static void read_io(FILE *file, int error, struct tp_buf *to)
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
				tp_measure_metric(to, rows[i].name, rows[i].unit, (double)value);
				found++;
			}
	if (!found)
		tp_measure_note(to, "reads and writes are unknown: cannot read /proc/PID/io: %s",
		    strerror(errno));
}

static double seconds(const struct timeval *time)
{
	return (double)time->tv_sec + (double)time->tv_usec / 1e6;
}

static void add_usage(struct tp_buf *to, const struct rusage *used)
{
	tp_measure_metric(to, "cpu_time", "s", seconds(&used->ru_utime) + seconds(&used->ru_stime));
	tp_measure_metric(to, "user_time", "s", seconds(&used->ru_utime));
	tp_measure_metric(to, "system_time", "s", seconds(&used->ru_stime));
	tp_measure_metric(to, "max_rss", "bytes", (double)used->ru_maxrss * 1024);
	tp_measure_metric(to, "minor_faults", "count", (double)used->ru_minflt);
	tp_measure_metric(to, "major_faults", "count", (double)used->ru_majflt);
	tp_measure_metric(to, "voluntary_switches", "count", (double)used->ru_nvcsw);
	tp_measure_metric(to, "involuntary_switches", "count", (double)used->ru_nivcsw);
}

static void add_status(struct tp_buf *to, int status, const struct watch *watch)
{
	if (watch->timed_out)
		tp_buf_addf(to, "status\ttimed out\tkilled after %.3g s\n",
		    (double)watch->what->timeout_ns / 1e9);
	else if (WIFSIGNALED(status))
		tp_buf_addf(to, "status\tfailed\tsignal %d (%s)\n", WTERMSIG(status),
		    strsignal(WTERMSIG(status)));
	else
		tp_buf_addf(to, "status\t%s\texit status %d\n", status ? "failed" : "done",
		    WEXITSTATUS(status));
}

static void add_error(struct tp_buf *to, const struct tp_measurement *what, int error)
{
	tp_buf_add_string(to, "error\t");
	tp_buf_addf_clean(to, "cannot run '%s' in '%s': %s\n", what->argv[0], what->cwd,
	    error == ENOENT ? "the program, its interpreter or the folder does not exist"
			    : strerror(error));
}

bool tp_measure(const struct tp_measurement *what, struct tp_buf *lines)
{
	struct watch watch = {.what = what};
	struct rusage used;
	int status = 0;
	take_signals();
	if (what->measured)
		tp_collect_start(what, lines);
	fflush(NULL);
	watch.start_ns = now_ns();
	const int error = tp_process_start(&watch.pid, become, what);
	if (error)
		watch.pid = -1;
	FILE *io = watch.pid > 0 && what->measured ? open_io(watch.pid) : NULL;
	const int io_error = errno;
	if (watch.pid > 0)
		await_end(&watch);
	if (watch.pid > 0 && what->measured)
		tp_measure_metric(
		    lines, "wall_time", "s", (double)(watch.end_ns - watch.start_ns) / 1e9);
	if (what->measured)
		tp_collect_stop(lines);
	if (watch.pid < 0) {
		add_error(lines, what, error);
		return false;
	}
	if (what->measured)
		read_io(io, io_error, lines);
	if (io)
		fclose(io);
	while (wait4(watch.pid, &status, 0, &used) < 0 && errno == EINTR)
		;
	// What it has left behind would disturb the runs that follow.
	kill(-watch.pid, SIGKILL);
	if (what->measured)
		add_usage(lines, &used);
	add_status(lines, status, &watch);
	return !caught;
}
