// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What pages show of a trace.
#include "data.h"

#include "common/array.h"

#include <stdlib.h>
#include <string.h>

int tp_tui_data_init(
    struct tp_tui_data *data, const struct tp_analysis *analysis, struct tp_err *err)
{
	*data = (struct tp_tui_data){
	    .analysis = analysis,
	    // As tables are, but for CSV and JSON estimates count.
	    .cells = {.analysis = analysis, .paths = &data->paths, .scaled = true},
	};
	for (uint32_t i = 0; i < analysis->function_count; i++)
		data->calls += analysis->functions[i].calls;
	tp_notes_init(&data->notes, analysis);
	return data->notes.failed ? tp_err_memory(err, analysis->trace->source.name) : 0;
}

void tp_tui_data_add_paths(struct tp_tui_data *data)
{
	struct tp_err err;
	data->paths_code = tp_paths_init(&data->paths, data->analysis, &err);
	if (!data->paths_code)
		data->paths_code =
		    tp_neighbours_init(&data->neighbours, data->analysis, &data->paths, &err);
}

void tp_tui_data_release(struct tp_tui_data *data)
{
	tp_neighbours_release(&data->neighbours);
	tp_paths_release(&data->paths);
	tp_notes_release(&data->notes);
}

uint32_t tp_tui_data_row(const struct tp_tui_data *data, uint32_t path, uint32_t thread)
{
	const struct tp_path_row *rows = data->paths.rows;
	const uint32_t end = tp_paths_rows_end(&data->paths, path);
	const uint32_t found =
	    TP_LOWER_BOUND(data->paths.items[path].row, end, at, rows[at].thread < thread);
	return found < end && rows[found].thread == thread ? found : UINT32_MAX;
}

uint32_t tp_tui_data_heaviest(const struct tp_tui_data *data, uint32_t function)
{
	const struct tp_neighbours *neighbours = &data->neighbours;
	uint32_t best = 0;
	for (uint32_t i = neighbours->starts[function]; i < neighbours->starts[function + 1]; i++) {
		const uint32_t path = neighbours->by_function[i];
		if (!best || data->paths.items[path].inclusive > data->paths.items[best].inclusive)
			best = path;
	}
	return best;
}

// As functions are sorted (analyzer/profile/functions.c).
static int compare(const struct tp_function *a, const struct tp_function *b)
{
	const int order = TP_COMPARE(b->key.low_half, a->key.low_half);
	return order ? order : TP_COMPARE(a->key.address, b->key.address);
}

uint32_t *tp_tui_data_map(const struct tp_tui_data *from, const struct tp_tui_data *to)
{
	const struct tp_analysis *old = from->analysis;
	const struct tp_analysis *new = to->analysis;
	uint32_t *map = calloc((size_t)old->function_count + 1, sizeof(*map));
	uint32_t at = 0;
	for (uint32_t i = 0; map && i < old->function_count; i++) {
		const struct tp_function *function = &old->functions[i];
		while (at < new->function_count && compare(&new->functions[at], function) < 0)
			at++;
		const bool same =
		    at < new->function_count &&compare(&new->functions[at], function) == 0 &&
		    strcmp(new->functions[at].symbol.name, function->symbol.name) == 0;
		map[i] = same ? at : UINT32_MAX;
	}
	return map;
}
