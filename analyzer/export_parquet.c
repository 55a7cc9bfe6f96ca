// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The export "parquet": the tables of SQL as Parquet files, a folder each, as Spark, Trino and pandas want it:
// calls/run=NAME/thread=N/calls.parquet, functions/run=NAME/functions.parquet. Columns are never NULL: a caller that is none is -1
// (call 0), a missing text empty. fn is of one recording, fn_key the same in all.
#include "analyzer/call_store.h"
#include "analyzer/export.h"
#include "analyzer/parquet.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const struct tp_parquet_column threads_columns[] = {
    {"tid", TP_PARQUET_INT32, false},
    {"name", TP_PARQUET_TEXT, false},
    {"os_tid", TP_PARQUET_INT64, false},
    {"t_first", TP_PARQUET_INT64, true},
    {"t_last", TP_PARQUET_INT64, true},
    {"events", TP_PARQUET_INT64, false},
    {"lost", TP_PARQUET_INT64, false},
    {"busy", TP_PARQUET_INT64, true},
    {0},
};

static const struct tp_parquet_column functions_columns[] = {
    {"fn", TP_PARQUET_INT32, false},
    {"name", TP_PARQUET_TEXT, false},
    {"linkage", TP_PARQUET_TEXT, false},
    {"file", TP_PARQUET_TEXT, false},
    {"line", TP_PARQUET_INT64, false},
    {"module", TP_PARQUET_TEXT, false},
    {"address", TP_PARQUET_INT64, false},
    {"calls", TP_PARQUET_INT64, false},
    {"timed", TP_PARQUET_INT64, false},
    {"self", TP_PARQUET_INT64, true},
    {"inclusive", TP_PARQUET_INT64, true},
    {"total", TP_PARQUET_INT64, true},
    {"min", TP_PARQUET_INT64, true},
    {"max", TP_PARQUET_INT64, true},
    {"fn_key", TP_PARQUET_INT64, false},
    {0},
};

static const struct tp_parquet_column paths_columns[] = {
    {"path", TP_PARQUET_INT32, false},
    {"parent", TP_PARQUET_INT32, false},
    {"fn", TP_PARQUET_INT32, false},
    {"depth", TP_PARQUET_INT32, false},
    {"rec", TP_PARQUET_INT32, false},
    {"last", TP_PARQUET_INT32, false},
    {"fn_key", TP_PARQUET_INT64, false},
    {0},
};

static const struct tp_parquet_column thread_paths_columns[] = {
    {"path", TP_PARQUET_INT32, false},
    {"tid", TP_PARQUET_INT32, false},
    {"calls", TP_PARQUET_INT64, false},
    {"total", TP_PARQUET_INT64, true},
    {"self", TP_PARQUET_INT64, true},
    {"min", TP_PARQUET_INT64, true},
    {"max", TP_PARQUET_INT64, true},
    {0},
};

static const struct tp_parquet_column calls_columns[] = {
    {"id", TP_PARQUET_INT64, false},
    {"parent", TP_PARQUET_INT64, false},
    {"tid", TP_PARQUET_INT32, false},
    {"fn", TP_PARQUET_INT32, false},
    {"path", TP_PARQUET_INT32, false},
    {"depth", TP_PARQUET_INT32, false},
    {"rec", TP_PARQUET_INT32, false},
    {"t0", TP_PARQUET_INT64, true},
    {"t1", TP_PARQUET_INT64, true},
    {"dur", TP_PARQUET_INT64, true},
    {"self_raw", TP_PARQUET_INT64, true},
    {"cost", TP_PARQUET_INT64, true},
    {"how", TP_PARQUET_TEXT, false},
    {"away", TP_PARQUET_INT32, false},
    {"fn_key", TP_PARQUET_INT64, false},
    {0},
};

struct output {
	const struct tp_analysis *analysis;
	const struct tp_paths *paths;
	const char *directory;
	int64_t *keys; // of each function: tp_function_stable_key
	struct tp_parquet parquet;
};

static int64_t clamp(uint64_t number)
{
	return number > INT64_MAX ? INT64_MAX : (int64_t)number;
}

// A time, unless there are none.
static void add_ns(struct output *output, uint64_t ticks)
{
	if (!output->analysis->timeless)
		tp_parquet_add(
		    &output->parquet, clamp(tp_timebase_ns(&output->analysis->time, ticks)));
}

static void add_at(struct output *output, uint64_t ticks)
{
	if (!output->analysis->timeless)
		tp_parquet_add(&output->parquet, clamp(tp_analysis_at_ns(output->analysis, ticks)));
}

