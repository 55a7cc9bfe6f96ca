// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The table "calls": every single call. A query is answered from the call store
// (analyzer/profile/call_store.h): in the order in which calls began, or by function, leaving out
// here what its conditions exclude, since a row that SQLite looks at costs ten times as much.
#include "common/array.h"
#include "analyzer/query/sql.h"

// Conditions that are looked at here, on the first columns: all of them say that a value lies in a
// range. One on tid stands for the threads of that number.
enum { CONDITIONS = TP_CALLS_DURATION + 2, C_TID = CONDITIONS - 1 };

struct range {
	int64_t from;
	int64_t to;
};

#define PLAN_BY_FUNCTION 1 // rows in the order of functions, not of calls

struct cursor {
	struct tp_sql_cursor base;
	bool by_function;
	bool looks;           // some range below has to be looked at row by row
	uint32_t next_thread; // not by function: the one to look at when `at` is at the end
	uint64_t at;          // row of its thread, or place in by_function
	uint64_t end;
	struct range ranges[CONDITIONS];
	struct tp_call_row row; // at hand; of a thread when it is entered
};

static struct tp_trace_data *data_of(const struct cursor *cursor)
{
	return tp_sql_data(&cursor->base.base);
}

// ---- planning

// Operators as letters in the plan's text, after the letter of the condition.
static char letter_of(unsigned char op)
{
	switch (op) {
	case SQLITE_INDEX_CONSTRAINT_EQ:
		return '=';
	case SQLITE_INDEX_CONSTRAINT_GT:
	case SQLITE_INDEX_CONSTRAINT_GE:
		return '>';
	case SQLITE_INDEX_CONSTRAINT_LT:
	case SQLITE_INDEX_CONSTRAINT_LE:
		return '<';
	default:
		return 0;
	}
}

static int condition_of(const struct tp_sql_vtab *vtab, int column)
{
	const uint32_t at = column < 0 ? UINT32_MAX : vtab->columns[column];
	return at <= TP_CALLS_DURATION ? (int)at : at == TP_CALLS_TID ? C_TID : -1;
}

static bool orders_by(const struct tp_sql_vtab *vtab, const sqlite3_index_info *info, int column)
{
	return info->nOrderBy >= 1 && condition_of(vtab, info->aOrderBy[0].iColumn) == column &&
	       !info->aOrderBy[0].desc &&
	       (info->nOrderBy == 1 ||
		   (info->nOrderBy == 2 && info->aOrderBy[1].iColumn == TP_CALLS_ID &&
		       !info->aOrderBy[1].desc));
}

static int best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
	const struct tp_sql_vtab *vtab = tp_sql_vtab(base);
	const struct tp_trace_data *data = vtab->data;
	const double all = (double)data->calls.count + 1;
	// The share of calls that an equality leaves; ranges are assumed to leave a third.
	const double left_by[CONDITIONS] = {
	    [TP_CALLS_ID] = 1 / all,
	    [TP_CALLS_PARENT] = 4 / all,
	    [TP_CALLS_THREAD] = 1 / ((double)data->calls.thread_count + 1),
	    [C_TID] = 1 / ((double)data->calls.thread_count + 1),
	    [TP_CALLS_FN] = 1 / ((double)data->analysis->function_count + 1),
	    [TP_CALLS_PATH] = 1 / ((double)data->paths.count + 1),
	    [TP_CALLS_DEPTH] = 0.1,
	    [TP_CALLS_REC] = 0.5,
	    [TP_CALLS_START] = 0.001,
	    [TP_CALLS_END] = 0.001,
	    [TP_CALLS_DURATION] = 0.001,
	};
	char *text = sqlite3_malloc64(2 * (sqlite3_uint64)info->nConstraint + 1);
	if (!text)
		return SQLITE_NOMEM;
	int arguments = 0;
	bool equal[CONDITIONS] = {false};
	double rows = all;
	for (int i = 0; i < info->nConstraint; i++) {
		const int condition = condition_of(vtab, info->aConstraint[i].iColumn);
		const char letter = letter_of(info->aConstraint[i].op);
		if (!info->aConstraint[i].usable || condition < 0 || !letter)
			continue;
		text[2 * arguments] = (char)('a' + condition);
		text[2 * arguments + 1] = letter;
		info->aConstraintUsage[i].argvIndex = ++arguments;
		rows *= letter == '=' ? left_by[condition] : 0.33;
		equal[condition] |= letter == '=';
	}
	const bool one_thread = equal[TP_CALLS_THREAD] || equal[C_TID];
	text[2 * arguments] = '\0';
	info->idxStr = text;
	info->needToFreeIdxStr = 1;
	info->idxNum = 0;
	// Rows that are looked at here: cheap, but not for nothing.
	double looks = all * (equal[TP_CALLS_ID] ? left_by[TP_CALLS_ID] : 1) *
		       (one_thread ? left_by[C_TID] : 1) *
		       (equal[TP_CALLS_PARENT] ? 100 * left_by[TP_CALLS_PARENT] : 1);
	if (equal[TP_CALLS_FN] && tp_trace_data_can_order(data) && !equal[TP_CALLS_ID])
		looks *= left_by[TP_CALLS_FN];
	if (equal[TP_CALLS_ID])
		info->idxFlags = SQLITE_INDEX_SCAN_UNIQUE;
	info->estimatedRows = rows < 1 ? 1 : (sqlite3_int64)rows;
	info->estimatedCost = rows + looks * 0.1 + 1;
	if (orders_by(vtab, info, TP_CALLS_ID) || orders_by(vtab, info, TP_CALLS_THREAD) ||
	    (equal[TP_CALLS_THREAD] && orders_by(vtab, info, TP_CALLS_START)))
		info->orderByConsumed = 1;
	if (orders_by(vtab, info, TP_CALLS_FN) && tp_trace_data_can_order(data)) {
		info->orderByConsumed = 1;
		info->idxNum = PLAN_BY_FUNCTION;
	}
	return SQLITE_OK;
}

