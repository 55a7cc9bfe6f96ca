// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The table "threads".
#include "query/sql_table.h"

enum {
	TID,
	NAME,
	OS_TID,
	T_FIRST,
	T_LAST,
	EVENTS,
	CALLS,
	LOST,
	BUSY,
	ENDED,
	DAMAGED,
	CPU,
	DELAY,
	MISSING
};

static const struct tp_column columns[] = {
    {"tid", "INTEGER", "number of the thread in the trace, as --thread takes it", false},
    {"name", "TEXT", "its name; NULL if it has none", false},
    {"os_tid", "INTEGER", "its number in the operating system", false},
    {"t_first", "INTEGER", "ns from the trace's first record to its first event", false},
    {"t_last", "INTEGER", "... to its last event", false},
    {"events", "INTEGER", "records of enters and exits", false},
    {"calls", "INTEGER", "calls with times, and those that were only counted", false},
    {"lost", "INTEGER", "events that were lost; not 0: the rest is too low", false},
    {"busy", "INTEGER", "ns in recorded functions", false},
    {"ended", "INTEGER", "1: the thread has ended", false},
    {"damaged", "INTEGER", "1: its records could not be read to the end", false},
    {"cpu", "INTEGER", "ns for which it had a processor; NULL: not known", false},
    {"delay", "INTEGER", "ns, at least, for which it could have run and had none", false},
    {"missing", "INTEGER", "events that were recorded and could not be written", false},
    {0},
};

static uint64_t rows(const struct tp_trace_data *data)
{
	return data->analysis->thread_count;
}

static int64_t key(const struct tp_trace_data *data, uint64_t row)
{
	return data->analysis->threads[row].thread->number;
}

static void value(
    const struct tp_trace_data *data, uint64_t row, int column, sqlite3_context *context)
{
	const struct tp_thread_result *thread = &data->analysis->threads[row];
	const uint64_t lost = thread->thread->lost;
	switch (column) {
	case TID:
		sqlite3_result_int64(context, thread->thread->number);
		break;
	case NAME:
		tp_sql_result_text(context, thread->thread->name);
		break;
	case OS_TID:
		tp_sql_result_number(context, thread->thread->os_tid);
		break;
	case T_FIRST:
		if (thread->first != UINT64_MAX)
			tp_sql_result_at(context, data, thread->first);
		break;
	case T_LAST:
		if (thread->first != UINT64_MAX)
			tp_sql_result_at(context, data, thread->last);
		break;
	case EVENTS:
		tp_sql_result_number(context, thread->counts.events);
		break;
	case CALLS:
		tp_sql_result_number(context, thread->call_count);
		break;
	case LOST:
		tp_sql_result_number(
		    context, lost > thread->counts.lost ? lost : thread->counts.lost);
		break;
	case BUSY:
		tp_sql_result_ns(context, data, true, thread->busy);
		break;
	case ENDED:
		sqlite3_result_int(context, thread->thread->ended);
		break;
	case DAMAGED:
		sqlite3_result_int(context, thread->code != 0);
		break;
	case CPU:
		if (thread->thread->has_cpu)
			tp_sql_result_number(context, thread->thread->cpu_ns);
		break;
	case DELAY:
		if (thread->thread->has_delay)
			tp_sql_result_number(context, thread->thread->delay_ns);
		break;
	case MISSING:
		tp_sql_result_number(context, thread->thread->unwritten.events);
		break;
	}
}

const struct tp_sql_table tp_table_threads = {
    .name = "threads",
    .summary = "the threads of the program",
    .columns = columns,
    .rows = rows,
    .value = value,
    .key = key,
    .key_is_unique = true,
};
