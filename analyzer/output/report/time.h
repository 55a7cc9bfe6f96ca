/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The timeline of a report: not all calls, but of each thread what was on top when, at each depth, in
 * equal buckets of time; self times by path in wider ones, the cells, so that a selection of them has an
 * exact flame graph; and the longest calls one by one. Times are as recorded, in ticks since `from`.
 */
#ifndef TP_REPORT_TIME_H
#define TP_REPORT_TIME_H

#include "analyzer/output/report/tree.h"
#include "common/buf.h"

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

#endif
