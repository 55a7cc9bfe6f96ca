// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a trace lacks because it could not be written; and room for what ends it, on a disk that has
// none left: the last chunks give way, and are counted as missing.
#define _GNU_SOURCE
#include "trace_writer.h"

#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/chunks/records.h"
#include "common/read_all.h"
#include "recorder/region/region.h"

struct events {
	uint64_t events; // enters and exits
	uint64_t calls;  // in COUNTS records; sums that are too large stop at the largest number
};

static uint64_t add(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

// Count the events of CHUNK: SIZE bytes, its header and the records behind it, none of which is
// trusted.
static struct events count_events(const struct teeperf_chunk *chunk, uint64_t size)
{
	const uint64_t words = size < sizeof(*chunk) ? 0 : (size - sizeof(*chunk)) / 8;
	struct tp_record_cursor at =
	    tp_records_begin((const uint64_t *)(chunk + 1), (uint32_t)words, 0);
	struct events sum = {0};
	for (struct tp_record record; tp_record_next(&at, &record);) {
		sum.events += record.form < TP_RECORD_RESYNC;
		// If it is cut, those that are there; half a pair is no event.
		for (uint32_t i = 1; record.form == TP_RECORD_PAIRS && i < record.more_count;
		     i += 2)
			sum.calls = add(sum.calls, record.more[i - 1] ? record.more[i] : 0);
	}
	return sum;
}

void tp_missing_release(struct tp_missing *missing)
{
	free(missing->threads);
	*missing = (struct tp_missing){0};
}

// The entry of THREAD, which is made if need be. NULL: no memory.
static struct teeperf_trace_missing *entry(struct tp_missing *missing, uint32_t thread)
{
	const uint32_t at =
	    TP_LOWER_BOUND(0, missing->count, middle, missing->threads[middle].thread < thread);
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

enum { CHUNK_SIZE = 1 << TEEPERF_CHUNK_SHIFT_DEFAULT };

// Where a chunk's section is.
struct place {
	uint64_t offset;
	struct teeperf_section header;
};

static bool read_at(int fd, void *to, uint64_t size, uint64_t offset)
{
	return tp_read_at(fd, to, size, offset) == (int64_t)size;
}

// Nothing else tells whether there is room: free blocks, quotas and limits all count.
static bool has_room(struct tp_trace_writer *writer, uint64_t bytes)
{
	static const char zeroes[4096];
	uint64_t done = 0;
	while (done < bytes && tp_write_all(writer->fd, zeroes, sizeof(zeroes)))
		done += sizeof(zeroes);
	// Call circle with trace_writer.c: it counts lost chunks here, whose room goes back there.
	return tp_trace_writer_cut(writer, writer->offset) && done >= bytes;
}

static uint64_t padded(uint64_t size)
{
	return sizeof(struct teeperf_section) + (size + 7) / 8 * 8;
}

// All chunks in the file, in their order; to be freed. NULL: it cannot be read, or has none.
static struct place *list_chunks(const struct tp_trace_writer *writer, uint64_t *count)
{
	struct place *places = NULL;
	uint64_t capacity = 0;
	struct place place = {.offset = writer->header.header_size};
	for (*count = 0; place.offset < writer->offset; place.offset += padded(place.header.size)) {
		if (!read_at(writer->fd, &place.header, sizeof(place.header), place.offset) ||
		    place.header.magic != TEEPERF_SECTION_MAGIC ||
		    padded(place.header.size) > writer->offset - place.offset)
			goto fail;
		if (place.header.type != TEEPERF_SECTION_CHUNK &&
		    place.header.type != TEEPERF_SECTION_PACKED)
			continue;
		if (!TP_GROW(places, capacity, *count + 1))
			goto fail;
		places[(*count)++] = place;
	}
	return places;
fail:
	free(places);
	return NULL;
}

// Count the chunk at PLACE, which is about to go. ROOM has one chunk, PACKED the payload of a
// section.
static bool give_up(struct tp_trace_writer *writer, const struct place *place, uint64_t *room,
    uint8_t *packed, struct tp_unpacker *unpacker)
{
	const uint64_t at = place->offset + sizeof(place->header);
	const uint64_t size = place->header.size;
	uint64_t whole = size;
	struct tp_err err;
	if (size < sizeof(struct teeperf_chunk) || size > CHUNK_SIZE)
		return false;
	if (place->header.type == TEEPERF_SECTION_CHUNK) {
		if (!read_at(writer->fd, room, size, at))
			return false;
	} else {
		const uint64_t header = sizeof(struct teeperf_chunk) / 8;
		uint32_t count;
		if (!read_at(writer->fd, packed, size, at) ||
		    tp_unpacker_unpack(unpacker, packed, size, room + header, &count, writer->path,
			place->offset, &err))
			return false;
		for (uint64_t i = 0; i < header; i++)
			room[i] = ((const uint64_t *)(const void *)packed)[i];
		whole = 8 * (header + count);
	}
	tp_missing_add(&writer->missing, (const struct teeperf_chunk *)(const void *)room, whole);
	return true;
}

// Count the data behind CUT that is in no other section: the caller writes all others again.
static void count_cut(struct tp_trace_writer *writer, uint64_t cut)
{
	struct teeperf_section header;
	for (uint64_t at = cut; at < writer->offset; at += padded(header.size)) {
		if (!read_at(writer->fd, &header, sizeof(header), at))
			return;
		if (header.type == TEEPERF_SECTION_SCHED)
			writer->cut_switches +=
			    header.size / sizeof(struct teeperf_trace_sched_switch) - 1;
		else if (header.type == TEEPERF_SECTION_SYSTEM)
			writer->cut_events += (header.size - sizeof(struct teeperf_trace_system)) /
					      sizeof(struct teeperf_system_event);
	}
}

void tp_trace_writer_make_room(struct tp_trace_writer *writer, uint64_t bytes)
{
	struct tp_unpacker unpacker = {0};
	struct tp_err err;
	uint64_t count = 0;
	uint64_t cut = writer->offset;
	if (!writer->failed || !writer->regular || writer->fd < 0 || has_room(writer, bytes) ||
	    writer->fd < 0)
		return;
	struct place *places = list_chunks(writer, &count);
	uint64_t *room = malloc(CHUNK_SIZE);
	uint8_t *packed = malloc(CHUNK_SIZE);
	uint64_t gone = 0;
	if (places && room && packed && !tp_unpacker_init(&unpacker, CHUNK_SIZE, &err)) {
		while (gone < count && writer->offset - cut < bytes &&
		       give_up(writer, &places[count - gone - 1], room, packed, &unpacker))
			cut = places[count - ++gone].offset;
	}
	if (gone) {
		count_cut(writer, cut);
		tp_store_relaxed(&writer->chunks, writer->chunks - gone);
		tp_trace_writer_cut(writer, cut);
	}
	tp_unpacker_release(&unpacker);
	free(packed);
	free(room);
	free(places);
}
