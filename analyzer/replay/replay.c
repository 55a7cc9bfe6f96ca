// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The chunks of one thread, read and replayed one after another.
#include "replay.h"

// Of positions: debts are forgotten at each multiple of 2 MiB.
#define WINDOW_SHIFT 21

bool tp_replay_begins_window(const struct tp_replay *replay, uint64_t i)
{
	const uint32_t shift = replay->trace->header.chunk_shift;
	const struct tp_chunk *chunk = &replay->thread->chunks[i];
	return !i || chunk[0].sequence << shift >> WINDOW_SHIFT !=
			 chunk[-1].sequence << shift >> WINDOW_SHIFT;
}

// Replay chunk number I, which is in the reader.
static int replay_chunk(
    struct tp_replay *replay, const struct tp_chunk_reader *reader, uint64_t i, uint64_t *last)
{
	const struct tp_chunk *chunk = &replay->thread->chunks[i];
	const uint64_t chunk_size = UINT64_C(1) << replay->trace->header.chunk_shift;
	const uint64_t position = chunk->sequence * chunk_size + sizeof(struct teeperf_chunk);
	struct tp_stack *stack = replay->stack;
	if (tp_replay_begins_window(replay, i))
		tp_profile_begin_window(
		    replay->part ? &replay->part->profile : stack->profile, position);
	tp_module_map_chunk(
	    &replay->trace->map, reader->words, chunk->word_count, chunk->first_time, last);
	if (replay->part) {
		tp_part_replay(
		    replay->part, reader->words, chunk->word_count, chunk->first_time, position);
		return 0;
	}
	const int code =
	    tp_stack_replay(stack, reader->words, chunk->word_count, chunk->first_time, position);
	if (stack->counts.bad_counts && !replay->bad_counts_offset)
		replay->bad_counts_offset =
		    chunk->offset + (chunk->packed_size ? 0 : (uint64_t)stack->bad_word * 8);
	return code;
}

// Whether no more is wanted.
static bool is_over(const struct tp_replay *replay)
{
	if (replay->part)
		return replay->part->unusual;
	const struct tp_stack *stack = replay->stack;
	return stack->over || (stack->sink && stack->sink->stop);
}

int tp_replay_chunks(struct tp_replay *replay, uint64_t first, uint64_t end, struct tp_err *err)
{
	struct tp_chunk_reader reader;
	uint64_t last = 0;
	int code = tp_chunk_reader_init(&reader, replay->trace, err);
	for (uint64_t i = first; !code && i < end && !is_over(replay); i++) {
		code = tp_chunk_reader_read(&reader, &replay->thread->chunks[i], err);
		if (!code)
			code = replay_chunk(replay, &reader, i, &last);
		if (replay->chunk_done)
			replay->chunk_done(replay->context);
	}
	if (code == TP_ERR_MEMORY)
		tp_err_set(err, code, replay->trace->source.name,
		    "out of memory while replaying thread %u", replay->thread->number);
	tp_chunk_reader_release(&reader);
	return code;
}

// The counts among WORDS; *any: there are some. False: no memory.
static bool find_counts(struct tp_stack *stack, const uint64_t *words, uint32_t count, bool *any)
{
	struct tp_record_cursor at = tp_records_begin(words, count, 0);
	for (struct tp_record record; tp_record_next(&at, &record);) {
		// Damage behind the range is not looked for.
		*any |= record.form == TP_RECORD_PAIRS && !record.cut;
		if (!tp_stack_counts(stack, &record))
			return false;
	}
	return true;
}

bool tp_replay_last_counts(struct tp_replay *replay)
{
	struct tp_chunk_reader reader;
	struct tp_err err;
	bool any = true;
	bool ok = tp_chunk_reader_init(&reader, replay->trace, &err) == 0;
	for (uint64_t i = replay->thread->chunk_count; ok && any && i-- > 0;) {
		const struct tp_chunk *chunk = &replay->thread->chunks[i];
		any = false;
		if (!tp_chunk_reader_read(&reader, chunk, &err))
			ok = find_counts(replay->stack, reader.words, chunk->word_count, &any);
	}
	tp_chunk_reader_release(&reader);
	return ok;
}

void tp_replay_prepare(const struct tp_replay *replay)
{
	tp_stack_set_gaps(replay->stack, &replay->trace->gaps, replay->timeless);
	replay->stack->overwritten = replay->thread->overwritten;
}

int tp_replay(struct tp_replay *replay, struct tp_err *err)
{
	tp_replay_prepare(replay);
	const int code = tp_replay_chunks(replay, 0, replay->thread->chunk_count, err);
	tp_stack_finish(replay->stack);
	return code;
}