// ---- reading

static bool is_in(const struct range *range, int64_t value)
{
	return value >= range->from && value <= range->to;
}

static bool is_any(const struct range *range)
{
	return range->from == INT64_MIN && range->to == INT64_MAX;
}

static int64_t at_ns(const struct tp_trace_data *data, uint64_t ticks)
{
	return tp_sql_clamp(tp_analysis_at_ns(data->analysis, ticks));
}

static bool matches(const struct cursor *cursor, const struct tp_trace_data *data)
{
	const struct range *ranges = cursor->ranges;
	const struct tp_stored_call *call = &cursor->row.call;
	const struct tp_path *path = cursor->row.path;
	const int64_t parent = call->parent == TP_CALL_NONE
				   ? 0
				   : (int64_t)(cursor->row.stored->first + call->parent + 1);
	return is_in(&ranges[TP_CALLS_PATH], call->path) &&
	       is_in(&ranges[TP_CALLS_FN], path->function) &&
	       is_in(&ranges[TP_CALLS_DEPTH], path->depth) &&
	       is_in(&ranges[TP_CALLS_REC], path->recursion) &&
	       is_in(&ranges[TP_CALLS_PARENT], parent) &&
	       (is_any(&ranges[TP_CALLS_START]) ||
		   is_in(&ranges[TP_CALLS_START], at_ns(data, call->start))) &&
	       (is_any(&ranges[TP_CALLS_END]) ||
		   is_in(&ranges[TP_CALLS_END], at_ns(data, call->end))) &&
	       (is_any(&ranges[TP_CALLS_DURATION]) ||
		   is_in(&ranges[TP_CALLS_DURATION],
		       tp_sql_clamp(tp_timebase_ns(&data->analysis->time, call->duration))));
}

// The first row of a thread whose t0 (in ns) is at least NS.
static uint64_t find_t0(
    const struct tp_trace_data *data, const struct tp_stored_thread *thread, int64_t ns)
{
	return TP_LOWER_BOUND(
	    0, thread->rows, middle, at_ns(data, thread->calls[middle].start) < ns);
}

static void take_thread(struct cursor *cursor, uint32_t thread)
{
	const struct tp_trace_data *data = data_of(cursor);
	cursor->row.stored = &data->calls.threads[thread];
	cursor->row.thread = data->analysis->threads[thread].thread;
}

