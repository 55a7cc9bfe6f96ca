/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The calling contexts of all threads in one tree, as exports, SQL and the report want it. Paths
 * are numbered in preorder, so the paths below number P are P + 1 to paths[P].last: "inside of P"
 * is a range. Path 0 is the program itself; it has no function and no times of its own.
 *
 * Times are ticks, those of the analysis (compensated or not). All threads are summed in a path;
 * what it is of each thread is in rows.
 */
#ifndef TP_PATHS_H
#define TP_PATHS_H

#include "analyzer/profile/analysis.h"

struct tp_path {
	uint32_t parent;    /* below its own number */
	uint32_t last;      /* greatest number of its subtree */
	uint32_t function;  /* index in analysis->functions; of path 0: UINT32_MAX */
	uint32_t depth;     /* 0: path 0 */
	uint32_t recursion; /* callers with the same function: time counts for it where this is 0 */
	uint32_t row;       /* its first row */
	uint64_t calls;
	uint64_t inclusive;
	uint64_t self;
	struct tp_node_parts parts; /* of these */
	bool has_no_parts;          /* of some of its calls they are not known */
	uint64_t min;               /* of a call; UINT64_MAX for path 0 */
	uint64_t max;
};

/* A path in one thread: in the order of paths, then of threads. */
struct tp_path_row {
	uint32_t path;
	uint32_t thread; /* index in analysis->threads */
	uint32_t node;   /* of the thread's profile, with its times */
};

struct tp_paths {
	struct tp_path *items;
	uint32_t count; /* with path 0 */
	struct tp_path_row *rows;
	uint32_t row_count;
	/* Of each thread: the path of each node of its profile; 0 for those that were left out. */
	uint32_t **of_node;
	uint32_t thread_count;
};

/* 0 or TP_ERR_MEMORY. Release it in any case. The analysis must outlive it. */
int tp_paths_init(struct tp_paths *paths, const struct tp_analysis *analysis, struct tp_err *err);
void tp_paths_release(struct tp_paths *paths);
/* The number behind a path's last row. */
static inline uint32_t tp_paths_rows_end(const struct tp_paths *paths, uint32_t path)
{
	return path + 1 < paths->count ? paths->items[path + 1].row : paths->row_count;
}
/* How long the calls of a path were; release it. */
struct tp_histogram tp_paths_times(
    const struct tp_paths *paths, const struct tp_analysis *analysis, uint32_t path);

#endif
