// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The table "calls": every single call. A query is answered from the call store (analyzer/call_store.h):
// in the order in which calls began, or by function, leaving out here what its conditions exclude, since a
// row that SQLite looks at costs ten times as much.
#include "query/query_private.h"
#include "query/sql_table.h"

#include <string.h>

enum {
	ID,
	PARENT,
	TID,
	FN,
	PATH,
	DEPTH,
	REC,
	T0,
	T1,
	DUR,
	SELF_RAW,
	COST,
	HOW,
	AWAY,
	DUR_TICKS,
	SELF_TICKS,
	SELF,
	COLUMN_COUNT
};

static const struct tp_column columns[] = {
    {"id", "INTEGER", "number of the call, from 1 on: by thread, then as they began", false},
    {"parent", "INTEGER", "id of its caller; NULL: it has none", false},
    {"tid", "INTEGER", "of threads", false},
    {"fn", "INTEGER", "of functions", false},
    {"path", "INTEGER", "of paths", false},
    {"depth", "INTEGER", "calls that it is in, and itself", false},
    {"rec", "INTEGER", "callers that are the same function", false},
    {"t0", "INTEGER", "ns from the trace's first record to its start", false},
    {"t1", "INTEGER", "... to its end", false},
    {"dur", "INTEGER", "ns that it took as recorded, without the time for which its stack was left",
	false},
    {"self_raw", "INTEGER",
	"ns of dur that it was not in calls that it made: as recorded, unlike self in functions",
	false},
    {"cost", "INTEGER",
	"ns of dur that recording it and the calls inside has cost; 0 if unknown or with --raw",
	false},
    {"how", "TEXT",
	"how it ended: returned, unwound (exception, longjmp), cut (recording was switched off), open "
	"(at the thread's end), no return (its exit is missing)",
	false},
    {"away", "INTEGER", "1: its stack was left and not come back to", false},
    {"dur_ticks", "INTEGER", "dur in ticks of the clock", true},
    {"self_ticks", "INTEGER", "self_raw in ticks", true},
    {"self", "INTEGER", "the name that self_raw had", true},
    {0},
};

// Conditions that are looked at here: all of them say that a value lies in a range.
enum { C_ID, C_PARENT, C_TID, C_FN, C_PATH, C_DEPTH, C_REC, C_T0, C_T1, C_DUR, CONDITIONS };

struct range {
	int64_t from;
	int64_t to;
};

#define PLAN_BY_FUNCTION 1 // rows in the order of functions, not of calls

struct cursor {
	sqlite3_vtab_cursor base;
	bool by_function;
	bool looks;      // some range below has to be looked at row by row
	uint32_t thread; // the one that `at` is in
	uint64_t at;     // call number, or place in by_function
	uint64_t end;    // of this thread, or of all
	struct range ranges[CONDITIONS];
	// The row at hand.
	uint64_t number;
	const struct tp_stored_thread *stored;
	struct tp_stored_call call;
};

static struct cursor *cursor_of(sqlite3_vtab_cursor *base)
{
	return (struct cursor *)(void *)base;
}