// Load thread number T and find which of its calls may do. Returns an SQLite code.
static int enter_thread(struct cursor *cursor, uint32_t t)
{
	struct tp_trace_data *data = data_of(cursor);
	struct tp_err err;
	struct tp_stored_thread *thread = &data->calls.threads[t];
	const struct range *ranges = cursor->ranges;
	const int code = tp_call_store_load(&data->calls, t, &err);
	if (code)
		return tp_sql_fail(cursor->base.base.pVtab, code, &err);
	uint64_t from = 0;
	uint64_t to = thread->rows;
	const int64_t first_id = (int64_t)thread->first + 1;
	// The calls that a call has made began behind it.
	int64_t id_from = ranges[TP_CALLS_ID].from;
	if (ranges[TP_CALLS_PARENT].from > 0 && ranges[TP_CALLS_PARENT].from < INT64_MAX &&
	    ranges[TP_CALLS_PARENT].from + 1 > id_from)
		id_from = ranges[TP_CALLS_PARENT].from + 1;
	if (id_from > first_id)
		from = (uint64_t)(id_from - first_id);
	if (ranges[TP_CALLS_ID].to < first_id)
		to = 0;
	else if ((uint64_t)(ranges[TP_CALLS_ID].to - first_id) < to)
		to = (uint64_t)(ranges[TP_CALLS_ID].to - first_id) + 1;
	int64_t t0_to = ranges[TP_CALLS_START].to < ranges[TP_CALLS_END].to
			    ? ranges[TP_CALLS_START].to
			    : ranges[TP_CALLS_END].to;
	if (ranges[TP_CALLS_PARENT].from == ranges[TP_CALLS_PARENT].to &&
	    ranges[TP_CALLS_PARENT].to >= first_id &&
	    (uint64_t)(ranges[TP_CALLS_PARENT].to - first_id) < thread->rows) {
		struct tp_stored_call parent;
		tp_call_store_get(
		    thread, (uint64_t)(ranges[TP_CALLS_PARENT].to - first_id), &parent);
		const int64_t end = at_ns(data, parent.end);
		t0_to = end < t0_to ? end : t0_to;
	}
	if (from < to && ranges[TP_CALLS_START].from != INT64_MIN) {
		const uint64_t row = find_t0(data, thread, ranges[TP_CALLS_START].from);
		from = row > from ? row : from;
	}
	if (from < to && t0_to != INT64_MAX) {
		const uint64_t row = find_t0(data, thread, t0_to + 1);
		to = row < to ? row : to;
	}
	take_thread(cursor, t);
	cursor->at = from;
	cursor->end = to;
	return SQLITE_OK;
}

// The first place from AT on, below END, of a call number that is at least NUMBER; calls of one
// function.
static uint64_t find_number(
    const struct tp_trace_data *data, uint64_t at, uint64_t end, uint64_t number)
{
	return TP_LOWER_BOUND(at, end, middle, data->by_function[middle] < number);
}

static uint64_t start_at(const struct tp_trace_data *data, uint64_t number)
{
	const uint32_t thread = tp_trace_data_thread_of(data, number);
	const struct tp_stored_thread *stored = &data->calls.threads[thread];
	return stored->calls[number - stored->first].start;
}

// The same by t0 (in ns); calls of one function and one thread.
static uint64_t find_start(const struct tp_trace_data *data, uint64_t at, uint64_t end, int64_t ns)
{
	return TP_LOWER_BOUND(
	    at, end, middle, at_ns(data, start_at(data, data->by_function[middle])) < ns);
}

// Of the calls of one function those of one thread, by their times too.
static void narrow(struct cursor *cursor, uint32_t function)
{
	const struct tp_trace_data *data = data_of(cursor);
	const struct range *ranges = cursor->ranges;
	const uint64_t span = data->function_spans[function];
	int64_t span_ns = tp_sql_clamp(tp_timebase_ns(&data->analysis->time, span));
	span_ns = span_ns < INT64_MAX - 2 ? span_ns + 2 : INT64_MAX; // rounded, all of them
	int64_t from = ranges[TP_CALLS_START].from;
	// What ends behind t1 does not begin earlier than the longest call takes.
	if (ranges[TP_CALLS_END].from > span_ns && ranges[TP_CALLS_END].from - span_ns > from)
		from = ranges[TP_CALLS_END].from - span_ns;
	const int64_t to = ranges[TP_CALLS_START].to < ranges[TP_CALLS_END].to
			       ? ranges[TP_CALLS_START].to
			       : ranges[TP_CALLS_END].to;
	if (from > 0)
		cursor->at = find_start(data, cursor->at, cursor->end, from);
	if (to < INT64_MAX)
		cursor->end = find_start(data, cursor->at, cursor->end, to + 1);
}

