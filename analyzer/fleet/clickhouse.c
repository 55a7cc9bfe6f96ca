// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tables of a fleet in ClickHouse.
#include "clickhouse.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

// By what rows are sorted, and what no two rows have in common.
static const char *const keys[TP_FLEET_TABLES] = {
    [TP_FLEET_RUNS] = "start_unix_ns, run_id",
    [TP_FLEET_FUNCTIONS] = "fn_key, run_id",
    [TP_FLEET_PATHS] = "path_key, run_id",
    [TP_FLEET_PROFILE] = "path_key, run_id, thread_group",
    [TP_FLEET_HISTOGRAMS] = "fn_key, run_id, bucket",
    [TP_FLEET_PATH_HISTOGRAMS] = "path_key, run_id, bucket",
    [TP_FLEET_CALLS] = "run_id, thread, call_number",
    [TP_FLEET_WAITS] = "path_key, run_id, call, waker_path_key",
    [TP_FLEET_IO] = "path_key, run_id, call",
    [TP_FLEET_EXPERIMENTS] = "task, metric, experiment, run_id",
};

bool tp_clickhouse_is_name(const char *name)
{
	if (!isalpha((unsigned char)*name) && *name != '_')
		return false;
	for (; *name; name++)
		if (!isalnum((unsigned char)*name) && *name != '_')
			return false;
	return true;
}

static const char *type_name(enum tp_parquet_type type)
{
	return type == TP_PARQUET_TEXT    ? "String"
	       : type == TP_PARQUET_INT32 ? "Int32"
	       : type == TP_PARQUET_INT64 ? "Int64"
					  : "Float64";
}

static void add_columns(struct tp_buf *out, const struct tp_fleet_table *table)
{
	tp_buf_add_string(out, "(\n    day Date,\n    program String");
	for (uint32_t i = 0; i < table->count; i++) {
		const struct tp_fleet_column *column = &table->columns[i];
		const char *type = type_name(column->type);
		tp_buf_addf(out, column->optional ? ",\n    %s Nullable(%s)" : ",\n    %s %s",
		    column->name, type);
	}
	if (table == &tp_fleet_tables[TP_FLEET_CALLS])
		tp_buf_add_string(out, ",\n    call_number Int64");
	tp_buf_add_string(out, "\n)");
}

static void add_table(
    struct tp_buf *out, const struct tp_clickhouse_form *form, enum tp_fleet_table_id id)
{
	const struct tp_fleet_table *table = &tp_fleet_tables[id];
	const char *local = form->cluster ? "_local" : "";
	tp_buf_addf(
	    out, "\nCREATE TABLE IF NOT EXISTS %s.%s%s ", form->database, table->name, local);
	add_columns(out, table);
	if (form->replicated)
		tp_buf_addf(out,
		    "\nENGINE = ReplicatedReplacingMergeTree("
		    "'/clickhouse/tables/{shard}/%s/%s', '{replica}')",
		    form->database, table->name);
	else
		tp_buf_add_string(out, "\nENGINE = ReplacingMergeTree()");
	tp_buf_addf(out, "\nPARTITION BY toYYYYMM(day)\nORDER BY (%s);\n", keys[id]);
	// All rows of a run are on one server.
	if (form->cluster)
		tp_buf_addf(out,
		    "\nCREATE TABLE IF NOT EXISTS %s.%s AS %s.%s_local"
		    "\nENGINE = Distributed(%s, %s, %s_local, cityHash64(run_id));\n",
		    form->database, table->name, form->database, table->name, form->cluster,
		    form->database, table->name);
}

void tp_clickhouse_schema(struct tp_buf *out, const struct tp_clickhouse_form *form)
{
	tp_buf_addf(out, "-- A fleet of TeePerf, schema %d%s.\n", TP_FLEET_SCHEMA,
	    form->cluster ? ": run this on each server of the cluster" : "");
	tp_buf_addf(out, "CREATE DATABASE IF NOT EXISTS %s;\n", form->database);
	for (int id = 0; id < TP_FLEET_TABLES; id++)
		add_table(out, form, (enum tp_fleet_table_id)id);
}

void tp_clickhouse_insert(
    struct tp_buf *out, const struct tp_fleet_table *table, const char *database)
{
	tp_buf_addf(out, "INSERT INTO %s.%s (day, program", database, table->name);
	for (uint32_t i = 0; i < table->count; i++)
		tp_buf_addf(out, ", %s", table->columns[i].name);
	if (table == &tp_fleet_tables[TP_FLEET_CALLS])
		tp_buf_add_string(out, ", call_number");
	tp_buf_add_string(out, ") FORMAT TabSeparated\n");
}

void tp_clickhouse_text(struct tp_buf *out, const char *text)
{
	for (const char *special; (special = strpbrk(text, "\\\t\n\r")); text = special + 1) {
		tp_buf_add(out, text, (size_t)(special - text));
		tp_buf_add_char(out, '\\');
		tp_buf_add_char(out, *special == '\t'   ? 't'
				     : *special == '\n' ? 'n'
				     : *special == '\r' ? 'r'
							: '\\');
	}
	tp_buf_add_string(out, text);
}

void tp_clickhouse_value(struct tp_buf *out, const struct tp_fleet_column *column,
    const struct tp_parquet_values *values, uint64_t row)
{
	const int64_t number = values ? values->numbers[row] : 0;
	double real;
	if (values ? values->present && !values->present[row] : column->optional) {
		tp_buf_add_string(out, "\\N");
	} else if (column->type == TP_PARQUET_TEXT) {
		if (values)
			tp_clickhouse_text(out, values->texts[number]);
	} else if (column->type == TP_PARQUET_DOUBLE) {
		memcpy(&real, &number, sizeof(real));
		if (isfinite(real))
			tp_buf_addf(out, "%.17g", real);
		else
			tp_buf_add_string(out, isnan(real) ? "nan" : real > 0 ? "inf" : "-inf");
	} else {
		tp_buf_addf(out, "%" PRId64, number);
	}
}