static int open_file(struct output *output, const char *directory, const char *name,
    const struct tp_parquet_column *columns, const char *sorted, struct tp_err *err)
{
	return tp_parquet_open(
	    &output->parquet, directory, name, columns, !output->analysis->timeless, sorted, err);
}

// ---- tables

static void add_threads(struct output *output)
{
	struct tp_parquet *to = &output->parquet;
	for (uint32_t i = 0; i < output->analysis->thread_count; i++) {
		const struct tp_thread_result *thread = &output->analysis->threads[i];
		const bool any = thread->first != UINT64_MAX;
		const uint64_t lost = thread->thread->lost;
		tp_parquet_add(to, thread->thread->number);
		tp_parquet_add_text(to, thread->thread->name);
		tp_parquet_add(to, clamp(thread->thread->os_tid));
		add_at(output, any ? thread->first : 0);
		add_at(output, any ? thread->last : 0);
		tp_parquet_add(to, clamp(thread->counts.events));
		tp_parquet_add(to, clamp(lost > thread->counts.lost ? lost : thread->counts.lost));
		add_ns(output, thread->busy);
	}
}

static void add_functions(struct output *output)
{
	struct tp_parquet *to = &output->parquet;
	for (uint32_t i = 0; i < output->analysis->function_count; i++) {
		const struct tp_function *function = &output->analysis->functions[i];
		const bool timed = tp_function_timed(function) != 0;
		tp_parquet_add(to, i);
		tp_parquet_add_text(to, function->symbol.name);
		tp_parquet_add_text(to, function->symbol.linkage);
		tp_parquet_add_text(to, function->symbol.file);
		tp_parquet_add(to, clamp(function->symbol.line));
		tp_parquet_add_text(to, function->symbol.module);
		tp_parquet_add(to, (int64_t)function->symbol.address);
		tp_parquet_add(to, clamp(function->calls));
		tp_parquet_add(to, clamp(tp_function_timed(function)));
		add_ns(output, function->self);
		add_ns(output, function->inclusive);
		add_ns(output, function->total);
		add_ns(output, timed ? function->min : 0);
		add_ns(output, function->max);
		tp_parquet_add(to, output->keys[i]);
	}
}

// Of the function at the end of a path; path 0 has none.
static int64_t key_of(const struct output *output, const struct tp_path *path)
{
	return path->function == UINT32_MAX ? 0 : output->keys[path->function];
}

static void add_paths(struct output *output)
{
	struct tp_parquet *to = &output->parquet;
	for (uint32_t i = 0; i < output->paths->count; i++) {
		const struct tp_path *path = &output->paths->items[i];
		tp_parquet_add(to, i);
		tp_parquet_add(to, i ? (int64_t)path->parent : -1);
		tp_parquet_add(to, i ? (int64_t)path->function : -1);
		tp_parquet_add(to, path->depth);
		tp_parquet_add(to, path->recursion);
		tp_parquet_add(to, path->last);
		tp_parquet_add(to, key_of(output, path));
	}
}

static void add_thread_paths(struct output *output)
{
	struct tp_parquet *to = &output->parquet;
	for (uint32_t i = 0; i < output->paths->row_count; i++) {
		const struct tp_path_row *row = &output->paths->rows[i];
		const struct tp_thread_result *thread = &output->analysis->threads[row->thread];
		const struct tp_node *node = &thread->profile.nodes[row->node];
		tp_parquet_add(to, row->path);
		tp_parquet_add(to, thread->thread->number);
		tp_parquet_add(to, clamp(node->calls));
		add_ns(output, node->inclusive);
		add_ns(output, node->self);
		add_ns(output, node->calls ? node->min : 0);
		add_ns(output, node->max);
	}
}

static void add_calls(struct output *output, const struct tp_stored_thread *stored, uint32_t number)
{
	struct tp_parquet *to = &output->parquet;
	struct tp_stored_call call;
	for (uint64_t i = 0; i < stored->rows && !to->failed && !to->file.error; i++) {
		tp_call_store_get(stored, i, &call);
		const struct tp_path *path = &output->paths->items[call.path];
		tp_parquet_add(to, clamp(stored->first + i + 1));
		tp_parquet_add(
		    to, call.parent == TP_CALL_NONE ? 0 : clamp(stored->first + call.parent + 1));
		tp_parquet_add(to, number);
		tp_parquet_add(to, path->function);
		tp_parquet_add(to, call.path);
		tp_parquet_add(to, path->depth);
		tp_parquet_add(to, path->recursion);
		add_at(output, call.start);
		add_at(output, call.end);
		add_ns(output, call.duration);
		add_ns(output, call.self);
		add_ns(output, call.cost);
		tp_parquet_add_text(to, tp_call_end_name(call.how));
		tp_parquet_add(to, call.away);
		tp_parquet_add(to, key_of(output, path));
	}
}

