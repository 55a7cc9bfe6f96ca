// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads of a fleet's files what a set of runs needs.
#include "store.h"

#include "analyzer/output/format/parquet_read.h"
#include "common/hash.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TRIES = 3 }; // to list files that another command exchanges meanwhile

struct scanning {
	struct tp_serve_store *store;
	const struct tp_serve_scan *scan;
	const struct tp_serve_set *set;
	uint8_t *chosen; // of each run of the store; NULL: all
	const char *day;
	const char *program;
	bool gone; // a file that was listed is not there any more
};

// ---- a file

// Which run each row is of. False: none of the set.
static bool find_runs(const struct scanning *scanning, const struct tp_parquet_values *ids,
    uint32_t *runs, uint32_t *of_text)
{
	const struct tp_serve_runs *all = &scanning->store->runs;
	bool found = false;
	for (uint32_t i = 0; i < ids->text_count; i++) {
		of_text[i] = tp_serve_runs_find(all, ids->texts[i]);
		if (of_text[i] != TP_SERVE_NONE && !scanning->chosen[of_text[i]])
			of_text[i] = TP_SERVE_NONE;
		found |= of_text[i] != TP_SERVE_NONE;
	}
	for (uint64_t row = 0; found && row < ids->count; row++)
		runs[row] = tp_parquet_has(ids, row) ? of_text[ids->numbers[row]] : TP_SERVE_NONE;
	return found;
}

static bool has_key(const struct tp_parquet_values *values, int64_t key)
{
	for (uint64_t i = 0; values->numbers && i < values->count; i++)
		if (values->numbers[i] == key)
			return true;
	return false;
}

static int take_group(struct scanning *scanning, const struct tp_parquet_reader *reader,
    uint32_t group, struct tp_err *err)
{
	const struct tp_serve_scan *scan = scanning->scan;
	const struct tp_fleet_table *table = &tp_fleet_tables[scan->table];
	const uint64_t rows = reader->groups[group].rows;
	struct tp_parquet_values ids = {0};
	struct tp_parquet_values columns[TP_SERVE_COLUMNS] = {0};
	uint32_t *runs = NULL;
	uint32_t *of_text = NULL;
	bool wanted = rows != 0;
	int code = 0;
	if (wanted && scanning->chosen) {
		code = tp_parquet_values_read_named(
		    &ids, reader, group, "run_id", TP_PARQUET_TEXT, err);
		runs = code ? NULL : malloc((rows + 1) * sizeof(*runs));
		of_text = runs ? malloc((ids.text_count + (size_t)1) * sizeof(*of_text)) : NULL;
		if (!code && !of_text)
			code = tp_err_memory(err, reader->name);
		wanted = !code && ids.numbers && find_runs(scanning, &ids, runs, of_text);
	}
	for (uint32_t i = 0; !code && wanted && scan->columns[i]; i++) {
		const char *name = scan->columns[i];
		code = tp_parquet_values_read_named(&columns[i], reader, group, name,
		    table->columns[tp_fleet_column_number(table, name)].type, err);
		if (!code && i == 0 && scan->key)
			wanted = has_key(&columns[0], *scan->key);
	}
	if (!code && wanted) {
		const struct tp_serve_rows taken = {rows, scanning->chosen ? runs : NULL, columns,
		    scanning->day, scanning->program};
		scanning->store->groups_read++;
		code = scan->take(scan->context, &taken, err);
	}
	for (uint32_t i = 0; i < TP_SERVE_COLUMNS; i++)
		tp_parquet_values_release(&columns[i]);
	tp_parquet_values_release(&ids);
	free(of_text);
	free(runs);
	return code;
}

static int take_file(void *context, const char *path, struct tp_err *err)
{
	struct scanning *scanning = context;
	struct tp_parquet_reader reader;
	int code = tp_parquet_reader_open(&reader, path, err);
	if (!code)
		code = tp_fleet_check_file(&reader, &tp_fleet_tables[scanning->scan->table], err);
	scanning->store->files_read += !code;
	for (uint32_t group = 0; !code && group < reader.group_count; group++) {
		if (atomic_load_explicit(&scanning->store->stop, memory_order_relaxed))
			code = tp_err_set(err, TP_ERR_LIMIT, NULL, "interrupted");
		else
			code = take_group(scanning, &reader, group, err);
	}
	tp_parquet_reader_close(&reader);
	return code;
}

// ---- folders

// Whether a folder run=NAME may have rows of the set: one of many runs may.
static bool may_have(const struct scanning *scanning, const char *name)
{
	if (!scanning->chosen)
		return true;
	const uint32_t run = tp_serve_runs_find(&scanning->store->runs, name);
	return run == TP_SERVE_NONE || scanning->chosen[run];
}

