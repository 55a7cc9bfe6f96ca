// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads what the runs have left, and adds it up.
#include "results.h"

#include "common/array.h"
#include "common/hash.h"
#include "experiment/statistics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void tp_results_release(struct tp_results *results)
{
	for (uint32_t i = 0; i < results->count; i++)
		tp_measured_release(&results->items[i].measured);
	free(results->items);
	free(results->figures);
	free(results->summaries);
	free(results->notes);
	tp_arena_release(&results->arena);
	*results = (struct tp_results){0};
}

static bool add_figure(struct tp_results *results, const struct tp_metric *metric)
{
	char column[160];
	for (uint32_t i = 0; i < results->figure_count; i++)
		if (strcmp(results->figures[i].name, metric->name) == 0)
			return true;
	const bool counts = strcmp(metric->unit, "count") == 0;
	const int size = snprintf(column, sizeof(column), "%s%s%s", metric->name, counts ? "" : "_",
	    counts ? "" : metric->unit);
	// disk_read_bytes is not disk_read_bytes_bytes.
	const size_t name = strlen(metric->name);
	const size_t unit = strlen(metric->unit);
	const bool has = !counts && name > unit && metric->name[name - unit - 1] == '_' &&
			 strcmp(metric->name + name - unit, metric->unit) == 0;
	const char *copy = tp_arena_copy(&results->arena, column, has ? name : (size_t)size);
	if (!copy || !TP_GROW(results->figures, results->figure_room, results->figure_count + 1))
		return false;
	results->figures[results->figure_count++] =
	    (struct tp_figure){metric->name, metric->unit, copy};
	return true;
}

static bool add_note(
    struct tp_results *results, const char *text, const struct tp_grid_cell *cell, uint32_t runs)
{
	for (uint32_t i = 0; i < results->note_count; i++) {
		struct tp_result_note *note = &results->notes[i];
		if (strcmp(note->text, text))
			continue;
		note->runs += runs;
		note->cells++;
		return true;
	}
	if (!TP_GROW(results->notes, results->note_room, results->note_count + 1))
		return false;
	results->notes[results->note_count++] = (struct tp_result_note){text, cell, runs, 1};
	return true;
}

static bool add_result(struct tp_results *results, const struct tp_result *result)
{
	const struct tp_measured *measured = &result->measured;
	const struct tp_grid_cell *cell = &results->experiment->grid.cells[result->run->cell];
	bool ok = true;
	results->bad[measured->status]++;
	for (uint32_t i = 0; ok && i < measured->metric_count; i++)
		ok = add_figure(results, &measured->metrics[i]);
	for (uint32_t i = 0; ok && i < measured->note_count; i++)
		ok = add_note(results, measured->notes[i], cell, 1);
	return ok;
}

static const struct tp_metric *find(const struct tp_measured *in, const char *name)
{
	for (uint32_t i = 0; i < in->metric_count; i++)
		if (strcmp(in->metrics[i].name, name) == 0)
			return &in->metrics[i];
	return NULL;
}

static int compare(const void *a, const void *b)
{
	const double x = *(const double *)a;
	const double y = *(const double *)b;
	return TP_COMPARE(x, y);
}

// OF: the results of the cell, COUNT of them.
static bool summarize(struct tp_results *results, uint32_t cell, uint32_t figure,
    const struct tp_result *const *of, uint32_t count)
{
	struct tp_summary summary = {.cell = cell, .figure = figure};
	const char *name = results->figures[figure].name;
	summary.values = tp_arena_alloc(&results->arena, (count + 1) * sizeof(*summary.values));
	for (uint32_t i = 0; summary.values && i < count; i++) {
		const struct tp_metric *metric = find(&of[i]->measured, name);
		if (metric)
			summary.values[summary.count++] = metric->value;
	}
	if (!summary.count)
		return summary.values;
	qsort(summary.values, summary.count, sizeof(*summary.values), compare);
	summary.median = tp_sorted_median(summary.values, summary.count);
	summary.min = summary.values[0];
	summary.max = summary.values[summary.count - 1];
	// The same figures have the same interval, whatever else is in the plan.
	uint64_t seed = tp_hash_string(results->experiment->seed, name);
	seed = tp_hash_string(seed, results->experiment->grid.cells[cell].name);
	summary.has_interval =
	    tp_bootstrap_median(summary.values, summary.count, seed, &summary.low, &summary.high);
	if (!TP_GROW(results->summaries, results->summary_room, results->summary_count + 1))
		return false;
	results->summaries[results->summary_count++] = summary;
	return true;
}

static bool summarize_all(struct tp_results *results)
{
	const uint32_t cells = results->experiment->grid.cell_count;
	const struct tp_result **of = malloc((results->count + 1) * sizeof(struct tp_result *));
	uint32_t *first = calloc(cells + 2, sizeof(*first));
	bool ok = of && first;
	// Those of a cell side by side: counted, then put in their places.
	for (int pass = 0; ok && pass < 2; pass++) {
		for (uint32_t i = 0; i < results->count; i++) {
			const struct tp_result *result = &results->items[i];
			if (result->run->kind != TP_RUN_MEASURED || result->measured.status)
				continue;
			if (pass)
				of[first[result->run->cell + 1]++] = result;
			else
				first[result->run->cell + 2]++;
		}
		for (uint32_t i = 2; !pass && i < cells + 2; i++)
			first[i] += first[i - 1];
	}
	for (uint32_t cell = 0; ok && cell < cells; cell++)
		for (uint32_t figure = 0; ok && figure < results->figure_count; figure++)
			ok = summarize(
			    results, cell, figure, &of[first[cell]], first[cell + 1] - first[cell]);
	free(of);
	free(first);
	return ok;
}

int tp_results_read(
    struct tp_results *results, const struct tp_experiment *experiment, struct tp_err *err)
{
	const struct tp_grid *grid = &experiment->grid;
	*results = (struct tp_results){.experiment = experiment};
	results->items = calloc(grid->run_count + 1, sizeof(*results->items));
	bool ok = results->items;
	for (uint32_t i = 0; ok && i < grid->cell_count; i++)
		if (grid->cells[i].skipped)
			ok = add_note(results, grid->cells[i].skipped, &grid->cells[i], 0);
	for (uint32_t i = 0; ok && i < grid->run_count; i++) {
		char folder[PATH_MAX];
		struct tp_result *result = &results->items[results->count];
		result->run = &grid->runs[i];
		int code = tp_experiment_folder(experiment, result->run, folder, err);
		if (!code)
			code = tp_measured_read(&result->measured, folder, err);
		if (code) {
			tp_measured_release(&result->measured);
			ok = code != TP_ERR_MEMORY;
			continue;
		}
		results->count++;
		ok = add_result(results, result);
	}
	return ok && summarize_all(results) ? 0 : tp_err_memory(err, NULL);
}
