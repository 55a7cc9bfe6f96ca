// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rows of a relation as a table, CSV or JSON.
#include "show.h"

#include "analyzer/output/text.h"

#include <inttypes.h>
#include <stdio.h>

// Whether any row has a value; where there is none, a table need not say so.
static bool has_values(struct tp_relation_show *show, uint32_t column)
{
	const struct tp_relation *relation = show->relation;
	const uint64_t rows = relation->rows(show->data);
	for (uint64_t i = 0; i < rows; i++)
		if (relation->value(show->data, relation->row(show->data, i), column).type)
			return true;
	return false;
}

void tp_relation_show_init(struct tp_relation_show *show, const struct tp_relation *relation,
    struct tp_relation_data *data, const struct tp_view_options *options, struct tp_buf *out)
{
	const bool table = options->format == TP_FORMAT_TABLE;
	*show = (struct tp_relation_show){.relation = relation, .data = data};
	data->scaled = table;
	const uint32_t count =
	    tp_relation_list(relation, table ? TP_FORM_TEXT : TP_FORM_CSV, show->columns);
	for (uint32_t i = 0; i < count; i++) {
		const struct tp_relation_column *column = &relation->columns[show->columns[i]];
		if (table && column->sparse && !has_values(show, show->columns[i]))
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
	    &show->grid, data->analysis, options, show->shown, show->count, relation->name, out);
}

void tp_relation_show_cell(struct tp_relation_show *show, uint32_t column, struct tp_cell cell)
{
	struct tp_grid *grid = &show->grid;
	const enum tp_unit unit = show->relation->columns[column].unit;
	char number[TP_TEXT_NUMBER];
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
	if (unit == TP_UNIT_ADDRESS || unit == TP_UNIT_KEY) {
		snprintf(other, sizeof(other), unit == TP_UNIT_KEY ? "%" PRId64 : "0x%" PRIx64,
		    cell.number);
		tp_grid_text(grid, other);
		return;
	}
	if (unit == TP_UNIT_PERCENT) {
		// More than all of it says no more than that.
		snprintf(number, sizeof(number), cell.real > 100 ? ">100%%" : "%.1f%%", cell.real);
		snprintf(other, sizeof(other), "%.6f", cell.real / 100);
	} else {
		snprintf(other, sizeof(other), cell.type == TP_CELL_COUNT ? "%" PRIu64 : "%" PRId64,
		    cell.count);
		if (unit == TP_UNIT_NS || (unit == TP_UNIT_TIME && grid->analysis->time.known))
			tp_text_ns(number, cell.count);
		else if (unit == TP_UNIT_NONE)
			snprintf(number, sizeof(number), "%s", other);
		else
			tp_text_count(number, cell.count);
	}
	snprintf(table, sizeof(table), "%s%s", cell.estimated ? "~" : "", number);
	tp_grid_plain(grid, table, other);
}

void tp_relation_show_row(struct tp_relation_show *show, const void *row)
{
	if (tp_grid_full(&show->grid)) {
		show->grid.more++;
		return;
	}
	for (uint32_t i = 0; i < show->count; i++)
		tp_relation_show_cell(show, show->columns[i],
		    show->relation->value(show->data, row, show->columns[i]));
}
