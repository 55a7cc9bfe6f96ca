// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The export "parquet": the tables of SQL as Parquet files, a folder each, as Spark, Trino and
// pandas want it: calls/run=NAME/thread=N/calls.parquet, functions/run=NAME/functions.parquet.
// Columns are never NULL: relation.h has the values that replace it. fn is valid in one recording,
// fn_key is the same in all.
#include "analyzer/output/format/export.h"
#include "analyzer/output/format/parquet.h"
#include "analyzer/output/relation/relation.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct output {
	struct tp_relation_data data;
	const char *directory;
	struct tp_parquet parquet;
	/* Of the relation at hand: the columns that the file has. */
	const struct tp_relation *relation;
	struct tp_parquet_column columns[TP_RELATION_COLUMNS + 1];
	uint8_t numbers[TP_RELATION_COLUMNS];
	uint32_t count;
};

// Without a clock columns of times are left out.
static int open_file(
    struct output *output, const char *directory, const char *name, struct tp_err *err)
{
	const bool timeless = output->data.analysis->timeless;
	uint8_t list[TP_RELATION_COLUMNS];
	const char *sorted = NULL;
	const uint32_t count = tp_relation_list(output->relation, TP_FORM_PARQUET, list);
	output->count = 0;
	for (uint32_t i = 0; i < count; i++) {
		const struct tp_relation_column *column = &output->relation->columns[list[i]];
		if (column->unit == TP_UNIT_TIME && timeless)
			continue;
		output->columns[output->count] = (struct tp_parquet_column){
		    .name = column->key,
		    .type = column->type == TP_TYPE_TEXT    ? TP_PARQUET_TEXT
			    : column->type == TP_TYPE_INT32 ? TP_PARQUET_INT32
							    : TP_PARQUET_INT64,
		};
		output->numbers[output->count++] = list[i];
	}
	output->columns[output->count] = (struct tp_parquet_column){0};
	if (output->relation->ordered)
		sorted = output->columns[0].name;
	else if (output->relation == &tp_relation_calls)
		sorted = output->relation->columns[timeless ? TP_CALLS_ID : TP_CALLS_START].key;
	return tp_parquet_open(&output->parquet, directory, name, output->columns, sorted, err);
}

static void add_row(struct output *output, const void *row)
{
	for (uint32_t i = 0; i < output->count; i++) {
		const uint32_t column = output->numbers[i];
		const struct tp_cell cell = output->relation->value(&output->data, row, column);
		if (output->columns[i].type == TP_PARQUET_TEXT)
			tp_parquet_add_text(&output->parquet, cell.type ? cell.text : "");
		else
			tp_parquet_add(&output->parquet,
			    cell.type ? tp_cell_signed(&cell)
				      : output->relation->columns[column].missing);
	}
}

static void add_calls(struct output *output, const struct tp_stored_thread *stored, uint32_t thread)
{
	struct tp_call_row row = {
	    .stored = stored,
	    .thread = output->data.analysis->threads[thread].thread,
	};
	for (uint64_t i = 0; i < stored->rows; i++) {
		if (output->parquet.failed || output->parquet.file.error)
			return;
		tp_call_row_get(&row, output->data.paths, i);
		add_row(output, &row);
	}
}

// ---- the directory

// Make the directory; with `fresh` it must not be there yet.
static int make_directory(const struct tp_buf *path, bool fresh, struct tp_err *err)
{
	if (path->failed)
		return tp_err_memory(err, NULL);
	if (mkdir(path->data, 0777) == 0 || (errno == EEXIST && !fresh))
		return 0;
	if (errno == EEXIST)
		return tp_err_set(
		    err, TP_ERR_LIMIT, path->data, "already exists: remove it, or give another -o");
	return tp_err_system(err, errno, path->data, "cannot create the directory");
}

