// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Moments that were marked from outside.
#include "drain.h"

#include <string.h>

void tp_mark_log_init(struct tp_mark_log *log)
{
	*log = (struct tp_mark_log){.lock = PTHREAD_MUTEX_INITIALIZER};
	tp_buf_init(&log->entries);
}

void tp_mark_log_release(struct tp_mark_log *log)
{
	tp_buf_release(&log->entries);
}

bool tp_mark_log_add(struct tp_mark_log *log, uint64_t monotonic_ns, const char *name)
{
	struct teeperf_trace_mark mark = {.monotonic_ns = monotonic_ns};
	memcpy(mark.name, name, strnlen(name, sizeof(mark.name) - 1));
	pthread_mutex_lock(&log->lock);
	const bool has_room =
	    !log->entries.failed && log->entries.size < TP_MARK_LOG_MAX * sizeof(mark);
	if (has_room)
		tp_buf_add(&log->entries, &mark, sizeof(mark));
	const bool added = has_room && !log->entries.failed;
	pthread_mutex_unlock(&log->lock);
	return added;
}

uint64_t tp_mark_log_bytes(struct tp_mark_log *log)
{
	pthread_mutex_lock(&log->lock);
	const uint64_t bytes = log->entries.size;
	pthread_mutex_unlock(&log->lock);
	return bytes;
}
