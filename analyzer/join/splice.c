// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The records of one thread of a joined trace, from those of the host and of the TEE.
#include "splice.h"

#include "common/array.h"

#include <stdlib.h>
#include <string.h>

// Of calls into the TEE inside of each other. A hostile trace may have any number.
#define NESTED_MAX 256

static int tee_call(struct tp_splice *splice);

static int no_memory(struct tp_splice *splice)
{
	return tp_err_memory(splice->err, splice->host.trace->source.name);
}

int tp_splice_init(struct tp_splice *splice, const struct tp_tracefile *host,
    const struct tp_tracefile *tee, const struct tp_border_match *match, struct tp_buf *out)
{
	splice->match = match;
	int code = tp_join_chunks_init(&splice->host, host, false, splice->err);
	if (!code)
		code = tp_join_chunks_init(&splice->tee, tee, tee->map.moves, splice->err);
	if (!code && !tp_join_writer_init(&splice->writer, out))
		code = no_memory(splice);
	return code;
}

void tp_splice_release(struct tp_splice *splice)
{
	if (splice->host.trace)
		tp_join_chunks_release(&splice->host);
	if (splice->tee.trace)
		tp_join_chunks_release(&splice->tee);
	tp_join_writer_release(&splice->writer);
	free(splice->runs);
	free(splice->frames);
}

// ---- the host's records

static int advance(struct tp_splice *splice)
{
	if (splice->has_next && splice->next.form == TP_RECORD_BORDER)
		splice->border++;
	const int code = tp_join_cursor_next(&splice->at, &splice->next, splice->err);
	splice->has_next = code > 0;
	splice->host_failed |= code < 0;
	if (code <= 0)
		return code;
	// Events that are missing in the host's trace are missing in the joined one.
	const struct tp_thread *thread = &splice->host.trace->threads[splice->at.thread];
	const uint64_t sequence = thread->chunks[splice->next.chunk].sequence;
	if (sequence > splice->expected)
		tp_join_writer_skip(&splice->writer, sequence - splice->expected);
	splice->expected = sequence + 1 > splice->expected ? sequence + 1 : splice->expected;
	return 0;
}

// Note that the record that was at BEFORE is now at AFTER.
static bool note_run(struct tp_splice *splice, uint64_t before, uint64_t after)
{
	if (splice->run_count) {
		const struct tp_splice_run *run = &splice->runs[splice->run_count - 1];
		if (after - run->after == before - run->before)
			return true;
	}
	if (!TP_GROW(splice->runs, splice->run_capacity, splice->run_count + 1))
		return false;
	splice->runs[splice->run_count++] = (struct tp_splice_run){before, after};
	return true;
}

// What the position of a RESYNC is now.
static uint64_t map_position(const struct tp_splice *splice, uint64_t raw)
{
	const uint64_t leaves = raw & TEEPERF_POSITION_LEAVES;
	const uint64_t position = raw & ~TEEPERF_POSITION_LEAVES;
	if (raw == TEEPERF_POSITION_ELSEWHERE || position <= TEEPERF_POSITION_OFF)
		return raw;
	const uint64_t low = TP_LOWER_BOUND(
	    0, splice->run_count, middle, splice->runs[middle].before <= position + position % 8);
	if (!low)
		return raw;
	const struct tp_splice_run *run = &splice->runs[low - 1];
	return (run->after + (position - run->before)) | leaves;
}

// Write the host's next record as it is.
static int copy(struct tp_splice *splice)
{
	const struct tp_join_record *record = &splice->next;
	struct tp_join_writer *writer = &splice->writer;
	if (record->form == TP_RECORD_RESYNC) {
		tp_join_writer_resync(
		    writer, record->tagged, record->time, map_position(splice, record->raw));
	} else if (record->timed) {
		const uint64_t position = tp_join_writer_time(writer, record->tagged, record->time);
		if (splice->host_borders[splice->at.thread].resyncs &&
		    !note_run(splice, record->position, position))
			return no_memory(splice);
	} else if (record->form == TP_RECORD_PAIRS) {
		const uint64_t *words = tp_join_chunks_get(
		    &splice->host, splice->at.thread, record->chunk, splice->err);
		if (!words)
			return splice->err->code;
		tp_join_writer_counts(
		    writer, record->module, words + record->at + 1, record->pairs);
	} else if (record->tagged != TEEPERF_CONTROL_CROSSING) {
		// (Which has done its work, and would be taken for one of another record's.)
		tp_join_writer_plain(writer, record->tagged, record->value);
	}
	return 0;
}

