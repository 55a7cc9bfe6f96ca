// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The view "top": one row for each function, all threads summed.
#include "analyzer/output/relation/show.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct tp_cell total_of(const struct tp_relation_data *data, const char *key)
{
	const struct tp_analysis *analysis = data->analysis;
	uint64_t calls = 0;
	for (uint32_t i = 0; i < analysis->function_count; i++)
		calls += analysis->functions[i].calls;
	if (strcmp(key, "calls") == 0)
		return tp_cell_count(calls);
	if (strcmp(key, "self_ns") == 0)
		return tp_cell_time(data, true, analysis->self);
	if (strcmp(key, "share") == 0)
		return tp_cell_percent(analysis->self, analysis->self);
	return (struct tp_cell){.type = TP_CELL_NULL};
}

// The last row of a table.
static void add_total(struct tp_relation_show *show)
{
	char text[64];
	snprintf(text, sizeof(text), "total of %" PRIu32 " functions",
	    show->data->analysis->function_count);
	for (uint32_t i = 0; i < show->count; i++) {
		const struct tp_relation_column *column =
		    &show->relation->columns[show->columns[i]];
		const struct tp_cell cell =
		    column->elastic ? tp_cell_text(text) : total_of(show->data, column->key);
		tp_relation_show_cell(show, show->columns[i], cell);
	}
}

static int render(const struct tp_analysis *analysis, const struct tp_view_options *options,
    struct tp_buf *out, struct tp_err *err)
{
	struct tp_relation_data data = {.analysis = analysis};
	struct tp_relation_show show;
	uint32_t count;
	uint32_t *order = tp_view_order(analysis, options, NULL, &count);
	if (!order)
		return tp_err_set(err, TP_ERR_MEMORY, NULL, TP_ERR_NO_OFFSET,
		    "no memory for %" PRIu32 " rows", analysis->function_count);
	tp_relation_show_init(&show, &tp_relation_functions, &data, options, out);
	for (uint32_t i = 0; i < count; i++)
		tp_relation_show_row(&show, &analysis->functions[order[i]]);
	if (options->format == TP_FORMAT_TABLE)
		add_total(&show);
	free(order);
	return tp_grid_end(&show.grid, err);
}

const struct tp_view tp_view_top = {
    .name = "top",
    .summary = "one row for each function, all threads summed",
    .sorted = true,
    .render = render,
};
