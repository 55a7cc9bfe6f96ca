// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// All that a descriptor still has to give, or is to take.
#include "read_all.h"

#include <errno.h>
#include <unistd.h>

int tp_read_all(struct tp_buf *buf, int fd, const char *name, const char *what, uint64_t most,
    struct tp_err *err)
{
	char block[16384];
	for (;;) {
		const ssize_t got = read(fd, block, sizeof(block));
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return tp_err_system(err, errno, name, "cannot read %s", what);
		if (got == 0)
			break;
		tp_buf_add(buf, block, (size_t)got);
		if (buf->size > most)
			return tp_err_set(err, TP_ERR_LIMIT, name, "%s is larger than %llu bytes",
			    what, (unsigned long long)most);
	}
	return buf->failed ? tp_err_memory(err, name) : 0;
}

bool tp_write_all(int fd, const void *data, size_t size)
{
	const char *at = data;
	while (size) {
		const ssize_t written = write(fd, at, size);
		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return false;
		at += written;
		size -= (size_t)written;
	}
	return true;
}

bool tp_write_at(int fd, const void *data, size_t size, uint64_t offset)
{
	size_t done = 0;
	while (done < size) {
		const ssize_t written =
		    pwrite(fd, (const char *)data + done, size - done, (off_t)(offset + done));
		if (written < 0 && errno == EINTR)
			continue;
		if (written == 0)
			errno = EIO;
		if (written <= 0)
			return false;
		done += (size_t)written;
	}
	return true;
}

int64_t tp_read_at(int fd, void *to, uint64_t size, uint64_t offset)
{
	uint64_t done = 0;
	while (done < size) {
		const ssize_t got =
		    pread(fd, (char *)to + done, size - done, (off_t)(offset + done));
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -1;
		if (got == 0)
			break;
		done += (uint64_t)got;
	}
	return (int64_t)done;
}
