// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#define _GNU_SOURCE
#include "process.h"

#include "read_all.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

int tp_process_wait(pid_t pid)
{
	int status = 0;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

// All that comes through FD, until it is closed. False if that is more than MOST bytes, or there is
// no memory.
static bool receive(int fd, uint64_t most, struct tp_buf *got)
{
	char block[65536];
	for (uint64_t all = 0;;) {
		const ssize_t size = read(fd, block, sizeof(block));
		if (size < 0 && errno == EINTR)
			continue;
		if (size <= 0)
			return size == 0;
		all += (uint64_t)size;
		if (all > most)
			return false;
		tp_buf_add(got, block, (size_t)size);
		if (got->failed)
			return false;
	}
}

int tp_process_start(pid_t *pid, tp_process_become *become, const void *context)
{
	int fds[2]; // exec closes it
	int error = 0;
	ssize_t got = 0;
	if (pipe2(fds, O_CLOEXEC))
		return errno;
	*pid = fork();
	if (*pid == 0) {
		become(context);
		error = errno;
		_exit(write(fds[1], &error, sizeof(error)) > 0 ? 127 : 126);
	}
	if (*pid < 0)
		error = errno;
	close(fds[1]);
	while (*pid > 0 && (got = read(fds[0], &error, sizeof(error))) < 0 && errno == EINTR)
		;
	if (got == (ssize_t)sizeof(error))
		tp_process_wait(*pid);
	close(fds[0]);
	return error;
}

int tp_process_fork(struct tp_process *process, tp_process_work *work, void *context)
{
	int fds[2];
	*process = (struct tp_process){.fd = -1};
	if (pipe2(fds, O_CLOEXEC))
		return errno;
	const pid_t pid = fork();
	if (pid == 0) {
		close(fds[0]);
		_exit(work(context, fds[1]));
	}
	const int error = pid < 0 ? errno : 0;
	close(fds[1]);
	if (error) {
		close(fds[0]);
		return error;
	}
	*process = (struct tp_process){pid, fds[0]};
	return 0;
}

bool tp_process_take(struct tp_process *process, uint64_t most, struct tp_buf *got, int *status)
{
	const bool received = receive(process->fd, most, got);
	close(process->fd);
	if (!received)
		kill(process->pid, SIGKILL);
	*status = tp_process_wait(process->pid);
	return received;
}

void tp_process_kill(struct tp_process *process)
{
	close(process->fd);
	kill(process->pid, SIGKILL);
	tp_process_wait(process->pid);
}

// FDS: its input and its output, where we have other ends.
static int spawn(const struct tp_program *program, const int fds[2], pid_t *pid)
{
	posix_spawn_file_actions_t actions;
	int code = posix_spawn_file_actions_init(&actions);
	if (code)
		return code;
	for (int i = 0; i < 2 && !code; i++)
		code = fds[i] >= 0 ? posix_spawn_file_actions_adddup2(&actions, fds[i], i)
				   : posix_spawn_file_actions_addopen(
					 &actions, i, "/dev/null", i ? O_WRONLY : O_RDONLY, 0);
	if (!code && !program->keep_errors)
		code = posix_spawn_file_actions_addopen(
		    &actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	if (!code)
		code = posix_spawnp(
		    pid, program->argv[0], &actions, NULL, (char *const *)program->argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	return code;
}

int tp_process_run(const struct tp_program *program, int *status)
{
	int in[2] = {-1, -1};
	int out[2] = {-1, -1};
	pid_t pid = 0;
	int code = program->input && pipe2(in, O_CLOEXEC) ? errno : 0;
	if (!code && program->output && pipe2(out, O_CLOEXEC))
		code = errno;
	if (!code)
		code = spawn(program, (const int[]){in[0], out[1]}, &pid);
	// Before we write, so that a program that does not read its input cannot end us: the pipe
	// has a reader.
	if (!code && program->input)
		tp_write_all(in[1], program->input, strlen(program->input));
	for (int i = 0; i < 2; i++)
		if (in[i] >= 0)
			close(in[i]);
	if (out[1] >= 0)
		close(out[1]);
	if (!code && program->output)
		receive(out[0], UINT64_MAX, program->output);
	if (out[0] >= 0)
		close(out[0]);
	if (!code)
		*status = tp_process_wait(pid);
	return code;
}

static bool is_program(const char *path)
{
	struct stat info;
	return stat(path, &info) == 0 && S_ISREG(info.st_mode) && access(path, X_OK) == 0;
}

bool tp_find_program(const char *name, char path[PATH_MAX])
{
	const char *folders = getenv("PATH");
	if (strchr(name, '/'))
		return snprintf(path, PATH_MAX, "%s", name) < PATH_MAX && is_program(path);
	if (!folders)
		folders = "/usr/local/bin:/usr/bin:/bin";
	while (*folders) {
		const size_t length = strcspn(folders, ":");
		const int size = snprintf(path, PATH_MAX, "%.*s/%s", length ? (int)length : 1,
		    length ? folders : ".", name);
		if (size < PATH_MAX && is_program(path))
			return true;
		folders += length;
		folders += *folders == ':';
	}
	return false;
}
