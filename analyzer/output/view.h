/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A view is one file analyzer/output/view/NAME.c that defines `const struct tp_view tp_view_NAME`;
 * the build collects them into a table.
 */
#ifndef TP_VIEW_H
#define TP_VIEW_H

#include "analyzer/profile/analysis.h"
#include "analyzer/output/text.h"
#include "common/buf.h"

enum tp_sort {
	TP_SORT_SELF = 0,
	TP_SORT_INCLUSIVE,
	TP_SORT_CALLS,
	TP_SORT_MEAN,
	TP_SORT_MIN,
	TP_SORT_MAX,
	TP_SORT_P50,
	TP_SORT_P90,
	TP_SORT_P99,
	TP_SORT_NAME,
};

enum tp_format {
	TP_FORMAT_TABLE = 0,
	TP_FORMAT_CSV,
	TP_FORMAT_JSON,
};

struct tp_view_options {
	enum tp_sort sort;
	enum tp_format format;
	uint64_t limit;   /* rows, 0: all */
	double min_share; /* of the tree: leave out what has less than this part of the time */
	uint32_t width;   /* of the terminal, 0: unlimited */
	bool color;
	bool full_names;      /* of functions, also on a terminal */
	bool verbose;         /* the whole heading, also on a terminal */
	const char *columns;  /* of tables: their titles, with commas; NULL: those that fit */
	const char *function; /* pattern of functions that a view is of; NULL: none was given */
	bool by_caller;
	/*
	 * Of transitions: patterns of gates, or calls from one module into another; none: the usual
	 * names.
	 */
	const char *const *borders;
	uint32_t border_count;
	bool by_module;
	/* of a timeline: only around this number of calls, the slowest; 0: all */
	uint64_t around_slowest;
	bool
	    around_usual; /* these are the slowest by processor time, if that is known, else wall */
	enum tp_time around_time; /* or by this */
};

/* Whether a view is of functions that match options->function. */
enum tp_view_of {
	TP_VIEW_OF_ALL = 0, /* takes no pattern */
	TP_VIEW_OF_ANY,     /* of those that match, or of all */
	TP_VIEW_OF_SOME,    /* needs one */
};

struct tp_view {
	const char *name;
	const char *summary;
	enum tp_view_of of;
	/* of single calls with their times, as recorded: is refused without a clock */
	bool timeline;
	bool records;   /* reads all records of the trace once more */
	uint64_t limit; /* rows if nothing else is asked for; 0: 40 in tables */
	/*
	 * As tp_view_render. MARKS has a place for each function, which says whether it matches
	 * options->function; they all do without one. NULL for views that take no pattern.
	 */
	int (*render)(const struct tp_analysis *analysis, const struct tp_view_options *options,
	    bool *marks, struct tp_buf *out, struct tp_err *err);
};

/*
 * Add the view to OUT. 0; TP_ERR_NOT_FOUND if no function matches; TP_ERR_SYNTAX for a bad pattern;
 * or what else went wrong; check out->failed as well.
 */
int tp_view_render(const struct tp_view *view, const struct tp_analysis *analysis,
    const struct tp_view_options *options, struct tp_buf *out, struct tp_err *err);

/* By name; NULL if there is none. All of them, NULL at the end. */
const struct tp_view *tp_view_find(const char *name);
const struct tp_view *const *tp_views(void);

/*
 * The block above a table: program, duration, threads, events, clock and its health, losses, what
 * was not measured. With `only_trouble` just the lines that limit what the numbers mean, if any.
 */
void tp_view_add_header(const struct tp_analysis *analysis, bool only_trouble, struct tp_buf *out);
/* The first part of it, without what limits the numbers. */
void tp_view_add_facts(const struct tp_analysis *analysis, struct tp_buf *out);
/*
 * The same as OPTIONS want it: on a terminal, unless they say verbose, three lines and the notes on
 * errors. Lines are broken at blanks.
 */
void tp_view_add_heading(
    const struct tp_analysis *analysis, const struct tp_view_options *options, struct tp_buf *out);
/* The line about a clock whose health is a matter of luck, a soft one; nothing about others. */
void tp_view_add_health(const struct tp_analysis *analysis, struct tp_buf *out);
/* The same as members of the JSON object that is open. */
void tp_view_add_json(struct tp_json *json, const struct tp_analysis *analysis);

/*
 * ANALYSIS for the heading of single calls, whose times are as they were recorded: it says so. It
 * shares all else, and is not to be released.
 */
struct tp_analysis tp_view_as_recorded(const struct tp_analysis *analysis);

/* What times are in: "ns", "ticks" if no rate is known, "none" without a clock. */
const char *tp_view_unit(const struct tp_analysis *analysis);
/* Ticks as they are printed in a table: nanoseconds with a unit, or ticks if no rate is known. */
char *tp_view_time(const struct tp_analysis *analysis, char *text, uint64_t ticks);
/* What a thread is called in output: its name, or "thread". */
const char *tp_view_thread_name(const struct tp_thread *thread);
/* The key to sort by: without a clock, calls instead of times. */
enum tp_sort tp_view_sort(const struct tp_analysis *analysis, enum tp_sort sort);
/*
 * How CALLS, SELF, ... compare under SORT: below 0 if A comes first. By times, functions that were
 * only counted come last.
 */
int tp_view_compare(enum tp_sort sort, const struct tp_function *a, const struct tp_function *b);
/*
 * The functions that are marked (all if MARKS is NULL), as indices, in the order that options->sort
 * asks for, and how many; to be freed. NULL: no memory, as *ERR says.
 */
uint32_t *tp_view_order(const struct tp_analysis *analysis, const struct tp_view_options *options,
    const bool *marks, uint32_t *count, struct tp_err *err);
/* "12.3%" of ALL. Returns text. */
char *tp_view_share(char text[TP_TEXT_NUMBER], uint64_t part, uint64_t all);

#endif
