// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Replaces the files of one table, day and program by others with the same rows, less those of runs
// that are dropped.
//
// A folder with the new files is made beside the old one, and both are exchanged: a reader that
// lists files before or after has each row once. One that lists them before and opens them after
// finds them gone, and none twice.
#define _GNU_SOURCE
#include "folder.h"

#include "analyzer/output/format/parquet_read.h"
#include "common/array.h"
#include "common/hash.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CELLS = 1 << 24 }; // numbers in memory: rows of a file times its columns
enum { LEVEL = 3 };       // of zstd, but for single calls: these files stay

// A column of all rows in memory.
struct column {
	int64_t
	    *numbers; // of a text: which of `texts`, and once they are sorted its place among them
	bool *present;
	char **texts;
	uint32_t text_count;
	uint32_t text_room;
};

struct rows {
	const struct tp_fleet_table *table;
	struct column columns[TP_FLEET_COLUMNS];
	uint64_t count;
	uint64_t room;
};

struct work {
	const struct tp_fleet_place *place;
	const struct tp_fleet_names *dropped;
	struct tp_fleet_rewritten *rewritten;
	char live[TP_FLEET_PATH];
	char stage[TP_FLEET_PATH];
	int stage_lock;
	char folder[TP_FLEET_PATH]; // in the stage: what will be live
	struct tp_fleet_names runs; // "run=..." that are replaced
	struct rows rows;
	uint64_t hash;   // of what went into the rows
	uint32_t files;  // that were written
	uint32_t merged; // ... from this number of files
	bool dropped_any;
};

// ---- rows in memory

static void forget_rows(struct rows *rows)
{
	for (uint32_t i = 0; i < rows->table->count; i++) {
		struct column *column = &rows->columns[i];
		for (uint32_t j = 0; j < column->text_count; j++)
			free(column->texts[j]);
		free(column->texts);
		free(column->numbers);
		free(column->present);
		*column = (struct column){0};
	}
	rows->count = rows->room = 0;
}

static bool reserve(struct rows *rows, uint64_t need)
{
	if (need <= rows->room)
		return true;
	const uint64_t room = need > 2 * rows->room ? need : 2 * rows->room;
	for (uint32_t i = 0; i < rows->table->count; i++) {
		struct column *column = &rows->columns[i];
		int64_t *numbers = reallocarray(column->numbers, room, sizeof(*numbers));
		if (numbers)
			column->numbers = numbers;
		bool *present = reallocarray(column->present, room, sizeof(*present));
		if (present)
			column->present = present;
		if (!numbers || !present)
			return false;
	}
	rows->room = room;
	return true;
}

// The number of TEXT among the column's; -1: no memory.
static int64_t keep_text(struct column *column, const char *text)
{
	for (uint32_t i = column->text_count; i-- > 0 && column->text_count - i < 4;)
		if (strcmp(column->texts[i], text) == 0)
			return i;
	if (!TP_GROW(column->texts, column->text_room, column->text_count + UINT64_C(1)))
		return -1;
	column->texts[column->text_count] = strdup(text);
	return column->texts[column->text_count] ? (int64_t)column->text_count++ : -1;
}

// Put the values of a row group behind the rows, those that KEPT says. False: no memory.
static bool take_column(struct rows *rows, uint32_t at, const struct tp_parquet_values *values,
    const bool *kept, uint64_t count)
{
	struct column *column = &rows->columns[at];
	uint64_t to = rows->count;
	int64_t *codes = NULL;
	if (values && values->text_count) {
		codes = calloc(values->text_count, sizeof(*codes));
		for (uint32_t i = 0; codes && i < values->text_count; i++) {
			codes[i] = keep_text(column, values->texts[i]);
			if (codes[i] < 0) {
				free(codes);
				return false;
			}
		}
		if (!codes)
			return false;
	}
	// What an older file does not have: empty, 0 or NULL.
	const bool is_text = rows->table->columns[at].type == TP_PARQUET_TEXT;
	const int64_t nothing = !values && is_text ? keep_text(column, "") : 0;
	for (uint64_t i = 0; i < count; i++) {
		if (!kept[i])
			continue;
		const int64_t number = values ? values->numbers[i] : nothing;
		column->numbers[to] = codes ? codes[number] : number;
		column->present[to++] = values ? !values->present || values->present[i]
					       : !rows->table->columns[at].optional;
	}
	free(codes);
	return nothing >= 0;
}

