// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Files that are written: through a tp_buf, a piece at a time; in place of another; without a name.
#define _GNU_SOURCE
#include "out_file.h"

#include "read_all.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TRIES = 16, NAME_SIZE = 48 };

static void forget(struct tp_replace *replace)
{
	free(replace->target);
	free(replace->temporary);
	*replace = (struct tp_replace){0};
}

// A new file beside the target; its name is short whatever the target's is. -1 and errno.
static int open_beside(struct tp_replace *replace)
{
	const char *slash = strrchr(replace->target, '/');
	const size_t directory = slash ? (size_t)(slash - replace->target) + 1 : 0;
	replace->temporary = malloc(directory + NAME_SIZE);
	if (!replace->temporary) {
		errno = ENOMEM;
		return -1;
	}
	memcpy(replace->temporary, replace->target, directory);
	int fd = -1;
	for (int i = 0; i < TRIES && fd < 0; i++) {
		// In a folder like /tmp, somebody else could be there first with any name that he
		// can guess.
		unsigned long long random;
		if (getrandom(&random, sizeof(random), 0) != sizeof(random))
			break;
		snprintf(replace->temporary + directory, NAME_SIZE, ".teeperf-%016llx", random);
		fd = open(replace->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (fd < 0 && errno != EEXIST)
			break;
	}
	return fd;
}

int tp_replace_begin(struct tp_replace *replace, const char *path, int *fd, struct tp_err *err)
{
	struct stat old;
	*replace = (struct tp_replace){0};
	*fd = -1;
	const bool is_there = stat(path, &old) == 0;
	if (!is_there && errno != ENOENT)
		return tp_err_system(err, errno, path, "cannot write");
	if (is_there && !S_ISREG(old.st_mode))
		return tp_err_set(
		    err, TP_ERR_LIMIT, path, "exists and is not a regular file: give another name");
	// It is about to be lost: only who may write to it may do that.
	if (is_there && access(path, W_OK) != 0)
		return tp_err_system(err, errno, path, "cannot write");
	replace->target = is_there ? realpath(path, NULL) : strdup(path);
	if (replace->target)
		*fd = open_beside(replace);
	if (*fd >= 0 && is_there && fchmod(*fd, old.st_mode & 0777) != 0) {
		const int saved = errno;
		close(*fd);
		*fd = -1;
		unlink(replace->temporary);
		errno = saved;
	}
	if (*fd >= 0)
		return 0;
	const int saved = errno;
	forget(replace);
	return tp_err_system(err, saved, path, "cannot write");
}

int tp_replace_end(struct tp_replace *replace, bool complete, struct tp_err *err)
{
	int code = 0;
	if (replace->temporary) {
		if (complete && rename(replace->temporary, replace->target) != 0) {
			code = tp_err_system(err, errno, replace->target, "cannot write");
			complete = false;
		}
		if (!complete)
			unlink(replace->temporary);
	}
	forget(replace);
	return code;
}

int tp_temporary_open(const char **folder)
{
	*folder = getenv("TMPDIR");
	if (!*folder || !**folder)
		*folder = "/var/tmp";
	char name[512];
	if ((size_t)snprintf(name, sizeof(name), "%s/teeperf.XXXXXX", *folder) >= sizeof(name)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	const int fd = mkostemp(name, O_CLOEXEC);
	if (fd >= 0)
		unlink(name);
	return fd;
}

static bool drain(struct tp_buf *buf)
{
	struct tp_out_file *out = (struct tp_out_file *)(void *)buf;
	if (!out->error && !tp_write_all(out->fd, buf->data, buf->size))
		out->error = errno;
	out->written += out->error ? 0 : buf->size;
	tp_buf_reset(buf);
	return !out->error;
}

void tp_out_file_from_fd(struct tp_out_file *out, int fd, const char *name)
{
	*out = (struct tp_out_file){.fd = fd};
	tp_buf_init(&out->buf);
	out->buf.drain = drain;
	const size_t length = strlen(name);
	const size_t skip = length < sizeof(out->name) ? 0 : length - sizeof(out->name) + 1;
	memcpy(out->name, name + skip, length - skip + 1);
}

int tp_out_file_open(struct tp_out_file *out, const char *path, struct tp_err *err)
{
	tp_out_file_from_fd(out, -1, path);
	out->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	return out->fd < 0 ? tp_err_system(err, errno, path, "cannot write") : 0;
}

int tp_out_file_replace(struct tp_out_file *out, const char *path, struct tp_err *err)
{
	struct stat old;
	tp_out_file_from_fd(out, -1, path);
	if (stat(path, &old) == 0 && S_ISREG(old.st_mode) && old.st_size && old.st_nlink == 1 &&
	    old.st_uid == geteuid() && tp_replace_begin(&out->replace, path, &out->fd, NULL) == 0)
		return 0;
	return tp_out_file_open(out, path, err);
}

int tp_out_file_replace_read(struct tp_out_file *out, const char *path, struct tp_err *err)
{
	tp_out_file_from_fd(out, -1, path);
	return tp_replace_begin(&out->replace, path, &out->fd, err);
}

int tp_out_file_append(struct tp_out_file *out, const char *path, struct tp_err *err)
{
	tp_out_file_from_fd(out, -1, path);
	out->fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
	const off_t end = out->fd < 0 ? -1 : lseek(out->fd, 0, SEEK_END);
	out->written = end > 0 ? (uint64_t)end : 0;
	return out->fd < 0 ? tp_err_system(err, errno, path, "cannot continue writing") : 0;
}

int tp_out_file_open_in(
    struct tp_out_file *out, const char *directory, const char *name, struct tp_err *err)
{
	struct tp_buf path;
	tp_buf_init(&path);
	tp_buf_addf(&path, "%s/%s", directory, name);
	int code;
	if (path.failed) {
		tp_out_file_from_fd(out, -1, name);
		code = tp_err_memory(err, name);
	} else {
		code = tp_out_file_open(out, path.data, err);
	}
	tp_buf_release(&path);
	return code;
}

int tp_out_file_close(struct tp_out_file *out, struct tp_err *err)
{
	if (out->fd >= 0 && out->buf.size && !out->buf.failed)
		drain(&out->buf);
	const bool failed = out->buf.failed;
	tp_buf_release(&out->buf);
	if (out->fd > STDERR_FILENO && close(out->fd) != 0 && !out->error)
		out->error = errno;
	const bool open = out->fd >= 0;
	out->fd = -1;
	const int replaced = tp_replace_end(&out->replace, !out->error && !failed, err);
	if (out->error)
		return tp_err_system(err, out->error, out->name, "cannot write");
	if (failed && open)
		return tp_err_memory(err, out->name);
	return replaced;
}

void tp_out_file_drop(struct tp_out_file *out)
{
	tp_buf_reset(&out->buf);
	out->buf.failed = true;
	tp_out_file_close(out, NULL);
}
