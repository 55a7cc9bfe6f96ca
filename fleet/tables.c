// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tables of a fleet, and their files.
#include "tables.h"

#include "common/json.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <teeperf/version.h>

// Names repeat. Of numbers it depends: keys that rows are sorted by repeat when a file has many
// runs, and differ by much when it has one.
#define TEXT(name)                                                        \
	{                                                                 \
		name, TP_PARQUET_TEXT, false, TP_PARQUET_DICTIONARY, NULL \
	}
#define SMALL(name, unit)                                                \
	{                                                                \
		name, TP_PARQUET_INT32, false, TP_PARQUET_SMALLEST, unit \
	}
#define KEY(name)                                                        \
	{                                                                \
		name, TP_PARQUET_INT64, false, TP_PARQUET_SMALLEST, NULL \
	}
#define COUNT(name)                                                         \
	{                                                                   \
		name, TP_PARQUET_INT64, false, TP_PARQUET_SMALLEST, "count" \
	}
#define NS(name)                                                        \
	{                                                               \
		name, TP_PARQUET_INT64, true, TP_PARQUET_SMALLEST, "ns" \
	}
#define NS_ALWAYS(name)                                                  \
	{                                                                \
		name, TP_PARQUET_INT64, false, TP_PARQUET_SMALLEST, "ns" \
	}
// Of single calls, of which there are too many to try.
#define KEY_OF_CALL(name)                                                  \
	{                                                                  \
		name, TP_PARQUET_INT64, false, TP_PARQUET_DICTIONARY, NULL \
	}
#define SMALL_OF_CALL(name)                                                \
	{                                                                  \
		name, TP_PARQUET_INT32, false, TP_PARQUET_DICTIONARY, NULL \
	}
#define NS_OF_CALL(name)                                             \
	{                                                            \
		name, TP_PARQUET_INT64, true, TP_PARQUET_DELTA, "ns" \
	}

static const struct tp_fleet_column runs[] = {
    TEXT("run_id"),
    NS_ALWAYS("start_unix_ns"),
    NS("duration_ns"),
    NS("recorded_ns"),
    TEXT("host"),
    TEXT("program_path"),
    TEXT("command"),
    TEXT("build_id"),
    TEXT("git_revision"),
    TEXT("labels"),
    TEXT("facts"),
    TEXT("trace"),
    {"exit_code", TP_PARQUET_INT32, true, TP_PARQUET_SMALLEST, NULL},
    {"exit_signal", TP_PARQUET_INT32, true, TP_PARQUET_SMALLEST, NULL},
    TEXT("mode"),
    TEXT("clock"),
    TEXT("unit"),
    NS("clock_max_gap_ns"),
    NS("clock_starved_ns"),
    SMALL("compensated", NULL),
    NS("cost_ns"),
    SMALL("complete", NULL),
    COUNT("missing_events"),
    {"missing_events_at_most", TP_PARQUET_INT64, true, TP_PARQUET_SMALLEST, "count"},
    COUNT("damage"),
    COUNT("cut_calls"),
    {"budget", TP_PARQUET_DOUBLE, true, TP_PARQUET_PLAIN, NULL},
    {"budget_overhead", TP_PARQUET_DOUBLE, true, TP_PARQUET_PLAIN, NULL},
    COUNT("selected_functions"),
    NS("processor_ns"),
    NS("processor_delay_ns"),
    COUNT("events"),
    COUNT("calls"),
    COUNT("threads"),
    COUNT("functions"),
    COUNT("paths"),
    NS("self_ns"),
    TEXT("teeperf"),
};

static const struct tp_fleet_column functions[] = {
    TEXT("run_id"),
    KEY("fn_key"),
    TEXT("function"),
    TEXT("linkage"),
    TEXT("module"),
    TEXT("build_id"),
    TEXT("file"),
    KEY("line"),
    SMALL("same_key", "count"),
    COUNT("calls"),
    COUNT("timed_calls"),
    COUNT("counted_calls"),
    COUNT("sampled_calls"),
    NS("self_ns"),
    NS("inclusive_ns"),
    NS("total_ns"),
    NS("min_ns"),
    NS("max_ns"),
    NS("self_cpu_ns"),
    NS("self_wait_ns"),
    NS("self_preempted_ns"),
    NS("inclusive_cpu_ns"),
    NS("inclusive_wait_ns"),
    NS("inclusive_preempted_ns"),
    NS("self_uncertainty_ns"),
};