static int enter_functions(struct cursor *cursor)
{
	struct tp_trace_data *data = data_of(cursor);
	const struct range *ranges = cursor->ranges;
	struct tp_err err;
	const int code = tp_trace_data_by_function(data, &err);
	if (code)
		return tp_sql_fail(cursor->base.base.pVtab, code, &err);
	const uint32_t count = data->analysis->function_count;
	cursor->at = cursor->end = 0;
	if (!count || ranges[TP_CALLS_FN].to < 0 || ranges[TP_CALLS_FN].from >= count)
		return SQLITE_OK;
	const int64_t first = ranges[TP_CALLS_FN].from < 0 ? 0 : ranges[TP_CALLS_FN].from;
	const int64_t last = ranges[TP_CALLS_FN].to >= count ? count - 1 : ranges[TP_CALLS_FN].to;
	if (first > last)
		return SQLITE_OK;
	cursor->at = data->function_starts[first];
	cursor->end = data->function_starts[last + 1];
	if (first != last)
		return SQLITE_OK;
	if (ranges[TP_CALLS_ID].from > 0)
		cursor->at = find_number(
		    data, cursor->at, cursor->end, (uint64_t)ranges[TP_CALLS_ID].from - 1);
	if (ranges[TP_CALLS_ID].to < INT64_MAX)
		cursor->end = find_number(data, cursor->at, cursor->end,
		    ranges[TP_CALLS_ID].to < 0 ? 0 : (uint64_t)ranges[TP_CALLS_ID].to);
	// The threads in question have their numbers in a row.
	uint32_t low = 0;
	uint32_t high = data->calls.thread_count;
	while (low < high &&
	       data->analysis->threads[low].thread->number < ranges[TP_CALLS_THREAD].from)
		low++;
	while (high > low &&
	       data->analysis->threads[high - 1].thread->number > ranges[TP_CALLS_THREAD].to)
		high--;
	if (low == high) {
		cursor->end = cursor->at;
		return SQLITE_OK;
	}
	if (low)
		cursor->at =
		    find_number(data, cursor->at, cursor->end, data->calls.threads[low].first);
	if (high < data->calls.thread_count)
		cursor->end =
		    find_number(data, cursor->at, cursor->end, data->calls.threads[high].first);
	if (high - low == 1)
		narrow(cursor, (uint32_t)first);
	return SQLITE_OK;
}

static bool thread_matches(const struct cursor *cursor, uint32_t t)
{
	const struct tp_trace_data *data = data_of(cursor);
	const struct tp_stored_thread *thread = &data->calls.threads[t];
	const int64_t first = (int64_t)thread->first + 1;
	const int64_t last = (int64_t)(thread->first + thread->count);
	const struct range *parent = &cursor->ranges[TP_CALLS_PARENT];
	return is_in(&cursor->ranges[TP_CALLS_THREAD], data->analysis->threads[t].thread->number) &&
	       cursor->ranges[TP_CALLS_ID].from <= last &&
	       cursor->ranges[TP_CALLS_ID].to >= first && parent->from <= last &&
	       (parent->to >= first || parent->from <= 0);
}

// Whether the call at `at` does; it is the row at hand then.
static bool take_row(struct cursor *cursor)
{
	const struct tp_trace_data *data = data_of(cursor);
	uint64_t row = cursor->at;
	uint32_t thread = 0;
	if (cursor->by_function) {
		row = data->by_function[cursor->at];
		thread = tp_trace_data_thread_of(data, row);
		take_thread(cursor, thread);
		row -= cursor->row.stored->first;
	}
	tp_call_row_get(&cursor->row, &data->paths, row);
	cursor->base.row = &cursor->row;
	cursor->base.id = (int64_t)cursor->row.number + 1;
	return !cursor->looks ||
	       (matches(cursor, data) && (!cursor->by_function || thread_matches(cursor, thread)));
}

