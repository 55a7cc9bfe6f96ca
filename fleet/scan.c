// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads a table of a fleet.
#include "scan.h"

#include <stdlib.h>
#include <string.h>

enum { TRIES = 3 }; // to list files that another command exchanges meanwhile

struct scanning {
	struct tp_fleet_scan *scan;
	char names[3][TP_FLEET_NAME]; // of the day, program and file at hand
	bool gone;                    // a file that was listed is not there any more
};

// ---- files

// Which run each row of a group is of. False: none that is wanted.
static bool number_rows(
    const struct tp_fleet_scan *scan, const struct tp_parquet_values *ids, uint32_t *runs)
{
	uint32_t *numbers = runs + ids->count; // of each text
	bool found = false;
	for (uint32_t i = 0; i < ids->text_count; i++) {
		numbers[i] = scan->run(scan->context, ids->texts[i]);
		found |= numbers[i] != TP_FLEET_NO_RUN;
	}
	for (uint64_t row = 0; found && row < ids->count; row++)
		runs[row] = tp_parquet_has(ids, row) ? numbers[ids->numbers[row]] : TP_FLEET_NO_RUN;
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
	const struct tp_fleet_scan *scan = scanning->scan;
	const struct tp_fleet_table *table = &tp_fleet_tables[scan->table];
	struct tp_parquet_values columns[TP_FLEET_COLUMNS] = {0};
	struct tp_parquet_values ids = {0};
	uint32_t *runs = NULL;
	const uint64_t rows = reader->groups[group].rows;
	bool wanted = rows != 0;
	int code = 0;
	for (uint32_t i = 0; !code && wanted && i < table->count; i++) {
		// The column of keys first, and then the runs.
		const uint32_t at = (i + scan->keys) % table->count;
		if (scan->run && i == scan->by_key) {
			code = tp_parquet_values_read_named(
			    &ids, reader, group, "run_id", TP_PARQUET_TEXT, err);
			runs = code ? NULL : malloc((rows + ids.text_count + 1) * sizeof(*runs));
			if (!code && !runs)
				code = tp_err_memory(err, reader->name);
			if (!code && !ids.numbers)
				code = tp_err_set(
				    err, TP_ERR_FORMAT, reader->name, "has no column run_id");
			wanted = !code && number_rows(scan, &ids, runs);
		}
		if (code || !wanted || !(scan->columns >> at & 1))
			continue;
		code = tp_parquet_values_read_named(&columns[at], reader, group,
		    table->columns[at].name, table->columns[at].type, err);
		if (scan->by_key && !i)
			wanted = has_key(&columns[at], scan->key);
	}
	if (!code && wanted)
		code = scan->take(scan->context,
		    &(struct tp_fleet_rows){
			rows, runs, columns, scanning->names[0], scanning->names[1]},
		    err);
	for (uint32_t i = 0; i < table->count; i++)
		tp_parquet_values_release(&columns[i]);
	tp_parquet_values_release(&ids);
	free(runs);
	return code;
}

static int take_file(void *context, const char *path, struct tp_err *err)
{
	struct scanning *scanning = context;
	const struct tp_fleet_scan *scan = scanning->scan;
	struct tp_parquet_reader reader;
	int code = tp_parquet_reader_open(&reader, path, err);
	if (!code)
		code = tp_fleet_check_file(&reader, &tp_fleet_tables[scan->table], err);
	scanning->scan->files += !code;
	for (uint32_t group = 0; !code && group < reader.group_count; group++)
		code = scan->stop && atomic_load_explicit(scan->stop, memory_order_relaxed)
			   ? tp_err_set(err, TP_ERR_LIMIT, NULL, "interrupted")
			   : take_group(scanning, &reader, group, err);
	tp_parquet_reader_close(&reader);
	return code;
}

// ---- folders

// The folders in FOLDER whose names begin with the prefix of LEVEL, and their contents.
static int take_folders(
    struct scanning *scanning, const char *folder, int level, struct tp_err *err)
{
	static const char *const prefixes[] = {"day=", "program=", "run="};
	const struct tp_fleet_scan *scan = scanning->scan;
	struct tp_fleet_names names;
	char path[TP_FLEET_PATH];
	int code = tp_fleet_names_read(&names, folder, prefixes[level], err);
	for (uint32_t i = 0; !code && i < names.count; i++) {
		tp_fleet_decode(scanning->names[level], names.items[i] + strlen(prefixes[level]));
		if (scan->wants && !scan->wants(scan->context, scanning->names[0],
				       level > 0 ? scanning->names[1] : NULL,
				       level > 1 ? scanning->names[2] : NULL))
			continue;
		code = tp_fleet_path(path, err, "%s/%s", folder, names.items[i]);
		if (!code)
			code = level == 2 ? tp_fleet_each_file(
						path, take_file, scanning, &scanning->gone, err)
					  : take_folders(scanning, path, level + 1, err);
	}
	tp_fleet_names_release(&names);
	return code;
}

int tp_fleet_scan(struct tp_fleet_scan *scan, struct tp_err *err)
{
	struct scanning scanning = {.scan = scan};
	char folder[TP_FLEET_PATH];
	int code =
	    tp_fleet_path(folder, err, "%s/%s", scan->directory, tp_fleet_tables[scan->table].name);
	if (code)
		return code;
	for (int i = 0; i < TRIES; i++) {
		scanning.gone = false;
		code = scan->begin ? scan->begin(scan->context, err) : 0;
		if (!code)
			code = take_folders(&scanning, folder, 0, err);
		if (!code || !scanning.gone || !scan->begin)
			break;
	}
	return code;
}
