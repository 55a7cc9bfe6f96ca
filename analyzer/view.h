/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A view is one file analyzer/view_NAME.c that defines `const struct tp_view tp_view_NAME`; an
 * export is analyzer/export_NAME.c with `const struct tp_export tp_export_NAME`. The build collects
 * them into tables.
 */
#ifndef TP_VIEW_H
#define TP_VIEW_H

#include "analyzer/analysis.h"
#include "common/buf.h"

enum tp_sort {
	TP_SORT_SELF = 0,
	TP_SORT_INCLUSIVE,
	TP_SORT_CALLS,
	TP_SORT_MEAN,
	TP_SORT_MIN,
	TP_SORT_MAX,
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
	uint64_t depth;   /* of the tree, 0: all */
	double min_share; /* of the tree: leave out what has less than this part of the time */
	uint32_t width;   /* of the terminal, 0: unlimited */
	bool color;
};

struct tp_view {
	const char *name;
	const char *summary;
	/* Add the view to OUT. 0 or a negative tp_error; check out->failed as well. */
	int (*render)(const struct tp_analysis *analysis, const struct tp_view_options *options,
	    struct tp_buf *out, struct tp_err *err);
};

/* What makes a frame of an export wide. */
enum tp_weight {
	TP_WEIGHT_SELF = 0,
	TP_WEIGHT_CALLS,
};

struct tp_export_options {
	enum tp_weight weight;
};

struct tp_export {
	const char *name;
	const char *summary;
	const char *suffix; /* of the default output file, or NULL for standard output */
	int (*render)(const struct tp_analysis *analysis, const struct tp_export_options *options,
	    struct tp_buf *out, struct tp_err *err);
};

/* By name; NULL if there is none. All of them, NULL at the end. */
const struct tp_view *tp_view_find(const char *name);
const struct tp_view *const *tp_views(void);
const struct tp_export *tp_export_find(const char *name);
const struct tp_export *const *tp_exports(void);

/*
 * The block above a table: program, duration, threads, events, clock and its health, losses, what was
 * not measured. With `only_trouble` just the lines that limit what the numbers mean, if any.
 */
void tp_view_add_header(const struct tp_analysis *analysis, bool only_trouble, struct tp_buf *out);
/* The line about a clock whose health is a matter of luck, a soft one; nothing about others. */
void tp_view_add_health(const struct tp_analysis *analysis, struct tp_buf *out);
/* The same as members of a JSON object, without braces, with a comma at the end. */
void tp_view_add_json_header(const struct tp_analysis *analysis, struct tp_buf *out);

/* What times are in: "ns", "ticks" if no rate is known, "none" without a clock. */
const char *tp_view_unit(const struct tp_analysis *analysis);
/* Ticks as they are printed in a table: nanoseconds with a unit, or ticks if no rate is known. */
char *tp_view_time(const struct tp_analysis *analysis, char *text, uint64_t ticks);
/* BEFORE, then ticks as a number of nanoseconds, or UNKNOWN if not KNOWN or without a clock. */
void tp_view_add_ns(const struct tp_analysis *analysis, bool known, uint64_t ticks,
    const char *before, const char *unknown, struct tp_buf *out);
/* What a thread is called in output: its name, or "thread". */
const char *tp_view_thread_name(const struct tp_thread *thread);
/* The key to sort by: without a clock, calls instead of times. */
enum tp_sort tp_view_sort(const struct tp_analysis *analysis, enum tp_sort sort);
/*
 * How CALLS, SELF, ... compare under SORT: below 0 if A comes first. By times, functions that were
 * only counted come last.
 */
int tp_view_compare(enum tp_sort sort, const struct tp_function *a, const struct tp_function *b);
/* What NODE weighs in an export. */
static inline uint64_t tp_node_weight(const struct tp_node *node, enum tp_weight weight)
{
	return weight == TP_WEIGHT_CALLS ? node->calls : node->self;
}

#endif
