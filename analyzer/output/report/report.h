/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The report: one HTML page that needs nothing else, with the viewer of report/ and the data that it
 * shows. The data are blocks, of numbers as in common/varint.h unless it says JSON:
 *
 *   facts    JSON: program, unit (ns, ticks or calls), span and start of the timeline, no_timeline (why
 *            there is none), threads, bounds (of the bins of histograms), functions (a column each)
 *   paths    how many; then a column each of: how many levels up its parent is from the path before
 *            (0: that path is its parent), function, recursion level, calls, self, min, max - min; with
 *            a baseline also its calls and self
 *   threads  for each thread: how many paths, and the columns path (difference to the last), calls, self
 *   time     buckets, cells; for each thread: how many rows, for each how many runs, and those; the
 *            cells; how many of the longest calls, and the columns start (difference), duration, path
 *
 *   waits    only if it is known when threads had no processor; for each thread 1 + how many stretches, 0: not known; and for each
 *            stretch, the longest of all threads, start (difference) and length * 2 + 1 if it was preempted
 *
 * A function's number is that in facts; one more is "(smaller)", light paths together. Times are
 * nanoseconds, or ticks if no rate is known.
 */
#ifndef TP_REPORT_H
#define TP_REPORT_H

#include "analyzer/profile/paths.h"
#include "common/buf.h"

/*
 * The paths that a report has: the heaviest of a recording, and of the one that it is compared with. The
 * lighter ones below a path are one item together, "(smaller)", so that all sums stay what they are.
 * Items are numbered in preorder; item 0 is the program.
 */
#define TP_REPORT_SMALLER UINT32_MAX

struct tp_report_item {
	uint32_t parent;
	uint32_t function; /* index in functions, TP_REPORT_SMALLER, or UINT32_MAX - 1 for item 0 */
	uint32_t depth;
	uint32_t recursion;
	uint64_t calls;
	uint64_t self; /* nanoseconds, as the others */
	uint64_t min;
	uint64_t max;
	uint64_t base_calls; /* of the other recording */
	uint64_t base_self;
};

/* A function of either recording: index in its analysis, UINT32_MAX if it is not there. */
struct tp_report_function {
	uint32_t here;
	uint32_t there;
};

struct tp_report_tree {
	struct tp_report_item *items;
	uint32_t count;
	uint32_t *of_path;                    /* the item of each path of the recording */
	uint64_t folded;                      /* paths that are in "(smaller)" */
	uint64_t all;                         /* paths of both recordings together */
	struct tp_report_function *functions; /* those of the recording first, in its order */
	uint32_t function_count;
};

/*
 * Keep at most MOST paths. BASE and its analysis may be NULL. 0 or TP_ERR_MEMORY. Release it in any
 * case.
 */
int tp_report_tree_init(struct tp_report_tree *tree, const struct tp_analysis *analysis,
    const struct tp_paths *paths, const struct tp_analysis *base_analysis,
    const struct tp_paths *base, uint32_t most, struct tp_err *err);
void tp_report_tree_release(struct tp_report_tree *tree);

/*
 * The timeline of a report: not all calls, but of each thread what was on top when, at each depth, in
 * equal buckets of time; self times by path in wider ones, the cells, so that a selection of them has an
 * exact flame graph; and the longest calls one by one. Times are as recorded, in ticks since `from`.
 */
#define TP_REPORT_ROWS 128 /* depths that are drawn */
#define TP_REPORT_FILL 15  /* of a bucket that is full */

struct tp_report_limits {
	uint32_t cells;
	uint32_t buckets_per_cell;
	uint64_t runs;  /* of all threads: equal neighbours of a row are one run */
	uint64_t pairs; /* of all threads: paths in cells */
	uint32_t calls;
};

struct tp_report_call {
	uint64_t start;
	uint64_t duration;
	uint32_t item;
	uint32_t thread;
};

/* Of one thread. A row is varints, two for each run: length * 16 + fill, then the item unless fill is 0. */
struct tp_report_track {
	struct tp_buf rows[TP_REPORT_ROWS];
	uint32_t runs[TP_REPORT_ROWS];
	uint32_t row_count;
	struct tp_buf cells; /* for each: count, then item (as a difference to the last) and ns */
};

struct tp_report_time {
	uint64_t from;  /* ticks, where it begins */
	uint64_t width; /* ticks of a bucket */
	uint32_t buckets;
	uint32_t cells;
	struct tp_report_track *tracks; /* of the threads that were asked for */
	uint32_t track_count;
	struct tp_report_call *calls; /* the longest; by thread, then by start */
	uint32_t call_count;
	/* What is not there. */
	uint64_t all_calls;   /* of which the longest are a part */
	uint64_t least;       /* ticks of the shortest that is */
	uint64_t rows_left;   /* rows that were too deep */
	uint64_t moved_ticks; /* self time that counts for a caller in the cells */
	uint64_t all_ticks;
};

/*
 * THREADS: indices in analysis->threads. 0 or a negative tp_error; damage in a thread's chunks is none,
 * as the analysis has told of it. Release it in any case.
 */
int tp_report_time_init(struct tp_report_time *time, const struct tp_analysis *analysis,
    const struct tp_paths *paths, const struct tp_report_tree *tree, const uint32_t *threads,
    uint32_t thread_count, const struct tp_report_limits *limits, struct tp_err *err);
void tp_report_time_release(struct tp_report_time *time);

struct tp_report_options {
	uint32_t paths;                 /* at most so many, lighter ones are put together */
	uint32_t calls;                 /* so many of the longest are drawn one by one */
	const struct tp_analysis *base; /* to compare with, or NULL */
};

struct tp_report {
	const struct tp_analysis *analysis;
	const struct tp_report_options *options;
	struct tp_paths paths;
	struct tp_paths base_paths;
	struct tp_report_tree tree;
	struct tp_report_time time; /* empty without a clock */
	uint32_t *threads;          /* those that are shown: indices in analysis->threads */
	uint32_t thread_count;
	uint32_t with_rows;       /* threads that have rows in the block "threads" */
	uint32_t histograms_left; /* functions whose histogram is left out */
};

/* Add the page to OUT. 0 or TP_ERR_MEMORY; check out->failed as well. */
int tp_report_render(const struct tp_analysis *analysis, const struct tp_report_options *options,
    struct tp_buf *out, struct tp_err *err);

/* Its parts: the blocks "facts" and "waits" (false: no memory); head and foot of the page. */
bool tp_report_add_facts(struct tp_report *report, struct tp_buf *out);
bool tp_report_add_waits(struct tp_report *report, struct tp_buf *out);
void tp_report_add_overview(const struct tp_report *report, struct tp_buf *out);
void tp_report_add_noscript(const struct tp_report *report, struct tp_buf *out);

/* What analyzer/output/report/viewer/embed.py makes of the files in viewer/. Hashes are as in a content policy. */
extern const char tp_report_script[];
extern const char tp_report_script_hash[];
extern const char tp_report_style[];
extern const char tp_report_style_hash[];
/* The elements before and behind the overview. */
extern const char tp_report_before[];
extern const char tp_report_behind[];

#endif