// Whether a row's run is to stay, for each row of the group.
static int choose_rows(struct work *work, const struct tp_parquet_reader *reader, uint32_t group,
    bool *kept, uint64_t *count, struct tp_err *err)
{
	struct tp_parquet_values values;
	const int column = tp_parquet_reader_column(reader, "run_id");
	*count = 0;
	if (column < 0 || reader->columns[column].type != TP_PARQUET_TEXT ||
	    reader->columns[column].optional)
		return tp_err_set(err, TP_ERR_FORMAT, reader->name, "has no column run_id");
	const int code = tp_parquet_values_read(&values, reader, group, (uint32_t)column, err);
	for (uint64_t i = 0; !code && i < values.count; i++) {
		const char *id = values.texts[values.numbers[i]];
		bool is_dropped = false;
		if (i && values.numbers[i] == values.numbers[i - 1])
			is_dropped = !kept[i - 1];
		else if (work->dropped)
			is_dropped = tp_fleet_names_have(work->dropped, id);
		kept[i] = !is_dropped;
		*count += kept[i];
		work->dropped_any |= is_dropped;
	}
	tp_parquet_values_release(&values);
	return code;
}

// Add the rows of a file that stay. *ALL: none was dropped.
static int take_file(struct work *work, const struct tp_parquet_reader *reader, struct tp_err *err)
{
	struct rows *rows = &work->rows;
	bool *kept = calloc(TP_PARQUET_GROUP_ROWS, sizeof(*kept));
	int code = kept ? 0 : tp_err_memory(err, reader->name);
	for (uint32_t group = 0; !code && group < reader->group_count; group++) {
		uint64_t count;
		code = choose_rows(work, reader, group, kept, &count, err);
		if (!code && !reserve(rows, rows->count + count))
			code = tp_err_memory(err, reader->name);
		for (uint32_t i = 0; !code && i < rows->table->count; i++) {
			struct tp_parquet_values values;
			const struct tp_fleet_column *wanted = &rows->table->columns[i];
			const int column = tp_parquet_reader_column(reader, wanted->name);
			const uint64_t all = reader->groups[group].rows;
			if (column >= 0 &&
			    (reader->columns[column].type != wanted->type ||
				(reader->columns[column].optional && !wanted->optional)))
				code = tp_err_set(err, TP_ERR_FORMAT, reader->name,
				    "column '%s' has another type", wanted->name);
			else if (column < 0)
				code = take_column(rows, i, NULL, kept, all)
					   ? 0
					   : tp_err_memory(err, reader->name);
			else {
				code = tp_parquet_values_read(
				    &values, reader, group, (uint32_t)column, err);
				if (!code && !take_column(rows, i, &values, kept, all))
					code = tp_err_memory(err, reader->name);
				tp_parquet_values_release(&values);
			}
		}
		rows->count += code ? 0 : count;
	}
	free(kept);
	return code;
}

// ---- in order

static int compare_texts(const void *a, const void *b, void *context)
{
	char *const *texts = context;
	return strcmp(texts[*(const uint32_t *)a], texts[*(const uint32_t *)b]);
}

// Number the texts of a column by their order. False: no memory.
static bool rank_texts(struct rows *rows, struct column *column)
{
	uint32_t *order = calloc((size_t)column->text_count + 1, sizeof(*order));
	int64_t *ranks = calloc((size_t)column->text_count + 1, sizeof(*ranks));
	char **texts = calloc((size_t)column->text_count + 1, sizeof(*texts));
	const bool ok = order && ranks && texts;
	for (uint32_t i = 0; ok && i < column->text_count; i++)
		order[i] = i;
	if (ok && column->text_count)
		qsort_r(order, column->text_count, sizeof(*order), compare_texts, column->texts);
	uint32_t count = 0;
	for (uint32_t i = 0; ok && i < column->text_count; i++) {
		char *text = column->texts[order[i]];
		if (count && strcmp(texts[count - 1], text) == 0)
			free(text);
		else
			texts[count++] = text;
		ranks[order[i]] = count - 1;
	}
	for (uint64_t i = 0; ok && i < rows->count; i++)
		column->numbers[i] = ranks[column->numbers[i]];
	if (ok) {
		free(column->texts);
		column->texts = texts;
		column->text_count = column->text_room = count;
		texts = NULL;
	}
	free(texts);
	free(order);
	free(ranks);
	return ok;
}

struct order {
	const struct rows *rows;
	uint32_t columns[4];
	uint32_t count;
};

