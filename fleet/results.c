// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Results of experiments that come into a fleet.
//
// Factors are columns of their own in those tables, named by whoever wrote the plan. So the other
// columns are found by their places: three before the factors, the rest behind them.
#define _GNU_SOURCE
#include "results.h"

#include "common/array.h"
#include "common/clean.h"
#include "common/json.h"
#include "common/read_all.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <teeperf/version.h>
#include <time.h>
#include <unistd.h>
#include <xxhash.h>

enum { BEFORE = 3, COLUMNS_MAX = 4096, STATE_MAX = 1 << 16 };

// One of its tables: what its columns are called before and behind the factors.
struct form {
	const char *name;
	const char *behind[10];
	bool more; // figures come behind those
};

static const char *const before[BEFORE] = {"experiment", "task", "variant"};
enum { METRIC, UNIT, RUNS, MEDIAN, LOW, HIGH, MIN, MAX };
static const struct form summary = {"summary",
    {"metric", "unit", "runs", "median", "median_low", "median_high", "min", "max"}, false};
enum { ITERATION, STATUS, MEASURED_METRIC, MEASURED_UNIT, VALUE };
static const struct form measurements = {
    "measurements", {"iteration", "status", "metric", "unit", "value"}, false};
enum { RUN_ITERATION, POSITION, STARTED };
static const struct form runs = {"runs", {"iteration", "position", "started"}, true};

struct figure {
	const char *task;
	const char *experiment;
	const char *variant;
	const char *factors; // a JSON object of texts
	const char *metric;
	const char *unit;
	uint64_t runs;
	double median;
	bool has_interval;
	double low;
	double high;
	double min;
	double max;
	double sum;
	double squares;
};

struct task {
	const char *name;
	int64_t start_s; // of its first run; INT64_MAX: not known
	int64_t last_s;  // of its last run: more results of a task are newer
};

struct results {
	const char *folder;
	struct tp_arena arena;
	uint32_t factors;
	struct figure *figures; // by task, experiment and metric
	uint32_t count;
	uint32_t room;
	struct task *tasks;
	uint32_t task_count;
	uint32_t task_room;
	uint64_t hash; // of what was read
	char host[256];
};

// ---- tables

// A table while it is read, a row group at a time.
struct table {
	const struct form *form;
	struct tp_parquet_reader reader;
	uint32_t behind; // the first column behind the factors
	struct tp_parquet_values *values;
	uint64_t rows; // of the row group
};

static int refuse(const struct table *table, struct tp_err *err)
{
	return tp_err_set(err, TP_ERR_FORMAT, table->reader.name,
	    "is not a table '%s' of 'teeperf experiment': create it with 'teeperf experiment "
	    "--tables PLAN'",
	    table->form->name);
}

static bool is_called(const struct table *table, uint32_t column, const char *name)
{
	// A factor of the same name has come first: SQLite takes no two of a name.
	const char *found = table->reader.columns[column].name;
	const size_t size = strlen(name);
	return strncmp(found, name, size) == 0 && (!found[size] || found[size] == '_');
}

// Open it. FACTORS: their number, or UINT32_MAX, if it follows from the number of columns.
static int open_table(struct table *table, const struct form *form, const struct results *results,
    uint32_t factors, struct tp_err *err)
{
	char path[TP_FLEET_PATH];
	uint32_t behind = 0;
	*table = (struct table){.form = form};
	int code = tp_fleet_path(path, err, "%s/%s.parquet", results->folder, form->name);
	if (!code)
		code = tp_parquet_reader_open(&table->reader, path, err);
	if (code)
		return code;
	while (behind < 10 && form->behind[behind])
		behind++;
	const uint32_t count = table->reader.column_count;
	if (count < BEFORE + behind || count > COLUMNS_MAX)
		return refuse(table, err);
	table->behind = factors == UINT32_MAX ? count - behind : BEFORE + factors;
	if (table->behind + behind > count || (!form->more && table->behind + behind != count))
		return refuse(table, err);
	for (uint32_t i = 0; i < BEFORE; i++)
		if (!is_called(table, i, before[i]) ||
		    table->reader.columns[i].type != TP_PARQUET_TEXT)
			return refuse(table, err);
	for (uint32_t i = 0; i < behind; i++)
		if (!is_called(table, table->behind + i, form->behind[i]))
			return refuse(table, err);
	table->values = calloc(count, sizeof(*table->values));
	return table->values ? 0 : tp_err_memory(err, table->reader.name);
}

static void forget_group(struct table *table)
{
	for (uint32_t i = 0; table->values && i < table->reader.column_count; i++)
		tp_parquet_values_release(&table->values[i]);
	if (table->values)
		memset(table->values, 0, table->reader.column_count * sizeof(*table->values));
}

