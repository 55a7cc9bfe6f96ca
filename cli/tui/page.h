/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A page is a table or a tree that the user looks at: which rows there are and in which order,
 * which is selected. It knows no terminal. Pages lie on a stack (tui.h); those that are covered
 * give their rows back, and make them anew.
 */
#ifndef TP_TUI_PAGE_H
#define TP_TUI_PAGE_H

#include "calls.h"
#include "data.h"
#include "match.h"

#include "common/buf.h"

#define TP_TUI_ROWS_MAX (UINT32_C(1) << 20) /* more of a tree are not shown */
#define TP_TUI_ALL UINT32_MAX               /* threads */
#define TP_TUI_COLUMNS 20

enum tp_tui_kind {
	TP_TUI_FUNCTIONS = 0,
	TP_TUI_TREE,
	TP_TUI_THREADS,
	TP_TUI_NEIGHBOURS, /* callers of a function, itself, its callees */
	TP_TUI_CALLS,      /* the slowest of a function */
	TP_TUI_CALL,       /* one call, and what was called in it */
	TP_TUI_NOTES,
	TP_TUI_HELP,
};

struct tp_tui_column {
	const struct tp_relation_column *as; /* key, unit, title and rank */
	char title[24];
	uint8_t number; /* in the page's relation, or its list of keys */
	uint8_t rank;
	uint8_t width; /* on the screen, so far */
};

struct tp_tui_row {
	uint32_t at;    /* function, path, thread, neighbour, call or line */
	uint32_t depth; /* 1: not indented */
	bool below;     /* there are rows below it */
	bool open;      /* which are shown */
};

struct tp_tui_page {
	enum tp_tui_kind kind;
	uint32_t function; /* of NEIGHBOURS and CALLS */
	uint32_t thread;   /* of TREE: index, or TP_TUI_ALL */
	bool made;         /* what follows, up to `cursor` */
	struct tp_tui_column columns[TP_TUI_COLUMNS];
	uint32_t column_count;
	struct tp_tui_row *rows;
	uint32_t count;
	uint32_t room;
	bool cut;        /* there are more than TP_TUI_ROWS_MAX */
	uint32_t sorted; /* by this column; column_count: by names */
	bool ascends;
	uint32_t cursor;
	uint32_t top;      /* row that is shown first */
	uint32_t selected; /* `at` of the cursor, when it was last made; UINT32_MAX: none */
	const char *sort;  /* key of a column, "" for names; NULL: as it is first */
	bool turned;       /* the order is the other way round */
	uint32_t ticket;   /* CALLS and CALL: not 0 while they wait for the loader to read calls */
	struct tp_tui_match filter;
	/* TREE and CALL: of each path or call, whether the items below it are shown; or NULL. */
	uint8_t *open;
	uint32_t open_count;
	/* TREE and CALL with a filter: enum tp_tui_mark of each; or NULL. */
	uint8_t *marks;
	/* NEIGHBOURS: callers, the function, callees. */
	struct tp_neighbour *neighbours;
	uint32_t caller_count;
	uint32_t neighbour_count;
	uint32_t again;  /* function to be selected when they are made; UINT32_MAX: none */
	int again_group; /* ... as a caller, itself, or a callee: 0, 1, 2 */
	struct tp_tui_calls calls; /* CALLS and CALL */
	struct tp_kept_call outer; /* CALL */
	/* NOTES and HELP: lines, each ended by a NUL, broken for a screen of this width. */
	struct tp_buf text;
	uint32_t text_width;
};

enum tp_tui_mark {
	TP_TUI_MARK_IN = 1,    /* it matches, or something below it does */
	TP_TUI_MARK_UNDER = 2, /* it matches, or something above it does */
};

/* What of the whole a row is; shares are from 0 to 1. */
struct tp_tui_share {
	bool known;
	double self;
	double inclusive;
};

