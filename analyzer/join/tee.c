// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The TEE's records, as they go into a joined trace.
#include "splice.h"

#include "common/array.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define FRAMES_MAX (UINT32_C(1) << 26)
// An exit that does not match looks so far down: a hostile trace could make it search again and
// again.
#define SEARCH_MAX 1000

static bool push(struct tp_splice *splice, uint32_t name, uint64_t position)
{
	if (splice->depth >= FRAMES_MAX ||
	    !TP_GROW(splice->frames, splice->capacity, splice->depth + UINT64_C(1)))
		return false;
	splice->frames[splice->depth++] = (struct tp_splice_frame){position, name};
	return true;
}

static void end_top(struct tp_splice *splice, uint64_t time)
{
	const uint32_t name = splice->frames[--splice->depth].name;
	tp_join_writer_time(&splice->writer, name | TEEPERF_KIND_EXIT, time);
}

void tp_join_tee_settle(struct tp_splice *splice, uint64_t time)
{
	for (; splice->pending; splice->pending--)
		end_top(splice, time);
}

// A time between those of the host.
static uint64_t fit(struct tp_splice *splice, uint64_t time, uint64_t limit)
{
	if (time > limit || time < splice->writer.last)
		splice->counts->times++;
	return time > limit ? limit : time;
}

void tp_join_tee_end(struct tp_splice *splice, uint32_t base, uint64_t time, uint64_t limit)
{
	time = time > limit ? limit : time;
	tp_join_tee_settle(splice, time);
	while (splice->depth > base)
		end_top(splice, time);
}

// How many calls from the top on end if one of NAME does, 0: there is none above BASE.
static uint32_t count_to(const struct tp_splice *splice, uint32_t name, uint32_t base)
{
	const uint32_t top = splice->depth - splice->pending;
	const uint32_t low = top > base + SEARCH_MAX ? top - SEARCH_MAX : base;
	for (uint32_t i = top; i > low; i--)
		if (splice->frames[i - 1].name == name)
			return top - i + 1;
	return 0;
}

static void resync(struct tp_splice *splice, uint64_t raw, uint32_t base, uint64_t time)
{
	const uint64_t position = raw & ~TEEPERF_POSITION_LEAVES;
	// Stacks beside the thread's own are not followed into a joined trace: their calls are
	// inside of each other.
	if (!position || raw == TEEPERF_POSITION_ELSEWHERE)
		return;
	while (splice->depth > base && splice->frames[splice->depth - 1].position > position)
		end_top(splice, time);
}

int tp_join_tee_record(
    struct tp_splice *splice, const struct tp_join_record *record, uint32_t base, uint64_t limit)
{
	if (record->form > TP_RECORD_RESYNC) {
		if (record->form == TP_RECORD_NAMED) {
			const uint64_t time = fit(splice, record->time, limit);
			tp_join_tee_settle(splice, time);
			tp_join_writer_time(&splice->writer, record->tagged, time);
		} else if (record->tagged == TEEPERF_CONTROL_LOST ||
			   record->tagged == TEEPERF_CONTROL_TEXT) {
			tp_join_writer_plain(&splice->writer, record->tagged, record->value);
		}
		return 0;
	}
	const uint32_t name =
	    tp_join_names_find(&splice->names, record->tagged & ~TEEPERF_KIND_MASK);
	if (name < TEEPERF_NAME_FIRST) {
		splice->counts->dropped++;
		return 0;
	}
	if (record->form == TP_RECORD_UNTIMED) {
		const uint32_t count = count_to(splice, name, base);
		splice->pending += count;
		splice->counts->unmatched += !count;
		return 0;
	}
	const uint64_t time = fit(splice, record->time, limit);
	tp_join_tee_settle(splice, time);
	if (record->form == TP_RECORD_RESYNC) {
		resync(splice, record->raw, base, time);
		return 0;
	}
	if (record->form == TP_RECORD_ENTER) {
		if (!push(splice, name, record->position))
			return tp_err_set(splice->err, TP_ERR_MEMORY,
			    splice->tee.trace->source.name,
			    "out of memory while joining %" PRIu32 " open calls", splice->depth);
		tp_join_writer_time(&splice->writer, name, time);
		return 0;
	}
	const uint32_t count = count_to(splice, name, base);
	splice->counts->unmatched += !count;
	for (uint32_t i = 0; i < count; i++)
		end_top(splice, time);
	return 0;
}

