// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What came over the socket of `teeperf ctl`, made safe: the other side may be anybody.
#include "control.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "common/clean.h"

int64_t tp_control_receive(int connection, void *bytes, uint64_t room)
{
	ssize_t size;
	do {
		size = recv(connection, bytes, room, MSG_TRUNC);
	} while (size < 0 && errno == EINTR);
	return size;
}

int tp_control_request_read(struct tp_control_request *request, const void *bytes, uint64_t size)
{
	if (size != sizeof(*request))
		return TP_ERR_FORMAT;
	memcpy(request, bytes, sizeof(*request));
	return 0;
}

int tp_control_reply_read(struct tp_control_reply *reply, const void *bytes, uint64_t size,
    const char *path, struct tp_err *err)
{
	memset(reply, 0, sizeof(*reply));
	if (size == sizeof(*reply))
		memcpy(reply, bytes, sizeof(*reply));
	if (reply->version != TP_CONTROL_VERSION)
		return tp_err_set(err, TP_ERR_VERSION, path, TP_ERR_NO_OFFSET,
		    "the recorder is of another version of teeperf: use that one's ctl");
	// Whoever makes a socket of that name may answer.
	reply->output[sizeof(reply->output) - 1] = '\0';
	tp_clean(reply->output, strlen(reply->output));
	return 0;
}
