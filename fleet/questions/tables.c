// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tables of a fleet as those of SQL: files are read when a statement names their table.
#include "questions.h"

#include "analyzer/output/format/parquet_read.h"
#include "analyzer/query/sql.h"
#include "common/array.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TRIES = 3 }; // to list files that another command exchanges meanwhile

// Where rows go.
struct filling {
	struct tp_fleet_tables *tables;
	const struct tp_fleet_table *table;
	uint64_t columns;
	sqlite3 *db;
	sqlite3_stmt *insert;
	const char *day;
	const char *program;
	bool choosing; // runs are to be chosen by its rows, which go nowhere else
	bool gone;     // a file that was listed is not there any more
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

static int sql_fail(const struct filling *filling, const char *where, struct tp_err *err)
{
	const int code = sqlite3_errcode(filling->db);
	return code == SQLITE_NOMEM       ? tp_err_memory(err, where)
	       : code == SQLITE_INTERRUPT ? tp_err_set(err, TP_ERR_LIMIT, NULL, "interrupted")
					  : tp_err_set(err, TP_ERR_LIMIT, where, "SQLite: %s",
						sqlite3_errmsg(filling->db));
}

// ---- which runs

// The runs of a group that are chosen, by a row of each.
static int choose_runs_of(struct filling *filling, const struct tp_parquet_reader *reader,
    uint32_t group, struct tp_err *err)
{
	static const char *const columns[] = {"run_id", "build_id", "git_revision", "labels"};
	struct tp_fleet_tables *tables = filling->tables;
	struct tp_parquet_values values[4] = {0};
	int code = 0;
	for (int i = 0; !code && i < 4; i++)
		code = tp_parquet_values_read_named(
		    &values[i], reader, group, columns[i], TP_PARQUET_TEXT, err);
	for (uint64_t row = 0; !code && row < reader->groups[group].rows; row++) {
		if (!tp_fleet_chosen_fits(&tables->chosen, tp_parquet_text(&values[1], row),
			tp_parquet_text(&values[2], row), tp_parquet_text(&values[3], row)))
			continue;
		char *id = strdup(tp_parquet_text(&values[0], row));
		if (id && TP_GROW(tables->runs.items, tables->runs_room,
			      tables->runs.count + UINT64_C(1))) {
			tables->runs.items[tables->runs.count++] = id;
		} else {
			free(id);
			code = tp_err_memory(err, reader->name);
		}
	}
	for (int i = 0; i < 4; i++)
		tp_parquet_values_release(&values[i]);
	return code;
}

// Which rows of a group are of a chosen run: NULL in *CHOSEN: all.
static int choose_rows(const struct filling *filling, const struct tp_parquet_reader *reader,
    uint32_t group, bool **chosen, struct tp_err *err)
{
	struct tp_parquet_values ids = {0};
	const uint64_t rows = reader->groups[group].rows;
	*chosen = NULL;
	if (!filling->tables->runs_known)
		return 0;
	int code =
	    tp_parquet_values_read_named(&ids, reader, group, "run_id", TP_PARQUET_TEXT, err);
	bool *fits = code ? NULL : calloc(ids.text_count + (size_t)1, sizeof(*fits));
	*chosen = fits ? calloc(rows + 1, sizeof(**chosen)) : NULL;
	if (!code && !*chosen)
		code = tp_err_memory(err, reader->name);
	for (uint32_t i = 0; !code && i < ids.text_count; i++)
		fits[i] = tp_fleet_names_have(&filling->tables->runs, ids.texts[i]);
	for (uint64_t row = 0; !code && ids.numbers && row < rows; row++)
		(*chosen)[row] = tp_parquet_has(&ids, row) && fits[ids.numbers[row]];
	free(fits);
	tp_parquet_values_release(&ids);
	return code;
}

// ---- rows of files

static int take_group(struct filling *filling, const struct tp_parquet_reader *reader,
    uint32_t group, struct tp_err *err)
{
	const struct tp_fleet_table *table = filling->table;
	struct tp_parquet_values *values = calloc(table->count, sizeof(*values));
	bool *chosen = NULL;
	int code = values ? choose_rows(filling, reader, group, &chosen, err)
			  : tp_err_memory(err, reader->name);
	for (uint32_t i = 0; !code && i < table->count; i++) {
		if (!(filling->columns >> i & 1))
			continue;
		// An older version does not have it: NULL.
		code = tp_parquet_values_read_named(
		    &values[i], reader, group, table->columns[i].name, table->columns[i].type, err);
	}
	for (uint64_t row = 0; !code && row < reader->groups[group].rows; row++) {
		int failed = SQLITE_OK;
		if (chosen && !chosen[row])
			continue;
		for (uint32_t i = 0; !failed && i < table->count; i++)
			if (values[i].numbers)
				failed = bind(filling->insert, (int)i + 1, table->columns[i].type,
				    &values[i], row);
		if (!failed && sqlite3_step(filling->insert) != SQLITE_DONE)
			failed = SQLITE_ERROR;
		if (failed)
			code = sql_fail(filling, reader->name, err);
		sqlite3_reset(filling->insert);
	}
	for (uint32_t i = 0; values && i < table->count; i++)
		tp_parquet_values_release(&values[i]);
	free(values);
	free(chosen);
	filling->tables->rows += code ? 0 : reader->groups[group].rows;
	return code;
}

static int take_file(void *context, const char *path, struct tp_err *err)
{
	struct filling *filling = context;
	struct tp_parquet_reader reader;
	int code = tp_parquet_reader_open(&reader, path, err);
	filling->tables->files += !code;
	for (uint32_t group = 0; !code && filling->choosing && group < reader.group_count; group++)
		code = choose_runs_of(filling, &reader, group, err);
	if (filling->choosing) {
		tp_parquet_reader_close(&reader);
		return code;
	}
	sqlite3_clear_bindings(filling->insert);
	const int count = (int)filling->table->count;
	if (!code &&
	    (sqlite3_bind_text(filling->insert, count + 1, filling->day, -1, SQLITE_STATIC) ||
		sqlite3_bind_text(filling->insert, count + 2, filling->program, -1, SQLITE_STATIC)))
		code = sql_fail(filling, path, err);
	for (uint32_t group = 0; !code && group < reader.group_count; group++)
		code = take_group(filling, &reader, group, err);
	tp_parquet_reader_close(&reader);
	return code;
}

// ---- folders

static bool is_chosen_day(const struct tp_fleet_chosen *chosen, const char *day)
{
	return (!chosen->day_from || strcmp(day, chosen->day_from) >= 0) &&
	       (!chosen->day_to || strcmp(day, chosen->day_to) <= 0);
}

static bool is_chosen_program(const struct tp_fleet_chosen *chosen, const char *program)
{
	bool found = !chosen->program_count;
	for (uint32_t i = 0; i < chosen->program_count; i++)
		found |= strcmp(program, chosen->programs[i]) == 0;
	return found;
}

// The folders in FOLDER whose names begin with the prefix of LEVEL, and their contents.
static int take_folders(struct filling *filling, const char *folder, int level, struct tp_err *err)
{
	static const char *const prefixes[] = {"day=", "program=", "run="};
	const struct tp_fleet_chosen *chosen = &filling->tables->chosen;
	struct tp_fleet_names names;
	char path[TP_FLEET_PATH];
	char value[TP_FLEET_NAME];
	int code = tp_fleet_names_read(&names, folder, prefixes[level], err);
	for (uint32_t i = 0; !code && i < names.count; i++) {
		tp_fleet_decode(value, names.items[i] + strlen(prefixes[level]));
		if ((level == 0 && !is_chosen_day(chosen, value)) ||
		    (level == 1 && !is_chosen_program(chosen, value)))
			continue;
		filling->day = level == 0 ? value : filling->day;
		filling->program = level == 1 ? value : filling->program;
		code = tp_fleet_path(path, err, "%s/%s", folder, names.items[i]);
		if (!code)
			code = level == 2 ? tp_fleet_each_file(
						path, take_file, filling, &filling->gone, err)
					  : take_folders(filling, path, level + 1, err);
	}
	tp_fleet_names_release(&names);
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

static int fill_table(
    struct tp_fleet_tables *tables, int id, struct tp_query *query, struct tp_err *err)
{
	char folder[TP_FLEET_PATH];
	struct filling filling = {.tables = tables,
	    .table = &tp_fleet_tables[id],
	    .columns = tables->wanted[id],
	    .db = query->db};
	int code = tp_fleet_path(folder, err, "%s/%s", tables->directory, tp_fleet_tables[id].name);
	if (code)
		return code;
	filling.insert = prepare_insert(query->db, filling.table);
	if (!filling.insert)
		code = sql_fail(&filling, folder, err);
	for (int i = 0; i < TRIES; i++) {
		filling.gone = false;
		if (!code && tp_sql_run(query, "BEGIN; DELETE FROM main.%s", filling.table->name))
			code = sql_fail(&filling, folder, err);
		if (!code)
			code = take_folders(&filling, folder, 0, err);
		if (!sqlite3_get_autocommit(query->db) && tp_sql_run(query, "COMMIT") && !code)
			code = sql_fail(&filling, folder, err);
		if (!code || !filling.gone)
			break;
		code = i + 1 < TRIES ? 0 : code;
	}
	sqlite3_finalize(filling.insert);
	tables->there[id] = !code;
	tables->filled[id] = tables->wanted[id];
	return code;
}

static int compare_ids(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

// Sets of experiments have an id of their own, and rows that say the same of them.
static int choose_runs(struct tp_fleet_tables *tables, struct tp_err *err)
{
	static const enum tp_fleet_table_id ids[] = {TP_FLEET_RUNS, TP_FLEET_EXPERIMENTS};
	char folder[TP_FLEET_PATH];
	int code = 0;
	for (int i = 0; i < TRIES; i++) {
		bool gone = false;
		tp_fleet_names_release(&tables->runs);
		tables->runs_room = 0;
		for (size_t j = 0; !code && j < sizeof(ids) / sizeof(ids[0]); j++) {
			struct filling filling = {
			    .tables = tables,
			    .table = &tp_fleet_tables[ids[j]],
			    .choosing = true,
			};
			code = tp_fleet_path(
			    folder, err, "%s/%s", tables->directory, filling.table->name);
			if (!code)
				code = take_folders(&filling, folder, 0, err);
			gone |= filling.gone;
		}
		if (!code || !gone)
			break;
		code = i + 1 < TRIES ? 0 : code;
	}
	if (tables->runs.count)
		qsort(tables->runs.items, tables->runs.count, sizeof(*tables->runs.items),
		    compare_ids);
	tables->runs_known = !code;
	return code;
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