// ---- calls that are not joined

// Calls of the TEE that are open at a place: borders, and how many frames there were.
struct rest {
	const struct tp_borders *borders;
	struct {
		uint32_t border;
		uint32_t base;
	} * open;
	uint32_t depth;
};

static bool is_joined(const struct rest *rest)
{
	// Between leaving and returning there is nothing; events there belong to the call that
	// left.
	for (uint32_t i = rest->depth; i-- > 0;)
		if (rest->borders->items[rest->open[i].border].kind == TEEPERF_CONTROL_CALL_IN)
			return rest->borders->items[rest->open[i].border].match != TP_BORDER_NONE;
	return false;
}

static void cross(struct tp_splice *splice, struct rest *rest, uint32_t border)
{
	const struct tp_border *items = rest->borders->items;
	while (rest->depth && items[rest->open[rest->depth - 1].border].partner == border) {
		rest->depth--;
		tp_join_tee_end(
		    splice, rest->open[rest->depth].base, items[border].time, splice->last_time);
	}
	if (items[border].kind != TEEPERF_CONTROL_CALL_IN &&
	    items[border].kind != TEEPERF_CONTROL_CALL_OUT)
		return;
	tp_join_tee_settle(splice,
	    items[border].time < splice->last_time ? items[border].time : splice->last_time);
	rest->open[rest->depth].border = border;
	rest->open[rest->depth++].base = splice->depth;
}

// Calls that were only counted have no place among others.
static int add_counts(
    struct tp_splice *splice, const struct tp_join_record *record, uint32_t thread)
{
	uint64_t pairs[2 * TEEPERF_COUNTS_MAX];
	uint32_t count = 0;
	const uint64_t *words =
	    tp_join_chunks_get(&splice->tee, thread, record->chunk, splice->err);
	if (!words)
		return splice->err->code;
	words += record->at + 1;
	for (uint32_t i = 0; i < record->pairs; i += 2) {
		const uint64_t mark = words[i] & TEEPERF_COUNTS_SAMPLED;
		const uint64_t address = tp_join_names_address(&splice->names, words[i] & ~mark);
		if (!address)
			continue;
		pairs[count++] = address | mark;
		pairs[count++] = words[i + 1];
	}
	if (count)
		tp_join_writer_counts(&splice->writer, 0, pairs, count);
	return 0;
}

int tp_splice_rest(struct tp_splice *splice, uint32_t thread)
{
	struct rest rest = {.borders = &splice->tee_borders[thread]};
	struct tp_join_cursor cursor;
	struct tp_join_record record;
	uint32_t border = 0;
	int code;
	rest.open = malloc(((size_t)rest.borders->count + 1) * sizeof(*rest.open));
	if (!rest.open)
		return tp_err_memory(splice->err, splice->tee.trace->source.name);
	splice->depth = splice->pending = 0;
	tp_join_cursor_init(&cursor, &splice->tee, thread);
	while ((code = tp_join_cursor_next(&cursor, &record, splice->err)) > 0) {
		code = 0;
		if (record.form == TP_RECORD_BORDER && border < rest.borders->count)
			cross(splice, &rest, border++);
		else if (record.form == TP_RECORD_PAIRS)
			code = add_counts(splice, &record, thread);
		else if (!is_joined(&rest))
			code = tp_join_tee_record(splice, &record,
			    rest.depth ? rest.open[rest.depth - 1].base : 0, splice->last_time);
		if (code)
			break;
	}
	tp_join_tee_end(splice, 0, rest.borders->last, splice->last_time);
	free(rest.open);
	return code == TP_ERR_MEMORY ? code : 0;
}