// The folder of a table, day and program, both as in folders' names.
static int take_place(
    struct scanning *scanning, const char *day, const char *program, struct tp_err *err)
{
	struct tp_fleet_names names;
	char folder[TP_FLEET_PATH];
	char path[TP_FLEET_PATH];
	char plain_day[TP_FLEET_NAME];
	char plain_program[TP_FLEET_NAME];
	char name[TP_FLEET_NAME];
	int code = tp_fleet_path(folder, err, "%s/%s/day=%s/program=%s", scanning->store->directory,
	    tp_fleet_tables[scanning->scan->table].name, day, program);
	if (code)
		return code;
	tp_fleet_decode(plain_day, day);
	tp_fleet_decode(plain_program, program);
	scanning->day = plain_day;
	scanning->program = plain_program;
	code = tp_fleet_names_read(&names, folder, "run=", err);
	for (uint32_t i = 0; !code && i < names.count; i++) {
		tp_fleet_decode(name, names.items[i] + strlen("run="));
		if (!may_have(scanning, name))
			continue;
		code = tp_fleet_path(path, err, "%s/%s", folder, names.items[i]);
		if (!code)
			code = tp_fleet_each_file(path, take_file, scanning, &scanning->gone, err);
	}
	tp_fleet_names_release(&names);
	return code;
}

// All days and programs.
static int take_all(struct scanning *scanning, struct tp_err *err)
{
	struct tp_fleet_names days;
	struct tp_fleet_names programs = {0};
	char folder[TP_FLEET_PATH];
	int code = tp_fleet_path(folder, err, "%s/%s", scanning->store->directory,
	    tp_fleet_tables[scanning->scan->table].name);
	if (code)
		return code;
	const size_t size = strlen(folder);
	code = tp_fleet_names_read(&days, folder, "day=", err);
	for (uint32_t i = 0; !code && i < days.count; i++) {
		folder[size] = '\0';
		code = tp_fleet_path(folder, err, "%s/%s/%s", scanning->store->directory,
		    tp_fleet_tables[scanning->scan->table].name, days.items[i]);
		if (!code)
			code = tp_fleet_names_read(&programs, folder, "program=", err);
		for (uint32_t j = 0; !code && j < programs.count; j++)
			code = take_place(scanning, days.items[i] + strlen("day="),
			    programs.items[j] + strlen("program="), err);
		tp_fleet_names_release(&programs);
	}
	tp_fleet_names_release(&days);
	return code;
}

static int compare_places(const void *a, const void *b)
{
	const struct tp_serve_run *x = *(const struct tp_serve_run *const *)a;
	const struct tp_serve_run *y = *(const struct tp_serve_run *const *)b;
	const int day = strcmp(x->day, y->day);
	return day ? day : strcmp(x->program, y->program);
}

// The days and programs of the set.
static int take_set(struct scanning *scanning, struct tp_err *err)
{
	const struct tp_serve_set *set = scanning->set;
	const struct tp_serve_run **places = malloc((set->count + (size_t)1) * sizeof(*places));
	char day[TP_FLEET_NAME];
	char program[TP_FLEET_NAME];
	int code = places ? 0 : tp_err_memory(err, NULL);
	for (uint32_t i = 0; !code && i < set->count; i++)
		places[i] = &scanning->store->runs.items[set->items[i]];
	if (!code && set->count)
		qsort(places, set->count, sizeof(const struct tp_serve_run *), compare_places);
	for (uint32_t i = 0; !code && i < set->count; i++) {
		if (i && compare_places(&places[i - 1], &places[i]) == 0)
			continue;
		tp_fleet_encode(day, places[i]->day);
		tp_fleet_encode(program, places[i]->program);
		code = take_place(scanning, day, program, err);
	}
	free(places);
	return code;
}

int tp_serve_store_scan(struct tp_serve_store *store, const struct tp_serve_scan *scan,
    const struct tp_serve_set *set, struct tp_err *err)
{
	struct scanning scanning = {.store = store, .scan = scan, .set = set};
	int code = 0;
	if (set) {
		scanning.chosen = calloc(store->runs.count + (size_t)1, 1);
		if (!scanning.chosen)
			return tp_err_memory(err, store->directory);
		for (uint32_t i = 0; i < set->count; i++)
			scanning.chosen[set->items[i]] = 1;
	}
	for (int i = 0; i < TRIES; i++) {
		scanning.gone = false;
		code = scan->begin ? scan->begin(scan->context, err) : 0;
		if (!code)
			code = set ? take_set(&scanning, err) : take_all(&scanning, err);
		if (!code || !scanning.gone)
			break;
	}
	free(scanning.chosen);
	return code;
}
