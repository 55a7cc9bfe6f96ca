/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A comparison of runs as a table, CSV or JSON, and where it breaks rules. */
#ifndef TP_DIFF_SHOW_H
#define TP_DIFF_SHOW_H

#include "analyzer/profile/diff.h"
#include "analyzer/output/view.h"

enum tp_diff_sort {
	TP_DIFF_BY_SELF = 0, /* by the size of the change of it, as the next two */
	TP_DIFF_BY_INCLUSIVE,
	TP_DIFF_BY_CALLS,
	TP_DIFF_BY_RELATIVE, /* of self time */
	TP_DIFF_BY_NAME,
};

struct tp_diff_options {
	struct tp_view_options view; /* format, limit, width, color, columns */
	enum tp_diff_sort sort;
	double alpha;     /* below this, a difference is taken for real */
	double min_share; /* items with less of the self time on both sides are not judged */
	const struct tp_diff_rule *rules;
	uint32_t rule_count;
	/* Why it is wall time that is compared, though nobody asked for it; or NULL. */
	const char *why_wall;
};

/*
 * RUNS as they were given to tp_diff_init. 0; TP_ERR_MEMORY; TP_ERR_NOT_FOUND for a wrong column.
 */
int tp_diff_show(const struct tp_diff *diff, const struct tp_analysis *const *runs,
    const struct tp_diff_options *options, struct tp_buf *out, struct tp_err *err);
/* Add a line for each thing that a rule forbids; returns how many there are. */
uint64_t tp_diff_judge(
    const struct tp_diff *diff, const struct tp_diff_options *options, struct tp_buf *out);

#endif
