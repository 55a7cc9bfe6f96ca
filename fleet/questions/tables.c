// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tables of a fleet as those of SQL: files are read when a statement names their table.
#include "questions.h"

#include "fleet/scan.h"
#include "analyzer/query/sql.h"
#include "common/array.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Where rows go.
struct filling {
	struct tp_fleet_tables *tables;
	const struct tp_fleet_table *table;
	sqlite3 *db;
	sqlite3_stmt *insert;
};

// ---- what a statement reads

static void reads(void *context, const char *name, const char *column)
{
	struct tp_fleet_tables *tables = context;
	for (int id = 0; id < TP_FLEET_TABLES; id++) {
		const struct tp_fleet_table *table = &tp_fleet_tables[id];
		if (sqlite3_stricmp(table->name, name) != 0)
			continue;
		tables->asked[id] = true;
		for (uint32_t i = 0; i < table->count; i++)
			if (sqlite3_stricmp(table->columns[i].name, column) == 0)
				tables->wanted[id] |= UINT64_C(1) << i;
		if (sqlite3_stricmp("day", column) == 0)
			tables->wanted[id] |= UINT64_C(1) << table->count;
		if (sqlite3_stricmp("program", column) == 0)
			tables->wanted[id] |= UINT64_C(2) << table->count;
	}
}

// ---- rows

static int bind(sqlite3_stmt *insert, int at, enum tp_parquet_type type,
    const struct tp_parquet_values *values, uint64_t row)
{
	const int64_t number = values->numbers[row];
	double real;
	if (!tp_parquet_has(values, row))
		return sqlite3_bind_null(insert, at);
	if (type == TP_PARQUET_TEXT)
		return sqlite3_bind_text(insert, at, values->texts[number], -1, SQLITE_STATIC);
	if (type != TP_PARQUET_DOUBLE)
		return sqlite3_bind_int64(insert, at, number);
	memcpy(&real, &number, sizeof(real));
	return sqlite3_bind_double(insert, at, real);
}

static int sql_fail(const struct filling *filling, struct tp_err *err)
{
	const int code = sqlite3_errcode(filling->db);
	return code == SQLITE_NOMEM       ? tp_err_memory(err, NULL)
	       : code == SQLITE_INTERRUPT ? tp_err_set(err, TP_ERR_LIMIT, NULL, "interrupted")
					  : tp_err_set(err, TP_ERR_LIMIT, filling->table->name,
						"SQLite: %s", sqlite3_errmsg(filling->db));
}

static int take_rows(void *context, const struct tp_fleet_rows *rows, struct tp_err *err)
{
	const struct filling *filling = context;
	const struct tp_fleet_table *table = filling->table;
	const int count = (int)table->count;
	sqlite3_clear_bindings(filling->insert);
	if (sqlite3_bind_text(filling->insert, count + 1, rows->day, -1, SQLITE_STATIC) ||
	    sqlite3_bind_text(filling->insert, count + 2, rows->program, -1, SQLITE_STATIC))
		return sql_fail(filling, err);
	for (uint64_t row = 0; row < rows->count; row++) {
		int failed = SQLITE_OK;
		if (rows->runs && rows->runs[row] == TP_FLEET_NO_RUN)
			continue;
		for (uint32_t i = 0; !failed && i < table->count; i++)
			if (rows->columns[i].numbers)
				failed = bind(filling->insert, (int)i + 1, table->columns[i].type,
				    &rows->columns[i], row);
		if (!failed && sqlite3_step(filling->insert) != SQLITE_DONE)
			failed = SQLITE_ERROR;
		sqlite3_reset(filling->insert);
		if (failed)
			return sql_fail(filling, err);
	}
	return 0;
}

// ---- which rows

static bool wants(void *context, const char *day, const char *program, const char *run)
{
	const struct tp_fleet_chosen *chosen = &((struct filling *)context)->tables->chosen;
	bool found = !chosen->program_count || !program;
	(void)run;
	for (uint32_t i = 0; !found && i < chosen->program_count; i++)
		found = strcmp(program, chosen->programs[i]) == 0;
	return found && (!chosen->day_from || strcmp(day, chosen->day_from) >= 0) &&
	       (!chosen->day_to || strcmp(day, chosen->day_to) <= 0);
}

static uint32_t number_of_run(void *context, const char *run_id)
{
	const struct filling *filling = context;
	return tp_fleet_names_have(&filling->tables->runs, run_id) ? 0 : TP_FLEET_NO_RUN;
}

static const char *const choosing[] = {"run_id", "build_id", "git_revision", "labels"};

// The runs of a group that are chosen, by a row of each.
static int choose_runs_of(void *context, const struct tp_fleet_rows *rows, struct tp_err *err)
{
	const struct filling *filling = context;
	struct tp_fleet_tables *tables = filling->tables;
	const struct tp_parquet_values none = {0};
	const struct tp_parquet_values *columns[4] = {&none, &none, &none, &none};
	for (uint32_t i = 0; i < filling->table->count; i++)
		for (int j = 0; j < 4; j++)
			if (strcmp(filling->table->columns[i].name, choosing[j]) == 0)
				columns[j] = &rows->columns[i];
	for (uint64_t row = 0; row < rows->count; row++) {
		if (!tp_fleet_chosen_fits(&tables->chosen, tp_parquet_text(columns[1], row),
			tp_parquet_text(columns[2], row), tp_parquet_text(columns[3], row)))
			continue;
		if (!tp_fleet_names_add(&tables->runs, tp_parquet_text(columns[0], row)))
			return tp_err_memory(err, NULL);
	}
	return 0;
}

// What was found before stays: a run that is found twice is chosen once.
static int begin_runs(void *context, struct tp_err *err)
{
	(void)context;
	(void)err;
	return 0;
}