static struct tp_trace_data *data_of(const struct cursor *cursor)
{
	return ((const struct tp_sql_vtab *)(const void *)cursor->base.pVtab)->data;
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

static int condition_of(int column)
{
	return column >= ID && column <= DUR ? (const int[]){C_ID, C_PARENT, C_TID, C_FN, C_PATH,
						   C_DEPTH, C_REC, C_T0, C_T1, C_DUR}[column]
					     : -1;
}

static bool orders_by(const sqlite3_index_info *info, int column)
{
	return info->nOrderBy >= 1 && info->aOrderBy[0].iColumn == column &&
	       !info->aOrderBy[0].desc &&
	       (info->nOrderBy == 1 || (info->nOrderBy == 2 && info->aOrderBy[1].iColumn == ID &&
					   !info->aOrderBy[1].desc));
}

static int best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
	const struct tp_trace_data *data = ((const struct tp_sql_vtab *)(const void *)base)->data;
	const double all = (double)data->calls.count + 1;
	// Of the calls, what is left by an equality; ranges are thought to leave a third.
	const double left_by[CONDITIONS] = {
	    [C_ID] = 1 / all,
	    [C_PARENT] = 4 / all,
	    [C_TID] = 1 / ((double)data->calls.thread_count + 1),
	    [C_FN] = 1 / ((double)data->analysis->function_count + 1),
	    [C_PATH] = 1 / ((double)data->paths.count + 1),
	    [C_DEPTH] = 0.1,
	    [C_REC] = 0.5,
	    [C_T0] = 0.001,
	    [C_T1] = 0.001,
	    [C_DUR] = 0.001,
	};
	char *text = sqlite3_malloc64(2 * (sqlite3_uint64)info->nConstraint + 1);
	if (!text)
		return SQLITE_NOMEM;
	int arguments = 0;
	bool equal[CONDITIONS] = {false};
	double rows = all;
	for (int i = 0; i < info->nConstraint; i++) {
		const int condition = condition_of(info->aConstraint[i].iColumn);
		const char letter = letter_of(info->aConstraint[i].op);
		if (!info->aConstraint[i].usable || condition < 0 || !letter)
			continue;
		text[2 * arguments] = (char)('a' + condition);
		text[2 * arguments + 1] = letter;
		info->aConstraintUsage[i].argvIndex = ++arguments;
		rows *= letter == '=' ? left_by[condition] : 0.33;
		equal[condition] |= letter == '=';
	}
	text[2 * arguments] = '\0';
	info->idxStr = text;
	info->needToFreeIdxStr = 1;
	info->idxNum = 0;
	// Rows that are looked at here: cheap, but not for nothing.
	double looks = all * (equal[C_ID] ? left_by[C_ID] : 1) *
		       (equal[C_TID] ? left_by[C_TID] : 1) *
		       (equal[C_PARENT] ? 100 * left_by[C_PARENT] : 1);
	if (equal[C_FN] && tp_trace_data_can_order(data) && !equal[C_ID])
		looks *= left_by[C_FN];
	if (equal[C_ID])
		info->idxFlags = SQLITE_INDEX_SCAN_UNIQUE;
	info->estimatedRows = rows < 1 ? 1 : (sqlite3_int64)rows;
	info->estimatedCost = rows + looks * 0.1 + 1;
	if (orders_by(info, ID) || orders_by(info, TID) || (equal[C_TID] && orders_by(info, T0)))
		info->orderByConsumed = 1;
	if (orders_by(info, FN) && tp_trace_data_can_order(data)) {
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

static int64_t at_ns(const struct tp_trace_data *data, uint64_t ticks)
{
	return tp_sql_clamp(tp_analysis_at_ns(data->analysis, ticks));
}

static bool matches(const struct cursor *cursor, const struct tp_trace_data *data)
{
	const struct range *ranges = cursor->ranges;
	const struct tp_stored_call *call = &cursor->call;
	const struct tp_path *path = &data->paths.items[call->path];
	const int64_t parent =
	    call->parent == TP_CALL_NONE ? 0 : (int64_t)(cursor->stored->first + call->parent + 1);
	if (!is_in(&ranges[C_PATH], call->path) || !is_in(&ranges[C_FN], path->function) ||
	    !is_in(&ranges[C_DEPTH], path->depth) || !is_in(&ranges[C_REC], path->recursion) ||
	    !is_in(&ranges[C_PARENT], parent))
		return false;
	const struct range any = {INT64_MIN, INT64_MAX};
	if (memcmp(&ranges[C_T0], &any, sizeof(any)) != 0 &&
	    !is_in(&ranges[C_T0], at_ns(data, call->start)))
		return false;
	if (memcmp(&ranges[C_T1], &any, sizeof(any)) != 0 &&
	    !is_in(&ranges[C_T1], at_ns(data, call->end)))
		return false;
	return memcmp(&ranges[C_DUR], &any, sizeof(any)) == 0 ||
	       is_in(&ranges[C_DUR],
		   tp_sql_clamp(tp_timebase_ns(&data->analysis->time, call->duration)));
}

// The first row of a thread whose t0 (in ns) is at least NS.
static uint64_t find_t0(
    const struct tp_trace_data *data, const struct tp_stored_thread *thread, int64_t ns)
{
	uint64_t low = 0;
	uint64_t high = thread->rows;
	while (low < high) {
		const uint64_t middle = low + (high - low) / 2;
		if (at_ns(data, thread->calls[middle].start) < ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

// Load the cursor's thread and find which of its calls may do. Returns an SQLite code.
static int enter_thread(struct cursor *cursor)
{
	struct tp_trace_data *data = data_of(cursor);
	struct tp_err err;
	struct tp_stored_thread *thread = &data->calls.threads[cursor->thread];
	const struct range *ranges = cursor->ranges;
	const int code = tp_trace_data_calls(data, cursor->thread, &err);
	if (code)
		return tp_sql_fail(cursor->base.pVtab, code, &err);
	uint64_t from = 0;
	uint64_t to = thread->rows;
	const int64_t first_id = (int64_t)thread->first + 1;
	// The calls that a call has made began behind it.
	int64_t id_from = ranges[C_ID].from;
	if (ranges[C_PARENT].from > 0 && ranges[C_PARENT].from < INT64_MAX &&
	    ranges[C_PARENT].from + 1 > id_from)
		id_from = ranges[C_PARENT].from + 1;
	if (id_from > first_id)
		from = (uint64_t)(id_from - first_id);
	if (ranges[C_ID].to < first_id)
		to = 0;
	else if ((uint64_t)(ranges[C_ID].to - first_id) < to)
		to = (uint64_t)(ranges[C_ID].to - first_id) + 1;
	int64_t t0_to = ranges[C_T0].to < ranges[C_T1].to ? ranges[C_T0].to : ranges[C_T1].to;
	if (ranges[C_PARENT].from == ranges[C_PARENT].to && ranges[C_PARENT].to >= first_id &&
	    (uint64_t)(ranges[C_PARENT].to - first_id) < thread->rows) {
		struct tp_stored_call parent;
		tp_call_store_get(thread, (uint64_t)(ranges[C_PARENT].to - first_id), &parent);
		const int64_t end = at_ns(data, parent.end);
		t0_to = end < t0_to ? end : t0_to;
	}
	if (from < to && ranges[C_T0].from != INT64_MIN) {
		const uint64_t row = find_t0(data, thread, ranges[C_T0].from);
		from = row > from ? row : from;
	}
	if (from < to && t0_to != INT64_MAX) {
		const uint64_t row = find_t0(data, thread, t0_to + 1);
		to = row < to ? row : to;
	}
	cursor->stored = thread;
	cursor->at = from;
	cursor->end = to;
	return SQLITE_OK;
}

// The first place from AT on, below END, of a call number that is at least NUMBER; calls of one function.
static uint64_t find_number(
    const struct tp_trace_data *data, uint64_t at, uint64_t end, uint64_t number)
{
	while (at < end) {
		const uint64_t middle = at + (end - at) / 2;
		if (data->by_function[middle] < number)
			at = middle + 1;
		else
			end = middle;
	}
	return at;
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
	while (at < end) {
		const uint64_t middle = at + (end - at) / 2;
		if (at_ns(data, start_at(data, data->by_function[middle])) < ns)
			at = middle + 1;
		else
			end = middle;
	}
	return at;
}

// Of the calls of one function those of one thread, by their times too.
static void narrow(struct cursor *cursor, uint32_t function)
{
	const struct tp_trace_data *data = data_of(cursor);
	const struct range *ranges = cursor->ranges;
	const uint64_t span = data->function_spans[function];
	int64_t span_ns = tp_sql_clamp(tp_timebase_ns(&data->analysis->time, span));
	span_ns = span_ns < INT64_MAX - 2 ? span_ns + 2 : INT64_MAX; // rounded, all of them
	int64_t from = ranges[C_T0].from;
	// What ends behind t1 does not begin earlier than the longest call takes.
	if (ranges[C_T1].from > span_ns && ranges[C_T1].from - span_ns > from)
		from = ranges[C_T1].from - span_ns;
	const int64_t to = ranges[C_T0].to < ranges[C_T1].to ? ranges[C_T0].to : ranges[C_T1].to;
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
		return tp_sql_fail(cursor->base.pVtab, code, &err);
	const uint32_t count = data->analysis->function_count;
	cursor->at = cursor->end = 0;
	if (!count || ranges[C_FN].to < 0 || ranges[C_FN].from >= count)
		return SQLITE_OK;
	const int64_t first = ranges[C_FN].from < 0 ? 0 : ranges[C_FN].from;
	const int64_t last = ranges[C_FN].to >= count ? count - 1 : ranges[C_FN].to;
	if (first > last)
		return SQLITE_OK;
	cursor->at = data->function_starts[first];
	cursor->end = data->function_starts[last + 1];
	if (first != last)
		return SQLITE_OK;
	if (ranges[C_ID].from > 0)
		cursor->at =
		    find_number(data, cursor->at, cursor->end, (uint64_t)ranges[C_ID].from - 1);
	if (ranges[C_ID].to < INT64_MAX)
		cursor->end = find_number(data, cursor->at, cursor->end,
		    ranges[C_ID].to < 0 ? 0 : (uint64_t)ranges[C_ID].to);
	// The threads in question have their numbers in a row.
	uint32_t low = 0;
	uint32_t high = data->calls.thread_count;
	while (low < high && data->analysis->threads[low].thread->number < ranges[C_TID].from)
		low++;
	while (high > low && data->analysis->threads[high - 1].thread->number > ranges[C_TID].to)
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
	const struct range *parent = &cursor->ranges[C_PARENT];
	return is_in(&cursor->ranges[C_TID], data->analysis->threads[t].thread->number) &&
	       cursor->ranges[C_ID].from <= last && cursor->ranges[C_ID].to >= first &&
	       parent->from <= last && (parent->to >= first || parent->from <= 0);
}

// Go on to the next row that does, from `at` on.
static int settle(struct cursor *cursor)
{
	const struct tp_trace_data *data = data_of(cursor);
	uint32_t looked = 0;
	for (;;) {
		for (; cursor->at < cursor->end; cursor->at++) {
			if (cursor->by_function) {
				cursor->number = data->by_function[cursor->at];
				cursor->thread = tp_trace_data_thread_of(data, cursor->number);
				cursor->stored = &data->calls.threads[cursor->thread];
			} else {
				cursor->number = cursor->stored->first + cursor->at;
			}
			tp_call_store_get(
			    cursor->stored, cursor->number - cursor->stored->first, &cursor->call);
			if (!cursor->looks ||
			    (matches(cursor, data) &&
				(!cursor->by_function || thread_matches(cursor, cursor->thread))))
				return SQLITE_OK;
			if (++looked % 65536 == 0 && data->give_up &&
			    atomic_load_explicit(data->give_up, memory_order_relaxed))
				return SQLITE_INTERRUPT;
		}
		if (cursor->by_function)
			return SQLITE_OK;
		do
			cursor->thread++;
		while (cursor->thread < data->calls.thread_count &&
		       !thread_matches(cursor, cursor->thread));
		if (cursor->thread >= data->calls.thread_count)
			return SQLITE_OK;
		const int code = enter_thread(cursor);
		if (code)
			return code;
	}
}

static int open_cursor(sqlite3_vtab *base, sqlite3_vtab_cursor **out)
{
	((const struct tp_sql_vtab *)(const void *)base)->data->read_recorded = true;
	return tp_sql_open_cursor(sizeof(struct cursor), out);
}

static int close_cursor(sqlite3_vtab_cursor *base)
{
	sqlite3_free(base);
	return SQLITE_OK;
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
	struct cursor *cursor = cursor_of(base);
	const struct tp_trace_data *data = data_of(cursor);
	cursor->looks = false;
	for (int i = 0; i < CONDITIONS; i++)
		cursor->ranges[i] = (struct range){INT64_MIN, INT64_MAX};
	bool possible = true;
	for (int i = 0; i < argc && text[2 * i]; i++) {
		const int condition = text[2 * i] - 'a';
		possible = restrict_range(&cursor->ranges[condition], text[2 * i + 1], argv[i]) &&
			   possible;
		cursor->looks |= condition != C_ID && condition != C_TID && condition != C_FN;
	}
	const struct range *fn = &cursor->ranges[C_FN];
	const struct range *id = &cursor->ranges[C_ID];
	cursor->at = cursor->end = 0;
	cursor->thread = 0;
	cursor->by_function = false;
	// Without times no condition on one can be true; whether it is NULL, SQLite asks itself.
	if (!possible) {
		cursor->thread = data->calls.thread_count;
		return SQLITE_OK;
	}
	if (data->analysis->timeless)
		for (int i = C_T0; i <= C_DUR; i++)
			cursor->ranges[i] = (struct range){INT64_MIN, INT64_MAX};
	cursor->by_function =
	    (plan & PLAN_BY_FUNCTION) ||
	    (fn->from == fn->to && id->from != id->to &&
		cursor->ranges[C_PARENT].from == INT64_MIN && tp_trace_data_can_order(data));
	if (cursor->by_function) {
		cursor->looks |=
		    fn->from != fn->to && (id->from != INT64_MIN || id->to != INT64_MAX ||
					      cursor->ranges[C_TID].from != INT64_MIN ||
					      cursor->ranges[C_TID].to != INT64_MAX);
		const int code = enter_functions(cursor);
		return code ? code : settle(cursor);
	}
	cursor->looks |= fn->from != INT64_MIN || fn->to != INT64_MAX;
	while (cursor->thread < data->calls.thread_count && !thread_matches(cursor, cursor->thread))
		cursor->thread++;
	if (cursor->thread >= data->calls.thread_count)
		return SQLITE_OK;
	const int code = enter_thread(cursor);
	return code ? code : settle(cursor);
}

static int next_row(sqlite3_vtab_cursor *base)
{
	cursor_of(base)->at++;
	return settle(cursor_of(base));
}

static int at_end(sqlite3_vtab_cursor *base)
{
	const struct cursor *cursor = cursor_of(base);
	return cursor->at >= cursor->end;
}

static int column(sqlite3_vtab_cursor *base, sqlite3_context *context, int number)
{
	const struct cursor *cursor = cursor_of(base);
	const struct tp_trace_data *data = data_of(cursor);
	const struct tp_stored_call *call = &cursor->call;
	const struct tp_path *path = &data->paths.items[call->path];
	switch (number) {
	case ID:
		tp_sql_result_number(context, cursor->number + 1);
		break;
	case PARENT:
		if (call->parent != TP_CALL_NONE)
			tp_sql_result_number(context, cursor->stored->first + call->parent + 1);
		break;
	case TID:
		sqlite3_result_int64(
		    context, data->analysis->threads[cursor->thread].thread->number);
		break;
	case FN:
		if (call->path)
			sqlite3_result_int64(context, path->function);
		break;
	case PATH:
		sqlite3_result_int64(context, call->path);
		break;
	case DEPTH:
		sqlite3_result_int64(context, path->depth);
		break;
	case REC:
		sqlite3_result_int64(context, path->recursion);
		break;
	case T0:
		tp_sql_result_at(context, data, call->start);
		break;
	case T1:
		tp_sql_result_at(context, data, call->end);
		break;
	case DUR:
		tp_sql_result_ns(context, data, true, call->duration);
		break;
	case SELF_RAW:
	case SELF:
		tp_sql_result_ns(context, data, true, call->self);
		break;
	case COST:
		tp_sql_result_ns(context, data, true, call->cost);
		break;
	case HOW:
		tp_sql_result_text(context, tp_call_end_name(call->how));
		break;
	case AWAY:
		sqlite3_result_int(context, call->away);
		break;
	case DUR_TICKS:
		tp_sql_result_ticks(context, data, call->duration);
		break;
	case SELF_TICKS:
		tp_sql_result_ticks(context, data, call->self);
		break;
	}
	return SQLITE_OK;
}

static int row_id(sqlite3_vtab_cursor *base, sqlite3_int64 *id)
{
	*id = (sqlite3_int64)cursor_of(base)->number + 1;
	return SQLITE_OK;
}

static const sqlite3_module module = TP_SQL_MODULE;

static const char *const indexes[] = {"fn, t0", "tid, t0", NULL};

const struct tp_sql_table tp_table_calls = {
    .name = "calls",
    .summary = "every single call, in times as they were recorded",
    .columns = columns,
    .indexes = indexes,
    .module = &module,
};
