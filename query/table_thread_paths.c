// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The table "thread_paths".
#include "query/sql_table.h"

enum { PATH, TID, CALLS, TOTAL, SELF, MIN, MAX, P50, P99, TOTAL_TICKS, SELF_TICKS };

static const struct tp_column columns[] = {
    {"path", "INTEGER", "of paths", false},
    {"tid", "INTEGER", "of threads", false},
    {"calls", "INTEGER", "with this path in this thread", false},
    {"total", "INTEGER", "ns of these calls, with what they called", false},
    {"self", "INTEGER", "ns of these calls alone", false},
    {"min", "INTEGER", "ns of the shortest of them", false},
    {"max", "INTEGER", "ns of the longest", false},
    {"p50", "INTEGER", "ns that half of them do not exceed, within 6 %", false},
    {"p99", "INTEGER", "the same for 99 %", false},
    {"total_ticks", "INTEGER", "total in ticks of the clock", true},
    {"self_ticks", "INTEGER", "self in ticks", true},
    {0},
};

static uint64_t rows(const struct tp_trace_data *data)
{
	return data->paths.row_count;
}

static int64_t key(const struct tp_trace_data *data, uint64_t row)
{
	return data->paths.rows[row].path;
}

static void value(
    const struct tp_trace_data *data, uint64_t row, int column, sqlite3_context *context)
{
	const struct tp_path_row *at = &data->paths.rows[row];
	const struct tp_thread_result *thread = &data->analysis->threads[at->thread];
	const struct tp_node *node = &thread->profile.nodes[at->node];
	const bool called = node->calls != 0;
	switch (column) {
	case PATH:
		sqlite3_result_int64(context, at->path);
		break;
	case TID:
		sqlite3_result_int64(context, thread->thread->number);
		break;
	case CALLS:
		tp_sql_result_number(context, node->calls);
		break;
	case TOTAL:
		tp_sql_result_ns(context, data, true, node->inclusive);
		break;
	case SELF:
		tp_sql_result_ns(context, data, true, node->self);
		break;
	case MIN:
		tp_sql_result_ns(context, data, called, node->min);
		break;
	case MAX:
		tp_sql_result_ns(context, data, called, node->max);
		break;
	case P50:
	case P99:
		tp_sql_result_ns(context, data, node->times.size != 0,
		    tp_histogram_percentile(
			&node->times, column == P50 ? 0.5 : 0.99, node->min, node->max));
		break;
	case TOTAL_TICKS:
		tp_sql_result_ticks(context, data, node->inclusive);
		break;
	case SELF_TICKS:
		tp_sql_result_ticks(context, data, node->self);
		break;
	}
}

static const char *const indexes[] = {"path, tid", NULL};

const struct tp_sql_table tp_table_thread_paths = {
    .name = "thread_paths",
    .summary = "calling contexts with the times of each thread; most questions end here",
    .columns = columns,
    .indexes = indexes,
    .rows = rows,
    .value = value,
    .key = key,
};