// Sets of experiments have an id of their own, and rows that say the same of them.
static int choose_runs(struct tp_fleet_tables *tables, struct tp_err *err)
{
	static const enum tp_fleet_table_id ids[] = {TP_FLEET_RUNS, TP_FLEET_EXPERIMENTS};
	int code = 0;
	for (size_t i = 0; !code && i < sizeof(ids) / sizeof(ids[0]); i++) {
		struct filling filling = {.tables = tables, .table = &tp_fleet_tables[ids[i]]};
		struct tp_fleet_scan scan = {
		    .directory = tables->directory,
		    .table = ids[i],
		    .wants = wants,
		    .begin = begin_runs,
		    .take = choose_runs_of,
		    .context = &filling,
		};
		for (uint32_t j = 0; j < filling.table->count; j++)
			for (int k = 0; k < 4; k++)
				if (strcmp(filling.table->columns[j].name, choosing[k]) == 0)
					scan.columns |= UINT64_C(1) << j;
		code = tp_fleet_scan(&scan, err);
	}
	tp_fleet_names_sort(&tables->runs);
	tables->runs_known = !code;
	return code;
}

// ---- tables

static sqlite3_stmt *prepare_insert(sqlite3 *db, const struct tp_fleet_table *table)
{
	sqlite3_stmt *insert = NULL;
	sqlite3_str *text = sqlite3_str_new(db);
	sqlite3_str_appendf(text, "INSERT INTO main.%s VALUES(?,?", table->name);
	for (uint32_t i = 0; i < table->count; i++)
		sqlite3_str_appendall(text, ",?");
	sqlite3_str_appendall(text, ")");
	char *sql = sqlite3_str_finish(text);
	if (sql)
		sqlite3_prepare_v2(db, sql, -1, &insert, NULL);
	sqlite3_free(sql);
	return insert;
}

static int begin(void *context, struct tp_err *err)
{
	const struct filling *filling = context;
	sqlite3_exec(filling->db, "ROLLBACK", NULL, NULL, NULL); // of a try before this
	return tp_sql_run(
		   filling->tables->query, "BEGIN; DELETE FROM main.%s", filling->table->name)
		   ? sql_fail(filling, err)
		   : 0;
}

static int fill_table(
    struct tp_fleet_tables *tables, int id, struct tp_query *query, struct tp_err *err)
{
	struct filling filling = {.tables = tables, .table = &tp_fleet_tables[id], .db = query->db};
	struct tp_fleet_scan scan = {
	    .directory = tables->directory,
	    .table = (enum tp_fleet_table_id)id,
	    .columns = tables->wanted[id],
	    .wants = wants,
	    .run = tables->runs_known ? number_of_run : NULL,
	    .begin = begin,
	    .take = take_rows,
	    .context = &filling,
	};
	filling.insert = prepare_insert(query->db, filling.table);
	int code = filling.insert ? tp_fleet_scan(&scan, err) : sql_fail(&filling, err);
	if (!code && tp_sql_run(query, "COMMIT"))
		code = sql_fail(&filling, err);
	if (code)
		tp_sql_run(query, "ROLLBACK");
	sqlite3_finalize(filling.insert);
	tables->there[id] = !code;
	tables->filled[id] = tables->wanted[id];
	return code;
}

int tp_fleet_tables_read(
    struct tp_fleet_tables *tables, enum tp_fleet_table_id id, struct tp_err *err)
{
	return fill_table(tables, (int)id, tables->query, err);
}

static int fill(void *context, struct tp_query *query, struct tp_err *err)
{
	struct tp_fleet_tables *tables = context;
	int code = 0;
	if (tp_fleet_chosen_by_row(&tables->chosen) && !tables->runs_known)
		code = choose_runs(tables, err);
	for (int id = 0; !code && id < TP_FLEET_TABLES; id++)
		if (tables->asked[id] &&
		    (!tables->there[id] || tables->wanted[id] & ~tables->filled[id]))
			code = fill_table(tables, id, query, err);
	return code;
}

static int create(struct tp_query *query, const struct tp_fleet_table *table)
{
	sqlite3_str *text = sqlite3_str_new(query->db);
	sqlite3_str_appendf(text, "CREATE TABLE main.%s(", table->name);
	for (uint32_t i = 0; i < table->count; i++)
		sqlite3_str_appendf(text, "%s %s, ", table->columns[i].name,
		    table->columns[i].type == TP_PARQUET_TEXT     ? "TEXT"
		    : table->columns[i].type == TP_PARQUET_DOUBLE ? "REAL"
								  : "INTEGER");
	sqlite3_str_appendall(text, "day TEXT, program TEXT)");
	char *sql = sqlite3_str_finish(text);
	const int code = sql ? tp_sql_run(query, "%s", sql) : SQLITE_NOMEM;
	sqlite3_free(sql);
	return code;
}

int tp_fleet_tables_add(struct tp_fleet_tables *tables, const char *directory,
    const struct tp_fleet_chosen *chosen, struct tp_query *query, struct tp_err *err)
{
	*tables = (struct tp_fleet_tables){
	    .directory = directory,
	    .chosen = *chosen,
	    .query = query,
	    .source = {tables, "; 'teeperf fleet schema' lists them", reads, fill},
	};
	int code = tp_fleet_check(directory, err);
	for (int id = 0; !code && id < TP_FLEET_TABLES; id++)
		if (create(query, &tp_fleet_tables[id]))
			code = tp_err_set(
			    err, TP_ERR_LIMIT, directory, "SQLite: %s", sqlite3_errmsg(query->db));
	if (!code)
		tp_query_set_source(query, &tables->source);
	return code;
}

void tp_fleet_tables_release(struct tp_fleet_tables *tables)
{
	tp_fleet_names_release(&tables->runs);
}