// "run=NAME": that of the trace's file, with what Hive cannot have in it as %XX.
static void add_run(struct tp_buf *path, const char *file)
{
	const char *slash = strrchr(file, '/');
	const char *name = slash ? slash + 1 : file;
	size_t length = strlen(name);
	if (length > 6 && strcmp(name + length - 6, ".trace") == 0)
		length -= 6;
	tp_buf_add_string(path, "/run=");
	for (size_t i = 0; i < length && i < 60; i++) {
		const char c = name[i];
		const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
				   (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
		if (plain)
			tp_buf_add_char(path, c);
		else
			tp_buf_addf(path, "%%%02X", (unsigned char)c);
	}
}

// Make the directory RELATION/run=NAME and leave it in PATH.
static int make_run(const struct output *output, struct tp_buf *path, struct tp_err *err)
{
	tp_buf_reset(path);
	tp_buf_addf(path, "%s/%s", output->directory, output->relation->name);
	const int code = make_directory(path, false, err);
	add_run(path, output->data.analysis->trace->source.name);
	return code ? code : make_directory(path, true, err);
}

// Close the file at hand; CODE is what went before.
static int close_file(struct output *output, int code, struct tp_err *err)
{
	struct tp_err close_err;
	const int closed = tp_parquet_close(&output->parquet, &close_err);
	if (!code && closed && err)
		*err = close_err;
	return code ? code : closed;
}

static int write_calls(struct output *output, struct tp_err *err)
{
	struct tp_call_store store;
	struct tp_buf path;
	tp_buf_init(&path);
	const struct tp_analysis *analysis = output->data.analysis;
	int code = tp_call_store_init(&store, analysis, output->data.paths, err);
	output->relation = &tp_relation_calls;
	if (!code)
		code = make_run(output, &path, err);
	const size_t size = path.size;
	for (uint32_t i = 0; !code && i < analysis->thread_count; i++) {
		const uint32_t number = analysis->threads[i].thread->number;
		path.size = size;
		tp_buf_addf(&path, "/thread=%u", number);
		code = make_directory(&path, true, err);
		if (!code)
			code = tp_call_store_load(&store, i, err);
		if (code)
			break;
		code = open_file(output, path.data, "calls.parquet", err);
		if (!code)
			add_calls(output, &store.threads[i], i);
		code = close_file(output, code, err);
		tp_call_store_forget(&store, i);
	}
	tp_buf_release(&path);
	tp_call_store_release(&store);
	return code;
}

static int write_tables(struct output *output, struct tp_err *err)
{
	enum { TABLES = 5 }; // of every recording
	static const struct tp_relation *const relations[] = {&tp_relation_threads,
	    &tp_relation_modules, &tp_relation_functions, &tp_relation_paths,
	    &tp_relation_thread_paths, &tp_relation_counters, &tp_relation_counter_readings,
	    &tp_relation_energy, &tp_relation_energy_readings, &tp_relation_syscalls,
	    &tp_relation_waits, &tp_relation_io, &tp_relation_faults, &tp_relation_allocations,
	    &tp_relation_sgx, &tp_relation_marks};
	struct tp_buf path;
	char name[64];
	int code = 0;
	tp_buf_init(&path);
	for (size_t i = 0; !code && i < sizeof(relations) / sizeof(relations[0]); i++) {
		const struct tp_relation *relation = output->relation = relations[i];
		const uint64_t rows = relation->rows(&output->data).count;
		// Most recordings have none of them; the other tables are always there.
		if (!rows && i >= TABLES)
			continue;
		code = make_run(output, &path, err);
		if (code)
			break;
		snprintf(name, sizeof(name), "%s.parquet", relation->name);
		code = open_file(output, path.data, name, err);
		for (uint64_t row = 0; !code && row < rows; row++)
			add_row(output, tp_relation_row(relation, &output->data, row));
		code = close_file(output, code, err);
	}
	tp_buf_release(&path);
	return code;
}

static int render(const struct tp_analysis *analysis, const struct tp_export_options *options,
    const char *directory, struct tp_err *err)
{
	struct tp_paths paths;
	struct tp_system_items system = {0};
	struct tp_marks marks = {0};
	(void)options;
	int code = tp_paths_init(&paths, analysis, err);
	if (!code && analysis->trace->system.has)
		code = tp_system_items_init(&system, analysis, &paths, err);
	if (!code)
		code = tp_analysis_marks(analysis, &marks, err);
	int64_t *keys = malloc(((size_t)analysis->function_count + 1) * sizeof(*keys));
	struct output output = {
	    .data = {.analysis = analysis,
		.paths = &paths,
		.system = &system,
		.marks = &marks,
		.keys = keys},
	    .directory = directory,
	};
	if (!keys && !code)
		code = tp_err_memory(err, NULL);
	for (uint32_t i = 0; keys && i < analysis->function_count; i++)
		keys[i] = tp_function_stable_key(&analysis->functions[i]);
	if (!code)
		code = write_tables(&output, err);
	if (!code)
		code = write_calls(&output, err);
	free(keys);
	tp_marks_release(&marks);
	tp_system_items_release(&system);
	tp_paths_release(&paths);
	return code;
}

const struct tp_export tp_export_parquet = {
    .name = "parquet",
    .summary =
	"all SQL tables, with single calls, as a directory of Parquet files for DuckDB, pandas, "
	"Spark",
    .suffix = ".parquet",
    .tables = true,
    .render_directory = render,
};
