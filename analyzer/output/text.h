/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Pieces of output: quoted strings, tables. Numbers are in common/units.h. */
#ifndef TP_TEXT_H
#define TP_TEXT_H

#include "common/buf.h"
#include "common/err.h"
#include "common/json.h"
#include "common/units.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Text from the trace, the program or the user, for one format. Characters that are unfit to be
 * shown (common/clean.h) become '?', in JSON an escape; bytes that are not UTF-8 become '?', in
 * JSON U+FFFD. CSV quotes only if needed; TSV writes tab, newline, carriage return and backslash as
 * \t, \n, \r and \\. Both put an apostrophe in front of '=', '+', '-' and '@', which begin
 * formulas.
 */
void tp_text_add_csv(struct tp_buf *buf, const char *text);
void tp_text_add_tsv(struct tp_buf *buf, const char *text);
void tp_text_add_xml(struct tp_buf *buf, const char *text);

/* A part of the whole in percent. */
char *tp_text_percent(char text[TP_TEXT_NUMBER], double share);
/* Columns that TEXT takes on a terminal, as one for each code point. */
uint32_t tp_text_width(const char *text);

/*
 * The mark in tables for text that is left out: "…", or ".." where text is not shown as UTF-8. Of the
 * whole process; choose before anything is written.
 */
void tp_text_use_ascii(bool ascii);
const char *tp_text_ellipsis(void);
/* TEXT with that for each "…". */
void tp_text_add_ellipses(struct tp_buf *out, const char *text);

/*
 * Lines of TEXT, broken at blanks where they are wider than WIDTH (0: never), which go on INDENT
 * columns further right.
 */
void tp_text_add_wrapped(struct tp_buf *buf, const char *text, uint32_t width, uint32_t indent);

#define TP_TABLE_COLUMNS 20

/* A table: cells are added row by row, the first row being the titles. */
struct tp_table {
	const char *alignment; /* 'l' or 'r' for each column; the caller's */
	uint32_t columns;
	uint32_t elastic; /* this column is cut if a row is wider than the terminal */
	/*
	 * Of each column; where rows are too wide the highest goes first, and 0 never. NULL: all
	 * stay.
	 */
	const uint8_t *ranks;
	uint8_t order[TP_TABLE_COLUMNS]; /* the columns that are shown, if chosen */
	uint32_t chosen;                 /* how many; 0: all, in their order */
	uint32_t width;                  /* of the terminal; 0: unlimited, nothing is cut */
	bool color;                      /* titles in bold */
	bool tells;                      /* which columns had no room, below it */
	struct tp_buf cells;             /* NUL-ended strings */
	uint32_t cell_count;
};

void tp_table_init(struct tp_table *table, const char *alignment, uint32_t elastic);
void tp_table_release(struct tp_table *table);
/* Cleaned. */
void tp_table_add(struct tp_table *table, const char *text);
/* The first row; there are as many TITLES as columns. */
void tp_table_add_titles(struct tp_table *table, const char *const *titles);
/*
 * Show the columns whose titles, which have been added, are in LIST, with commas in between, in
 * that order; NULL leaves all. 0, or TP_ERR_NOT_FOUND.
 */
int tp_table_choose(struct tp_table *table, const char *list, struct tp_err *err);
/* Write it out; the rows have to be complete. */
void tp_table_render(const struct tp_table *table, struct tp_buf *out);

/*
 * The beginning of an HTML page that loads nothing and runs one script, by the hashes of that and
 * of its style; up to the title.
 */
void tp_text_add_page_start(struct tp_buf *out, const char *script_hash, const char *style_hash);

#endif
