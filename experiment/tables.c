// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tables of results: a row for each run (runs), and for each deep trace (deep_traces), for each
// figure of a run (measurements), for each figure of a cell (summary).
#include "results.h"

#include "analyzer/query/query.h"
#include "common/out_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { TABLES = 4 };

struct builder {
	const struct tp_results *results;
	struct tp_arena arena; /* names of columns */
	struct tp_plain_table table;
	struct tp_plain_column *columns;
	struct tp_plain_value *values;
	uint64_t count; /* of values */
	uint64_t room;  /* rows */
	bool failed;
};

static void init(
    struct builder *builder, const struct tp_results *results, const char *name, uint64_t rows)
{
	const uint32_t most = results->experiment->plan.column_count + results->figure_count + 16;
	*builder = (struct builder){.results = results, .room = rows};
	tp_arena_init(&builder->arena);
	builder->columns = calloc(most, sizeof(*builder->columns));
	builder->table = (struct tp_plain_table){.name = name, .columns = builder->columns};
	builder->failed = !builder->columns;
}

static void release(struct builder *builder)
{
	tp_arena_release(&builder->arena);
	free(builder->columns);
	free(builder->values);
}

// SQLite takes A and a for one name: the second is A_2.
static void add_column(struct builder *builder, const char *name, enum tp_plain_type type)
{
	char own[200];
	if (builder->failed)
		return;
	snprintf(own, sizeof(own), "%s", name);
	for (uint32_t i = 0, number = 2; i < builder->table.column_count; i++)
		if (strcasecmp(builder->columns[i].name, own) == 0) {
			snprintf(own, sizeof(own), "%s_%u", name, number++);
			i = UINT32_MAX;
		}
	const char *copy = tp_arena_copy(&builder->arena, own, strlen(own));
	builder->failed = !copy;
	builder->columns[builder->table.column_count++] = (struct tp_plain_column){copy, type};
}

// Room for the values, when all columns are there.
static void begin_rows(struct builder *builder)
{
	if (builder->failed)
		return;
	builder->values =
	    calloc(builder->room * builder->table.column_count + 1, sizeof(*builder->values));
	builder->table.values = builder->values;
	builder->failed = !builder->values;
}

static void add(struct builder *builder, bool known, double number, const char *text)
{
	if (!builder->failed)
		builder->values[builder->count++] =
		    (struct tp_plain_value){known, number, text ? text : ""};
}

static void add_text(struct builder *builder, const char *text)
{
	add(builder, text, 0, text);
}

static void add_number(struct builder *builder, double number)
{
	add(builder, true, number, NULL);
}

// A factor whose values are all numbers is one of numbers.
static bool is_numeric(const struct tp_grid *grid, uint32_t column)
{
	bool any = false;
	for (uint32_t i = 0; i < grid->cell_count; i++) {
		const char *value = grid->cells[i].values[column];
		char *end;
		if (!value)
			continue;
		if (strspn(value, "+-.0123456789eE") != strlen(value) || !*value)
			return false;
		strtod(value, &end);
		any = true;
		if (*end)
			return false;
	}
	return any;
}

static void add_cell_columns(struct builder *builder)
{
	const struct tp_plan *plan = &builder->results->experiment->plan;
	add_column(builder, "experiment", TP_PLAIN_TEXT);
	add_column(builder, "task", TP_PLAIN_TEXT);
	add_column(builder, "variant", TP_PLAIN_TEXT);
	for (uint32_t i = 0; i < plan->column_count; i++)
		add_column(builder, plan->columns[i],
		    is_numeric(&builder->results->experiment->grid, i) ? TP_PLAIN_REAL
								       : TP_PLAIN_TEXT);
}

static void add_cell(struct builder *builder, const struct tp_grid_cell *cell)
{
	add_text(builder, cell->name);
	add_text(builder, cell->task->name);
	add_text(builder, cell->variant->name);
	for (uint32_t i = 0; i < builder->results->experiment->plan.column_count; i++)
		add(builder, cell->values[i], cell->values[i] ? strtod(cell->values[i], NULL) : 0,
		    cell->values[i]);
}

static const struct tp_metric *find(const struct tp_measured *in, const char *name)
{
	for (uint32_t i = 0; i < in->metric_count; i++)
		if (strcmp(in->metrics[i].name, name) == 0)
			return &in->metrics[i];
	return NULL;
}

static uint64_t count_runs(
    const struct tp_results *results, enum tp_run_kind kind, uint64_t *metrics)
{
	uint64_t count = 0;
	*metrics = 0;
	for (uint32_t i = 0; i < results->count; i++)
		if (results->items[i].run->kind == kind) {
			count++;
			*metrics += results->items[i].measured.metric_count;
		}
	return count;
}

static void make_runs_of(struct builder *builder, const struct tp_results *results,
    const char *name, enum tp_run_kind kind)
{
	uint64_t metrics;
	init(builder, results, name, count_runs(results, kind, &metrics));
	add_cell_columns(builder);
	add_column(builder, "iteration", TP_PLAIN_INTEGER);
	add_column(builder, "position", TP_PLAIN_INTEGER);
	add_column(builder, "started", TP_PLAIN_TEXT);
	add_column(builder, "status", TP_PLAIN_TEXT);
	add_column(builder, "ended_with", TP_PLAIN_TEXT);
	for (uint32_t i = 0; i < results->figure_count; i++)
		add_column(builder, results->figures[i].column, TP_PLAIN_REAL);
	begin_rows(builder);
	for (uint32_t i = 0; i < results->count; i++) {
		const struct tp_result *result = &results->items[i];
		if (result->run->kind != kind)
			continue;
		add_cell(builder, &results->experiment->grid.cells[result->run->cell]);
		add_number(builder, result->run->iteration);
		add_number(builder, (double)result->measured.position);
		add_text(builder, result->measured.started);
		add_text(builder, tp_run_statuses[result->measured.status]);
		add_text(builder, result->measured.how);
		for (uint32_t j = 0; j < results->figure_count; j++) {
			const struct tp_metric *metric =
			    find(&result->measured, results->figures[j].name);
			add(builder, metric, metric ? metric->value : 0, NULL);
		}
		builder->table.row_count++;
	}
}

