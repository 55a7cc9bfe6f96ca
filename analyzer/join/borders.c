// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where a thread goes over the border: finds the records and pairs calls with their ends.
#include "splice.h"

#include "common/array.h"
#include "common/chunks/records.h"

#include <stdlib.h>
#include <string.h>

struct search {
	struct tp_borders *borders;
	uint32_t capacity;
	uint32_t *open; // calls that have not ended, as a stack
	uint32_t depth;
	uint32_t open_capacity;
	uint32_t current;   // the border that a number is about
	uint16_t last_kind; // of the last border
	bool events;        // behind it
};

static bool is_at(const struct search *search, uint16_t kind)
{
	return search->depth &&
	       search->borders->items[search->open[search->depth - 1]].kind == kind;
}

// The innermost open call ends at the border AT.
static void end(struct search *search, uint32_t at, bool cut)
{
	struct tp_border *call = &search->borders->items[search->open[--search->depth]];
	call->partner = at;
	call->cut = cut;
	if (!cut)
		search->borders->items[at].partner = search->open[search->depth];
}

static bool begin(struct search *search, uint32_t at)
{
	if (!TP_GROW(search->open, search->open_capacity, search->depth + UINT64_C(1)))
		return false;
	search->open[search->depth++] = at;
	return true;
}

/*
 * The same border again with nothing between: the program and the compiler have both reported it.
 * Of calls out the last one counts, of others the first.
 */
static void add_again(struct search *search, uint32_t at)
{
	struct tp_border *items = search->borders->items;
	if (items[at].kind != TEEPERF_CONTROL_CALL_OUT || !search->depth) {
		items[at].kind = 0;
		return;
	}
	items[at].number = items[at - 1].number;
	items[at - 1].kind = 0;
	search->open[search->depth - 1] = at;
	search->current = at;
}

/*
 * Leaving and arriving alternate. Where they do not, a record is missing: a call was not come back
 * from, or recording was off.
 */
static bool add(struct search *search, const struct tp_border *border)
{
	struct tp_borders *borders = search->borders;
	if (!TP_GROW(borders->items, search->capacity, borders->count + UINT64_C(1)))
		return false;
	const uint32_t at = borders->count++;
	borders->items[at] = *border;
	const bool again = at && !search->events && search->last_kind == border->kind;
	search->events = false;
	search->last_kind = border->kind;
	if (again) {
		add_again(search, at);
		return true;
	}
	search->current = at;
	const bool leaves =
	    border->kind == TEEPERF_CONTROL_CALL_OUT || border->kind == TEEPERF_CONTROL_RETURN_OUT;
	const bool calls =
	    border->kind == TEEPERF_CONTROL_CALL_OUT || border->kind == TEEPERF_CONTROL_CALL_IN;
	// Who leaves is here, who arrives is away.
	const uint16_t wrong = leaves ? TEEPERF_CONTROL_CALL_OUT : TEEPERF_CONTROL_CALL_IN;
	if (is_at(search, wrong) && (calls || search->depth > 1))
		end(search, at, true);
	if (calls)
		return begin(search, at);
	const uint16_t right = leaves ? TEEPERF_CONTROL_CALL_IN : TEEPERF_CONTROL_CALL_OUT;
	if (is_at(search, right))
		end(search, at, false);
	return true;
}

// What stands in the words of one chunk.
static bool look(
    struct search *search, const struct tp_chunk *chunk, uint32_t index, const uint64_t *words)
{
	struct tp_borders *borders = search->borders;
	struct tp_record_cursor at = tp_records_begin(words, chunk->word_count, chunk->first_time);
	for (struct tp_record record; tp_record_next(&at, &record);) {
		if (record.timed && record.time > borders->last)
			borders->last = record.time;
		search->events |= tp_record_names(&record);
		borders->resyncs |= record.form == TP_RECORD_RESYNC;
		if (record.form == TP_RECORD_BORDER) {
			const struct tp_border border = {
			    .time = borders->last,
			    .chunk = index,
			    .word = record.at,
			    .partner = TP_BORDER_NONE,
			    .match = TP_BORDER_NONE,
			    .kind = (uint16_t)record.tagged,
			};
			if (!add(search, &border))
				return false;
		} else if (record.tagged == TEEPERF_CONTROL_CROSSING && borders->count &&
			   !borders->items[search->current].number) {
			borders->items[search->current].number = record.value;
		}
	}
	return true;
}

int tp_borders_find(struct tp_borders *borders, const struct tp_tracefile *trace, uint32_t thread,
    struct tp_err *err)
{
	const struct tp_thread *of = &trace->threads[thread];
	struct search search = {.borders = borders};
	struct tp_chunk_reader reader;
	*borders = (struct tp_borders){0};
	int code = tp_chunk_reader_init(&reader, trace, err);
	for (uint64_t i = 0; !code && i < of->chunk_count && i < UINT32_MAX; i++) {
		code = tp_chunk_reader_read(&reader, &of->chunks[i], err);
		if (!code && !look(&search, &of->chunks[i], (uint32_t)i, reader.words))
			code = tp_err_memory(err, trace->source.name);
	}
	// What cannot be read ends the thread here; who replays it tells.
	if (code && code != TP_ERR_MEMORY)
		code = 0;
	while (search.depth)
		end(&search, borders->count, true);
	free(search.open);
	tp_chunk_reader_release(&reader);
	return code;
}

void tp_borders_release(struct tp_borders *borders)
{
	free(borders->items);
	*borders = (struct tp_borders){0};
}

uint64_t tp_border_end(const struct tp_borders *borders, uint32_t call)
{
	const uint32_t partner = borders->items[call].partner;
	return partner < borders->count ? borders->items[partner].time : UINT64_MAX;
}
