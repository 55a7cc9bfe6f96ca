// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What of a chunk is in use. Mode ring: what the program's threads keep, written to a trace.
#include "drain.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/chunks/records.h"

enum {
	HEADER_WORDS = sizeof(struct teeperf_chunk) / 8,
	TRIES = 100, // while we have no processor, a thread may go round its whole ring
};

uint64_t tp_drain_clamp_used(uint64_t used)
{
	used &= ~UINT64_C(7);
	if (used < sizeof(struct teeperf_chunk))
		return sizeof(struct teeperf_chunk);
	return used < TP_REGION_CHUNK_SIZE ? used : TP_REGION_CHUNK_SIZE;
}

static bool is_text(uint64_t record)
{
	return record >> 32 == TEEPERF_CONTROL_TEXT;
}

// The first WORDS of a chunk without the zeroes at their end, but with its header.
static uint64_t without_zeroes(const uint64_t *chunk, uint64_t words)
{
	while (words > HEADER_WORDS && !chunk[words - 1])
		words--;
	return words;
}

uint64_t tp_drain_find_used(const uint64_t *chunk)
{
	const uint64_t words = without_zeroes(chunk, TP_REGION_CHUNK_SIZE / 8);
	// The name of a mark is written before its record: where that is not there yet, neither is
	// the mark.
	uint64_t text = words;
	while (text > HEADER_WORDS && is_text(chunk[text - 1]))
		text--;
	const bool half = text < words && text > HEADER_WORDS && !chunk[text - 1];
	return (half ? without_zeroes(chunk, text - 1) : words) * 8;
}

int tp_chunk_key_compare(const void *a, const void *b)
{
	const struct tp_chunk_key *x = a;
	const struct tp_chunk_key *y = b;
	const int threads = TP_COMPARE(x->thread, y->thread);
	const int sequences = TP_COMPARE(x->sequence, y->sequence);
	return threads ? threads : sequences ? sequences : TP_COMPARE(x->number, y->number);
}

uint32_t tp_rings_whole(const uint64_t *words, uint32_t count)
{
	struct tp_record_cursor at = tp_records_begin(words, count, 0);
	for (struct tp_record record; tp_record_next(&at, &record);)
		if (record.cut)
			return record.at;
	return count;
}

static bool is_still(const struct tp_region *region, const struct tp_chunk_key *held)
{
	const struct teeperf_chunk *chunk = tp_region_chunk(region, held->number);
	const uint64_t state = tp_load_acquire(&region->states[held->number]);
	return (state == TEEPERF_CHUNK_OWNED || state == TEEPERF_CHUNK_DONE) &&
	       tp_region_chunk_thread(chunk) == held->thread &&
	       tp_load_relaxed(&chunk->sequence) == held->sequence;
}

void tp_rings_complete_mark(const uint64_t *from, uint64_t *to)
{
	const uint64_t words = without_zeroes(to, TP_REGION_CHUNK_SIZE / 8);
	uint64_t text = words;
	while (text > HEADER_WORDS && is_text(to[text - 1]))
		text--;
	const bool marks = text > HEADER_WORDS &&
			   tp_record_form_of((uint32_t)(to[text - 1] >> 32)) == TP_RECORD_NAMED;
	for (; marks && text < TP_REGION_CHUNK_SIZE / 8; text++) {
		const uint64_t word = tp_load_relaxed(&from[text]);
		if (!is_text(word))
			break;
		to[text] = word;
	}
}

/*
 * From the end to the beginning: a thread writes the other way round, so that whatever is there was
 * written after all that is copied later. It takes a chunk away by its state, before it writes
 * anything else to it.
 */
static bool copy(const struct tp_region *region, const struct tp_chunk_key *held, uint64_t *to)
{
	const struct teeperf_chunk *chunk = tp_region_chunk(region, held->number);
	const uint64_t *from = (const uint64_t *)(const void *)chunk;
	struct teeperf_chunk *header = (void *)to;
	const bool done = tp_load_acquire(&region->states[held->number]) == TEEPERF_CHUNK_DONE;
	const uint64_t used =
	    done ? tp_drain_clamp_used(tp_load_relaxed(&chunk->used)) : TP_REGION_CHUNK_SIZE;
	for (uint64_t i = used / 8; i--;)
		to[i] = tp_load_relaxed(&from[i]);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (!done) {
		tp_rings_complete_mark(from, to);
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
	}
	if (!is_still(region, held) || header->thread != held->thread ||
	    header->sequence != held->sequence)
		return false;
	header->used = done ? used : tp_drain_find_used(to);
	if (!done)
		header->used =
		    sizeof(*header) + 8 * (uint64_t)tp_rings_whole(to + HEADER_WORDS,
					      (uint32_t)(header->used / 8 - HEADER_WORDS));
	return true;
}

// The room for a thread's counts is no part of its ring: it stays as long as the thread does.
static bool has_counts(const uint64_t *chunk)
{
	return chunk[HEADER_WORDS] >> 32 == TEEPERF_CONTROL_MODULE;
}

// Copy the chunks of one thread. False if it went on from the last of them meanwhile.
static bool copy_all(
    const struct tp_region *region, struct tp_chunk_key *held, uint32_t count, uint64_t *room)
{
	for (uint32_t i = 0; i < count; i++)
		held[i].whole = copy(region, &held[i], room + i * (TP_REGION_CHUNK_SIZE / 8));
	return held[count - 1].whole;
}