static void make_runs(struct builder *builder, const struct tp_results *results)
{
	make_runs_of(builder, results, "runs", TP_RUN_MEASURED);
}

static void make_deep_traces(struct builder *builder, const struct tp_results *results)
{
	make_runs_of(builder, results, "deep_traces", TP_RUN_DEEP_TRACE);
}

static void make_measurements(struct builder *builder, const struct tp_results *results)
{
	uint64_t metrics;
	count_runs(results, TP_RUN_MEASURED, &metrics);
	init(builder, results, "measurements", metrics);
	add_cell_columns(builder);
	add_column(builder, "iteration", TP_PLAIN_INTEGER);
	add_column(builder, "status", TP_PLAIN_TEXT);
	add_column(builder, "metric", TP_PLAIN_TEXT);
	add_column(builder, "unit", TP_PLAIN_TEXT);
	add_column(builder, "value", TP_PLAIN_REAL);
	begin_rows(builder);
	for (uint32_t i = 0; i < results->count; i++) {
		const struct tp_result *result = &results->items[i];
		for (uint32_t j = 0; j < result->measured.metric_count; j++) {
			const struct tp_metric *metric = &result->measured.metrics[j];
			if (result->run->kind != TP_RUN_MEASURED)
				continue;
			add_cell(builder, &results->experiment->grid.cells[result->run->cell]);
			add_number(builder, result->run->iteration);
			add_text(builder, tp_run_statuses[result->measured.status]);
			add_text(builder, metric->name);
			add_text(builder, metric->unit);
			add_number(builder, metric->value);
			builder->table.row_count++;
		}
	}
}

static void make_summary(struct builder *builder, const struct tp_results *results)
{
	init(builder, results, "summary", results->summary_count);
	add_cell_columns(builder);
	add_column(builder, "metric", TP_PLAIN_TEXT);
	add_column(builder, "unit", TP_PLAIN_TEXT);
	add_column(builder, "runs", TP_PLAIN_INTEGER);
	add_column(builder, "median", TP_PLAIN_REAL);
	add_column(builder, "median_low", TP_PLAIN_REAL);
	add_column(builder, "median_high", TP_PLAIN_REAL);
	add_column(builder, "min", TP_PLAIN_REAL);
	add_column(builder, "max", TP_PLAIN_REAL);
	begin_rows(builder);
	for (uint32_t i = 0; i < results->summary_count; i++) {
		const struct tp_summary *summary = &results->summaries[i];
		add_cell(builder, &results->experiment->grid.cells[summary->cell]);
		add_text(builder, results->figures[summary->figure].name);
		add_text(builder, results->figures[summary->figure].unit);
		add_number(builder, summary->count);
		add_number(builder, summary->median);
		add(builder, summary->has_interval, summary->low, NULL);
		add(builder, summary->has_interval, summary->high, NULL);
		add_number(builder, summary->min);
		add_number(builder, summary->max);
		builder->table.row_count++;
	}
}

static int write_buf(
    const char *folder, const char *name, const struct tp_buf *text, struct tp_err *err)
{
	char path[PATH_MAX];
	struct tp_out_file out;
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	if (text->failed)
		return tp_err_memory(err, path);
	const int code = tp_out_file_replace(&out, path, err);
	if (code)
		return code;
	tp_buf_add(&out.buf, text->data, text->size);
	return tp_out_file_close(&out, err);
}

static int write_table(const struct tp_plain_table *table, const char *folder, struct tp_err *err)
{
	char name[64];
	struct tp_buf text;
	tp_buf_init(&text);
	tp_plain_csv(table, &text);
	snprintf(name, sizeof(name), "%s.csv", table->name);
	int code = write_buf(folder, name, &text, err);
	tp_buf_release(&text);
	return code ? code : tp_plain_parquet(table, folder, err);
}

int tp_results_write(const struct tp_results *results, struct tp_err *err)
{
	static void (*const make[TABLES])(struct builder *, const struct tp_results *) = {
	    make_runs, make_deep_traces, make_measurements, make_summary};
	const char *folder = results->experiment->output;
	struct builder builders[TABLES];
	struct tp_plain_table tables[TABLES];
	char path[PATH_MAX];
	int code = 0;
	for (int i = 0; i < TABLES; i++) {
		make[i](&builders[i], results);
		tables[i] = builders[i].table;
		if (!code && builders[i].failed)
			code = tp_err_memory(err, folder);
		if (!code)
			code = write_table(&tables[i], folder, err);
	}
	snprintf(path, sizeof(path), "%s/results.sqlite", folder);
	if (!code)
		code = tp_query_save(tables, TABLES, path, err);
	for (int i = 0; i < TABLES; i++)
		release(&builders[i]);
	struct tp_buf page;
	tp_buf_init(&page);
	if (!code)
		code = tp_results_page(results, &page, err);
	if (!code)
		code = write_buf(folder, "report.html", &page, err);
	tp_buf_release(&page);
	return code;
}
