// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writes a trace file section by section.
#define _GNU_SOURCE
#include "trace_writer.h"

#include "recorder/clock/host_clock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "common/chunks/checksum.h"
#include "common/read_all.h"

// Write all of the parts: 0 or an errno value. Changes parts.
static int write_all(int fd, struct iovec *parts, int count)
{
	while (count) {
		if (!parts->iov_len) {
			parts++;
			count--;
			continue;
		}
		const ssize_t written = writev(fd, parts, count);
		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return written < 0 ? errno : EIO;
		size_t left = (size_t)written;
		while (count && left >= parts->iov_len) {
			left -= parts->iov_len;
			parts++;
			count--;
		}
		if (left) {
			parts->iov_base = (char *)parts->iov_base + left;
			parts->iov_len -= left;
		}
	}
	return 0;
}

static const char *remedy(int error)
{
	switch (error) {
	case ENOSPC:
		return " (make room there, or write it elsewhere)";
	case EDQUOT:
		return " (remove files there, raise the quota, or write it elsewhere)";
	case EFBIG:
		return " (raise the limit, 'ulimit -f')";
	default:
		return "";
	}
}

bool tp_trace_writer_cut(struct tp_trace_writer *writer, uint64_t bytes)
{
	if (writer->regular && ftruncate(writer->fd, (off_t)bytes) == 0 &&
	    lseek(writer->fd, (off_t)bytes, SEEK_SET) >= 0) {
		tp_store_relaxed(&writer->offset, bytes);
		return true;
	}
	close(writer->fd);
	writer->fd = -1;
	return false;
}

static void fail(struct tp_trace_writer *writer, int error)
{
	// Cut the piece of a section off, so that the file ends where a section does.
	tp_trace_writer_cut(writer, writer->offset);
	if (writer->failed)
		return;
	writer->failed = true;
	tp_err_system(&writer->error, error, writer->path, "cannot write the trace");
	const size_t length = strlen(writer->error.what);
	snprintf(
	    writer->error.what + length, sizeof(writer->error.what) - length, "%s", remedy(error));
}

static void fail_as_gone(struct tp_trace_writer *writer, const char *what)
{
	if (writer->failed)
		return;
	writer->failed = true;
	tp_err_set(&writer->error, TP_ERR_SYSTEM, writer->path, "%s", what);
}

// Whether all that was written is still there: bytes after a hole of zeros would be no trace.
static bool is_cut(struct tp_trace_writer *writer)
{
	struct stat info;
	if (!writer->made || !writer->offset || fstat(writer->fd, &info) ||
	    (uint64_t)info.st_size >= writer->offset)
		return false;
	fail_as_gone(writer,
	    "was truncated while it was written, and what was recorded until then is lost: record "
	    "again, into a file that nothing else writes");
	close(writer->fd);
	writer->fd = -1;
	return true;
}

static void write_parts(struct tp_trace_writer *writer, struct iovec *parts, int count)
{
	if (is_cut(writer))
		return;
	uint64_t size = 0;
	for (int i = 0; i < count; i++)
		size += parts[i].iov_len;
	const uint64_t before = tp_clock_monotonic_ns();
	const int error = write_all(writer->fd, parts, count);
	writer->write_ns += tp_clock_monotonic_ns() - before;
	if (error)
		fail(writer, error);
	else
		tp_store_relaxed(&writer->offset, writer->offset + size);
}