static bool is_border(const struct tp_splice *splice)
{
	return splice->next.form == TP_RECORD_BORDER &&
	       splice->border < splice->host_borders[splice->at.thread].count;
}

// Whether the host's next record is its border END, or one behind it.
static bool is_at(const struct tp_splice *splice, uint32_t end)
{
	return is_border(splice) && splice->border >= end;
}

// Write the host's next record, and what the thread then does in the TEE.
static int step(struct tp_splice *splice)
{
	const struct tp_borders *borders = &splice->host_borders[splice->at.thread];
	const bool crosses = is_border(splice) &&
			     borders->items[splice->border].kind == TEEPERF_CONTROL_CALL_OUT &&
			     borders->items[splice->border].match != TP_BORDER_NONE;
	if (crosses && splice->nested < NESTED_MAX)
		return tee_call(splice);
	splice->counts->dropped += crosses;
	int code = copy(splice);
	if (!code)
		code = advance(splice);
	// A mark keeps its name.
	while (!code && splice->has_next && splice->next.tagged == TEEPERF_CONTROL_TEXT) {
		code = copy(splice);
		if (!code)
			code = advance(splice);
	}
	return code;
}

// Write the host's records up to its border END, or the thread's end.
static int host_to(struct tp_splice *splice, uint32_t end)
{
	int code = 0;
	while (!code && splice->has_next && !is_at(splice, end))
		code = step(splice);
	return code;
}

// ---- where the thread is in the TEE

// The host's records from the arrival that is next up to its return, which are not written
// themselves.
static int host_call(struct tp_splice *splice, uint32_t end)
{
	const struct tp_borders *borders = &splice->host_borders[splice->at.thread];
	const struct tp_border *in = &borders->items[splice->border];
	const uint32_t back = in->partner < end ? in->partner : end;
	const bool whole = !in->cut && in->partner < end;
	int code = advance(splice);
	if (!code)
		code = host_to(splice, back);
	if (!code && whole && splice->has_next)
		code = advance(splice);
	return code;
}

// How many of the host's calls are open behind RECORD, of those that began where none of DEPTH was.
static uint32_t depth_behind(const struct tp_join_record *record, uint32_t depth)
{
	if (record->form >= TP_RECORD_RESYNC)
		return depth;
	return record->form == TP_RECORD_ENTER ? depth + 1 : depth - (depth > 0);
}

/*
 * The TEE calls the host, at CALL of its borders: the host's records of that, before the host's
 * border END. Marked, they are between an arrival and its return; else those that fit by time. A
 * call of the host that has begun ends before the TEE goes on, whatever the TEE says of times.
 */
static int host_part(
    struct tp_splice *splice, uint32_t end, const struct tp_borders *tee, uint32_t call, bool last)
{
	const struct tp_border *out = &tee->items[call];
	const uint64_t until = tp_border_end(tee, call);
	uint32_t depth = 0;
	bool some = false;
	bool marked = false;
	int code = 0;
	while (!code && splice->has_next && !is_at(splice, end)) {
		const struct tp_join_record *next = &splice->next;
		const struct tp_border *in =
		    is_border(splice)
			? &splice->host_borders[splice->at.thread].items[splice->border]
			: NULL;
		if (in && in->kind == TEEPERF_CONTROL_CALL_IN && !marked) {
			marked = in->number && out->number
				     ? in->number == out->number
				     : in->time >= out->time && in->time <= until;
			if (marked)
				code = host_call(splice, end);
			if (!depth)
				return code;
			if (marked)
				continue;
		} else if (!depth) {
			// Nobody has marked it. Where the clock stood still, one more call may be
			// the next one's.
			if (marked || next->time > until || (next->time == until && some && !last))
				return 0;
		}
		some |= next->form <= TP_RECORD_RESYNC;
		depth = depth_behind(next, depth);
		code = step(splice);
	}
	return code;
}

// No record of the TEE may be later than what the host does next.
static uint64_t limit(const struct tp_splice *splice, uint64_t end_time)
{
	if (splice->has_next && splice->next.timed)
		return splice->next.time;
	return splice->has_next && end_time < splice->last_time ? end_time : splice->last_time;
}

