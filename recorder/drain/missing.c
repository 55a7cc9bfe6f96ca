// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a trace lacks because it could not be written.
#include "trace_writer.h"

#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "recorder/region/region.h"

struct events {
	uint64_t events; // enters and exits
	uint64_t calls;  // in COUNTS records; sums that are too large stop at the largest number
};

static uint64_t add(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

// What is in CHUNK: SIZE bytes, its header and the records behind it, of which nothing is believed.
static struct events count_events(const struct teeperf_chunk *chunk, uint64_t size)
{
	const uint64_t *words = (const uint64_t *)(const void *)chunk;
	const uint64_t end = size / 8;
	struct events sum = {0};
	for (uint64_t i = sizeof(*chunk) / 8; i < end; i++) {
		const uint32_t tagged = (uint32_t)(words[i] >> 32);
		if (tagged >= TEEPERF_NAME_FIRST) {
			const bool resync = (tagged & TEEPERF_KIND_MASK) == TEEPERF_KIND_RESYNC;
			sum.events += !resync;
			i += resync; // a raw word follows
		} else if (tagged == TEEPERF_CONTROL_COUNTS) {
			for (uint64_t pairs = words[i] & UINT32_MAX; pairs && i + 2 < end;
			     pairs--) {
				sum.calls = add(sum.calls, words[i + 1] ? words[i + 2] : 0);
				i += 2;
			}
		}
	}
	return sum;
}

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
	const struct events sum = count_events(chunk, size);
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
