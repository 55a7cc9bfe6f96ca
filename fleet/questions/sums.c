// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The functions of a fleet, added up over its runs.
#include "sums.h"

#include "common/array.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A run's time is that of its processors, if all of it was recorded, else how long recording was
// on; less what recording has cost, but 5 % at least: the bounds of a single profile
// (allowlists/choose/workload_trace.c).
static const char runs_sql[] =
    "WITH known AS (\n"
    "	SELECT program, clock, threads, compensated, complete, selected_functions,\n"
    "		recorded_ns, cost_ns, processor_ns,\n"
    "		processor_ns > 0 AND recorded_ns >= 0.99 * duration_ns AS by_cpu,\n"
    "		CASE WHEN unit = 'ns' AND recorded_ns IS NOT NULL THEN 1 ELSE 0 END AS timed\n"
    "	FROM runs\n"
    "), ran AS (\n"
    "	SELECT *, CASE WHEN by_cpu THEN processor_ns ELSE recorded_ns END AS ran_ns FROM known\n"
    ")\n"
    "SELECT sum(timed), count(DISTINCT CASE WHEN timed THEN program END),\n"
    "	count(*) - sum(timed), sum(timed AND compensated = 0), sum(timed AND complete = 0),\n"
    "	sum(timed AND selected_functions > 0), sum(timed AND coalesce(by_cpu, 0)),\n"
    "	max(threads), sum(CASE WHEN timed THEN 1.0 * recorded_ns END),\n"
    "	sum(CASE WHEN timed THEN max(1.0 * ran_ns - coalesce(cost_ns, 0), 0.05 * ran_ns) END),\n"
    "	count(DISTINCT CASE WHEN timed THEN clock END), max(CASE WHEN timed THEN clock END)\n"
    "FROM ran";
enum { RUN_COLUMNS = 12 };

// Columns that are not summed come from the newest run: SQLite takes them from the row of the only
// max().
static const char functions_sql[] =
    "SELECT f.linkage, f.function, f.file, f.line, f.same_key, sum(f.calls), sum(f.timed_calls),\n"
    "	sum(coalesce(f.self_cpu_ns, f.self_ns, 0) *\n"
    "		CASE WHEN f.sampled_calls > 0 AND f.timed_calls > 0\n"
    "			THEN 1.0 * f.calls / f.timed_calls ELSE 1.0 END),\n"
    "	f.fn_key, max(f.run_id)\n"
    "FROM functions f JOIN runs r ON r.run_id = f.run_id\n"
    "WHERE r.unit = 'ns' AND r.recorded_ns IS NOT NULL\n"
    "GROUP BY f.fn_key ORDER BY f.fn_key";
enum { FUNCTION_COLUMNS = 10 };

static uint64_t count_of(const struct tp_value *value)
{
	return value->type == TP_VALUE_INTEGER && value->integer > 0 ? (uint64_t)value->integer : 0;
}

static double real_of(const struct tp_value *value)
{
	return value->type == TP_VALUE_REAL      ? value->real
	       : value->type == TP_VALUE_INTEGER ? (double)value->integer
						 : 0;
}

struct reading {
	struct tp_fleet_sums *sums;
	bool failed; // no memory
};

static bool take_columns(void *context, const char *const *names, uint32_t count)
{
	(void)context;
	(void)names;
	return count == RUN_COLUMNS || count == FUNCTION_COLUMNS;
}

static bool take_runs(void *context, const struct tp_value *values, uint32_t count)
{
	struct tp_fleet_sums *sums = ((struct reading *)context)->sums;
	(void)count;
	sums->runs = count_of(&values[0]);
	sums->programs = count_of(&values[1]);
	sums->timeless = count_of(&values[2]);
	sums->raw = count_of(&values[3]);
	sums->incomplete = count_of(&values[4]);
	sums->selective = count_of(&values[5]);
	sums->in_cpu_time = count_of(&values[6]);
	sums->threads = count_of(&values[7]);
	sums->recorded_ns = real_of(&values[8]);
	sums->time_ns = real_of(&values[9]);
	if (count_of(&values[10]) == 1 && values[11].type == TP_VALUE_TEXT)
		snprintf(sums->clock, sizeof(sums->clock), "%s", values[11].text);
	return true;
}

static const char *copy(struct reading *reading, const struct tp_value *value)
{
	if (value->type != TP_VALUE_TEXT)
		return "";
	const char *text = tp_arena_copy(&reading->sums->arena, value->text, strlen(value->text));
	reading->failed |= !text;
	return text ? text : "";
}

static bool take_function(void *context, const struct tp_value *values, uint32_t count)
{
	struct reading *reading = context;
	struct tp_fleet_sums *sums = reading->sums;
	(void)count;
	if (!TP_GROW(sums->functions, sums->function_room, sums->function_count + UINT64_C(1))) {
		reading->failed = true;
		return false;
	}
	const uint64_t same = count_of(&values[4]);
	sums->functions[sums->function_count++] = (struct tp_fleet_sum){
	    .linkage = copy(reading, &values[0]),
	    .function = copy(reading, &values[1]),
	    .file = copy(reading, &values[2]),
	    .line = count_of(&values[3]),
	    .same_key = same ? (uint32_t)same : 1,
	    .calls = count_of(&values[5]),
	    .timed_calls = count_of(&values[6]),
	    .self_ns = real_of(&values[7]),
	};
	return !reading->failed;
}

static int refuse(const struct tp_fleet_sums *sums, const char *directory, struct tp_err *err)
{
	if (sums->timeless)
		return tp_err_set(err, TP_ERR_NOT_FOUND, directory,
		    "none of its %" PRIu64
		    " runs has times in nanoseconds: record with a clock (record --clock) and "
		    "add those traces",
		    sums->timeless);
	return tp_err_set(err, TP_ERR_NOT_FOUND, directory,
	    "has no such run: add one with 'teeperf fleet add TRACE --to DIR', or select others "
	    "with --day, --program, --build and --label");
}

int tp_fleet_sums_read(struct tp_fleet_sums *sums, const char *directory,
    const struct tp_fleet_chosen *chosen, struct tp_err *err)
{
	const struct tp_query_options options = {0};
	struct tp_query *query;
	struct tp_fleet_tables tables = {0};
	struct reading reading = {.sums = sums};
	struct tp_query_sink sink = {&reading, take_columns, take_runs};
	*sums = (struct tp_fleet_sums){0};
	tp_arena_init(&sums->arena);
	int code = tp_query_open(&query, &options, err);
	if (!code)
		code = tp_fleet_tables_add(&tables, directory, chosen, query, err);
	if (!code)
		code = tp_query_run(query, runs_sql, NULL, 0, &sink, err);
	if (!code && !sums->runs)
		code = refuse(sums, directory, err);
	if (!code && sums->time_ns <= 0)
		code = tp_err_set(err, TP_ERR_NOT_FOUND, directory, "its runs have no duration");
	sink.row = take_function;
	if (!code)
		code = tp_query_run(query, functions_sql, NULL, 0, &sink, err);
	if (!code && reading.failed)
		code = tp_err_memory(err, directory);
	if (!code && !sums->function_count)
		code = tp_err_set(err, TP_ERR_NOT_FOUND, directory,
		    "its runs have no calls: were the programs built with 'teeperf cc'?");
	tp_query_close(query);
	tp_fleet_tables_release(&tables);
	return code;
}

void tp_fleet_sums_release(struct tp_fleet_sums *sums)
{
	free(sums->functions);
	tp_arena_release(&sums->arena);
	*sums = (struct tp_fleet_sums){0};
}
