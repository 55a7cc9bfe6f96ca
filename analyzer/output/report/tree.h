/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The paths that a report has: the heaviest of a recording, and of the one that it is compared with. The
 * lighter ones below a path are one item together, "(smaller)", so that all sums stay what they are.
 * Items are numbered in preorder; item 0 is the program.
 */
#ifndef TP_REPORT_TREE_H
#define TP_REPORT_TREE_H

#include "analyzer/profile/paths.h"

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

#endif