static int compare_rows(const void *a, const void *b, void *context)
{
	const struct order *order = context;
	const uint32_t one = *(const uint32_t *)a;
	const uint32_t other = *(const uint32_t *)b;
	for (uint32_t i = 0; i < order->count; i++) {
		const int64_t *numbers = order->rows->columns[order->columns[i]].numbers;
		if (numbers[one] != numbers[other])
			return numbers[one] < numbers[other] ? -1 : 1;
	}
	return TP_COMPARE(one, other);
}

static void put_row(const struct rows *rows, uint32_t row, struct tp_parquet *out)
{
	for (uint32_t i = 0; i < rows->table->count; i++) {
		const struct column *column = &rows->columns[i];
		const int64_t number = column->numbers[row];
		double real;
		if (!column->present[row]) {
			tp_parquet_add_missing(out);
		} else if (rows->table->columns[i].type == TP_PARQUET_TEXT) {
			tp_parquet_add_text(out, column->texts[number]);
		} else if (rows->table->columns[i].type == TP_PARQUET_DOUBLE) {
			memcpy(&real, &number, sizeof(real));
			tp_parquet_add_real(out, real);
		} else {
			tp_parquet_add(out, number);
		}
	}
}

static int write_rows(const struct rows *rows, const uint32_t *order, const char *folder,
    const char *name, struct tp_err *err)
{
	struct tp_fleet_file file;
	int code = tp_fleet_file_open(&file, rows->table, folder, name, err);
	const bool by_thread = rows->table == &tp_fleet_tables[TP_FLEET_CALLS];
	if (!by_thread)
		file.parquet.level = LEVEL;
	const int64_t *threads =
	    by_thread ? rows->columns[tp_fleet_column_number(rows->table, "thread")].numbers : NULL;
	for (uint64_t i = 0; !code && i < rows->count; i++) {
		if (threads && i && threads[order[i]] != threads[order[i - 1]])
			tp_parquet_end_group(&file.parquet);
		put_row(rows, order[i], &file.parquet);
	}
	return tp_fleet_file_close(&file, code, err);
}

// Write the rows to a file of their own, and forget them.
static int flush(struct work *work, struct tp_err *err)
{
	struct rows *rows = &work->rows;
	struct order order = {.rows = rows};
	char folder[TP_FLEET_PATH];
	char path[TP_FLEET_PATH];
	char name[64];
	if (!rows->count) {
		forget_rows(rows);
		return 0;
	}
	uint32_t *numbers = calloc(rows->count, sizeof(*numbers));
	bool ok = numbers != NULL;
	for (uint64_t i = 0; ok && i < rows->count; i++)
		numbers[i] = (uint32_t)i;
	for (uint32_t i = 0; ok && i < rows->table->count; i++)
		if (rows->table->columns[i].type == TP_PARQUET_TEXT)
			ok = rank_texts(rows, &rows->columns[i]);
	for (uint32_t i = 0; i < 4 && rows->table->sorted[i]; i++)
		order.columns[order.count++] =
		    tp_fleet_column_number(rows->table, rows->table->sorted[i]);
	int code = ok ? 0 : tp_err_memory(err, work->live);
	if (!code)
		qsort_r(numbers, rows->count, sizeof(*numbers), compare_rows, &order);
	snprintf(name, sizeof(name), "%s.parquet", rows->table->name);
	if (!code)
		code = tp_fleet_path(
		    folder, err, "%s/run=compact-%016" PRIx64, work->folder, work->hash);
	if (!code)
		code = tp_fleet_path(path, err, "%s/%s", folder, name);
	if (!code)
		code = tp_fleet_make_folders(folder, err);
	if (!code)
		code = write_rows(rows, numbers, folder, name, err);
	if (!code)
		code = tp_fleet_sync(path, err);
	if (!code)
		code = tp_fleet_sync(folder, err);
	free(numbers);
	forget_rows(rows);
	work->files++;
	work->hash = TEEPERF_HASH_START;
	return code;
}

// ---- which files

// A file that is large already, and stays as it is.
static int carry_over(
    struct work *work, const char *run, const char *path, const char *name, struct tp_err *err)
{
	char folder[TP_FLEET_PATH];
	char to[TP_FLEET_PATH];
	int code = tp_fleet_path(folder, err, "%s/%s", work->folder, run);
	if (!code)
		code = tp_fleet_path(to, err, "%s/%s.parquet", folder, name);
	if (!code)
		code = tp_fleet_make_folders(folder, err);
	if (!code && link(path, to) != 0)
		code = tp_err_system(err, errno, to, "cannot link the file there");
	work->files++;
	return code;
}