static const struct tp_fleet_column paths[] = {
    TEXT("run_id"),
    KEY("path_key"),
    KEY("parent_key"),
    KEY("fn_key"),
    SMALL("depth", NULL),
    SMALL("recursion", NULL),
};

static const struct tp_fleet_column profile[] = {
    TEXT("run_id"),
    TEXT("thread_group"),
    KEY("path_key"),
    KEY("fn_key"),
    SMALL("recursion", NULL),
    COUNT("calls"),
    NS("self_ns"),
    NS("inclusive_ns"),
    NS("min_ns"),
    NS("max_ns"),
    NS("self_cpu_ns"),
    NS("self_wait_ns"),
};

static const struct tp_fleet_column histograms[] = {
    TEXT("run_id"),
    KEY("fn_key"),
    SMALL("bucket", NULL),
    NS_ALWAYS("value_ns"),
    COUNT("calls"),
};

static const struct tp_fleet_column path_histograms[] = {
    TEXT("run_id"),
    KEY("path_key"),
    KEY("fn_key"),
    SMALL("bucket", NULL),
    NS_ALWAYS("value_ns"),
    COUNT("calls"),
};

static const struct tp_fleet_column calls[] = {
    TEXT("run_id"),
    SMALL_OF_CALL("thread"),
    TEXT("thread_group"),
    KEY_OF_CALL("fn_key"),
    KEY_OF_CALL("path_key"),
    SMALL_OF_CALL("depth"),
    SMALL_OF_CALL("recursion"),
    NS_OF_CALL("start_ns"),
    NS_OF_CALL("duration_raw_ns"),
    NS_OF_CALL("self_raw_ns"),
    TEXT("how"),
};

static const struct tp_fleet_column waits[] = {
    TEXT("run_id"),
    KEY("path_key"),
    KEY("fn_key"),
    TEXT("call"),
    KEY("waker_path_key"),
    KEY("waker_fn_key"),
    COUNT("waits"),
    NS_ALWAYS("wait_ns"),
    NS_ALWAYS("max_ns"),
};

static const struct tp_fleet_column io[] = {
    TEXT("run_id"),
    KEY("path_key"),
    KEY("fn_key"),
    TEXT("call"),
    COUNT("operations"),
    {"bytes", TP_PARQUET_INT64, false, TP_PARQUET_SMALLEST, "bytes"},
    NS_ALWAYS("duration_ns"),
    NS_ALWAYS("max_ns"),
};

#define REAL(name, optional)                                              \
	{                                                                 \
		name, TP_PARQUET_DOUBLE, optional, TP_PARQUET_PLAIN, NULL \
	}

static const struct tp_fleet_column experiments[] = {
    TEXT("run_id"),
    NS_ALWAYS("start_unix_ns"),
    TEXT("host"),
    TEXT("git_revision"),
    TEXT("labels"),
    TEXT("task"),
    TEXT("experiment"),
    TEXT("variant"),
    TEXT("factors"),
    TEXT("metric"),
    TEXT("unit"),
    COUNT("runs"),
    REAL("median", false),
    REAL("median_low", true),
    REAL("median_high", true),
    REAL("min_value", false),
    REAL("max_value", false),
    REAL("sum_value", false),
    REAL("sum_squares", false),
    TEXT("teeperf"),
};

#define TABLE(name) #name, .columns = name, .count = sizeof(name) / sizeof(name[0])

