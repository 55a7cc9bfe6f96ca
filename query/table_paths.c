// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The table "paths".
#include "query/sql_table.h"

enum { PATH, PARENT, FN, DEPTH, REC, LAST, CALLS, TOTAL, SELF, MIN, MAX, FN_KEY };

static const struct tp_column columns[] = {
    {"path", "INTEGER", "number of a call path, in preorder; 0 is the program itself", false},
    {"parent", "INTEGER", "path of the caller; NULL for path 0", false},
    {"fn", "INTEGER", "the function at its end; NULL for path 0", false},
    {"depth", "INTEGER", "calls on the path; 0 for path 0", false},
    {"rec", "INTEGER",
	"callers on it that are the same function: sum times WHERE rec = 0 for an inclusive time",
	false},
    {"last", "INTEGER", "greatest number below it: inside of p is path BETWEEN p.path AND p.last",
	false},
    {"calls", "INTEGER", "with this path, in all threads", false},
    {"total", "INTEGER", "ns of these calls, with what they called", false},
    {"self", "INTEGER", "ns of these calls alone", false},
    {"min", "INTEGER", "ns of the shortest of them", false},
    {"max", "INTEGER", "ns of the longest", false},
    {"fn_key", "INTEGER", "fn_key of the function at its end; NULL for path 0", false},
    {0},
};

static uint64_t rows(const struct tp_trace_data *data)
{
	return data->paths.count;
}

static int64_t key(const struct tp_trace_data *data, uint64_t row)
{
	(void)data;
	return (int64_t)row;
}

static void value(
    const struct tp_trace_data *data, uint64_t row, int column, sqlite3_context *context)
{
	const struct tp_path *path = &data->paths.items[row];
	switch (column) {
	case PATH:
		sqlite3_result_int64(context, (sqlite3_int64)row);
		break;
	case PARENT:
		if (row)
			sqlite3_result_int64(context, path->parent);
		break;
	case FN:
		if (row)
			sqlite3_result_int64(context, path->function);
		break;
	case DEPTH:
		sqlite3_result_int64(context, path->depth);
		break;
	case REC:
		sqlite3_result_int64(context, path->recursion);
		break;
	case LAST:
		sqlite3_result_int64(context, path->last);
		break;
	case CALLS:
		tp_sql_result_number(context, path->calls);
		break;
	case TOTAL:
		tp_sql_result_ns(context, data, true, path->inclusive);
		break;
	case SELF:
		tp_sql_result_ns(context, data, true, path->self);
		break;
	case MIN:
		tp_sql_result_ns(context, data, path->calls != 0, path->min);
		break;
	case MAX:
		tp_sql_result_ns(context, data, path->calls != 0, path->max);
		break;
	case FN_KEY:
		if (row)
			sqlite3_result_int64(context,
			    tp_function_stable_key(&data->analysis->functions[path->function]));
		break;
	}
}

static const char *const indexes[] = {"fn", NULL};

const struct tp_sql_table tp_table_paths = {
    .name = "paths",
    .summary = "calling contexts of all threads, with the times of all of them together",
    .columns = columns,
    .indexes = indexes,
    .rows = rows,
    .value = value,
    .key = key,
    .key_is_unique = true,
};
