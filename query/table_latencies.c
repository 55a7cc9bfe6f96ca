// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The table "latencies".
#include "query/sql_table.h"

enum { FN, CALLS, MIN, P50, P90, P99, P999, MAX, EXACT };

static const struct tp_column columns[] = {
    {"fn", "INTEGER", "of functions", false},
    {"calls", "INTEGER", "with times", false},
    {"min", "INTEGER", "ns of the shortest call, with what it called", false},
    {"p50", "INTEGER", "ns that half of the calls do not exceed: exactly, by nearest rank", false},
    {"p90", "INTEGER", "the same for 90 %", false},
    {"p99", "INTEGER", "the same for 99 %", false},
    {"p999", "INTEGER", "the same for 99.9 %", false},
    {"max", "INTEGER", "ns of the longest call", false},
    {"exact", "INTEGER", "0: within 6 %, because of more than 2^32 calls", false},
    {0},
};

static uint64_t rows(const struct tp_trace_data *data)
{
	return data->analysis->function_count;
}

static int64_t key(const struct tp_trace_data *data, uint64_t row)
{
	(void)data;
	return (int64_t)row;
}

static void value(
    const struct tp_trace_data *data, uint64_t row, int column, sqlite3_context *context)
{
	const struct tp_function *function = &data->analysis->functions[row];
	const struct tp_function_percentiles *item = &data->percentiles.functions[row];
	const bool timed = item->calls != 0;
	switch (column) {
	case FN:
		sqlite3_result_int64(context, (sqlite3_int64)row);
		break;
	case CALLS:
		tp_sql_result_number(context, tp_function_timed(function));
		break;
	case MIN:
		tp_sql_result_ns(context, data, timed, function->min);
		break;
	case MAX:
		tp_sql_result_ns(context, data, timed, function->max);
		break;
	case EXACT:
		sqlite3_result_int(context, item->exact);
		break;
	default:
		tp_sql_result_ns(context, data, timed, item->values[column - P50]);
	}
}

const struct tp_sql_table tp_table_latencies = {
    .name = "latencies",
    .summary = "exact percentiles of how long the calls of each function were; made when asked for",
    .columns = columns,
    .prepare = tp_trace_data_percentiles,
    .rows = rows,
    .value = value,
    .key = key,
    .key_is_unique = true,
};
