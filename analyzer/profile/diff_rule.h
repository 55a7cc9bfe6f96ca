/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What fails a comparison: [PATTERN:]METRIC>AMOUNT or METRIC<AMOUNT, where METRIC is self, inclusive, calls,
 * or total (the self time of all functions) and AMOUNT is a change: +5%, -10us, +3. PATTERN names functions
 * (pattern.h); without it, it may be any.
 */
#ifndef TP_DIFF_RULE_H
#define TP_DIFF_RULE_H

#include "analyzer/profile/diff.h"
#include "analyzer/profile/pattern.h"

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
