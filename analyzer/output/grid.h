/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Rows of a view in any format: a view names its columns once and adds cells row by row; a grid
 * makes a table, CSV or a list in JSON of them. CSV and JSON go out as they come; a table waits for
 * its end.
 *
 *	tp_grid_init(&grid, analysis, options, columns, "functions", NULL, out);
 *	tp_grid_text(&grid, name); tp_grid_time(&grid, true, ticks);
 *	tp_grid_end(&grid, code, err);
 */
#ifndef TP_GRID_H
#define TP_GRID_H

#include "analyzer/output/view.h"

/* Lists of them end with one that is nowhere. */
struct tp_column {
	const char *title; /* in tables; NULL: not there */
	const char *key;   /* in CSV and JSON; NULL: not there */
	char alignment;    /* 'l' or 'r' */
	uint8_t rank;      /* where a table is too wide the highest goes first, and 0 never */
	bool timed;        /* not in tables of traces without a clock */
	bool elastic;      /* cut where a table is too wide; one of the columns */
};

struct tp_grid {
	const struct tp_analysis *analysis;
	const struct tp_view_options *options;
	const struct tp_column *columns;
	uint32_t count;
	uint32_t at;   /* column of the next cell */
	uint64_t rows; /* complete */
	uint64_t more; /* that were left out for options->limit; the view counts them */
	struct tp_buf *out;
	struct tp_json json;
	struct tp_table table;
	char alignment[TP_TABLE_COLUMNS + 1];
	uint8_t ranks[TP_TABLE_COLUMNS];
	const char *left_out; /* after their number, instead of "more: --limit 0 shows all" */
	int code;             /* the first error */
};

/* The members of the JSON object beside the list: ADD writes them, from CONTEXT. */
struct tp_grid_members {
	void (*add)(struct tp_json *json, const void *context);
	const void *context;
};

/*
 * COLUMNS must outlive the grid; LIST is the name of the list in JSON; MEMBERS are NULL for the
 * facts about the analysis. Release it by tp_grid_end.
 */
void tp_grid_init(struct tp_grid *grid, const struct tp_analysis *analysis,
    const struct tp_view_options *options, const struct tp_column *columns, const char *list,
    const struct tp_grid_members *members, struct tp_buf *out);

/* One cell for each column, also for those that are not in the format. */
void tp_grid_text(struct tp_grid *grid, const char *text);
/* In tables, indented by DEPTH - 1 levels. */
void tp_grid_indented(struct tp_grid *grid, const char *text, uint32_t depth);
void tp_grid_count(struct tp_grid *grid, uint64_t count);
/* A number that is no amount, such as that of a thread. */
void tp_grid_number(struct tp_grid *grid, uint64_t number);
/* Ticks, or nothing. */
void tp_grid_time(struct tp_grid *grid, bool known, uint64_t ticks);
/* Nanoseconds, or ticks if no rate is known; SIGN: in tables, with one. */
void tp_grid_ns(struct tp_grid *grid, bool known, double ns, bool sign);
/* Nanoseconds of the kernel's clock, whatever the trace's is. */
void tp_grid_kernel_ns(struct tp_grid *grid, bool known, uint64_t ns);
/* TOTAL ticks for each of CALLS, nothing if that is 0. */
void tp_grid_mean(struct tp_grid *grid, uint64_t total, uint64_t calls);
/* Of PART in ALL; a fraction in CSV and JSON. */
void tp_grid_share(struct tp_grid *grid, uint64_t part, uint64_t all);
/* How much more, in percent in tables: +5.0%; "new" for infinity. */
void tp_grid_relative(struct tp_grid *grid, double relative);
/* A number with FRACTION digits behind the point. */
void tp_grid_real(struct tp_grid *grid, bool known, double value, int fraction);
void tp_grid_blank(struct tp_grid *grid);
/* TABLE in tables, a number as text elsewhere. */
void tp_grid_plain(struct tp_grid *grid, const char *table, const char *other);

/* Whether the limit is reached: then the view adds to `more` what else there would be. */
static inline bool tp_grid_full(const struct tp_grid *grid)
{
	return grid->options->limit && grid->rows >= grid->options->limit;
}
/* The same for one row more, which is counted if there is no place for it. */
static inline bool tp_grid_skips(struct tp_grid *grid)
{
	grid->more += tp_grid_full(grid);
	return tp_grid_full(grid);
}
/* Write the table, and begin another one with the same columns; only of tables. */
void tp_grid_flush(struct tp_grid *grid, struct tp_err *err);
/*
 * Write the rest. CODE, if it is not 0; TP_ERR_NOT_FOUND for a column that was chosen and is not
 * there; 0.
 */
int tp_grid_end(struct tp_grid *grid, int code, struct tp_err *err);

#endif