static void close_table(struct table *table)
{
	forget_group(table);
	free(table->values);
	tp_parquet_reader_close(&table->reader);
}

// The columns up to the last one that has a name here.
static int read_group(struct table *table, uint32_t group, struct tp_err *err)
{
	uint32_t count = table->behind;
	for (uint32_t i = 0; i < 10 && table->form->behind[i]; i++)
		count++;
	int code = 0;
	forget_group(table);
	table->rows = table->reader.groups[group].rows;
	for (uint32_t i = 0; !code && i < count; i++)
		code = tp_parquet_values_read(&table->values[i], &table->reader, group, i, err);
	return code;
}

static bool is_known(const struct table *table, uint32_t column, uint64_t row)
{
	const struct tp_parquet_values *values = &table->values[column];
	return !values->present || values->present[row];
}

// "" if it is missing, or no text.
static const char *text_at(const struct table *table, uint32_t column, uint64_t row)
{
	const struct tp_parquet_values *values = &table->values[column];
	return table->reader.columns[column].type == TP_PARQUET_TEXT && is_known(table, column, row)
		   ? values->texts[values->numbers[row]]
		   : "";
}

// 0 if it is missing.
static double real_at(const struct table *table, uint32_t column, uint64_t row)
{
	const int64_t number = table->values[column].numbers[row];
	double real = 0;
	if (table->reader.columns[column].type == TP_PARQUET_DOUBLE)
		memcpy(&real, &number, sizeof(real));
	else if (table->reader.columns[column].type != TP_PARQUET_TEXT)
		real = (double)number;
	return is_known(table, column, row) ? real : 0;
}

// ---- figures

// A copy that lives as long as the results, without what a terminal must not see; NULL: no memory.
static const char *keep(struct results *results, const char *text)
{
	struct tp_buf clean;
	tp_buf_init(&clean);
	tp_buf_add_clean(&clean, text);
	const char *copy =
	    clean.failed ? NULL : tp_arena_copy(&results->arena, clean.data, clean.size);
	tp_buf_release(&clean);
	return copy;
}

static const char *keep_factors(struct results *results, const struct table *table, uint64_t row)
{
	struct tp_buf text;
	char number[32];
	bool any = false;
	tp_buf_init(&text);
	for (uint32_t i = BEFORE; i < table->behind; i++) {
		if (!is_known(table, i, row))
			continue;
		tp_buf_add_string(&text, any ? ", " : "{");
		any = true;
		// Its name is whatever the plan has.
		tp_json_quote(&text, table->reader.columns[i].name);
		tp_buf_add_string(&text, ": ");
		tp_json_quote(&text, table->reader.columns[i].type == TP_PARQUET_TEXT
					 ? text_at(table, i, row)
					 : tp_json_digits(number, real_at(table, i, row)));
	}
	tp_buf_add_string(&text, any ? "}" : "{}");
	const char *copy = text.failed ? NULL : keep(results, text.data);
	tp_buf_release(&text);
	return copy;
}

static bool add_figure(struct results *results, const struct table *table, uint64_t row)
{
	const uint32_t at = table->behind;
	const struct figure figure = {
	    .experiment = keep(results, text_at(table, 0, row)),
	    .task = keep(results, text_at(table, 1, row)),
	    .variant = keep(results, text_at(table, 2, row)),
	    .factors = keep_factors(results, table, row),
	    .metric = keep(results, text_at(table, at + METRIC, row)),
	    .unit = keep(results, text_at(table, at + UNIT, row)),
	    .runs = (uint64_t)real_at(table, at + RUNS, row),
	    .median = real_at(table, at + MEDIAN, row),
	    .has_interval = is_known(table, at + LOW, row) && is_known(table, at + HIGH, row),
	    .low = real_at(table, at + LOW, row),
	    .high = real_at(table, at + HIGH, row),
	    .min = real_at(table, at + MIN, row),
	    .max = real_at(table, at + MAX, row),
	};
	if (!figure.experiment || !figure.task || !figure.variant || !figure.factors ||
	    !figure.metric || !figure.unit ||
	    !TP_GROW(results->figures, results->room, results->count + UINT64_C(1)))
		return false;
	results->figures[results->count++] = figure;
	return true;
}

static int compare_figures(const void *a, const void *b)
{
	const struct figure *one = a;
	const struct figure *other = b;
	int order = strcmp(one->task, other->task);
	order = order ? order : strcmp(one->experiment, other->experiment);
	return order ? order : strcmp(one->metric, other->metric);
}

static struct task *find_task(struct results *results, const char *name)
{
	for (uint32_t i = 0; i < results->task_count; i++)
		if (strcmp(results->tasks[i].name, name) == 0)
			return &results->tasks[i];
	return NULL;
}