// Move a regular file at writer->path to PATH.old, or, if there is one that is worth keeping until
// there is a new trace, next to it. 0 if no such file is in the way any more; *type is then what
// else is there (a file type of stat, 0: nothing).
static int move_aside(struct tp_trace_writer *writer, mode_t *type, struct tp_err *err)
{
	struct stat info;
	*type = 0;
	if (lstat(writer->path, &info))
		return 0; // absent, or open() reports the error
	if (!S_ISREG(info.st_mode)) {
		*type = info.st_mode & S_IFMT;
		return 0;
	}
	char *aside = NULL;
	if (asprintf(&writer->old_path, "%s.old", writer->path) < 0) {
		writer->old_path = NULL;
		return tp_err_memory(err, NULL);
	}
	if (!lstat(writer->old_path, &info) && S_ISREG(info.st_mode)) {
		if (asprintf(&aside, "%s-%d", writer->old_path, (int)getpid()) < 0) {
			free(writer->old_path);
			writer->old_path = NULL;
			return tp_err_memory(err, NULL);
		}
		free(writer->old_path);
		writer->old_path = aside;
		writer->aside = true;
	}
	if (rename(writer->path, writer->old_path)) {
		const int error = errno;
		free(writer->old_path);
		writer->old_path = NULL;
		return tp_err_system(err, error, writer->path, "cannot rename the older trace");
	}
	return 0;
}

// There is a new trace: the older one becomes PATH.old, and the one before it goes.
static void settle(struct tp_trace_writer *writer)
{
	if (!writer->aside)
		return;
	writer->aside = false;
	char *old_path;
	if (asprintf(&old_path, "%s.old", writer->path) < 0)
		return;
	if (rename(writer->old_path, old_path)) {
		free(old_path);
		return;
	}
	free(writer->old_path);
	writer->old_path = old_path;
}

// Links with such names are the system's: nobody else can have put them there, as below a
// process's root in /proc.
static bool is_descriptor(const char *path)
{
	char process[16];
	int number;
	int length = 0;
	if (!strcmp(path, "/dev/stdout") || !strcmp(path, "/dev/stderr"))
		return true;
	if (sscanf(path, "/dev/fd/%d%n", &number, &length) == 1 ||
	    sscanf(path, "/proc/%15[a-z0-9-]/fd/%d%n", process, &number, &length) == 2)
		return !path[length];
	return false;
}

static bool is_fifo(const char *path)
{
	struct stat info;
	return !stat(path, &info) && S_ISFIFO(info.st_mode);
}

// Open an existing file without waiting for the reader of a FIFO.
static int open_there(const char *path, int flags)
{
	const int fd = open(path, flags | O_NONBLOCK);
	if (fd >= 0)
		fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
	return fd;
}

/*
 * Open writer->path where something of `type` is. In a folder where others may write (/tmp, one
 * that a sandboxed program shares with us) a link could lead us to a file of ours: so a file of our
 * own is always a new one, and a link is followed only to what we cannot damage, such as a
 * terminal.
 */
static int open_output(struct tp_trace_writer *writer, mode_t type, struct tp_err *err)
{
	const int flags = O_WRONLY | O_CLOEXEC;
	const int new_file = O_RDWR | O_CLOEXEC | O_CREAT | O_EXCL; // read by make_room
	const bool follow = S_ISLNK(type);
	writer->made = !type;
	if (!type)
		writer->fd = open(writer->path, new_file, 0666);
	else if (follow && is_descriptor(writer->path))
		writer->fd = open(writer->path, flags | O_TRUNC);
	else
		writer->fd = open_there(writer->path, flags | (follow ? 0 : O_NOFOLLOW));
	struct stat info;
	if (writer->fd < 0 && errno == ENXIO && is_fifo(writer->path))
		return tp_err_set(err, TP_ERR_SYSTEM, writer->path,
		    "is a FIFO without a reader: start the reader first, or name a file");
	if (writer->fd < 0 || fstat(writer->fd, &info))
		return tp_err_system(err, errno, writer->path, "cannot create the trace");
	writer->regular = S_ISREG(info.st_mode);
	if (writer->regular && !writer->made && !is_descriptor(writer->path))
		return tp_err_set(err, TP_ERR_SYSTEM, writer->path,
		    "is a symbolic link, which is not followed: name the file itself");
	return 0;
}

bool tp_trace_writer_in_place(const struct tp_trace_writer *writer)
{
	struct stat ours;
	struct stat there;
	if (!writer->made || fstat(writer->fd, &ours))
		return true;
	return lstat(writer->path, &there) == 0 && ours.st_dev == there.st_dev &&
	       ours.st_ino == there.st_ino;
}

