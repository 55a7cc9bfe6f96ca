// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a process that asks for a log of its own has sent, made safe: a profiled program may send anything.
#include "server.h"

#include <string.h>

#include <teeperf/log.h>

enum { CHUNK_WORDS = (TP_REGION_CHUNK_SIZE - (int)sizeof(struct teeperf_chunk)) / 8 };

int tp_follow_request_read(struct tp_follow_request *request, const void *bytes, uint64_t size,
    uint64_t token, uint32_t chunk_count)
{
	struct teeperf_fork_request message;
	*request = (struct tp_follow_request){0};
	if (size != sizeof(message))
		return TP_ERR_FORMAT;
	memcpy(&message, bytes, sizeof(message));
	// The token keeps others out: a program may have given up the user that it was started by.
	if (message.magic != TEEPERF_FORK_MAGIC || message.token != token)
		return TP_ERR_FORMAT;
	if (message.parent <= INT32_MAX)
		request->parent = (pid_t)message.parent;
	if (!message.chunk || message.chunk > chunk_count)
		return 0;
	request->owned = message.chunk;
	request->padding = message.padding < CHUNK_WORDS ? message.padding : CHUNK_WORDS;
	return 0;
}