// ---- the directory

// Make the directory; with `fresh` it must not be there yet.
static int make_directory(const struct tp_buf *path, bool fresh, struct tp_err *err)
{
	if (path->failed)
		return tp_err_set(
		    err, TP_ERR_MEMORY, NULL, TP_ERR_NO_OFFSET, "no memory for the output");
	if (mkdir(path->data, 0777) == 0 || (errno == EEXIST && !fresh))
		return 0;
	if (errno == EEXIST)
		return tp_err_set(err, TP_ERR_LIMIT, path->data, TP_ERR_NO_OFFSET,
		    "is there already: remove it, or give another -o");
	return tp_err_system(err, errno, path->data, "cannot make the directory");
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

// Make the directory TABLE/run=NAME and leave it in PATH.
static int make_run(
    const struct output *output, const char *table, struct tp_buf *path, struct tp_err *err)
{
	tp_buf_reset(path);
	tp_buf_addf(path, "%s/%s", output->directory, table);
	const int code = make_directory(path, false, err);
	add_run(path, output->analysis->trace->source.name);
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
	int code = tp_call_store_init(&store, output->analysis, output->paths, err);
	if (!code)
		code = make_run(output, "calls", &path, err);
	const size_t size = path.size;
	for (uint32_t i = 0; !code && i < output->analysis->thread_count; i++) {
		const uint32_t number = output->analysis->threads[i].thread->number;
		path.size = size;
		tp_buf_addf(&path, "/thread=%u", number);
		code = make_directory(&path, true, err);
		if (!code)
			code = tp_call_store_load(&store, i, err);
		if (code)
			break;
		code = open_file(output, path.data, "calls.parquet", calls_columns,
		    output->analysis->timeless ? "id" : "t0", err);
		if (!code)
			add_calls(output, &store.threads[i], number);
		code = close_file(output, code, err);
		tp_call_store_forget(&store, i);
	}
	tp_buf_release(&path);
	tp_call_store_release(&store);
	return code;
}

static int write_tables(struct output *output, struct tp_err *err)
{
	static const struct {
		const char *table;
		const char *name;
		const char *sorted;
		const struct tp_parquet_column *columns;
		void (*add)(struct output *output);
	} tables[] = {
	    {"threads", "threads.parquet", "tid", threads_columns, add_threads},
	    {"functions", "functions.parquet", "fn", functions_columns, add_functions},
	    {"paths", "paths.parquet", "path", paths_columns, add_paths},
	    {"thread_paths", "thread_paths.parquet", "path", thread_paths_columns,
		add_thread_paths},
	};
	struct tp_buf path;
	int code = 0;
	tp_buf_init(&path);
	for (size_t i = 0; !code && i < sizeof(tables) / sizeof(tables[0]); i++) {
		code = make_run(output, tables[i].table, &path, err);
		if (code)
			break;
		code = open_file(
		    output, path.data, tables[i].name, tables[i].columns, tables[i].sorted, err);
		if (!code)
			tables[i].add(output);
		code = close_file(output, code, err);
	}
	tp_buf_release(&path);
	return code;
}

static int render(const struct tp_analysis *analysis, const struct tp_export_options *options,
    const char *directory, struct tp_err *err)
{
	struct tp_paths paths;
	(void)options;
	int code = tp_paths_init(&paths, analysis, err);
	struct output output = {.analysis = analysis, .paths = &paths, .directory = directory};
	output.keys = malloc(((size_t)analysis->function_count + 1) * sizeof(*output.keys));
	if (!output.keys && !code)
		code = tp_err_set(
		    err, TP_ERR_MEMORY, NULL, TP_ERR_NO_OFFSET, "no memory for the functions");
	for (uint32_t i = 0; output.keys && i < analysis->function_count; i++)
		output.keys[i] = tp_function_stable_key(&analysis->functions[i]);
	if (!code)
		code = write_tables(&output, err);
	if (!code)
		code = write_calls(&output, err);
	free(output.keys);
	tp_paths_release(&paths);
	return code;
}

const struct tp_export tp_export_parquet = {
    .name = "parquet",
    .summary = "all tables of SQL, single calls too, as a directory of Parquet files for DuckDB, "
	       "pandas, Spark",
    .suffix = ".parquet",
    .tables = true,
    .render_directory = render,
};