// The TEE leaves for the host at border *NEXT, which becomes the first one after it is back. False
// in *goes_on: never.
static int leave_tee(struct tp_splice *splice, uint32_t end, const struct tp_borders *tee,
    uint32_t tee_end, uint64_t end_time, struct tp_join_cursor *cursor, uint32_t *next)
{
	const uint32_t call = *next;
	const uint32_t back = tee->items[call].partner;
	const uint64_t most = limit(splice, end_time);
	tp_join_tee_settle(splice, tee->items[call].time < most ? tee->items[call].time : most);
	// Records of the host that are behind this one's may be the next one's.
	const bool last =
	    back + UINT64_C(1) >= tee_end || tee->items[back + 1].kind != TEEPERF_CONTROL_CALL_OUT;
	const int code = host_part(splice, end, tee, call, last);
	if (back < tee_end)
		tp_join_cursor_jump(cursor, &tee->items[back]);
	*next = back < tee_end ? back + 1 : tee_end;
	return code;
}

// The TEE's records from border FIRST up to its end, between those of the host before its border
// END.
static int tee_records(
    struct tp_splice *splice, uint32_t thread, uint32_t first, uint32_t end, uint64_t end_time)
{
	const struct tp_borders *tee = &splice->tee_borders[thread];
	const uint32_t tee_end = tee->items[first].partner;
	const uint32_t base = splice->depth;
	struct tp_join_cursor cursor;
	struct tp_join_record record;
	uint32_t next = first + 1;
	int code;
	tp_join_cursor_init(&cursor, &splice->tee, thread);
	tp_join_cursor_jump(&cursor, &tee->items[first]);
	while ((code = tp_join_cursor_next(&cursor, &record, splice->err)) > 0) {
		code = 0;
		if (record.form == TP_RECORD_BORDER) {
			if (next >= tee_end)
				break;
			if (tee->items[next].kind == TEEPERF_CONTROL_CALL_OUT)
				code =
				    leave_tee(splice, end, tee, tee_end, end_time, &cursor, &next);
			else
				next++;
			if (code || next > tee_end)
				break;
			continue;
		}
		// A call from the TEE that the TEE has not marked.
		uint32_t depth = 0;
		while (!code && splice->has_next && !is_at(splice, end) &&
		       (depth || (record.timed && splice->next.time < record.time))) {
			depth = depth_behind(&splice->next, depth);
			code = step(splice);
		}
		if (!code)
			code = tp_join_tee_record(splice, &record, base, limit(splice, end_time));
		if (code)
			break;
	}
	// Where the TEE's trace cannot be read, it ends.
	if (code < 0 && code != TP_ERR_MEMORY && !splice->host_failed)
		code = 0;
	if (code >= 0)
		tp_join_tee_end(splice, base,
		    tee_end < tee->count ? tee->items[tee_end].time : tee->last,
		    limit(splice, end_time));
	return code < 0 ? code : 0;
}

// The host's next record is a call into the TEE that is paired with one there.
static int tee_call(struct tp_splice *splice)
{
	const struct tp_borders *borders = &splice->host_borders[splice->at.thread];
	const struct tp_border *call = &borders->items[splice->border];
	const struct tp_border_pair *pair = &splice->match->pairs[call->match];
	const uint32_t end = call->partner;
	const uint64_t end_time = tp_border_end(borders, splice->border);
	const bool whole = !call->cut && end < borders->count;
	splice->counts->calls++;
	splice->nested++;
	if (splice->writer.last < call->time)
		splice->writer.last = call->time;
	int code = advance(splice);
	if (!code)
		code = tee_records(splice, pair->tee_thread, pair->tee_border, end, end_time);
	if (!code && whole)
		code = host_to(splice, end);
	if (!code && whole && splice->has_next)
		code = advance(splice);
	splice->nested--;
	return code;
}

int tp_splice_host(struct tp_splice *splice, uint32_t thread)
{
	tp_join_cursor_init(&splice->at, &splice->host, thread);
	splice->has_next = false;
	splice->border = 0;
	splice->expected = splice->host.trace->threads[thread].first;
	splice->run_count = 0;
	splice->depth = splice->pending = 0;
	int code = advance(splice);
	while (!code && splice->has_next)
		code = step(splice);
	return code;
}
