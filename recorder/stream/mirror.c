// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Does with a region what a program would do that shared it, at the word of a stream.
#include "thread.h"

#include <stddef.h>
#include <string.h>

// Of `length` bytes `from`, which lie at `offset`, those within [start, start + size) go to the
// same place of `to`.
static void take(
    void *to, uint64_t start, uint64_t size, const void *from, uint64_t offset, uint64_t length)
{
	const uint64_t first = offset > start ? offset : start;
	const uint64_t end = offset + length < start + size ? offset + length : start + size;
	for (uint64_t at = first; at < end; at += 8) {
		uint64_t word;
		memcpy(&word, (const char *)from + (at - offset), sizeof(word));
		tp_store_release((uint64_t *)(void *)((char *)to + (at - start)), word);
	}
}

static void take_header(
    struct tp_mirror *mirror, const void *from, uint64_t offset, uint64_t length)
{
	const uint64_t start = offsetof(struct teeperf_log_header, pid);
	const uint64_t end = offsetof(struct teeperf_log_header, crossings);
	take((char *)mirror->region->header + start, start, end - start, from, offset, length);
}

void tp_mirror_start(struct tp_mirror *mirror, const struct tp_frames *frames)
{
	take_header(mirror, &frames->start, 0, sizeof(frames->start));
}

static uint64_t lesser(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

void tp_mirror_words(struct tp_mirror *mirror, const struct tp_frames *frames)
{
	const struct teeperf_log_header *log = &frames->start;
	const struct teeperf_frame *frame = &frames->frame;
	const uint64_t modules = lesser(log->module_capacity, mirror->region->module_capacity);
	const uint64_t threads = lesser(log->thread_capacity, mirror->region->thread_capacity);
	take(mirror->region->modules, log->modules_offset, modules * sizeof(struct teeperf_module),
	    frames->payload, frame->offset, frame->length);
	take(mirror->region->threads, log->threads_offset, threads * sizeof(struct teeperf_thread),
	    frames->payload, frame->offset, frame->length);
	take_header(mirror, frames->payload, frame->offset, frame->length);
}

bool tp_mirror_chunk(struct tp_mirror *mirror, const struct tp_frames *frames)
{
	struct tp_region *region = mirror->region;
	const uint64_t slot =
	    tp_load_acquire(&region->supply[mirror->ticket & (region->chunk_count - 1)]);
	const uint64_t number = slot & ((UINT64_C(1) << TEEPERF_SUPPLY_CHUNK_BITS) - 1);
	if (slot != TEEPERF_SUPPLY_SLOT(mirror->ticket, number) || number >= region->chunk_count)
		return false;
	memcpy(tp_region_chunk(region, (uint32_t)number), frames->payload, frames->frame.length);
	tp_store_release(&region->states[number], TEEPERF_CHUNK_DONE);
	mirror->ticket++;
	tp_store_release(&region->header->tail, mirror->ticket);
	return true;
}
