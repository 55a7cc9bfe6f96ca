// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// To be preloaded: teeperf has a quota, as a file system with quotas answers who has used his up.
//
//   QUOTA_BYTES=N   a regular file takes N bytes; a write behind them fails with EDQUOT, one across
//                   the limit is short
//   QUOTA_LOG=N     the same for memory that is reserved for the log
//   QUOTA_FILES=0   no file can be created
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

// The next definition of NAME.
#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static const char *setting(const char *name)
{
	char path[4096];
	const ssize_t size = readlink("/proc/self/exe", path, sizeof(path) - 1);
	return size > 8 && !memcmp(path + size - 8, "/teeperf", 8) ? getenv(name) : NULL;
}

// How much of `size` bytes at the file's place it may have; -1 and errno: nothing.
static ssize_t allowed(int fd, size_t size)
{
	const char *quota = setting("QUOTA_BYTES");
	struct stat info;
	if (!quota || fstat(fd, &info) || !S_ISREG(info.st_mode) || !size)
		return (ssize_t)size;
	const off_t left = strtol(quota, NULL, 10) - lseek(fd, 0, SEEK_CUR);
	if (left <= 0) {
		errno = EDQUOT;
		return -1;
	}
	return left < (off_t)size ? left : (ssize_t)size;
}

ssize_t write(int fd, const void *from, size_t size)
{
	const ssize_t most = allowed(fd, size);
	return most < 0 ? -1 : NEXT(write)(fd, from, (size_t)most);
}

ssize_t writev(int fd, const struct iovec *parts, int count)
{
	size_t size = 0;
	for (int i = 0; i < count; i++)
		size += parts[i].iov_len;
	const ssize_t most = allowed(fd, size);
	if (most < 0 || (size_t)most == size)
		return most < 0 ? -1 : NEXT(writev)(fd, parts, count);
	while (!parts->iov_len)
		parts++;
	return NEXT(write)(
	    fd, parts->iov_base, parts->iov_len < (size_t)most ? parts->iov_len : (size_t)most);
}

int posix_fallocate(int fd, off_t offset, off_t size)
{
	const char *quota = setting("QUOTA_LOG");
	return quota && offset + size > strtol(quota, NULL, 10)
		   ? EDQUOT
		   : NEXT(posix_fallocate)(fd, offset, size);
}

int open(const char *path, int flags, ...)
{
	va_list more;
	va_start(more, flags);
	const mode_t mode = flags & O_CREAT ? va_arg(more, mode_t) : 0;
	va_end(more);
	if (flags & O_CREAT && setting("QUOTA_FILES") && strncmp(path, "/dev/shm/", 9)) {
		errno = EDQUOT;
		return -1;
	}
	return NEXT(open)(path, flags, mode);
}
