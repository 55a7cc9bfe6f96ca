// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rows of a relation as a table, CSV or JSON.
#include "show.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Whether any row has a value, or may have in a stream; where there is none, a table need not say
// so.
static bool has_values(
    const struct tp_relation *relation, struct tp_relation_data *data, uint32_t column)
{
	const uint64_t rows = relation->rows ? relation->rows(data).count : 0;
	for (uint64_t i = 0; i < rows; i++)
		if (relation->value(data, tp_relation_row(relation, data, i), column).type)
			return true;
	return !relation->rows;
}

bool tp_relation_is_shown(
    const struct tp_relation *relation, struct tp_relation_data *data, uint32_t column)
{
	return !relation->columns[column].sparse || has_values(relation, data, column);
}

void tp_relation_show_init(struct tp_relation_show *show, const struct tp_relation *relation,
    struct tp_relation_data *data, const struct tp_view_options *options,
    const struct tp_grid_members *members, struct tp_buf *out)
{
	const bool table = options->format == TP_FORMAT_TABLE;
	*show = (struct tp_relation_show){.relation = relation, .data = data};
	data->scaled = table;
	const uint32_t count =
	    tp_relation_list(relation, table ? TP_FORM_TEXT : TP_FORM_CSV, show->columns);
	for (uint32_t i = 0; i < count; i++) {
		const struct tp_relation_column *column = &relation->columns[show->columns[i]];
		if (table && !tp_relation_is_shown(relation, data, show->columns[i]))
			continue;
		show->columns[show->count] = show->columns[i];
		show->shown[show->count++] = (struct tp_column){
		    .title = column->title,
		    .key = column->key,
		    .alignment = column->type == TP_TYPE_TEXT ? 'l' : 'r',
		    .rank = column->rank,
		    .timed = column->unit == TP_UNIT_TIME || column->unit == TP_UNIT_PERCENT,
		    .elastic = column->elastic,
		};
	}
	tp_grid_init(
	    &show->grid, data->analysis, options, show->shown, relation->name, members, out);
}

void tp_relation_format(const struct tp_analysis *analysis, enum tp_unit unit, struct tp_cell cell,
    char table[TP_TEXT_NUMBER + 1], char other[TP_TEXT_NUMBER])
{
	char number[TP_TEXT_NUMBER];
	if (unit == TP_UNIT_ADDRESS || unit == TP_UNIT_KEY) {
		snprintf(other, TP_TEXT_NUMBER, unit == TP_UNIT_KEY ? "%" PRId64 : "0x%" PRIx64,
		    cell.number);
		snprintf(number, sizeof(number), "%s", other);
	} else if (unit == TP_UNIT_PERCENT) {
		// More than all of it says no more than that.
		snprintf(number, sizeof(number), cell.real > 100 ? ">100%%" : "%.1f%%", cell.real);
		snprintf(other, TP_TEXT_NUMBER, "%.6f", cell.real / 100);
	} else {
		snprintf(other, TP_TEXT_NUMBER,
		    cell.type == TP_CELL_COUNT ? "%" PRIu64 : "%" PRId64, cell.count);
		if (unit == TP_UNIT_NS || (unit == TP_UNIT_TIME && analysis->time.known))
			tp_text_ns(number, cell.count);
		else if (unit == TP_UNIT_NONE)
			snprintf(number, sizeof(number), "%s", other);
		else
			tp_text_count(number, cell.count);
	}
	snprintf(table, TP_TEXT_NUMBER + 1, "%s%s",
	    cell.at_least    ? ">"
	    : cell.estimated ? "~"
			     : "",
	    number);
}

static void add_cell(struct tp_relation_show *show, uint32_t column, struct tp_cell cell)
{
	struct tp_grid *grid = &show->grid;
	const enum tp_unit unit = show->relation->columns[column].unit;
	char table[TP_TEXT_NUMBER + 1];
	char other[TP_TEXT_NUMBER];
	if (cell.type == TP_CELL_NULL) {
		tp_grid_blank(grid);
		return;
	}
	if (cell.type == TP_CELL_TEXT) {
		tp_grid_text(grid, cell.text);
		return;
	}
	tp_relation_format(grid->analysis, unit, cell, table, other);
	if (unit == TP_UNIT_ADDRESS || unit == TP_UNIT_KEY)
		tp_grid_text(grid, other);
	else
		tp_grid_plain(grid, table, other);
}

void tp_relation_show_total(struct tp_relation_show *show, const void *row)
{
	for (uint32_t i = 0; i < show->count; i++)
		add_cell(show, show->columns[i],
		    show->relation->value(show->data, row, show->columns[i]));
}

void tp_relation_show_row(struct tp_relation_show *show, const void *row)
{
	if (!tp_grid_skips(&show->grid))
		tp_relation_show_total(show, row);
}

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
	return tp_cell_if(data->family && strcmp(key, "processes") == 0,
	    tp_cell_count(data->family ? data->family->count : 0));
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
		add_cell(show, show->columns[i],
		    column->elastic ? tp_cell_text(text) : total_of(show->data, column->key));
	}
}

int tp_relation_show_functions(const struct tp_relation *relation, struct tp_relation_data *data,
    const struct tp_view_options *options, const struct tp_grid_members *members,
    struct tp_buf *out, struct tp_err *err)
{
	struct tp_relation_show show;
	uint32_t count;
	uint32_t *order = tp_view_order(data->analysis, options, NULL, &count, err);
	if (!order)
		return TP_ERR_MEMORY;
	tp_relation_show_init(&show, relation, data, options, members, out);
	for (uint32_t i = 0; i < count; i++)
		tp_relation_show_row(&show, &data->analysis->functions[order[i]]);
	if (options->format == TP_FORMAT_TABLE)
		add_total(&show);
	free(order);
	return tp_grid_end(&show.grid, 0, err);
}

static void show_threads(struct tp_relation_show *show, const struct tp_family *family)
{
	for (uint32_t i = 0; i < family->count; i++) {
		show->data->member = &family->members[i];
		show->data->analysis = family->members[i].analysis;
		for (uint32_t j = 0; j < show->data->analysis->thread_count; j++)
			tp_relation_show_row(show, &show->data->analysis->threads[j]);
	}
}

int tp_family_show(const struct tp_family *family, enum tp_family_view view,
    const struct tp_view_options *options, struct tp_buf *out, struct tp_err *err)
{
	const struct tp_grid_members members = {tp_family_add_json, family};
	struct tp_relation_data data = {.analysis = &family->sums, .family = family};
	struct tp_relation_show show;
	if (view == TP_FAMILY_TOP)
		return tp_relation_show_functions(
		    &tp_relation_family_functions, &data, options, &members, out, err);
	tp_relation_show_init(&show,
	    view == TP_FAMILY_THREADS ? &tp_relation_family_threads : &tp_relation_family_processes,
	    &data, options, &members, out);
	if (view == TP_FAMILY_THREADS)
		show_threads(&show, family);
	else
		for (uint32_t i = 0; i < family->count; i++)
			tp_relation_show_row(&show, &family->members[i]);
	return tp_grid_end(&show.grid, 0, err);
}
