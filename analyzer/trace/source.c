// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the bytes of a trace come from: a file or memory.
#include "source.h"

#include "common/array.h"
#include "common/read_all.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct tp_source_kept {
	uint64_t offset;
	uint64_t size;
	uint64_t at; // in memo->bytes
};

int tp_source_open(struct tp_source *source, const char *name, struct tp_err *err)
{
	*source = (struct tp_source){.name = name, .fd = -1};
	// O_NONBLOCK: a named pipe must be refused below, not waited for here.
	const int fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return tp_err_system(err, errno, name, "cannot open it");
	struct stat stat;
	if (fstat(fd, &stat) != 0) {
		const int saved = errno;
		close(fd);
		return tp_err_system(err, saved, name, "cannot examine it");
	}
	if (!S_ISREG(stat.st_mode)) {
		close(fd);
		return tp_err_set(err, TP_ERR_FORMAT, name,
		    "not a regular file: a trace is read more than once, so copy it to a file "
		    "first");
	}
	source->fd = fd;
	source->size = (uint64_t)stat.st_size;
	return 0;
}

void tp_source_from_memory(
    struct tp_source *source, const char *name, const void *data, size_t size)
{
	*source = (struct tp_source){.name = name, .fd = -1, .data = data, .size = size};
}

void tp_source_close(struct tp_source *source)
{
	if (source->fd >= 0)
		close(source->fd);
	source->fd = -1;
	source->size = 0;
}

int tp_source_read(
    const struct tp_source *source, uint64_t offset, void *to, size_t size, struct tp_err *err)
{
	if (offset >= TP_SOURCE_MORE && offset - TP_SOURCE_MORE <= source->more_size &&
	    size <= source->more_size - (offset - TP_SOURCE_MORE)) {
		memcpy(to, source->more + (offset - TP_SOURCE_MORE), size);
		return 0;
	}
	if (offset > source->size || size > source->size - offset)
		return tp_err_set_at(err, TP_ERR_TRUNCATED, source->name, offset,
		    "%zu bytes are needed, but the file ends at offset %" PRIu64, size,
		    source->size);
	if (source->fd < 0) {
		memcpy(to, source->data + offset, size);
		return 0;
	}
	const int64_t got = tp_read_at(source->fd, to, size, offset);
	if (got < 0)
		return tp_err_system(err, errno, source->name, "cannot read it");
	if (source->read_bytes)
		atomic_fetch_add_explicit(source->read_bytes, (uint64_t)got, memory_order_relaxed);
	if ((uint64_t)got < size)
		return tp_err_set_at(err, TP_ERR_TRUNCATED, source->name, offset + (uint64_t)got,
		    "the file became shorter while it was read");
	return 0;
}

bool tp_source_remember(struct tp_source *source, struct tp_source_memo *memo)
{
	struct stat stat = {0};
	const bool is_file = source->fd >= 0 && fstat(source->fd, &stat) == 0;
	const bool same = is_file && memo->count && memo->device == stat.st_dev &&
			  memo->inode == stat.st_ino && memo->size <= source->size;
	if (!same) {
		memo->count = 0;
		tp_buf_release(&memo->bytes);
		tp_buf_init(&memo->bytes);
	}
	memo->device = stat.st_dev;
	memo->inode = stat.st_ino;
	memo->size = source->size;
	memo->at = 0;
	source->memo = is_file ? memo : NULL;
	return same;
}

static void keep(struct tp_source_memo *memo, uint64_t offset, const void *bytes, size_t size)
{
	const uint64_t at = memo->bytes.size;
	if (!TP_GROW(memo->kept, memo->room, memo->count + 1))
		return;
	tp_buf_add(&memo->bytes, bytes, size);
	if (memo->bytes.size != at + size)
		return;
	memo->kept[memo->count++] = (struct tp_source_kept){offset, size, at};
	memo->at = memo->count;
}

int tp_source_read_again(
    const struct tp_source *source, uint64_t offset, void *to, size_t size, struct tp_err *err)
{
	struct tp_source_memo *memo = source->memo;
	if (!memo)
		return tp_source_read(source, offset, to, size, err);
	const struct tp_source_kept *kept = memo->at < memo->count ? &memo->kept[memo->at] : NULL;
	if (kept && kept->offset == offset && kept->size == size) {
		memcpy(to, memo->bytes.data + kept->at, size);
		memo->at++;
		return 0;
	}
	// Somebody reads in another way now.
	if (kept)
		tp_source_forget(source, offset);
	const int code = tp_source_read(source, offset, to, size, err);
	if (!code)
		keep(memo, offset, to, size);
	return code;
}

void tp_source_forget(const struct tp_source *source, uint64_t offset)
{
	struct tp_source_memo *memo = source->memo;
	if (!memo)
		return;
	while (memo->count && memo->kept[memo->count - 1].offset >= offset)
		memo->bytes.size = memo->kept[--memo->count].at;
	if (memo->at > memo->count)
		memo->at = memo->count;
}

void tp_source_memo_release(struct tp_source_memo *memo)
{
	free(memo->kept);
	if (memo->bytes.data)
		tp_buf_release(&memo->bytes);
	memset(memo, 0, sizeof(*memo));
}
