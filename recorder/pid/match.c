// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finds processes by their names or control groups. Nothing else of them is looked at.
#define _GNU_SOURCE
#include "pid.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/array.h"
#include "recorder/region/proc.h"

static const char group_mark[] = "cgroup:";
static const char group_root[] = "/sys/fs/cgroup";

// Whether a glob has a character that stands for itself.
static bool says_something(const char *glob)
{
	for (; *glob; glob++) {
		if (*glob == '[' && strchr(glob + 1, ']'))
			glob = strchr(glob + 1, ']');
		else if (!strchr("*?/", *glob))
			return true;
	}
	return false;
}

int tp_pid_pattern_read(struct tp_pid_pattern *pattern, const char *text, struct tp_err *err)
{
	pattern->is_group = !strncmp(text, group_mark, sizeof(group_mark) - 1);
	pattern->glob = text + (pattern->is_group ? sizeof(group_mark) - 1 : 0);
	if (pattern->is_group && !strncmp(pattern->glob, group_root, sizeof(group_root) - 1))
		pattern->glob += sizeof(group_root) - 1;
	if (!says_something(pattern->glob))
		return tp_err_set(err, TP_ERR_SYNTAX, NULL,
		    "matches every process of the machine: name %s",
		    pattern->is_group ? "a control group" : "the program");
	if (pattern->is_group && pattern->glob[0] != '/')
		return tp_err_set(err, TP_ERR_SYNTAX, NULL,
		    "takes the path of a control group, such as "
		    "cgroup:/system.slice/server.service");
	return 0;
}

// The path of an executable; of one whose file is gone, what it was.
static bool fits_file(pid_t pid, const char *glob)
{
	static const char gone[] = " (deleted)";
	char link[64];
	char path[PATH_MAX];
	snprintf(link, sizeof(link), "/proc/%d/exe", (int)pid);
	const ssize_t size = readlink(link, path, sizeof(path) - 1);
	if (size <= 0)
		return false;
	path[size] = '\0';
	const size_t length = (size_t)size;
	if (length >= sizeof(gone) && !strcmp(path + length - (sizeof(gone) - 1), gone))
		path[length - (sizeof(gone) - 1)] = '\0';
	const char *slash = strrchr(path, '/');
	const char *name = strchr(glob, '/') || !slash ? path : slash + 1;
	return !fnmatch(glob, name, 0);
}

static bool fits_name(pid_t pid, const char *glob)
{
	char name[32];
	tp_proc_read(pid, "comm", name, sizeof(name));
	name[strcspn(name, "\n")] = '\0';
	return (name[0] && !fnmatch(glob, name, 0)) || fits_file(pid, glob);
}

// The group itself, or one that it is in.
static bool fits_path(char *path, const char *glob)
{
	for (;;) {
		if (!fnmatch(glob, path, FNM_PATHNAME))
			return true;
		char *slash = strrchr(path, '/');
		if (!slash || slash == path)
			return false;
		*slash = '\0';
	}
}

// Lines are "number:controllers:path", one for each hierarchy.
static bool fits_group(pid_t pid, const char *glob)
{
	char text[4096];
	tp_proc_read(pid, "cgroup", text, sizeof(text));
	for (char *line = text, *next; line && *line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		char *path = strchr(line, ':');
		path = path ? strchr(path + 1, ':') : NULL;
		if (path && fits_path(path + 1, glob))
			return true;
	}
	return false;
}

static bool is_alive(pid_t pid)
{
	char state = 'X';
	return tp_proc_scan(pid, "status", "State: %c", &state) && state != 'Z' && state != 'X';
}

static int by_number(const void *one, const void *other)
{
	const pid_t a = *(const pid_t *)one;
	const pid_t b = *(const pid_t *)other;
	return (a > b) - (a < b);
}

int tp_pid_match(
    const struct tp_pid_pattern *pattern, pid_t **pids, size_t *count, struct tp_err *err)
{
	size_t room = 0;
	int r = 0;
	*pids = NULL;
	*count = 0;
	DIR *folder = opendir("/proc");
	if (!folder)
		return tp_err_system(err, errno, "/proc", "cannot search for processes");
	for (struct dirent *entry; !r && (entry = readdir(folder));) {
		const pid_t pid = (pid_t)atoi(entry->d_name);
		if (pid <= 0 || pid == getpid() ||
		    !(pattern->is_group ? fits_group : fits_name)(pid, pattern->glob) ||
		    !is_alive(pid))
			continue;
		if (!TP_GROW(*pids, room, *count + UINT64_C(1)))
			r = tp_err_memory(err, NULL);
		else
			(*pids)[(*count)++] = pid;
	}
	closedir(folder);
	if (*count)
		qsort(*pids, *count, sizeof(**pids), by_number);
	if (r) {
		free(*pids);
		*pids = NULL;
		*count = 0;
	}
	return r;
}
