// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs that run with more rights than who starts them.
#define _GNU_SOURCE
#include "secure.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

static const char *why(const char *path)
{
	struct stat file;
	struct statvfs system;
	char capabilities[64];
	if (stat(path, &file) || !S_ISREG(file.st_mode) || access(path, X_OK) ||
	    statvfs(path, &system) || system.f_flag & ST_NOSUID)
		return NULL;
	if (file.st_mode & S_ISUID && file.st_uid != geteuid())
		return "it is set-user-ID";
	if (file.st_mode & S_ISGID && file.st_mode & S_IXGRP && file.st_gid != getegid())
		return "it is set-group-ID";
	if (geteuid() &&
	    getxattr(path, "security.capability", capabilities, sizeof(capabilities)) > 0)
		return "its file gives it capabilities";
	return NULL;
}

const char *tp_record_secure(const char *program)
{
	if (strchr(program, '/'))
		return why(program);
	const char *folders = getenv("PATH");
	while (folders) {
		char path[PATH_MAX];
		const int length = (int)strcspn(folders, ":");
		snprintf(path, sizeof(path), "%.*s/%s", length ? length : 1, length ? folders : ".",
		    program);
		if (access(path, X_OK) == 0)
			return why(path);
		folders = folders[length] ? folders + length + 1 : NULL;
	}
	return NULL;
}
