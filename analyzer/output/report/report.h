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
 * A function's number is that in facts; one more is "(smaller)", light paths together. Times are
 * nanoseconds, or ticks if no rate is known.
 */
#ifndef TP_REPORT_H
#define TP_REPORT_H

#include "analyzer/output/report/time.h"

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

/* Its parts: the block "facts" (false: no memory); head and foot of the page. */
bool tp_report_add_facts(struct tp_report *report, struct tp_buf *out);
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
