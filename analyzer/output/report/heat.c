// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Latency over time: the maps of a report.
#include "heat.h"

#include "analyzer/output/report/report.h"
#include "common/varint.h"

#include <stdlib.h>

// As fine as the histogram is, unless that would be too many rows.
static bool map_init(struct tp_report_heat_map *map, const struct tp_histogram *times,
    uint32_t function, uint32_t columns)
{
	const uint32_t first = tp_histogram_first(times);
	const uint32_t last = first + tp_histogram_size(times) - 1;
	map->function = function;
	map->step = 1;
	while (last / map->step - first / map->step >= TP_REPORT_HEAT_ROWS)
		map->step *= 2;
	map->first = first / map->step;
	map->rows = last / map->step - map->first + 1;
	map->cells = calloc((size_t)columns * map->rows, sizeof(*map->cells));
	return map->cells != NULL;
}

bool tp_report_heat_init(struct tp_report_heat *heat, const struct tp_analysis *analysis,
    const struct tp_report_time *time, uint32_t most)
{
	const uint32_t all = analysis->function_count;
	uint32_t known;
	uint32_t *order = tp_report_heaviest(analysis, &known);
	*heat = (struct tp_report_heat){
	    .from = time->from,
	    .map_of = malloc(((size_t)all + 1) * sizeof(*heat->map_of)),
	};
	bool ok = order && heat->map_of;
	for (uint32_t i = 0; ok && i < all; i++)
		heat->map_of[i] = UINT32_MAX;
	const uint32_t maps = known < most ? known : most;
	heat->left = known - maps;
	heat->maps = calloc((size_t)maps + 1, sizeof(*heat->maps));
	heat->cells_per_column =
	    (time->cells + TP_REPORT_HEAT_COLUMNS - 1) / TP_REPORT_HEAT_COLUMNS;
	heat->columns = (time->cells + heat->cells_per_column - 1) / heat->cells_per_column;
	heat->width = time->width * (time->buckets / time->cells) * heat->cells_per_column;
	ok = ok && heat->maps;
	for (uint32_t i = 0; ok && i < maps; i++) {
		ok = map_init(
		    &heat->maps[i], &analysis->functions[order[i]].times, order[i], heat->columns);
		heat->count++;
		heat->map_of[order[i]] = i;
	}
	free(order);
	return ok;
}

void tp_report_heat_release(struct tp_report_heat *heat)
{
	for (uint32_t i = 0; heat->maps && i < heat->count; i++)
		free(heat->maps[i].cells);
	free(heat->maps);
	free(heat->map_of);
	*heat = (struct tp_report_heat){0};
}

uint32_t tp_report_heat_highest(const struct tp_report_heat *heat)
{
	uint32_t highest = 0;
	for (uint32_t i = 0; i < heat->count; i++) {
		const struct tp_report_heat_map *map = &heat->maps[i];
		const uint32_t end = (map->first + map->rows) * map->step;
		highest = end > highest ? end : highest;
	}
	return highest;
}

void tp_report_heat_write(const struct tp_report_heat *heat, struct tp_buf *out)
{
	tp_varint_add(out, heat->columns);
	tp_varint_add(out, heat->cells_per_column);
	tp_varint_add(out, heat->left);
	tp_varint_add(out, heat->count);
	for (uint32_t i = 0; i < heat->count; i++) {
		const struct tp_report_heat_map *map = &heat->maps[i];
		const uint64_t cells = (uint64_t)heat->columns * map->rows;
		uint64_t used = 0;
		for (uint64_t j = 0; j < cells; j++)
			used += map->cells[j] != 0;
		tp_varint_add(out, map->function);
		tp_varint_add(out, map->first);
		tp_varint_add(out, map->step);
		tp_varint_add(out, map->rows);
		tp_varint_add(out, used);
		for (uint64_t j = 0, last = 0; j < cells; j++) {
			if (!map->cells[j])
				continue;
			tp_varint_add(out, j - last);
			last = j;
		}
		for (uint64_t j = 0; j < cells; j++)
			if (map->cells[j])
				tp_varint_add(out, map->cells[j]);
	}
}
