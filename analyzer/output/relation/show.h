/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Rows of a relation as a table, CSV or a list in JSON:
 *
 *	tp_relation_show_init(&show, &tp_relation_threads, &data, options, NULL, out);
 *	tp_relation_show_row(&show, row);
 *	tp_grid_end(&show.grid, err);
 */
#ifndef TP_RELATION_SHOW_H
#define TP_RELATION_SHOW_H

#include "analyzer/output/grid.h"
#include "analyzer/output/relation/relation.h"

struct tp_relation_show {
	const struct tp_relation *relation;
	struct tp_relation_data *data;
	struct tp_grid grid;
	struct tp_column shown[TP_RELATION_COLUMNS + 1];
	uint8_t columns[TP_RELATION_COLUMNS]; /* of the relation, as they are shown */
	uint32_t count;
};

/* A number, which CELL is, as tables have it, and as CSV and JSON do. */
void tp_relation_format(const struct tp_analysis *analysis, enum tp_unit unit, struct tp_cell cell,
    char table[TP_TEXT_NUMBER + 1], char other[TP_TEXT_NUMBER]);
/* Whether tables of DATA have the column: not if it is sparse, and no row has a value. */
bool tp_relation_is_shown(
    const struct tp_relation *relation, struct tp_relation_data *data, uint32_t column);

/*
 * As tp_grid_init. Tables show estimates where CSV and JSON have what was measured. DATA and what
 * it is made of must outlive it.
 */
void tp_relation_show_init(struct tp_relation_show *show, const struct tp_relation *relation,
    struct tp_relation_data *data, const struct tp_view_options *options,
    const struct tp_grid_members *members, struct tp_buf *out);
/* One more row, unless the limit is reached. */
void tp_relation_show_row(struct tp_relation_show *show, const void *row);
/* The same, limit or not: a row that sums up. */
void tp_relation_show_total(struct tp_relation_show *show, const void *row);
/*
 * All rows of functions, in the order that the options ask for, and their total. 0 or a negative
 * tp_error.
 */
int tp_relation_show_functions(const struct tp_relation *relation, struct tp_relation_data *data,
    const struct tp_view_options *options, const struct tp_grid_members *members,
    struct tp_buf *out, struct tp_err *err);

enum tp_family_view {
	TP_FAMILY_TOP = 0,
	TP_FAMILY_THREADS,
	TP_FAMILY_PROCESSES,
};
/* Add the view to OUT, without a heading. 0; TP_ERR_MEMORY; TP_ERR_NOT_FOUND for a wrong column. */
int tp_family_show(const struct tp_family *family, enum tp_family_view view,
    const struct tp_view_options *options, struct tp_buf *out, struct tp_err *err);

#endif