static int start_packing(struct tp_trace_writer *writer, int level, struct tp_err *err)
{
	return level ? tp_packer_init(
			   &writer->packer, UINT64_C(1) << TEEPERF_CHUNK_SHIFT_DEFAULT, level, err)
		     : 0;
}

int tp_trace_writer_open(
    struct tp_trace_writer *writer, const char *path, bool only_new, int level, struct tp_err *err)
{
	*writer = (struct tp_trace_writer){.fd = -1};
	writer->path = strdup(path);
	if (!writer->path)
		return tp_err_memory(err, NULL);
	mode_t type;
	int r = move_aside(writer, &type, err);
	if (!r && type && only_new)
		r = tp_err_set(err, TP_ERR_SYSTEM, path, "exists and is not a file");
	if (!r)
		r = open_output(writer, type, err);
	if (r)
		goto fail;
	writer->header = (struct teeperf_trace_header){
	    .magic = TEEPERF_TRACE_MAGIC,
	    .major = TEEPERF_TRACE_MAJOR,
	    .oldest_major = TEEPERF_TRACE_OLDEST_MAJOR,
	    .minor = TEEPERF_TRACE_MINOR,
	    .header_size = sizeof(writer->header),
	    .created_unix_ns = tp_clock_ns(CLOCK_REALTIME),
	    .chunk_shift = TEEPERF_CHUNK_SHIFT_DEFAULT,
	};
	struct iovec part = {&writer->header, sizeof(writer->header)};
	write_parts(writer, &part, 1);
	if (writer->failed && err)
		*err = writer->error;
	r = writer->failed ? writer->error.code : start_packing(writer, level, err);
	if (!r)
		return 0;
fail:
	tp_trace_writer_discard(writer);
	return r;
}

static void release(struct tp_trace_writer *writer)
{
	if (writer->fd >= 0)
		close(writer->fd);
	tp_packer_release(&writer->packer);
	tp_missing_release(&writer->missing);
	free(writer->path);
	free(writer->old_path);
	writer->fd = -1;
	writer->path = NULL;
	writer->old_path = NULL;
}

int tp_trace_writer_resume(struct tp_trace_writer *writer, const char *path, int fd,
    uint64_t offset, const struct teeperf_trace_header *header, int level, struct tp_err *err)
{
	*writer = (struct tp_trace_writer){
	    .fd = fd, .regular = true, .offset = offset, .header = *header};
	writer->path = strdup(path);
	int r = 0;
	if (!writer->path)
		r = tp_err_memory(err, NULL);
	else if (ftruncate(fd, (off_t)offset) || lseek(fd, (off_t)offset, SEEK_SET) < 0)
		r = tp_err_system(err, errno, path, "cannot write the trace");
	else
		r = start_packing(writer, level, err);
	if (r)
		release(writer);
	return r;
}

// A section's payload as it is written, and the chunk that is in it.
struct payload {
	const void *bytes;
	uint64_t size;
	uint32_t checksum;
	const struct teeperf_chunk *chunk; // NULL: it is none
	uint64_t chunk_size;
};

static void add(
    struct tp_trace_writer *writer, enum teeperf_section_type type, const struct payload *payload)
{
	static char zeroes[8];
	const uint32_t bit = UINT32_C(1) << type;
	struct teeperf_section section = {
	    .magic = TEEPERF_SECTION_MAGIC,
	    .type = type,
	    .size = payload->size,
	    .checksum = payload->checksum,
	};
	struct iovec parts[] = {
	    {&section, sizeof(section)},
	    {(void *)(uintptr_t)payload->bytes, payload->size},
	    {zeroes, -payload->size & 7},
	};
	const uint64_t before = writer->offset;
	write_parts(writer, parts, 3);
	const bool written = writer->offset != before;
	if (!payload->chunk)
		writer->unwritten = written ? writer->unwritten & ~bit : writer->unwritten | bit;
	else if (!written)
		tp_missing_add(&writer->missing, payload->chunk, payload->chunk_size);
	else
		tp_store_relaxed(&writer->chunks, writer->chunks + 1);
	if (payload->chunk)
		settle(writer);
}

