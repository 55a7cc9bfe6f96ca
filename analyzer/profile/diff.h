/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What has changed between the runs of one program and those of another one, or of another build of
 * it: by function, or by call path. Functions are the same if their names in the symbol table and
 * the last components of their modules' paths are, wherever they are; several such are summed. The
 * program's own module is the same whatever its file is called.
 */
#ifndef TP_DIFF_H
#define TP_DIFF_H

#include "analyzer/profile/analysis.h"
#include "analyzer/profile/pattern.h"
#include "analyzer/statistics/significance.h"

enum tp_diff_metric {
	TP_DIFF_SELF =
	    0, /* nanoseconds; of sampled functions what tp_function_scaled makes of it */
	TP_DIFF_INCLUSIVE,
	TP_DIFF_CALLS,
	TP_DIFF_WALL_SELF, /* as the first two, of wall time; 0 if the analyses are not */
	TP_DIFF_WALL_INCLUSIVE,
	TP_DIFF_METRICS,
};

#define TP_DIFF_RUNS_MAX 256

struct tp_diff_item {
	const char *name; /* of the function; lives as long as the analyses */
	const char *linkage;
	const char *module;
	uint32_t parent; /* of a path: the item of its caller; UINT32_MAX: the first function */
};

struct tp_diff {
	uint32_t runs;
	uint32_t before;   /* the number of them that come first */
	enum tp_time time; /* that is compared */
	bool has_wall;     /* wall time is known, too, or the one that is compared */
	struct tp_diff_item *items;
	uint32_t count;
	double *values;                  /* of each item, of each run, TP_DIFF_METRICS */
	double totals[TP_DIFF_RUNS_MAX]; /* of each run: the self time of all functions */
	double wall_totals[TP_DIFF_RUNS_MAX];
};

struct tp_diff_change {
	double before; /* mean of the runs */
	double after;
	double relative;     /* (after - before) / before; INFINITY if there was nothing before */
	double significance; /* p of Welch's t-test; NAN if there are too few runs */
};

/*
 * Compare COUNT runs, of which the first BEFORE are on one side, by call path or by function, and
 * by TIME. Either the analyses are of that time, all of them, or they are of wall time and each
 * knows its parts (tp_analysis_check_parts). They must outlive it. 0 or TP_ERR_MEMORY; release it
 * in any case.
 */
int tp_diff_init(struct tp_diff *diff, const struct tp_analysis *const *runs, uint32_t count,
    uint32_t before, bool by_path, enum tp_time time, struct tp_err *err);
void tp_diff_release(struct tp_diff *diff);
struct tp_diff_change tp_diff_change(
    const struct tp_diff *diff, uint32_t item, enum tp_diff_metric metric);
/* The same of the self time of all functions. */
struct tp_diff_change tp_diff_total(const struct tp_diff *diff);
struct tp_diff_change tp_diff_wall_total(const struct tp_diff *diff);

/*
 * What fails a comparison: [PATTERN:]METRIC>AMOUNT or METRIC<AMOUNT, where METRIC is self,
 * inclusive, calls, or total (the self time of all functions) and AMOUNT is a change: +5%, -10us,
 * +3. PATTERN names functions (pattern.h); without it, it may be any.
 */
struct tp_diff_rule {
	const char *text; /* the caller's */
	char *of;         /* pattern, or NULL */
	struct tp_pattern pattern;
	enum tp_diff_metric metric;
	bool total;
	bool below;
	bool relative;
	double amount; /* a fraction, nanoseconds or calls */
};

/* TEXT must outlive the rule. 0 or TP_ERR_SYNTAX, TP_ERR_MEMORY; release it in any case. */
int tp_diff_rule_init(struct tp_diff_rule *rule, const char *text, struct tp_err *err);
void tp_diff_rule_release(struct tp_diff_rule *rule);
/* Whether a change is what the rule forbids: of the metric, of an item that its pattern matches. */
bool tp_diff_rule_forbids(const struct tp_diff_rule *rule, const struct tp_diff_change *change);
bool tp_diff_rule_matches(const struct tp_diff_rule *rule, const struct tp_diff_item *item);

#endif
