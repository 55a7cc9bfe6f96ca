/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Latency over time: of a function, how many of its calls began in which part of the timeline and
 * took how long. Of all threads, and in the times of the table of functions: over all columns, the
 * cells of a row are what the function's histogram has in the row's buckets. A map has a fixed
 * number of cells, whatever the number of calls.
 */
#ifndef TP_REPORT_HEAT_H
#define TP_REPORT_HEAT_H

#include "analyzer/profile/calls.h"
#include "common/buf.h"

#define TP_REPORT_HEAT_COLUMNS 128 /* at most */
#define TP_REPORT_HEAT_ROWS 48     /* at most */

struct tp_report_time;

struct tp_report_heat_map {
	uint32_t function; /* index in analysis->functions */
	uint32_t first;    /* row 0 has the buckets of tp_histogram_bucket from first * step on */
	uint32_t step;     /* buckets of a row */
	uint32_t rows;
	uint64_t *cells; /* calls, column by column */
};

struct tp_report_heat {
	struct tp_report_heat_map *maps; /* those with most inclusive time first */
	uint32_t count;
	uint32_t left;    /* functions with timed calls that have no map */
	uint32_t *map_of; /* of each function; UINT32_MAX: none */
	uint64_t from;    /* ticks, where column 0 begins */
	uint64_t width;   /* ticks of a column */
	uint32_t columns;
	uint32_t cells_per_column; /* of the timeline's cells */
};

/*
 * Maps of the MOST functions with most inclusive time, over the timeline TIME. False: no memory.
 * Release it in any case.
 */
bool tp_report_heat_init(struct tp_report_heat *heat, const struct tp_analysis *analysis,
    const struct tp_report_time *time, uint32_t most);
void tp_report_heat_release(struct tp_report_heat *heat);

/*
 * A call of FUNCTION has ended. What began outside of the timeline is in its first or last column.
 */
static inline void tp_report_heat_add(
    struct tp_report_heat *heat, uint32_t function, const struct tp_call *call)
{
	if (!heat->map_of || heat->map_of[function] == UINT32_MAX)
		return;
	const struct tp_report_heat_map *map = &heat->maps[heat->map_of[function]];
	const uint64_t since = call->start > heat->from ? call->start - heat->from : 0;
	uint64_t column = since / heat->width;
	column = column < heat->columns ? column : heat->columns - 1;
	const uint32_t at = tp_histogram_bucket(call->chosen) / map->step;
	const uint32_t row = at > map->first ? at - map->first : 0;
	map->cells[column * map->rows + (row < map->rows ? row : map->rows - 1)]++;
}

/* The first bucket above all rows of all maps. */
uint32_t tp_report_heat_highest(const struct tp_report_heat *heat);
/*
 * The block "heat": columns, cells of the timeline in a column, functions without a map, maps; for
 * each map function, first, step, rows, how many cells are not 0, and the columns cell (difference;
 * column * rows + row) and calls.
 */
void tp_report_heat_write(const struct tp_report_heat *heat, struct tp_buf *out);

#endif