/* A page with nothing selected; what else it is of is to be filled in. */
void tp_tui_page_init(struct tp_tui_page *page, enum tp_tui_kind kind);
void tp_tui_page_release(struct tp_tui_page *page);
/* Give rows back. */
void tp_tui_page_drop(struct tp_tui_page *page);
/*
 * Make columns and rows, and put the cursor on the row that was selected before. READY: data has
 * its tree of calls. Of text pages `text` has to be there. 0 or TP_ERR_MEMORY.
 */
int tp_tui_page_make(struct tp_tui_page *page, struct tp_tui_data *data, bool ready);
/*
 * The data are others now: change numbers of functions by MAP, those of paths by the paths in both.
 * False: no memory.
 */
bool tp_tui_page_move(struct tp_tui_page *page, const struct tp_tui_data *from,
    const struct tp_tui_data *to, const uint32_t *map);

/* Whether it needs the tree of calls. */
bool tp_tui_page_needs_paths(const struct tp_tui_page *page);
bool tp_tui_page_is_tree(const struct tp_tui_page *page);
bool tp_tui_page_is_text(const struct tp_tui_page *page);

/* ---- cells.c */

/* Fill in the columns that it has with these data. */
void tp_tui_page_make_columns(struct tp_tui_page *page, struct tp_tui_data *data);
/* Of an item, which is `at` of some row: its name, its function (UINT32_MAX: none), a cell. */
const char *tp_tui_page_name(
    const struct tp_tui_page *page, const struct tp_tui_data *data, uint32_t at);
uint32_t tp_tui_page_function(
    const struct tp_tui_page *page, const struct tp_tui_data *data, uint32_t at);
struct tp_cell tp_tui_page_cell(const struct tp_tui_page *page, struct tp_tui_data *data,
    uint32_t at, const struct tp_tui_column *column);
struct tp_tui_share tp_tui_page_share(
    const struct tp_tui_page *page, const struct tp_tui_data *data, uint32_t at);

/* ---- page.c */

/* Below 0 if item A comes before B. */
int tp_tui_page_compare(
    const struct tp_tui_page *page, struct tp_tui_data *data, uint32_t a, uint32_t b);

/*
 * The next match behind the cursor, or before it, round the end: have it shown and selected. False:
 * there is none.
 */
bool tp_tui_page_search(struct tp_tui_page *page, struct tp_tui_data *data,
    const struct tp_tui_match *match, bool backwards);
/* Put the cursor on the row of item AT; in a tree, with all that it is in open. */
void tp_tui_page_select(struct tp_tui_page *page, struct tp_tui_data *data, uint32_t at);

/* ---- tree.c, for the above. */

/* The item that AT is below; AT itself for the outermost. */
uint32_t tp_tui_tree_parent(
    const struct tp_tui_page *page, const struct tp_tui_data *data, uint32_t at);
/* Add the rows of a tree. False: no memory. */
bool tp_tui_tree_rows(struct tp_tui_page *page, struct tp_tui_data *data);
/* Mark for the filter. False: no memory. */
bool tp_tui_tree_filter(struct tp_tui_page *page, struct tp_tui_data *data);
/* Open what matches of the filter are in. */
void tp_tui_tree_open_matches(struct tp_tui_page *page, const struct tp_tui_data *data);
/* Show or hide the items below item AT, or all of it. */
void tp_tui_tree_open(
    struct tp_tui_page *page, const struct tp_tui_data *data, uint32_t at, bool open, bool all);
bool tp_tui_tree_search(struct tp_tui_page *page, struct tp_tui_data *data,
    const struct tp_tui_match *match, bool backwards);
bool tp_tui_tree_move(struct tp_tui_page *page, const struct tp_tui_data *from,
    const struct tp_tui_data *to, const uint32_t *map);

/* Add a row. False: no memory, or `cut`. */
bool tp_tui_page_add(struct tp_tui_page *page, struct tp_tui_row row);

#endif
