// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The records of a joined trace, as they are put into chunks.
#include "splice.h"

#include "analyzer/trace/reader.h"

#include <stdlib.h>
#include <string.h>

#define CHUNK ((uint32_t)1 << TEEPERF_CHUNK_SHIFT_DEFAULT)
#define HEADER ((uint32_t)sizeof(struct teeperf_chunk))

bool tp_join_writer_init(struct tp_join_writer *writer, struct tp_buf *out)
{
	*writer = (struct tp_join_writer){.out = out, .chunk = malloc(CHUNK)};
	return writer->chunk != NULL;
}

void tp_join_writer_release(struct tp_join_writer *writer)
{
	free(writer->chunk);
	writer->chunk = NULL;
}

static void flush(struct tp_join_writer *writer)
{
	if (!writer->used)
		return;
	struct teeperf_chunk header;
	memcpy(&header, writer->chunk, sizeof(header));
	header.used = writer->used;
	memcpy(writer->chunk, &header, sizeof(header));
	tp_trace_section_add(writer->out, TEEPERF_SECTION_CHUNK, writer->chunk, writer->used);
	writer->used = 0;
	writer->sequence++;
	writer->chunk_count++;
	writer->own++;
}

void tp_join_writer_begin(struct tp_join_writer *writer, uint32_t thread, uint64_t os_tid,
    uint64_t sequence, uint64_t first_time)
{
	writer->thread = thread;
	writer->os_tid = os_tid;
	writer->sequence = sequence;
	writer->used = 0;
	writer->high = writer->own = 0;
	writer->first_time = writer->last = first_time;
}

void tp_join_writer_end(struct tp_join_writer *writer)
{
	flush(writer);
}

void tp_join_writer_skip(struct tp_join_writer *writer, uint64_t chunks)
{
	flush(writer);
	writer->sequence += chunks;
}

// Room for WORDS in a chunk that has begun; at TIME if that is new.
static void make_room(struct tp_join_writer *writer, uint32_t words, uint64_t time)
{
	if (writer->used + words * 8 > CHUNK)
		flush(writer);
	if (writer->used)
		return;
	const struct teeperf_chunk header = {
	    .thread = writer->thread,
	    .sequence = writer->sequence,
	    .os_tid = writer->os_tid,
	    .first_time = writer->own ? time : writer->first_time,
	};
	memcpy(writer->chunk, &header, sizeof(header));
	writer->used = HEADER;
	writer->high = header.first_time >> 32;
}

static void put(struct tp_join_writer *writer, uint64_t word)
{
	memcpy(writer->chunk + writer->used, &word, sizeof(word));
	writer->used += (uint32_t)sizeof(word);
}

static void put_record(struct tp_join_writer *writer, uint32_t tagged, uint32_t low)
{
	put(writer, (uint64_t)tagged << 32 | low);
}

static void set_time(struct tp_join_writer *writer, uint64_t *time, uint32_t words)
{
	if (*time < writer->last)
		*time = writer->last;
	writer->last = *time;
	make_room(writer, words + 1, *time);
	if (writer->high != *time >> 32) {
		writer->high = *time >> 32;
		put_record(writer, TEEPERF_CONTROL_SYNC, (uint32_t)writer->high);
	}
}

uint64_t tp_join_writer_time(struct tp_join_writer *writer, uint32_t tagged, uint64_t time)
{
	set_time(writer, &time, 1);
	const uint64_t position = writer->sequence * CHUNK + writer->used;
	put_record(writer, tagged, (uint32_t)time);
	return position;
}

void tp_join_writer_resync(
    struct tp_join_writer *writer, uint32_t tagged, uint64_t time, uint64_t raw)
{
	set_time(writer, &time, 2);
	put_record(writer, tagged, (uint32_t)time);
	put(writer, raw);
}

void tp_join_writer_plain(struct tp_join_writer *writer, uint32_t tagged, uint32_t value)
{
	make_room(writer, 1, writer->last);
	put_record(writer, tagged, value);
}

void tp_join_writer_counts(
    struct tp_join_writer *writer, uint32_t module, const uint64_t *words, uint32_t count)
{
	const uint32_t needed = count + 1 + (module != 0);
	if (HEADER + needed * 8 > CHUNK)
		return; // from no chunk of this size
	make_room(writer, needed, writer->last);
	if (module)
		put_record(writer, TEEPERF_CONTROL_MODULE, module);
	put_record(writer, TEEPERF_CONTROL_COUNTS, count / 2);
	for (uint32_t i = 0; i < count; i++)
		put(writer, words[i]);
}