static void add_hash(struct results *results, const struct table *table)
{
	const uint64_t hash = XXH64(table->reader.data, table->reader.size, results->hash);
	results->hash = hash;
}

static int read_summary(struct results *results, struct tp_err *err)
{
	struct table table;
	int code = open_table(&table, &summary, results, UINT32_MAX, err);
	if (!code) {
		results->factors = table.behind - BEFORE;
		add_hash(results, &table);
	}
	for (uint32_t group = 0; !code && group < table.reader.group_count; group++) {
		code = read_group(&table, group, err);
		for (uint64_t row = 0; !code && row < table.rows; row++)
			if (!add_figure(results, &table, row))
				code = tp_err_memory(err, results->folder);
	}
	if (!code && !results->count)
		code = tp_err_set(err, TP_ERR_NOT_FOUND, results->folder,
		    "its experiments have no results yet: run 'teeperf experiment PLAN'");
	if (!code)
		qsort(results->figures, results->count, sizeof(*results->figures), compare_figures);
	for (uint32_t i = 0; !code && i < results->count; i++) {
		const char *name = results->figures[i].task;
		if (find_task(results, name))
			continue;
		if (TP_GROW(results->tasks, results->task_room, results->task_count + UINT64_C(1)))
			results->tasks[results->task_count++] = (struct task){name, INT64_MAX, 0};
		else
			code = tp_err_memory(err, results->folder);
	}
	close_table(&table);
	return code;
}

// The sums of what the medians are of: runs that ended well.
static int read_measurements(struct results *results, struct tp_err *err)
{
	struct table table;
	int code = open_table(&table, &measurements, results, results->factors, err);
	if (!code)
		add_hash(results, &table);
	for (uint32_t group = 0; !code && group < table.reader.group_count; group++) {
		code = read_group(&table, group, err);
		for (uint64_t row = 0; !code && row < table.rows; row++) {
			const struct figure wanted = {
			    .experiment = text_at(&table, 0, row),
			    .task = text_at(&table, 1, row),
			    .metric = text_at(&table, table.behind + MEASURED_METRIC, row),
			};
			const double value = real_at(&table, table.behind + VALUE, row);
			struct figure *figure = bsearch(&wanted, results->figures, results->count,
			    sizeof(wanted), compare_figures);
			if (!figure ||
			    strcmp(text_at(&table, table.behind + STATUS, row), "done") != 0)
				continue;
			figure->sum += value;
			figure->squares += value * value;
		}
	}
	close_table(&table);
	return code;
}

// When the runs of each task began.
static int read_starts(struct results *results, struct tp_err *err)
{
	struct table table;
	int code = open_table(&table, &runs, results, results->factors, err);
	for (uint32_t group = 0; !code && group < table.reader.group_count; group++) {
		code = read_group(&table, group, err);
		for (uint64_t row = 0; !code && row < table.rows; row++) {
			struct tm tm = {0};
			struct task *task = find_task(results, text_at(&table, 1, row));
			const char *end = strptime(text_at(&table, table.behind + STARTED, row),
			    "%Y-%m-%dT%H:%M:%SZ", &tm);
			const int64_t start = timegm(&tm);
			if (!task || !end || *end || start < 0)
				continue;
			task->start_s = start < task->start_s ? start : task->start_s;
			task->last_s = start > task->last_s ? start : task->last_s;
		}
	}
	for (uint32_t i = 0; !code && i < results->task_count; i++)
		if (results->tasks[i].start_s == INT64_MAX)
			code = refuse(&table, err);
	close_table(&table);
	return code;
}

// The line "host<TAB>NAME" of what the session has noted; without it nothing is known.
static void read_host(struct results *results)
{
	struct tp_buf text;
	struct tp_buf clean;
	char path[TP_FLEET_PATH];
	tp_buf_init(&text);
	tp_buf_init(&clean);
	const int fd = tp_fleet_path(path, NULL, "%s/experiment.tsv", results->folder)
			   ? -1
			   : open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && !tp_read_all(&text, fd, path, "what was noted", STATE_MAX, NULL)) {
		const char *line = text.size ? strstr(text.data, "\nhost\t") : NULL;
		if (line) {
			line += strlen("\nhost\t");
			text.data[strcspn(line, "\n") + (size_t)(line - text.data)] = '\0';
			tp_buf_add_clean(&clean, line);
			snprintf(results->host, sizeof(results->host), "%s", clean.data);
		}
	}
	if (fd >= 0)
		close(fd);
	tp_buf_release(&text);
	tp_buf_release(&clean);
}

static void release(struct results *results)
{
	free(results->figures);
	free(results->tasks);
	tp_arena_release(&results->arena);
}

// ---- rows