// What has been copied of one thread: the newest, as far back as nothing is missing.
static uint64_t write_thread(const struct tp_chunk_key *held, uint32_t count, const uint64_t *room,
    struct tp_trace_writer *writer)
{
	const uint64_t words = TP_REGION_CHUNK_SIZE / 8;
	uint64_t bytes = 0;
	uint32_t end = count;
	while (end && !held[end - 1].whole)
		end--;
	uint32_t first = end;
	while (first && held[first - 1].whole)
		first--;
	for (uint32_t i = 0; i < end; i++) {
		const struct teeperf_chunk *chunk = (const void *)(room + i * words);
		if (!held[i].whole || (i < first && !has_counts(room + i * words)))
			continue;
		tp_trace_writer_add(writer, TEEPERF_SECTION_CHUNK, chunk, chunk->used);
		bytes += chunk->used - sizeof(*chunk);
	}
	return bytes;
}

// Which chunks there are, by thread and sequence; two that say the same are one.
static uint32_t find(struct tp_region *region, uint32_t *numbers, struct tp_chunk_key *held)
{
	const uint32_t found = tp_region_collect(region, TP_REGION_DONE | TP_REGION_OWNED, numbers);
	uint32_t count = 0;
	for (uint32_t i = 0; i < found; i++) {
		const struct teeperf_chunk *chunk = tp_region_chunk(region, numbers[i]);
		held[i] = (struct tp_chunk_key){.number = numbers[i],
		    .thread = tp_region_chunk_thread(chunk),
		    .sequence = tp_load_relaxed(&chunk->sequence)};
	}
	if (found)
		qsort(held, found, sizeof(*held), tp_chunk_key_compare);
	for (uint32_t i = 0; i < found; i++)
		if (!count || held[count - 1].thread != held[i].thread ||
		    held[count - 1].sequence != held[i].sequence)
			held[count++] = held[i];
	return count;
}

// One look at the log; `numbers` and `held` have room for all of it.
struct look {
	struct tp_region *region;
	uint32_t *numbers;
	struct tp_chunk_key *held;
};

// The newest chunks of one thread as they are now, at most `most`, into held: how many.
static uint32_t find_thread(
    const struct look *look, uint32_t thread, struct tp_chunk_key *held, uint32_t most)
{
	const uint32_t count = find(look->region, look->numbers, look->held);
	uint32_t first = 0;
	while (first < count && look->held[first].thread != thread)
		first++;
	uint32_t end = first;
	while (end < count && look->held[end].thread == thread)
		end++;
	if (end - first > most)
		first = end - most;
	memcpy(held, look->held + first, (end - first) * sizeof(*held));
	return end - first;
}

// All chunks of one thread: first they are copied and then written, for the thread is quicker than
// a disk.
static uint64_t take_thread(const struct look *look, struct tp_chunk_key *held, uint32_t count,
    uint64_t *room, struct tp_trace_writer *writer)
{
	const uint32_t thread = held[0].thread;
	uint32_t now = count;
	for (int i = 1; !copy_all(look->region, held, now, room) && i < TRIES; i++) {
		const uint32_t found = find_thread(look, thread, held, count);
		now = found ? found : now;
	}
	return write_thread(held, now, room, writer);
}

// Without memory for all chunks of a thread: one after the other.
static uint64_t take_singly(const struct look *look, struct tp_chunk_key *held, uint32_t count,
    uint64_t *room, struct tp_trace_writer *writer)
{
	uint64_t bytes = 0;
	for (uint32_t i = 0; i < count; i++)
		if (copy_all(look->region, &held[i], 1, room))
			bytes += write_thread(&held[i], 1, room, writer);
	return bytes;
}

uint64_t tp_rings_write(struct tp_region *region, uint32_t *numbers, struct tp_trace_writer *writer)
{
	struct tp_chunk_key *held = calloc(region->chunk_count, sizeof(*held));
	struct look look = {region, numbers, calloc(region->chunk_count, sizeof(*held))};
	uint64_t *one = malloc(TP_REGION_CHUNK_SIZE);
	uint64_t *room = NULL;
	uint32_t room_count = 0;
	uint64_t bytes = 0;
	if (!held || !look.held || !one) {
		writer->unwritten |= UINT32_C(1) << TEEPERF_SECTION_CHUNK; // nobody counts them
		writer->failed = true;
		tp_err_memory(&writer->error, writer->path);
		goto out;
	}
	const uint32_t count = find(region, numbers, held);
	for (uint32_t first = 0, end; first < count; first = end) {
		for (end = first; end < count && held[end].thread == held[first].thread;)
			end++;
		if (end - first > room_count) {
			free(room);
			room_count = end - first;
			room = malloc((size_t)room_count * TP_REGION_CHUNK_SIZE);
			room_count = room ? room_count : 0;
		}
		bytes += room ? take_thread(&look, &held[first], end - first, room, writer)
			      : take_singly(&look, &held[first], end - first, one, writer);
	}
out:
	free(room);
	free(one);
	free(look.held);
	free(held);
	return bytes;
}
