// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How many events a chunk of records holds.
#include "chunk_events.h"

#include <stdbool.h>

static uint64_t add(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

struct tp_chunk_events tp_chunk_events_count(const struct teeperf_chunk *chunk, uint64_t size)
{
	const uint64_t *words = (const uint64_t *)(const void *)chunk;
	const uint64_t end = size / 8;
	struct tp_chunk_events sum = {0};
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
