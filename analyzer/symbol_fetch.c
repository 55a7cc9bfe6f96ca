// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs debuginfod-find, which knows the servers, keeps what it fetched, and gives up by itself.
#define _GNU_SOURCE
#include "symbol_fetch.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define COMMAND "debuginfod-find"

extern char **environ;

// The first line that comes through FD, without its end. False if it is too long or there is none.
static bool read_line(int fd, char *line, size_t size)
{
	size_t at = 0;
	for (;;) {
		const ssize_t got = read(fd, line + at, size - 1 - at);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		at += (size_t)got;
	}
	line[at] = '\0';
	char *end = strchr(line, '\n');
	if (!end)
		return false;
	*end = '\0';
	return line[0] == '/';
}

static int run(const char *id, char *path, size_t size, struct tp_err *err)
{
	char *arguments[] = {COMMAND, "debuginfo", (char *)id, NULL};
	int fds[2];
	pid_t pid;
	if (pipe2(fds, O_CLOEXEC))
		return tp_err_system(err, errno, NULL, "cannot make a pipe");
	posix_spawn_file_actions_t actions;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, fds[1], STDOUT_FILENO);
	posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	const int failed = posix_spawnp(&pid, COMMAND, &actions, NULL, arguments, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(fds[1]);
	if (failed) {
		close(fds[0]);
		if (failed == ENOENT)
			return tp_err_set(err, TP_ERR_NOT_FOUND, NULL, TP_ERR_NO_OFFSET,
			    "--debuginfod: there is no '" COMMAND "': install Debian's package "
			    "debuginfod");
		return tp_err_system(err, failed, NULL, "--debuginfod: cannot run '" COMMAND "'");
	}
	const bool got = read_line(fds[0], path, size);
	close(fds[0]);
	int status = 0;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (got && WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	return tp_err_set(err, TP_ERR_NOT_FOUND, NULL, TP_ERR_NO_OFFSET,
	    "--debuginfod: no server in DEBUGINFOD_URLS has the debug file of build ID %s", id);
}

int tp_symbol_fetch(
    const uint8_t *build_id, uint32_t build_id_size, char *path, size_t size, struct tp_err *err)
{
	char id[2 * 64 + 1] = "";
	const char *servers = getenv("DEBUGINFOD_URLS");
	if (!servers || !servers[0])
		return tp_err_set(err, TP_ERR_NOT_FOUND, NULL, TP_ERR_NO_OFFSET,
		    "--debuginfod: no server is named; set DEBUGINFOD_URLS");
	if (build_id_size < 2 || build_id_size > 64)
		return tp_err_set(err, TP_ERR_NOT_FOUND, NULL, TP_ERR_NO_OFFSET,
		    "--debuginfod: it has no build ID, by which a server could tell it");
	for (uint32_t i = 0; i < build_id_size; i++)
		snprintf(id + (size_t)2 * i, 3, "%02x", build_id[i]);
	return run(id, path, size, err);
}
