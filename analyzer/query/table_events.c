// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The table "events": the records of the log as they are, read from the file chunk by chunk.
#include "analyzer/query/sql.h"

#include "analyzer/trace/tracefile.h"

enum { SEQ, THREAD, KIND, TIME, FN, VALUE, TID };

static const struct tp_relation_column columns[] = {
    [SEQ] = {"seq", "number of the record in its thread, from 0", .type = TP_TYPE_INT64},
    [THREAD] = {"thread", "of threads", .type = TP_TYPE_INT32},
    [KIND] = {"kind",
	"enter, exit, untimed (an exit without a time), resync (continues in a call), sync, "
	"lost, module, fork, end, counts, pad, empty or other",
	.type = TP_TYPE_TEXT},
    [TIME] = {"time_ns", "ns from the trace's first record; NULL: it has no time",
	.unit = TP_UNIT_TIME, .old = {"t"}},
    [FN] = {"fn", "of functions; NULL: it names none, or one without calls", .type = TP_TYPE_INT32},
    [VALUE] = {"value",
	"lost: events; counts: pairs; resync: the position in the log that it names; fork: the "
	"parent's "
	"process; else NULL",
	.type = TP_TYPE_INT64},
    [TID] = {"tid", "of threads: the number in the operating system", TP_HIDDEN_TID},
};

#define PLAN_THREAD 1

struct cursor {
	struct tp_sql_cursor base; // the row is the cursor, the id its sequence in the thread
	struct tp_chunk_reader reader;
	bool reading; // the reader is there
	uint32_t thread;
	uint32_t last_thread; // behind the last one that is wanted
	uint64_t chunk;
	uint32_t word; // in the chunk; its count: the next chunk is to be read
	uint32_t word_count;
	uint64_t sequence;
	uint64_t high;      // upper half of the time
	uint64_t last_time; // for the module map
	uint64_t record;    // at hand
	uint64_t next;      // the word behind it
};

static int best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
	const struct tp_trace_data *data = tp_sql_vtab(base)->data;
	double rows = (double)data->analysis->counts.records + 1;
	info->idxNum = 0;
	for (int i = 0; i < info->nConstraint; i++)
		if (info->aConstraint[i].iColumn == THREAD && info->aConstraint[i].usable &&
		    info->aConstraint[i].op == SQLITE_INDEX_CONSTRAINT_EQ) {
			info->idxNum = PLAN_THREAD;
			info->aConstraintUsage[i].argvIndex = 1;
			rows /= (double)data->analysis->thread_count + 1;
			break;
		}
	info->estimatedRows = (sqlite3_int64)rows + 1;
	info->estimatedCost = rows;
	info->orderByConsumed = info->nOrderBy == 1 && !info->aOrderBy[0].desc &&
				(info->aOrderBy[0].iColumn == THREAD ||
				    (info->idxNum && info->aOrderBy[0].iColumn == SEQ));
	return SQLITE_OK;
}

static void stop_reading(struct tp_sql_cursor *base)
{
	struct cursor *cursor = (struct cursor *)(void *)base;
	if (cursor->reading)
		tp_chunk_reader_release(&cursor->reader);
	cursor->reading = false;
}

// Read the next chunk that has records. *found: there is one. Returns an SQLite code.
static int next_chunk(struct cursor *cursor, bool *found)
{
	const struct tp_trace_data *data = tp_sql_data(&cursor->base.base);
	const struct tp_tracefile *trace = data->analysis->trace;
	struct tp_err err;
	*found = false;
	while (cursor->thread < cursor->last_thread) {
		const struct tp_thread *thread = data->analysis->threads[cursor->thread].thread;
		if (cursor->chunk >= thread->chunk_count) {
			cursor->thread++;
			cursor->chunk = cursor->sequence = cursor->last_time = 0;
			continue;
		}
		if (data->give_up && atomic_load_explicit(data->give_up, memory_order_relaxed))
			return SQLITE_INTERRUPT;
		const struct tp_chunk *chunk = &thread->chunks[cursor->chunk++];
		const int code = tp_chunk_reader_read(&cursor->reader, chunk, &err);
		if (code)
			return tp_sql_fail(cursor->base.base.pVtab, code, &err);
		tp_module_map_chunk(&trace->map, cursor->reader.words, chunk->word_count,
		    chunk->first_time, &cursor->last_time);
		cursor->word = 0;
		cursor->word_count = chunk->word_count;
		cursor->high = chunk->first_time >> 32 << 32;
		*found = chunk->word_count != 0;
		if (*found)
			return SQLITE_OK;
	}
	return SQLITE_OK;
}

// Take the next record. The cursor is at its end when there is none.
static int take(struct cursor *cursor)
{
	cursor->base.row = NULL;
	while (cursor->word >= cursor->word_count) {
		bool found;
		const int code = next_chunk(cursor, &found);
		if (code || !found)
			return code;
	}
	cursor->base.row = cursor;
	const uint64_t *words = cursor->reader.words;
	const uint32_t left = cursor->word_count - cursor->word - 1;
	cursor->record = words[cursor->word++];
	cursor->base.id = (int64_t)cursor->sequence++;
	cursor->next = 0;
	const uint32_t tagged = (uint32_t)(cursor->record >> 32);
	const uint32_t low = (uint32_t)cursor->record;
	if (tagged == TEEPERF_CONTROL_SYNC) {
		cursor->high = (uint64_t)low << 32;
	} else if (tagged == TEEPERF_CONTROL_COUNTS) {
		// Pairs of words that are no records follow; with an impossible number nothing is
		// known.
		cursor->word += low > TEEPERF_COUNTS_MAX || low > left / 2 ? left : low * 2;
	} else if (tagged >= TEEPERF_NAME_FIRST &&
		   (tagged & TEEPERF_KIND_MASK) == TEEPERF_KIND_RESYNC && left) {
		cursor->next = words[cursor->word++];
	}
	return SQLITE_OK;
}

