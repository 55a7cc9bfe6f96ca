// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The table "events": the records of the log as they are, read from the file chunk by chunk.
#include "analyzer/query/sql.h"

#include "analyzer/trace/tracefile.h"
#include "common/chunks/records.h"

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
	struct tp_record_cursor at; // in the chunk; at its end: the next chunk is to be read
	uint64_t sequence;
	uint64_t last_time;      // for the module map
	struct tp_record record; // at hand
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
		cursor->at =
		    tp_records_begin(cursor->reader.words, chunk->word_count, chunk->first_time);
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
	while (!tp_record_next(&cursor->at, &cursor->record)) {
		bool found;
		const int code = next_chunk(cursor, &found);
		if (code || !found)
			return code;
	}
	cursor->base.row = cursor;
	cursor->base.id = (int64_t)cursor->sequence++;
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
	cursor->at = (struct tp_record_cursor){0};
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

static const char *kind_of(const struct tp_record *record)
{
	static const char *const kinds[] = {"enter", "exit", "untimed", "resync"};
	static const char *const controls[] = {
#define TP_CONTROL(name, form, word, kind) [TEEPERF_CONTROL_##name] = kind,
#include "common/chunks/records.def"
	};
	return tp_record_names(record)             ? kinds[record->form]
	       : record->form == TP_RECORD_UNKNOWN ? "other"
						   : controls[record->tagged];
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

static struct tp_cell value_of(const struct tp_record *record)
{
	switch (record->tagged) {
	case TEEPERF_CONTROL_LOST:
	case TEEPERF_CONTROL_COUNTS:
	case TEEPERF_CONTROL_FORK:
	case TEEPERF_CONTROL_CROSSING:
		return tp_cell_number(record->value);
	default:
		return tp_cell_if(record->form == TP_RECORD_RESYNC,
		    tp_cell_number(record->more_count ? (int64_t)*record->more : 0));
	}
}

static struct tp_cell value(struct tp_relation_data *data, const void *row, uint32_t column)
{
	const struct cursor *cursor = row;
	const struct tp_thread *thread = data->analysis->threads[cursor->thread].thread;
	const struct tp_record *record = &cursor->record;
	switch (column) {
	case SEQ:
		return tp_cell_number(cursor->base.id);
	case THREAD:
		return tp_cell_number(thread->number);
	case KIND:
		return tp_cell_text(kind_of(record));
	case TIME:
		return tp_cell_at(
		    data, record->timed && record->form != TP_RECORD_BORDER, record->time);
	case FN:
		if (!tp_record_names(record))
			return (struct tp_cell){.type = TP_CELL_NULL};
		return function_of(cursor, record->tagged & ~TEEPERF_KIND_MASK);
	case VALUE:
		return value_of(record);
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
