// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The records of a thread one by one, for joining.
#include "splice.h"

#include <stdlib.h>
#include <string.h>

int tp_join_chunks_init(
    struct tp_join_chunks *chunks, const struct tp_tracefile *trace, bool move, struct tp_err *err)
{
	*chunks = (struct tp_join_chunks){.trace = trace, .move = move};
	return tp_chunk_reader_init(&chunks->reader, trace, err);
}

void tp_join_chunks_release(struct tp_join_chunks *chunks)
{
	for (int i = 0; i < TP_JOIN_KEPT; i++)
		free(chunks->kept[i].words);
	tp_chunk_reader_release(&chunks->reader);
}

const uint64_t *tp_join_chunks_get(
    struct tp_join_chunks *chunks, uint32_t thread, uint32_t chunk, struct tp_err *err)
{
	const struct tp_tracefile *trace = chunks->trace;
	const uint32_t slot = (thread * 5 + chunk) % TP_JOIN_KEPT;
	if (chunks->kept[slot].thread == thread + 1 && chunks->kept[slot].chunk == chunk)
		return chunks->kept[slot].words;
	const struct tp_chunk *wanted = &trace->threads[thread].chunks[chunk];
	if (!chunks->kept[slot].words)
		chunks->kept[slot].words = malloc((size_t)1 << TEEPERF_CHUNK_SHIFT_DEFAULT);
	if (!chunks->kept[slot].words) {
		tp_err_memory(err, trace->source.name);
		return NULL;
	}
	chunks->kept[slot].thread = 0;
	if (tp_chunk_reader_read(&chunks->reader, wanted, err))
		return NULL;
	uint64_t *words = chunks->kept[slot].words;
	memcpy(words, chunks->reader.words, (size_t)wanted->word_count * 8);
	uint64_t last = 0;
	if (chunks->move)
		tp_module_map_chunk(
		    &trace->map, words, wanted->word_count, wanted->first_time, &last);
	chunks->kept[slot].thread = thread + 1;
	chunks->kept[slot].chunk = chunk;
	return words;
}

static void enter_chunk(struct tp_join_cursor *cursor, uint32_t chunk)
{
	const struct tp_thread *thread = &cursor->chunks->trace->threads[cursor->thread];
	cursor->chunk = chunk;
	cursor->module = 0;
	if (chunk < thread->chunk_count)
		cursor->at = tp_records_begin(
		    NULL, thread->chunks[chunk].word_count, thread->chunks[chunk].first_time);
}

void tp_join_cursor_init(
    struct tp_join_cursor *cursor, struct tp_join_chunks *chunks, uint32_t thread)
{
	*cursor = (struct tp_join_cursor){.chunks = chunks, .thread = thread};
	enter_chunk(cursor, 0);
}

void tp_join_cursor_jump(struct tp_join_cursor *cursor, const struct tp_border *border)
{
	enter_chunk(cursor, border->chunk);
	cursor->at.i = border->word + 1;
	cursor->at.high = border->time >> 32 << 32;
	cursor->last = border->time;
}

int tp_join_cursor_next(
    struct tp_join_cursor *cursor, struct tp_join_record *record, struct tp_err *err)
{
	const struct tp_thread *thread = &cursor->chunks->trace->threads[cursor->thread];
	while (cursor->chunk < thread->chunk_count) {
		const struct tp_chunk *chunk = &thread->chunks[cursor->chunk];
		struct tp_record from;
		if (cursor->at.i < chunk->word_count) {
			cursor->at.words =
			    tp_join_chunks_get(cursor->chunks, cursor->thread, cursor->chunk, err);
			if (!cursor->at.words)
				return err->code;
		}
		if (!tp_record_next(&cursor->at, &from)) {
			enter_chunk(cursor, cursor->chunk + 1);
			continue;
		}
		if (from.timed && from.time > cursor->last)
			cursor->last = from.time;
		if (from.tagged == TEEPERF_CONTROL_MODULE)
			cursor->module = from.value;
		if (from.cut || from.form == TP_RECORD_HIGH ||
		    from.tagged == TEEPERF_CONTROL_EMPTY || from.tagged == TEEPERF_CONTROL_PAD ||
		    from.tagged == TEEPERF_CONTROL_MODULE)
			continue;
		*record = (struct tp_join_record){
		    .time = cursor->last,
		    .position = (chunk->sequence << TEEPERF_CHUNK_SHIFT_DEFAULT) +
				sizeof(struct teeperf_chunk) + (uint64_t)from.at * 8,
		    .tagged = from.tagged,
		    .value = from.value,
		    .chunk = cursor->chunk,
		    .at = from.at,
		    .raw = from.form == TP_RECORD_RESYNC ? *from.more : 0,
		    .module = cursor->module,
		    .pairs = from.form == TP_RECORD_PAIRS ? from.more_count : 0,
		    .form = from.form,
		    .timed = from.timed,
		};
		return 1;
	}
	return 0;
}