static int filter(
    sqlite3_vtab_cursor *base, int plan, const char *text, int argc, sqlite3_value **argv)
{
	struct cursor *cursor = (struct cursor *)(void *)base;
	const struct tp_trace_data *data = tp_sql_data(base);
	struct tp_err err;
	(void)text;
	stop_reading(&cursor->base);
	cursor->thread = 0;
	cursor->last_thread = data->analysis->thread_count;
	cursor->chunk = cursor->sequence = cursor->last_time = 0;
	cursor->word = cursor->word_count = 0;
	int64_t number;
	if ((plan & PLAN_THREAD) && argc && tp_sql_bound(argv[0], true, &number)) {
		while (cursor->thread < cursor->last_thread &&
		       data->analysis->threads[cursor->thread].thread->number != number)
			cursor->thread++;
		if (cursor->thread < cursor->last_thread)
			cursor->last_thread = cursor->thread + 1;
	}
	const int code = tp_chunk_reader_init(&cursor->reader, data->analysis->trace, &err);
	cursor->reading = true;
	if (code)
		return tp_sql_fail(base->pVtab, code, &err);
	return take(cursor);
}

static int next_row(sqlite3_vtab_cursor *base)
{
	return take((struct cursor *)(void *)base);
}

static const char *kind_of(uint64_t record)
{
	static const char *const kinds[] = {"enter", "exit", "untimed", "resync"};
	static const char *const controls[] = {"empty", "sync", "pad", "lost", "mark", "module",
	    "fork", "end", "counts", "call_out", "call_in", "return_out", "return_in", "crossing",
	    "left", "phase_begin", "phase_end", "text"};
	const uint32_t tagged = (uint32_t)(record >> 32);
	if (tagged >= TEEPERF_NAME_FIRST)
		return kinds[tagged & TEEPERF_KIND_MASK];
	return tagged < sizeof(controls) / sizeof(controls[0]) ? controls[tagged] : "other";
}

// The function that the record names.
static struct tp_cell function_of(const struct cursor *cursor, uint32_t name)
{
	const struct tp_analysis *analysis = tp_sql_data(&cursor->base.base)->analysis;
	const struct tp_thread_result *thread = &analysis->threads[cursor->thread];
	const uint32_t local =
	    thread->profile.node_count ? tp_profile_function(&thread->profile, name) : 0;
	const uint32_t index = local ? thread->functions[local] : analysis->function_count;
	// A function that a filter has left without calls is not in the list.
	return tp_cell_if(index < analysis->function_count &&
			      analysis->functions[index].key.low_half &&
			      (uint32_t)analysis->functions[index].key.address == name,
	    tp_cell_number(index));
}

static struct tp_cell value_of(const struct cursor *cursor)
{
	const uint32_t tagged = (uint32_t)(cursor->record >> 32);
	switch (tagged) {
	case TEEPERF_CONTROL_LOST:
	case TEEPERF_CONTROL_COUNTS:
	case TEEPERF_CONTROL_FORK:
	case TEEPERF_CONTROL_CROSSING:
		return tp_cell_number((uint32_t)cursor->record);
	default:
		return tp_cell_if(tagged >= TEEPERF_NAME_FIRST &&
				      (tagged & TEEPERF_KIND_MASK) == TEEPERF_KIND_RESYNC,
		    tp_cell_number((int64_t)cursor->next));
	}
}

static struct tp_cell value(struct tp_relation_data *data, const void *row, uint32_t column)
{
	const struct cursor *cursor = row;
	const struct tp_thread *thread = data->analysis->threads[cursor->thread].thread;
	const uint32_t tagged = (uint32_t)(cursor->record >> 32);
	const bool names = tagged >= TEEPERF_NAME_FIRST;
	const bool marks = tagged == TEEPERF_CONTROL_MARK ||
			   tagged == TEEPERF_CONTROL_PHASE_BEGIN ||
			   tagged == TEEPERF_CONTROL_PHASE_END;
	switch (column) {
	case SEQ:
		return tp_cell_number(cursor->base.id);
	case THREAD:
		return tp_cell_number(thread->number);
	case KIND:
		return tp_cell_text(kind_of(cursor->record));
	case TIME:
		return tp_cell_at(data,
		    marks || (names && (tagged & TEEPERF_KIND_MASK) != TEEPERF_KIND_UNTIMED),
		    cursor->high | (uint32_t)cursor->record);
	case FN:
		if (!names)
			return (struct tp_cell){.type = TP_CELL_NULL};
		return function_of(cursor, tagged & ~TEEPERF_KIND_MASK);
	case VALUE:
		return value_of(cursor);
	default:
		return tp_cell_count(thread->os_tid);
	}
}

const struct tp_sql_module tp_sql_events_module = {
    .base = {TP_SQL_MODULE, .xBestIndex = best_index, .xFilter = filter, .xNext = next_row},
    .cursor_size = sizeof(struct cursor),
    .release = stop_reading,
};

const struct tp_relation tp_relation_events = {
    .name = "events",
    .summary = "the records of the log, as written",
    .columns = columns,
    .count = sizeof(columns) / sizeof(columns[0]),
    .forms = TP_FORM_SQL,
    .reason = "the trace itself has them in less space; teeperf dump prints them",
    .value = value,
};
