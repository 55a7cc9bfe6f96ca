/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Rows of a relation as a table, CSV or a list in JSON:
 *
 *	tp_relation_show_init(&show, &tp_relation_threads, &data, options, out);
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
	struct tp_column shown[TP_RELATION_COLUMNS];
	uint8_t columns[TP_RELATION_COLUMNS]; /* of the relation, as they are shown */
	uint32_t count;
};

/* Tables show estimates where CSV and JSON have what was measured. DATA and what it is made of must outlive it. */
void tp_relation_show_init(struct tp_relation_show *show, const struct tp_relation *relation,
    struct tp_relation_data *data, const struct tp_view_options *options, struct tp_buf *out);
/* One more row, unless the limit is reached. */
void tp_relation_show_row(struct tp_relation_show *show, const void *row);
/* One cell, of column COLUMN of the relation. */
void tp_relation_show_cell(struct tp_relation_show *show, uint32_t column, struct tp_cell cell);

#endif
