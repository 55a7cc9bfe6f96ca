// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// perf.data as text: runs perf, which alone knows all versions of its format.
#define _GNU_SOURCE
#include "perf_report.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int spawn(const char *file, int out, pid_t *pid)
{
	// A setting of the user's must not hide functions or demangle names.
	const char *const argv[] = {"perf", "report", "--stdio", "--no-children", "-g", "none",
	    "--no-demangle", "--percent-limit", "0", "-F", "sample,sym", "-t", "\t", "-i", file,
	    NULL};
	posix_spawn_file_actions_t actions;
	int code = posix_spawn_file_actions_init(&actions);
	if (code)
		return code;
	code = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	if (!code)
		code = posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
	if (!code)
		code = posix_spawn_file_actions_addopen(
		    &actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	if (!code)
		code = posix_spawnp(pid, "perf", &actions, NULL, (char *const *)argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	return code;
}

static void read_all(int fd, struct tp_buf *report)
{
	char bytes[4096];
	for (;;) {
		const ssize_t size = read(fd, bytes, sizeof(bytes));
		if (size > 0)
			tp_buf_add(report, bytes, (size_t)size);
		else if (!size || errno != EINTR)
			return;
	}
}

int tp_perf_report(const char *file, struct tp_buf *report, struct tp_err *err)
{
	int pipes[2];
	if (pipe2(pipes, O_CLOEXEC))
		return tp_err_system(err, errno, NULL, "cannot make a pipe to perf");
	pid_t pid;
	const int code = spawn(file, pipes[1], &pid);
	close(pipes[1]);
	if (!code)
		read_all(pipes[0], report);
	close(pipes[0]);
	if (code == ENOENT)
		return tp_err_set(err, TP_ERR_SYSTEM, file, TP_ERR_NO_OFFSET,
		    "is read by perf, which is not installed: install it (Debian: linux-perf), or "
		    "give lines 'NAME<TAB>SAMPLES' instead");
	if (code)
		return tp_err_system(err, code, file, "cannot run perf to read it");
	int status;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (report->failed)
		return tp_err_set(
		    err, TP_ERR_MEMORY, file, TP_ERR_NO_OFFSET, "no memory for perf's report");
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		return tp_err_set(err, TP_ERR_SYSTEM, file, TP_ERR_NO_OFFSET,
		    "perf cannot read it: see what 'perf report -i %s' says", file);
	return 0;
}