int tp_fleet_check_file(
    const struct tp_parquet_reader *reader, const struct tp_fleet_table *table, struct tp_err *err)
{
	const char *name = tp_parquet_reader_fact(reader, "teeperf.table");
	const char *schema = tp_parquet_reader_fact(reader, "teeperf.schema");
	if (!name || strcmp(name, table->name) != 0 || !schema)
		return tp_err_set(err, TP_ERR_FORMAT, reader->name,
		    "is not a file of the table '%s'", table->name);
	if (strtol(schema, NULL, 10) > TP_FLEET_SCHEMA)
		return tp_err_set(err, TP_ERR_VERSION, reader->name,
		    "has schema %s, but this program knows %d: use a newer teeperf", schema,
		    TP_FLEET_SCHEMA);
	return 0;
}

// Whether the file has a run that is dropped. *HAS.
static int has_dropped(
    struct work *work, const struct tp_parquet_reader *reader, bool *has, struct tp_err *err)
{
	bool *kept = calloc(TP_PARQUET_GROUP_ROWS, sizeof(*kept));
	int code = kept ? 0 : tp_err_memory(err, reader->name);
	*has = false;
	for (uint32_t group = 0; !code && group < reader->group_count && !*has; group++) {
		uint64_t count;
		code = choose_rows(work, reader, group, kept, &count, err);
		*has = count != reader->groups[group].rows;
	}
	free(kept);
	return code;
}

static int take_run(struct work *work, const char *run, struct tp_err *err)
{
	const struct tp_fleet_table *table = work->place->table;
	struct tp_parquet_reader reader;
	char path[TP_FLEET_PATH];
	bool has = false;
	int code = tp_fleet_path(path, err, "%s/%s/%s.parquet", work->live, run, table->name);
	if (code)
		return code;
	code = tp_parquet_reader_open(&reader, path, err);
	if (!code)
		code = tp_fleet_check_file(&reader, table, err);
	const uint64_t most = CELLS / table->count;
	work->rewritten->files_before++;
	work->rewritten->bytes_before += reader.size;
	const bool large = !code && reader.rows >= most / 2;
	if (large && work->dropped)
		code = has_dropped(work, &reader, &has, err);
	if (!code && large && !has) {
		code = carry_over(work, run, path, table->name, err);
	} else if (!code) {
		if (work->rows.count && work->rows.count + reader.rows > most)
			code = flush(work, err);
		work->hash = tp_hash_string(work->hash, run);
		work->merged++;
		if (!code)
			code = take_file(work, &reader, err);
	}
	tp_parquet_reader_close(&reader);
	return code;
}

// The runs there that are complete or compacted; those that are on their way in are not touched.
static int list_runs(struct work *work, struct tp_err *err)
{
	const struct tp_fleet_place *place = work->place;
	const int code = tp_fleet_names_read(&work->runs, work->live, "run=", err);
	uint32_t count = 0;
	for (uint32_t i = 0; i < work->runs.count; i++) {
		char *run = work->runs.items[i];
		char path[TP_FLEET_PATH];
		const bool whole = tp_fleet_is_of_many(run + strlen("run=")) ||
				   tp_fleet_has_run(place->directory, tp_fleet_kind(place->table),
				       place->program + 8, run + 4);
		if (whole &&
		    !tp_fleet_path(
			path, NULL, "%s/%s/%s.parquet", work->live, run, place->table->name) &&
		    access(path, F_OK) == 0)
			work->runs.items[count++] = run;
		else
			free(run);
	}
	work->runs.count = count;
	return code;
}

// ---- the exchange

// What has come since the runs were listed goes along. pre: nobody adds.
static int carry_late(struct work *work, struct tp_err *err)
{
	struct tp_fleet_names names;
	int code = tp_fleet_names_read(&names, work->live, "run=", err);
	for (uint32_t i = 0; !code && i < names.count; i++) {
		char path[TP_FLEET_PATH];
		if (tp_fleet_names_have(&work->runs, names.items[i]))
			continue;
		code = tp_fleet_path(path, err, "%s/%s/%s.parquet", work->live, names.items[i],
		    work->place->table->name);
		if (!code && access(path, F_OK) == 0)
			code =
			    carry_over(work, names.items[i], path, work->place->table->name, err);
	}
	tp_fleet_names_release(&names);
	return code;
}

