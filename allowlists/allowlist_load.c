// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reading a list from a file.
#include "allowlist_list.h"

#include "common/buf.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static int read_all(int fd, const char *file, struct tp_buf *buf, struct tp_err *err)
{
	char block[16384];
	for (;;) {
		const ssize_t got = read(fd, block, sizeof(block));
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return tp_err_system(err, errno, file, "cannot read the allowlist");
		if (got == 0)
			break;
		tp_buf_add(buf, block, (size_t)got);
		if (buf->size > TP_ALLOWLIST_BYTES_MAX)
			return tp_err_set(err, TP_ERR_LIMIT, file, TP_ERR_NO_OFFSET,
			    "the allowlist is larger than %d bytes", TP_ALLOWLIST_BYTES_MAX);
	}
	return buf->failed ? tp_err_set(err, TP_ERR_MEMORY, file, TP_ERR_NO_OFFSET, "out of memory")
			   : 0;
}

int tp_allowlist_load(struct tp_allowlist **list, const char *file, struct tp_err *err)
{
	*list = NULL;
	const int fd = open(file, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return tp_err_system(err, errno, file, "cannot open the allowlist");
	struct tp_buf buf;
	tp_buf_init(&buf);
	int status = read_all(fd, file, &buf, err);
	close(fd);
	if (!status)
		status = tp_allowlist_parse(list, buf.data, buf.size, file, err);
	tp_buf_release(&buf);
	return status;
}