const struct tp_fleet_table tp_fleet_tables[TP_FLEET_TABLES] = {
    [TP_FLEET_RUNS] = {TABLE(runs), .summary = "one row for each run",
	.sorted = {"start_unix_ns", "run_id"}, .always = true},
    [TP_FLEET_FUNCTIONS] = {TABLE(functions), .summary = "sums of each function in each run",
	.sorted = {"fn_key", "run_id"}, .always = true},
    [TP_FLEET_PATHS] = {TABLE(paths), .summary = "call paths of each run",
	.sorted = {"path_key", "run_id"}, .always = true},
    [TP_FLEET_PROFILE] = {TABLE(profile),
	.summary = "sums of each call path and group of threads in each run",
	.sorted = {"path_key", "run_id", "thread_group"}, .always = true},
    [TP_FLEET_HISTOGRAMS] = {TABLE(histograms),
	.summary = "durations of each function's calls, by run",
	.sorted = {"fn_key", "run_id", "bucket"}, .always = true},
    [TP_FLEET_PATH_HISTOGRAMS] = {TABLE(path_histograms),
	.summary = "the same for call paths with 1 % of the run's time",
	.sorted = {"path_key", "run_id", "bucket"}, .always = true},
    [TP_FLEET_CALLS] = {TABLE(calls), .summary = "single calls (add --calls)",
	.sorted = {"run_id", "thread", "start_ns"}},
    [TP_FLEET_WAITS] = {TABLE(waits), .summary = "waits and what ended them (record --events)",
	.sorted = {"path_key", "run_id", "call"}},
    [TP_FLEET_IO] = {TABLE(io), .summary = "reads, writes and requests (record --events)",
	.sorted = {"path_key", "run_id", "call"}},
    [TP_FLEET_EXPERIMENTS] = {TABLE(experiments),
	.summary = "figures of experiments with their intervals (fleet add RESULTS)",
	.sorted = {"run_id", "experiment", "metric"}},
};

uint32_t tp_fleet_column_number(const struct tp_fleet_table *table, const char *name)
{
	uint32_t i = 0;
	while (i < table->count && strcmp(table->columns[i].name, name) != 0)
		i++;
	assert(i < table->count);
	return i;
}

const char *tp_fleet_type_name(enum tp_parquet_type type)
{
	return type == TP_PARQUET_TEXT    ? "text"
	       : type == TP_PARQUET_INT32 ? "int32"
	       : type == TP_PARQUET_INT64 ? "int64"
					  : "real";
}

// {"self_ns": "ns", ...}
static void add_units(struct tp_buf *out, const struct tp_fleet_table *table)
{
	struct tp_json json;
	tp_json_init(&json, out, TP_JSON_COMPACT);
	tp_json_object(&json, NULL);
	for (uint32_t i = 0; i < table->count; i++)
		if (table->columns[i].unit)
			tp_json_text(&json, table->columns[i].name, table->columns[i].unit);
	tp_json_end(&json);
}

int tp_fleet_file_open(struct tp_fleet_file *file, const struct tp_fleet_table *table,
    const char *directory, const char *name, struct tp_err *err)
{
	file->table = table;
	tp_buf_init(&file->units);
	tp_buf_init(&file->sorted);
	snprintf(file->schema, sizeof(file->schema), "%d", TP_FLEET_SCHEMA);
	add_units(&file->units, table);
	for (uint32_t i = 0; i < 4 && table->sorted[i]; i++)
		tp_buf_addf(&file->sorted, "%s%s", i ? "," : "", table->sorted[i]);
	for (uint32_t i = 0; i < table->count; i++)
		file->columns[i] = (struct tp_parquet_column){
		    .name = table->columns[i].name,
		    .type = table->columns[i].type,
		    .optional = table->columns[i].optional,
		    .encoding = table->columns[i].encoding,
		};
	file->columns[table->count] = (struct tp_parquet_column){0};
	const int code =
	    tp_parquet_open(&file->parquet, directory, name, file->columns, table->sorted[0], err);
	const struct tp_parquet_fact facts[] = {
	    {"teeperf.table", table->name},
	    {"teeperf.schema", file->schema},
	    {"teeperf.units", file->units.data},
	    {"teeperf.sorted", file->sorted.data},
	    {"teeperf.version", TEEPERF_VERSION},
	};
	memcpy(file->facts, facts, sizeof(facts));
	file->parquet.facts = file->facts;
	file->parquet.fact_count = sizeof(facts) / sizeof(facts[0]);
	file->parquet.failed |= file->units.failed || file->sorted.failed;
	return code;
}

int tp_fleet_file_close(struct tp_fleet_file *file, int code, struct tp_err *err)
{
	struct tp_err close_err;
	const int closed = tp_parquet_close(&file->parquet, &close_err);
	tp_buf_release(&file->units);
	tp_buf_release(&file->sorted);
	if (!code && closed && err)
		*err = close_err;
	return code ? code : closed;
}
