// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The table "functions".
#include "query/sql_table.h"

enum {
	FN,
	NAME,
	LINKAGE,
	FILE_NAME,
	LINE,
	MODULE,
	ADDRESS,
	CALLS,
	TIMED,
	COUNTED,
	SAMPLED,
	SELF,
	INCLUSIVE,
	TOTAL,
	MIN,
	MAX,
	P50,
	P90,
	P99,
	SELF_UNCERTAINTY,
	FN_KEY,
	SELF_TICKS,
	INCLUSIVE_TICKS
};

static const struct tp_column columns[] = {
    {"fn", "INTEGER", "number of the function, from 0 on", false},
    {"name", "TEXT", "demangled; several functions may have one name", false},
    {"linkage", "TEXT", "its name in the symbol table; NULL if there is none", false},
    {"file", "TEXT", "of its source; NULL if unknown", false},
    {"line", "INTEGER", "of its source; NULL if unknown", false},
    {"module", "TEXT", "last component of its module's path", false},
    {"address", "INTEGER", "in the module's file", false},
    {"calls", "INTEGER", "all of them", false},
    {"timed", "INTEGER", "calls with times: the columns below are of them", false},
    {"counted", "INTEGER", "calls that were only counted", false},
    {"sampled", "INTEGER", "calls of a sampled function, 0 of others: timed are one in N of them",
	false},
    {"self", "INTEGER", "ns in the function itself", false},
    {"inclusive", "INTEGER", "ns with what it called; of recursive calls only the outermost",
	false},
    {"total", "INTEGER", "ns of all its calls with what they called, recursive ones too", false},
    {"min", "INTEGER", "ns of its shortest call, with what it called", false},
    {"max", "INTEGER", "ns of its longest", false},
    {"p50", "INTEGER", "ns that half of its calls do not exceed, within 6 %; exactly: latencies",
	false},
    {"p90", "INTEGER", "the same for 90 %", false},
    {"p99", "INTEGER", "the same for 99 %", false},
    {"self_uncertainty", "INTEGER",
	"ns by which self may be off, as it is not known better what recording cost there; NULL if not known",
	false},
    {"fn_key", "INTEGER",
	"the same in every recording: a hash of linkage (or name) and module, which functions of one name in "
	"one module share",
	false},
    {"self_ticks", "INTEGER", "self in ticks of the clock", true},
    {"inclusive_ticks", "INTEGER", "inclusive in ticks", true},
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

static void percentile(sqlite3_context *context, const struct tp_trace_data *data,
    const struct tp_function *function, double part)
{
	tp_sql_result_ns(context, data, function->times.size != 0,
	    tp_histogram_percentile(&function->times, part, function->min, function->max));
}

static void time_value(const struct tp_trace_data *data, const struct tp_function *function,
    int column, sqlite3_context *context)
{
	const bool timed = tp_function_timed(function) != 0;
	switch (column) {
	case SELF:
		tp_sql_result_ns(context, data, timed, function->self);
		break;
	case INCLUSIVE:
		tp_sql_result_ns(context, data, timed, function->inclusive);
		break;
	case TOTAL:
		tp_sql_result_ns(context, data, timed, function->total);
		break;
	case MIN:
		tp_sql_result_ns(context, data, timed, function->min);
		break;
	case MAX:
		tp_sql_result_ns(context, data, timed, function->max);
		break;
	case P50:
		percentile(context, data, function, 0.5);
		break;
	case P90:
		percentile(context, data, function, 0.9);
		break;
	case P99:
		percentile(context, data, function, 0.99);
		break;
	case SELF_UNCERTAINTY: {
		uint64_t ticks;
		const bool known = tp_function_uncertainty(data->analysis, function, &ticks);
		tp_sql_result_ns(context, data, known, ticks);
		break;
	}
	case SELF_TICKS:
		if (timed && !data->analysis->timeless)
			tp_sql_result_number(context, function->self);
		break;
	case INCLUSIVE_TICKS:
		if (timed && !data->analysis->timeless)
			tp_sql_result_number(context, function->inclusive);
		break;
	}
}

static void value(
    const struct tp_trace_data *data, uint64_t row, int column, sqlite3_context *context)
{
	const struct tp_function *function = &data->analysis->functions[row];
	switch (column) {
	case FN:
		sqlite3_result_int64(context, (sqlite3_int64)row);
		break;
	case NAME:
		tp_sql_result_text(context, function->symbol.name);
		break;
	case LINKAGE:
		tp_sql_result_text(context, function->symbol.linkage);
		break;
	case FILE_NAME:
		tp_sql_result_text(context, function->symbol.file);
		break;
	case LINE:
		if (function->symbol.line)
			tp_sql_result_number(context, function->symbol.line);
		break;
	case MODULE:
		tp_sql_result_text(context, function->symbol.module);
		break;
	case ADDRESS:
		sqlite3_result_int64(context, (sqlite3_int64)function->symbol.address);
		break;
	case CALLS:
		tp_sql_result_number(context, function->calls);
		break;
	case TIMED:
		tp_sql_result_number(context, tp_function_timed(function));
		break;
	case COUNTED:
		tp_sql_result_number(context, function->counted);
		break;
	case SAMPLED:
		tp_sql_result_number(context, function->sampled);
		break;
	case FN_KEY:
		sqlite3_result_int64(context, tp_function_stable_key(function));
		break;
	default:
		time_value(data, function, column, context);
	}
}

static const char *const indexes[] = {"name", NULL};

const struct tp_sql_table tp_table_functions = {
    .name = "functions",
    .summary = "the functions that were called: counts and times of all threads together",
    .columns = columns,
    .indexes = indexes,
    .rows = rows,
    .value = value,
    .key = key,
    .key_is_unique = true,
};
