// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tables of a fleet in ClickHouse, and their rows.
#include "clickhouse.h"

#include "fleet/scan.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
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

// ---- rows

static void add_insert(struct tp_buf *out, const struct tp_fleet_table *table, const char *database)
{
	tp_buf_addf(out, "INSERT INTO %s.%s (day, program", database, table->name);
	for (uint32_t i = 0; i < table->count; i++)
		tp_buf_addf(out, ", %s", table->columns[i].name);
	if (table == &tp_fleet_tables[TP_FLEET_CALLS])
		tp_buf_add_string(out, ", call_number");
	tp_buf_add_string(out, ") FORMAT TabSeparated\n");
}

static void add_text(struct tp_buf *out, const char *text)
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

static void add_value(struct tp_buf *out, const struct tp_fleet_column *column,
    const struct tp_parquet_values *values, uint64_t row)
{
	const int64_t number = values->numbers ? values->numbers[row] : 0;
	double real;
	if (column->optional && !tp_parquet_has(values, row)) {
		tp_buf_add_string(out, "\\N");
	} else if (column->type == TP_PARQUET_TEXT) {
		add_text(out, tp_parquet_text(values, row));
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

// Rows on their way out.
struct printing {
	const struct tp_fleet_place *place;
	const struct tp_fleet_names *runs;
	char program[TP_FLEET_NAME];
	struct tp_buf out;
	char call_run[64]; // of the last call: its run, thread, and number in that
	int64_t call_thread;
	int64_t call_number;
};

static int drain(struct printing *printing, size_t size, struct tp_err *err)
{
	struct tp_buf *out = &printing->out;
	if (out->failed)
		return tp_err_memory(err, printing->place->directory);
	if (out->size <= size)
		return 0;
	if (fwrite(out->data, 1, out->size, stdout) != out->size || fflush(stdout))
		return tp_err_system(err, errno, NULL, "cannot write the rows");
	tp_buf_reset(out);
	return 0;
}

// Calls are numbered in each thread of a run: a thread's are together, in the order of their time.
static int64_t number_call(struct printing *printing, const char *run, int64_t thread)
{
	if (strcmp(run, printing->call_run) != 0 || thread != printing->call_thread)
		printing->call_number = 0;
	snprintf(printing->call_run, sizeof(printing->call_run), "%s", run);
	printing->call_thread = thread;
	return printing->call_number++;
}

static void add_row(struct printing *printing, const struct tp_parquet_values *values, uint64_t row)
{
	const struct tp_fleet_table *table = printing->place->table;
	struct tp_buf *out = &printing->out;
	tp_buf_addf(out, "%s\t", printing->place->day + strlen("day="));
	add_text(out, printing->program);
	for (uint32_t i = 0; i < table->count; i++) {
		tp_buf_add_char(out, '\t');
		add_value(out, &table->columns[i], &values[i], row);
	}
	if (table == &tp_fleet_tables[TP_FLEET_CALLS]) {
		const char *run =
		    tp_parquet_text(&values[tp_fleet_column_number(table, "run_id")], row);
		const int64_t *threads = values[tp_fleet_column_number(table, "thread")].numbers;
		tp_buf_addf(
		    out, "\t%" PRId64, number_call(printing, run, threads ? threads[row] : 0));
	}
	tp_buf_add_char(out, '\n');
}

static int print_rows(void *context, const struct tp_fleet_rows *rows, struct tp_err *err)
{
	struct printing *printing = context;
	int code = 0;
	for (uint64_t row = 0; !code && row < rows->count; row++) {
		if (rows->runs[row] != TP_FLEET_NO_RUN)
			add_row(printing, rows->columns, row);
		code = drain(printing, TP_BUF_DRAIN_SIZE, err);
	}
	return code;
}

static uint32_t number_of_run(void *context, const char *run_id)
{
	const struct printing *printing = context;
	return tp_fleet_names_have(printing->runs, run_id) ? 0 : TP_FLEET_NO_RUN;
}

static bool wants(void *context, const char *day, const char *program, const char *run)
{
	const struct printing *printing = context;
	return strcmp(day, printing->place->day + strlen("day=")) == 0 &&
	       (!program || strcmp(program, printing->program) == 0) &&
	       (!run || tp_fleet_is_of_many(run) || tp_fleet_names_have(printing->runs, run));
}

int tp_clickhouse_print(const struct tp_fleet_place *place, const struct tp_fleet_names *runs,
    const char *database, struct tp_err *err)
{
	struct printing printing = {.place = place, .runs = runs};
	struct tp_fleet_scan scan = {
	    .directory = place->directory,
	    .table = (enum tp_fleet_table_id)(place->table - tp_fleet_tables),
	    .columns = UINT64_MAX,
	    .wants = wants,
	    .run = number_of_run,
	    .take = print_rows,
	    .context = &printing,
	};
	tp_buf_init(&printing.out);
	tp_fleet_decode(printing.program, place->program + strlen("program="));
	add_insert(&printing.out, place->table, database);
	int code = tp_fleet_scan(&scan, err);
	if (!code)
		code = drain(&printing, 0, err);
	tp_buf_release(&printing.out);
	return code;
}