// Where locks do not work, somebody may have come in between.
static void move_late(const struct work *work)
{
	struct tp_fleet_names names;
	tp_fleet_names_read(&names, work->folder, "run=", NULL);
	for (uint32_t i = 0; i < names.count; i++) {
		char from[TP_FLEET_PATH];
		char to[TP_FLEET_PATH];
		if (!tp_fleet_names_have(&work->runs, names.items[i]) &&
		    !tp_fleet_path(to, NULL, "%s/%s", work->live, names.items[i]) &&
		    access(to, F_OK) != 0 &&
		    !tp_fleet_path(from, NULL, "%s/%s", work->folder, names.items[i]))
			rename(from, to);
	}
	tp_fleet_names_release(&names);
}

static int exchange(struct work *work, struct tp_err *err)
{
	const int lock = tp_fleet_lock(work->place->directory);
	int code = carry_late(work, err);
	if (!code)
		code = tp_fleet_sync(work->folder, err);
	if (!code && renameat2(AT_FDCWD, work->folder, AT_FDCWD, work->live, RENAME_EXCHANGE) != 0)
		code = errno == EINVAL || errno == ENOSYS
			   ? tp_err_set(err, TP_ERR_SYSTEM, work->live,
				 "this file system cannot exchange two folders in one step, so "
				 "readers would see runs twice: "
				 "compact on a local disk, and copy the result")
			   : tp_err_system(err, errno, work->live, "cannot replace the folder");
	if (!code) {
		move_late(work);
		// Only if nothing is left in it.
		rmdir(work->live);
		// Before the old files go.
		char day[TP_FLEET_PATH];
		code = tp_fleet_path(day, err, "%s/%s/%s", work->place->directory,
		    work->place->table->name, work->place->day);
		if (!code)
			code = tp_fleet_sync(day, err);
	}
	if (lock >= 0)
		close(lock);
	return code;
}

static void count_after(struct work *work)
{
	struct tp_fleet_names names;
	tp_fleet_names_read(&names, work->folder, "run=", NULL);
	for (uint32_t i = 0; i < names.count; i++) {
		char path[TP_FLEET_PATH];
		struct stat stat_;
		if (!tp_fleet_path(path, NULL, "%s/%s/%s.parquet", work->folder, names.items[i],
			work->place->table->name) &&
		    stat(path, &stat_) == 0) {
			work->rewritten->files_after++;
			work->rewritten->bytes_after += (uint64_t)stat_.st_size;
		}
	}
	tp_fleet_names_release(&names);
}

int tp_fleet_rewrite(const struct tp_fleet_place *place, const struct tp_fleet_names *dropped,
    struct tp_fleet_rewritten *rewritten, struct tp_err *err)
{
	const struct tp_fleet_rewritten before = *rewritten;
	struct work work = {
	    .place = place,
	    .dropped = dropped,
	    .rewritten = rewritten,
	    .hash = TEEPERF_HASH_START,
	    .stage_lock = -1,
	    .rows = {.table = place->table},
	};
	int code = tp_fleet_path(work.live, err, "%s/%s/%s/%s", place->directory,
	    place->table->name, place->day, place->program);
	if (!code)
		code = list_runs(&work, err);
	if (!code && (work.runs.count > 1 || (dropped && work.runs.count)))
		code = tp_fleet_stage(work.stage, &work.stage_lock, place->directory,
		    dropped ? "expire" : "compact", err);
	if (!code && work.stage[0])
		code = tp_fleet_path(work.folder, err, "%s/%s", work.stage, place->program);
	if (!code && work.stage[0])
		code = tp_fleet_make_folders(work.folder, err);
	for (uint32_t i = 0; !code && work.stage[0] && i < work.runs.count; i++)
		code = take_run(&work, work.runs.items[i], err);
	if (!code && work.stage[0])
		code = flush(&work, err);
	// Without anything to drop it is worth it only if files become fewer.
	const bool worth = work.dropped_any || work.files < work.runs.count;
	if (!code && work.stage[0] && worth) {
		count_after(&work);
		code = exchange(&work, err);
	} else {
		*rewritten = before;
	}
	if (work.stage[0])
		tp_fleet_remove(work.stage);
	if (work.stage_lock >= 0)
		close(work.stage_lock);
	forget_rows(&work.rows);
	tp_fleet_names_release(&work.runs);
	return code;
}
