// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A file for the log with a name that others know.
#define _GNU_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <teeperf/log.h>

#include "proc.h"
#include "region.h"

static const char *name_in(const char *path, const struct tp_place_folder *folder)
{
	const char *slash = folder ? strrchr(path, '/') : NULL;
	return slash ? slash + 1 : path;
}

void tp_place_unlink(const char *path, const struct tp_place_folder *folder)
{
	unlinkat(folder ? folder->fd : AT_FDCWD, name_in(path, folder), 0);
}

enum { GROUPS_MOST = 1024 };

// A thread's rights to files, while it is root.
struct rights {
	bool changed;
	int user;
	int group;
	int count; // of supplementary groups; below 0: they stay
	gid_t groups[GROUPS_MOST];
};

// Have no more rights to files than the folder's user. setgroups(2) of the thread alone, as these
// are: the C library's would be of all threads.
static bool lower(struct rights *before, const struct tp_place_folder *folder)
{
	*before = (struct rights){.changed = folder && geteuid() == 0};
	if (!before->changed)
		return true;
	before->count = getgroups(GROUPS_MOST, before->groups);
	// In a user namespace that may not be allowed.
	if (before->count >= 0 && syscall(SYS_setgroups, 0, NULL))
		before->count = -1;
	before->group = setfsgid(folder->group);
	before->user = setfsuid(folder->user);
	// What it is now is all that they say.
	return setfsgid((gid_t)-1) == (int)folder->group &&
	       setfsuid((uid_t)-1) == (int)folder->user;
}

static void regain(const struct rights *before)
{
	const int error = errno;
	if (before->changed) {
		setfsuid((uid_t)before->user);
		setfsgid((gid_t)before->group);
	}
	if (before->changed && before->count >= 0)
		syscall(SYS_setgroups, before->count, before->groups);
	errno = error;
}

static int open_file(const struct tp_place *place, struct tp_place_file *file, struct tp_err *err)
{
	const int flags = O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK;
	const int folder = place->folder ? place->folder->fd : AT_FDCWD;
	const char *name = name_in(place->path, place->folder);
	struct rights before;
	if (lower(&before, place->folder)) {
		// Not both in one call: Linux refuses that for files of others in folders like
		// /dev/shm.
		file->fd = openat(folder, name, flags);
		if (file->fd < 0 && errno == ENOENT) {
			file->fd = openat(folder, name, flags | O_CREAT | O_EXCL, 0600);
			file->made = file->fd >= 0;
		}
	} else {
		errno = EPERM;
	}
	regain(&before);
	if (file->fd < 0 && errno == ELOOP)
		return tp_err_set(
		    err, TP_ERR_LIMIT, place->path, "it is a symbolic link: name the file itself");
	if (file->fd < 0)
		return tp_err_system(err, errno, place->path, "cannot open the log's file");
	return 0;
}

// The file is another recorder's.
static int refuse_locked(
    const struct tp_place *place, const struct teeperf_log_header *header, struct tp_err *err)
{
	if (header->magic != TEEPERF_LOG_MAGIC)
		return tp_err_set(err, TP_ERR_LIMIT, place->path,
		    "another process has locked it: another recorder?");
	return tp_err_set(err, TP_ERR_LIMIT, place->path,
	    "it is the log of another recorder, process %llu: end that, or give another file",
	    (unsigned long long)header->recorder_pid);
}

// Whether the log in the file may be overwritten; tp_place_check decides about other files.
static int judge(const struct tp_place *place, struct tp_place_file *file,
    const struct teeperf_log_header *header, struct tp_err *err)
{
	if (place->force ||
	    (header->magic != TEEPERF_LOG_MAGIC && header->magic != TEEPERF_LOG_OVER))
		return 0;
	file->old_size = header->region_size;
	if (header->attach != TEEPERF_ATTACH_DONE || header->ended)
		return 0;
	const int used = tp_file_in_use(file->fd);
	const struct tp_mapped mapped = {.device = file->device, .inode = file->inode};
	const pid_t user = used ? tp_proc_user(&mapped) : 0;
	if (user)
		return tp_err_set(err, TP_ERR_LIMIT, place->path,
		    "it is the log of an earlier recording that process %d still has mapped: end "
		    "that, or overwrite it with '--force'",
		    (int)user);
	if (used > 0)
		return tp_err_set(err, TP_ERR_LIMIT, place->path,
		    "it is the log of an earlier recording that a process still has mapped: end "
		    "that, or overwrite it with '--force'");
	return 0;
}