static void put_figure(const struct figure *figure, const struct tp_fleet_added *added,
    const struct task *task, const char *labels, const struct results *results,
    const struct tp_fleet_said *said, struct tp_parquet *out)
{
	tp_parquet_add_text(out, added->id);
	tp_fleet_put(out, (uint64_t)task->start_s * 1000000000);
	tp_parquet_add_text(out, said->host ? said->host : results->host);
	tp_parquet_add_text(out, said->git_revision ? said->git_revision : "");
	tp_parquet_add_text(out, labels);
	tp_parquet_add_text(out, figure->task);
	tp_parquet_add_text(out, figure->experiment);
	tp_parquet_add_text(out, figure->variant);
	tp_parquet_add_text(out, figure->factors);
	tp_parquet_add_text(out, figure->metric);
	tp_parquet_add_text(out, figure->unit);
	tp_fleet_put(out, figure->runs);
	tp_parquet_add_real(out, figure->median);
	for (int i = 0; i < 2; i++)
		if (figure->has_interval)
			tp_parquet_add_real(out, i ? figure->high : figure->low);
		else
			tp_parquet_add_missing(out);
	tp_parquet_add_real(out, figure->min);
	tp_parquet_add_real(out, figure->max);
	tp_parquet_add_real(out, figure->sum);
	tp_parquet_add_real(out, figure->squares);
	tp_parquet_add_text(out, TEEPERF_VERSION);
}

static int write_rows(const struct tp_fleet_adding *adding, const struct task *task,
    const struct results *results, const struct tp_fleet_said *said, uint64_t *rows,
    struct tp_err *err)
{
	struct tp_fleet_file file;
	struct tp_buf labels;
	tp_buf_init(&labels);
	tp_fleet_labels(&labels, said);
	int code = tp_fleet_file_open(&file, &tp_fleet_tables[TP_FLEET_EXPERIMENTS], adding->stage,
	    "experiments.parquet", err);
	if (!code && labels.failed)
		code = tp_err_memory(err, results->folder);
	for (uint32_t i = 0; !code && i < results->count; i++)
		if (strcmp(results->figures[i].task, task->name) == 0)
			put_figure(&results->figures[i], adding->added, task, labels.data, results,
			    said, &file.parquet);
	*rows = file.parquet.rows;
	tp_buf_release(&labels);
	return tp_fleet_file_close(&file, code, err);
}

static int add_task(const char *directory, const struct task *task, const struct results *results,
    const struct tp_fleet_said *said, struct tp_fleet_added *added, struct tp_err *err)
{
	struct tp_fleet_adding adding = {
	    .directory = directory,
	    .kind = TP_FLEET_OF_EXPERIMENTS,
	    .name = task->name,
	    .added = added,
	};
	const time_t last = (time_t)task->last_s;
	struct tm tm = {0};
	char second[32];
	uint64_t rows = 0;
	*added = (struct tp_fleet_added){0};
	gmtime_r(&last, &tm);
	strftime(adding.day, sizeof(adding.day), "%Y-%m-%d", &tm);
	strftime(second, sizeof(second), "%Y%m%d-%H%M%S", &tm);
	snprintf(added->id, sizeof(added->id), "%.22s-%016" PRIx64, second,
	    (uint64_t)XXH64(task->name, strlen(task->name), results->hash));
	int code = tp_fleet_adding_begin(&adding, err);
	if (!code && !added->already) {
		code = write_rows(&adding, task, results, said, &rows, err);
		if (!code)
			code = tp_fleet_adding_file(&adding, TP_FLEET_EXPERIMENTS, rows, err);
		if (!code)
			code = tp_fleet_adding_publish(&adding, err);
	}
	tp_fleet_adding_end(&adding);
	return code;
}

int tp_fleet_add_results(const char *directory, const char *folder,
    const struct tp_fleet_said *said, const struct tp_fleet_results_watch *watch,
    struct tp_err *err)
{
	struct results results = {.folder = folder};
	char path[TP_FLEET_PATH];
	tp_arena_init(&results.arena);
	int code = tp_fleet_path(path, err, "%s/summary.parquet", folder);
	if (!code && access(path, F_OK) != 0)
		code = tp_err_set(err, TP_ERR_NOT_FOUND, folder,
		    "is a folder without results of 'teeperf experiment': it has no "
		    "summary.parquet");
	if (!code)
		code = read_summary(&results, err);
	if (!code)
		code = read_measurements(&results, err);
	if (!code)
		code = read_starts(&results, err);
	if (!code)
		read_host(&results);
	for (uint32_t i = 0; !code && i < results.task_count; i++) {
		struct tp_fleet_added added;
		code = add_task(directory, &results.tasks[i], &results, said, &added, err);
		if (!code)
			watch->added(watch->context, results.tasks[i].name, &added);
	}
	release(&results);
	return code;
}
