// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Folders of results.
#define _GNU_SOURCE
#include "session.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

int tp_folder_make(const char *path, struct tp_err *err)
{
	char part[PATH_MAX];
	struct stat info;
	if (snprintf(part, sizeof(part), "%s", path) >= (int)sizeof(part))
		return tp_err_set(err, TP_ERR_LIMIT, path, "this name is too long");
	for (char *slash = part + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = 0;
		mkdir(part, 0777);
		*slash = '/';
	}
	if (mkdir(part, 0777) && (errno != EEXIST || stat(part, &info) || !S_ISDIR(info.st_mode)))
		return tp_err_system(err, errno, path, "cannot make the folder");
	return 0;
}

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *at)
{
	(void)info;
	(void)type;
	(void)at;
	return remove(path);
}

int tp_folder_remove(const char *path, struct tp_err *err)
{
	enum { DESCRIPTORS = 16 };
	if (nftw(path, remove_one, DESCRIPTORS, FTW_DEPTH | FTW_PHYS) && errno != ENOENT)
		return tp_err_system(err, errno, path, "cannot remove the files of an earlier run");
	return 0;
}