static int look_at(const struct tp_place *place, struct tp_place_file *file, struct tp_err *err)
{
	struct stat info;
	if (fstat(file->fd, &info))
		return tp_err_system(err, errno, place->path, "cannot examine the log's file");
	if (!S_ISREG(info.st_mode))
		return tp_err_set(err, TP_ERR_LIMIT, place->path,
		    "the log must be in a regular file: one in /dev/shm, or that of a virtual "
		    "machine's shared memory");
	if (place->guessable && info.st_uid != geteuid())
		return tp_err_set(err, TP_ERR_LIMIT, place->path,
		    "it belongs to user %u: remove it, or give another file to '--attach'",
		    (unsigned)info.st_uid);
	file->device = info.st_dev;
	file->inode = info.st_ino;
	struct teeperf_log_header header = {0};
	const ssize_t got = pread(file->fd, &header, sizeof(header), (off_t)place->offset);
	if (got < 0)
		return tp_err_system(err, errno, place->path, "cannot read the log's file");
	if (flock(file->fd, LOCK_EX | LOCK_NB))
		return refuse_locked(place, &header, err);
	const uint64_t size = (uint64_t)info.st_size;
	file->fixed = size > 0;
	if (file->fixed && size <= place->offset)
		return tp_err_set(err, TP_ERR_LIMIT, place->path,
		    "the log would begin at byte %llu, but the file has %llu bytes",
		    (unsigned long long)place->offset, (unsigned long long)size);
	struct statvfs system;
	file->room = file->fixed ? size - place->offset
		     : fstatvfs(file->fd, &system) == 0
			 ? (uint64_t)system.f_bavail * system.f_frsize
			 : UINT64_MAX;
	return judge(place, file, &header, err);
}

int tp_place_open(const struct tp_place *place, struct tp_place_file *file, struct tp_err *err)
{
	*file = (struct tp_place_file){.fd = -1};
	if (place->offset % TP_REGION_CHUNK_SIZE || place->offset > INT64_MAX / 2)
		return tp_err_set(err, TP_ERR_LIMIT, NULL, "'--offset' must be a multiple of %dK",
		    TP_REGION_CHUNK_SIZE / 1024);
	int r = open_file(place, file, err);
	if (r)
		return r;
	r = look_at(place, file, err);
	if (!r)
		return 0;
	if (file->made)
		tp_place_unlink(place->path, place->folder);
	close(file->fd);
	file->fd = -1;
	return r;
}

// Where the first byte in [at, end) is that is not zero, or `end`. Below 0: an error.
static int64_t find_used(
    const struct tp_place *place, int fd, int64_t at, int64_t end, struct tp_err *err)
{
	unsigned char bytes[16384];
	while (at < end) {
		const off_t data = lseek(fd, at, SEEK_DATA);
		if (data < 0 && errno == ENXIO)
			return end;
		// Where holes are not known all is read.
		at = data > at ? data : at;
		const uint64_t left = at < end ? (uint64_t)(end - at) : 0;
		const ssize_t got =
		    pread(fd, bytes, left < sizeof(bytes) ? left : sizeof(bytes), at);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return tp_err_system(err, errno, place->path, "cannot read the log's file");
		if (!got)
			return end;
		for (ssize_t i = 0; i < got; i++)
			if (bytes[i])
				return at + i;
		at += got;
	}
	return end;
}

int tp_place_check(const struct tp_place *place, const struct tp_place_file *file, uint64_t size,
    struct tp_err *err)
{
	if (place->force || file->old_size >= size)
		return 0;
	const int64_t end = (int64_t)(place->offset + size);
	const int64_t at =
	    find_used(place, file->fd, (int64_t)(place->offset + file->old_size), end, err);
	if (at < 0 || at == end)
		return at < 0 ? (int)at : 0;
	return tp_err_set_at(err, TP_ERR_LIMIT, place->path, (uint64_t)at,
	    "the %llu KiB from byte %llu on hold other data: give another file or '--offset', or a "
	    "smaller '--size', or overwrite it with '--force'",
	    (unsigned long long)(size / 1024), (unsigned long long)place->offset);
}