// Go on to the next row that does, from `at` on.
static int settle(struct cursor *cursor)
{
	const struct tp_trace_data *data = data_of(cursor);
	uint32_t looked = 0;
	for (;;) {
		for (; cursor->at < cursor->end; cursor->at++) {
			if (take_row(cursor))
				return SQLITE_OK;
			if (++looked % 65536 == 0 && data->give_up &&
			    atomic_load_explicit(data->give_up, memory_order_relaxed))
				return SQLITE_INTERRUPT;
		}
		cursor->base.row = NULL;
		if (cursor->by_function)
			return SQLITE_OK;
		while (cursor->next_thread < data->calls.thread_count &&
		       !thread_matches(cursor, cursor->next_thread))
			cursor->next_thread++;
		if (cursor->next_thread >= data->calls.thread_count)
			return SQLITE_OK;
		const int code = enter_thread(cursor, cursor->next_thread++);
		if (code)
			return code;
	}
}

// Of a condition on tid make one on thread. False: no thread has such a number.
static bool restrict_threads(struct cursor *cursor)
{
	const struct tp_trace_data *data = data_of(cursor);
	struct range found = {INT64_MAX, INT64_MIN};
	struct range *threads = &cursor->ranges[TP_CALLS_THREAD];
	for (uint32_t i = 0; i < data->analysis->thread_count; i++) {
		const struct tp_thread *thread = data->analysis->threads[i].thread;
		if (!is_in(&cursor->ranges[C_TID], tp_sql_clamp(thread->os_tid)))
			continue;
		found.from = thread->number < found.from ? thread->number : found.from;
		found.to = thread->number > found.to ? thread->number : found.to;
	}
	threads->from = found.from > threads->from ? found.from : threads->from;
	threads->to = found.to < threads->to ? found.to : threads->to;
	return threads->from <= threads->to;
}

// Apply one condition. False: nothing can do.
static bool restrict_range(struct range *range, char op, sqlite3_value *value)
{
	int64_t bound;
	if ((op == '=' || op == '>') && tp_sql_bound(value, true, &bound) && bound > range->from)
		range->from = bound;
	if ((op == '=' || op == '<') && tp_sql_bound(value, false, &bound) && bound < range->to)
		range->to = bound;
	return range->from <= range->to;
}

static int filter(
    sqlite3_vtab_cursor *base, int plan, const char *text, int argc, sqlite3_value **argv)
{
	struct cursor *cursor = (struct cursor *)(void *)base;
	const struct tp_trace_data *data = data_of(cursor);
	const struct range any = {INT64_MIN, INT64_MAX};
	struct range *ranges = cursor->ranges;
	cursor->looks = false;
	for (int i = 0; i < CONDITIONS; i++)
		ranges[i] = any;
	bool possible = true;
	for (int i = 0; i < argc && text[2 * i]; i++) {
		const int condition = text[2 * i] - 'a';
		possible = restrict_range(&ranges[condition], text[2 * i + 1], argv[i]) && possible;
		cursor->looks |= condition != TP_CALLS_ID && condition != TP_CALLS_THREAD &&
				 condition != C_TID && condition != TP_CALLS_FN;
	}
	if (!is_any(&ranges[C_TID]))
		possible = restrict_threads(cursor) && possible;
	const struct range *fn = &ranges[TP_CALLS_FN];
	const struct range *id = &ranges[TP_CALLS_ID];
	cursor->base.row = NULL;
	if (!possible)
		return SQLITE_OK;
	cursor->at = cursor->end = 0;
	cursor->next_thread = 0;
	// Without times no condition on one can be true; whether it is NULL, SQLite asks itself.
	for (int i = TP_CALLS_START; data->analysis->timeless && i <= TP_CALLS_DURATION; i++)
		ranges[i] = any;
	cursor->by_function =
	    (plan & PLAN_BY_FUNCTION) ||
	    (fn->from == fn->to && id->from != id->to &&
		ranges[TP_CALLS_PARENT].from == INT64_MIN && tp_trace_data_can_order(data));
	cursor->looks |= cursor->by_function ? fn->from != fn->to &&
						   !(is_any(id) && is_any(&ranges[TP_CALLS_THREAD]))
					     : !is_any(fn);
	const int code = cursor->by_function ? enter_functions(cursor) : 0;
	return code ? code : settle(cursor);
}

static int next_row(sqlite3_vtab_cursor *base)
{
	struct cursor *cursor = (struct cursor *)(void *)base;
	cursor->at++;
	return settle(cursor);
}

const struct tp_sql_module tp_sql_calls_module = {
    .base = {TP_SQL_MODULE, .xBestIndex = best_index, .xFilter = filter, .xNext = next_row},
    .cursor_size = sizeof(struct cursor),
};
