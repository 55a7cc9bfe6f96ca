// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the bytes of a trace come from: a file or memory.
#include "source.h"

#include "common/read_all.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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
		    "not a regular file: a trace is read more than once, copy it to a file first");
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
	if ((uint64_t)got < size)
		return tp_err_set_at(err, TP_ERR_TRUNCATED, source->name, offset + (uint64_t)got,
		    "the file became shorter while it was read");
	return 0;
}
