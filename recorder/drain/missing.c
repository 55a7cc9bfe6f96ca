// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a trace lacks because it could not be written.
#include "missing.h"

#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/chunks/chunk_events.h"
#include "recorder/region/region.h"

void tp_missing_release(struct tp_missing *missing)
{
	free(missing->threads);
	*missing = (struct tp_missing){0};
}

// Where THREAD is, or belongs.
static uint32_t find(const struct tp_missing *missing, uint32_t thread)
{
	return TP_LOWER_BOUND(0, missing->count, middle, missing->threads[middle].thread < thread);
}

// The entry of THREAD, which is made if need be. NULL: no memory.
static struct teeperf_trace_missing *entry(struct tp_missing *missing, uint32_t thread)
{
	const uint32_t at = find(missing, thread);
	if (at < missing->count && missing->threads[at].thread == thread)
		return &missing->threads[at];
	if (!TP_GROW(missing->threads, missing->capacity, missing->count + UINT64_C(1)))
		return NULL;
	struct teeperf_trace_missing *to = &missing->threads[at];
	memmove(to + 1, to, (missing->count - at) * sizeof(*to));
	missing->count++;
	*to = (struct teeperf_trace_missing){.thread = thread};
	return to;
}

void tp_missing_add(struct tp_missing *missing, const struct teeperf_chunk *chunk, uint64_t size)
{
	const struct tp_chunk_events sum = tp_chunk_events_count(chunk, size);
	// A hostile program could invent more threads than there is memory for.
	struct teeperf_trace_missing *of_thread =
	    size >= sizeof(*chunk) && chunk->thread < TP_REGION_THREADS
		? entry(missing, chunk->thread)
		: NULL;
	missing->chunks++;
	missing->events += sum.events;
	missing->calls += sum.calls;
	if (!of_thread)
		return;
	of_thread->chunks++;
	of_thread->events += sum.events;
	of_thread->calls += sum.calls;
}