// Whether a section is not even tried; then it is counted.
static bool is_refused(struct tp_trace_writer *writer, enum teeperf_section_type type,
    const void *payload, uint64_t size)
{
	const bool chunk = type == TEEPERF_SECTION_CHUNK;
	if (writer->fd >= 0 && !(writer->failed && chunk))
		return false;
	if (chunk)
		tp_missing_add(&writer->missing, payload, size);
	else
		writer->unwritten |= UINT32_C(1) << type;
	return true;
}

void tp_trace_writer_add(struct tp_trace_writer *writer, enum teeperf_section_type type,
    const void *payload, uint64_t size)
{
	if (is_refused(writer, type, payload, size))
		return;
	struct payload what = {.bytes = payload, .size = size};
	if (type == TEEPERF_SECTION_CHUNK) {
		what.chunk = payload;
		what.chunk_size = size;
	}
	if (what.chunk && writer->packer.context && writer->hurry) {
		writer->hurried++;
	} else if (what.chunk && writer->packer.context) {
		const uint64_t packed = tp_packer_pack(&writer->packer, payload);
		if (packed) {
			type = TEEPERF_SECTION_PACKED;
			what.bytes = writer->packer.packed;
			what.size = packed;
		}
	}
	what.checksum = tp_checksum(what.bytes, what.size);
	add(writer, type, &what);
}

void tp_trace_writer_add_chunk(
    struct tp_trace_writer *writer, const struct teeperf_chunk *chunk, uint32_t checksum)
{
	if (is_refused(writer, TEEPERF_SECTION_CHUNK, chunk, chunk->used))
		return;
	add(writer, TEEPERF_SECTION_CHUNK,
	    &(struct payload){chunk, chunk->used, checksum, chunk, chunk->used});
}

void tp_trace_writer_set_machine(struct tp_trace_writer *writer, uint32_t machine)
{
	if (writer->header.machine == machine || !writer->regular || writer->fd < 0)
		return;
	writer->header.machine = machine;
	if (!tp_write_at(writer->fd, &writer->header, sizeof(writer->header), 0))
		fail(writer, errno);
}

int tp_trace_writer_close(struct tp_trace_writer *writer, struct tp_err *err)
{
	settle(writer);
	if (writer->fd >= 0 && !is_cut(writer) && !tp_trace_writer_in_place(writer))
		fail_as_gone(writer,
		    "was moved, removed or replaced while it was written: the file there now is "
		    "not this trace");
	// Some file systems report a full disk or quota only here.
	if (writer->fd >= 0) {
		const int fd = writer->fd;
		writer->fd = -1;
		if (close(fd) && errno != EINTR && !writer->failed) {
			writer->failed = true;
			tp_err_system(
			    &writer->error, errno, writer->path, "cannot write the trace");
		}
	}
	if (writer->failed && err)
		*err = writer->error;
	release(writer);
	return writer->failed ? writer->error.code : 0;
}

// The older trace gets its name back, unless another recorder has written one of that name
// meanwhile.
static void put_back(const struct tp_trace_writer *writer)
{
	if (!renameat2(AT_FDCWD, writer->old_path, AT_FDCWD, writer->path, RENAME_NOREPLACE) ||
	    errno == EEXIST)
		return;
	if (!link(writer->old_path, writer->path))
		unlink(writer->old_path);
	else if (access(writer->path, F_OK) && errno == ENOENT)
		rename(writer->old_path, writer->path);
}

void tp_trace_writer_discard(struct tp_trace_writer *writer)
{
	if (writer->made && writer->fd >= 0 && tp_trace_writer_in_place(writer))
		unlink(writer->path);
	if (writer->old_path)
		put_back(writer);
	release(writer);
}
