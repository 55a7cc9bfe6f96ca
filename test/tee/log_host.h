/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A log as a host makes it that then only watches: for tests of platforms without a recorder. */
#ifndef TP_LOG_HOST_H
#define TP_LOG_HOST_H

#include <stdint.h>
#include <string.h>

#include <teeperf/log.h>

enum { HOST_MODULES = 64, HOST_THREADS = 64 };
#define HOST_CHUNK ((uint64_t)1 << TEEPERF_CHUNK_SHIFT_DEFAULT)
#define HOST_SIZE(chunks) (HOST_CHUNK * (1 + (uint64_t)(chunks)))

static inline void *host_at(struct teeperf_log_header *header, uint64_t offset)
{
	return (char *)header + offset;
}

/* Make a log of HOST_SIZE(chunks) bytes, and supply all of its chunks (a power of two). */
static inline void host_make_log(struct teeperf_log_header *header, uint32_t chunks, uint32_t clock)
{
	memset(header, 0, HOST_SIZE(chunks));
	teeperf_log_init(header, chunks, clock, TEEPERF_MODE_STREAM);
	header->region_size = HOST_SIZE(chunks);
	header->supply_offset = TEEPERF_LOG_HEADER_SIZE;
	header->state_offset = header->supply_offset + 8 * chunks;
	header->modules_offset = header->state_offset + 8 * chunks;
	header->threads_offset =
	    header->modules_offset + HOST_MODULES * sizeof(struct teeperf_module);
	header->chunks_offset = HOST_CHUNK;
	header->module_capacity = HOST_MODULES;
	header->thread_capacity = HOST_THREADS;
	header->control = TEEPERF_ACTIVE;
	uint64_t *supply = host_at(header, header->supply_offset);
	for (uint64_t i = 0; i < chunks; i++)
		supply[i] = TEEPERF_SUPPLY_SLOT(i, i);
	header->head = chunks;
	header->magic = TEEPERF_LOG_MAGIC;
}

/* The final contents of a log. */
struct host_sums {
	uint64_t events;
	uint64_t lost;
	uint64_t owned, done; /* chunks in these states */
	uint64_t threads;
};

static inline struct host_sums host_sum(struct teeperf_log_header *header)
{
	struct host_sums sums = {.lost = header->lost_early + header->lost_overflow};
	const uint64_t *states = host_at(header, header->state_offset);
	const struct teeperf_thread *threads = host_at(header, header->threads_offset);
	for (uint32_t i = 0; i < HOST_THREADS; i++) {
		sums.lost += threads[i].lost;
		sums.threads += threads[i].os_tid != 0;
	}
	for (uint32_t i = 0; i < header->chunk_count; i++) {
		const uint64_t *words =
		    host_at(header, header->chunks_offset + HOST_CHUNK * (uint64_t)i);
		sums.owned += states[i] == TEEPERF_CHUNK_OWNED;
		sums.done += states[i] == TEEPERF_CHUNK_DONE;
		if (states[i] == TEEPERF_CHUNK_FREE)
			continue;
		for (uint64_t w = sizeof(struct teeperf_chunk) / 8; w < HOST_CHUNK / 8; w++) {
			const uint32_t name = (uint32_t)(words[w] >> 32);
			sums.events += name >= TEEPERF_NAME_FIRST &&
				       (name & TEEPERF_KIND_MASK) != TEEPERF_KIND_RESYNC;
		}
	}
	return sums;
}

#endif
