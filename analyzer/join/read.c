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
	cursor->at = 0;
	cursor->module = 0;
	if (chunk < thread->chunk_count)
		cursor->high = thread->chunks[chunk].first_time >> 32 << 32;
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
	cursor->at = border->word + 1;
	cursor->high = border->time >> 32 << 32;
	cursor->last = border->time;
}

// What the record at hand is; false: it says nothing.
static bool look(struct tp_join_cursor *cursor, const uint64_t *words, uint32_t count,
    struct tp_join_record *record)
{
	const uint32_t low = (uint32_t)record->word;
	const uint32_t kind = record->tagged & TEEPERF_KIND_MASK;
	const bool names = record->tagged >= TEEPERF_NAME_FIRST;
	record->border = record->tagged >= TEEPERF_CONTROL_CALL_OUT &&
			 record->tagged <= TEEPERF_CONTROL_RETURN_IN;
	record->marks = record->tagged == TEEPERF_CONTROL_MARK ||
			record->tagged == TEEPERF_CONTROL_PHASE_BEGIN ||
			record->tagged == TEEPERF_CONTROL_PHASE_END;
	record->timed = record->border || record->marks || (names && kind != TEEPERF_KIND_UNTIMED);
	if (record->timed) {
		const uint64_t time = cursor->high | low;
		cursor->last = time > cursor->last ? time : cursor->last;
	}
	record->time = cursor->last;
	if (names && kind == TEEPERF_KIND_RESYNC) {
		if (cursor->at >= count)
			return false;
		record->raw = words[cursor->at++];
		return true;
	}
	switch (record->tagged) {
	case TEEPERF_CONTROL_EMPTY:
	case TEEPERF_CONTROL_PAD:
		return false;
	case TEEPERF_CONTROL_SYNC:
		cursor->high = (uint64_t)low << 32;
		return false;
	case TEEPERF_CONTROL_MODULE:
		cursor->module = low;
		return false;
	case TEEPERF_CONTROL_COUNTS:
		if (low > TEEPERF_COUNTS_MAX || low > (count - cursor->at) / 2) {
			cursor->at = count;
			return false;
		}
		record->pairs = 2 * low;
		record->module = cursor->module;
		cursor->at += 2 * low;
		return true;
	default:
		return true;
	}
}

int tp_join_cursor_next(
    struct tp_join_cursor *cursor, struct tp_join_record *record, struct tp_err *err)
{
	const struct tp_thread *thread = &cursor->chunks->trace->threads[cursor->thread];
	for (;;) {
		if (cursor->chunk >= thread->chunk_count)
			return 0;
		const struct tp_chunk *chunk = &thread->chunks[cursor->chunk];
		if (cursor->at >= chunk->word_count) {
			enter_chunk(cursor, cursor->chunk + 1);
			continue;
		}
		const uint64_t *words =
		    tp_join_chunks_get(cursor->chunks, cursor->thread, cursor->chunk, err);
		if (!words)
			return err->code;
		const uint32_t at = cursor->at++;
		*record = (struct tp_join_record){
		    .word = words[at],
		    .tagged = (uint32_t)(words[at] >> 32),
		    .chunk = cursor->chunk,
		    .at = at,
		    .position = (chunk->sequence << TEEPERF_CHUNK_SHIFT_DEFAULT) +
				sizeof(struct teeperf_chunk) + (uint64_t)at * 8,
		};
		if (look(cursor, words, chunk->word_count, record))
			return 1;
	}
}
