/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Which functions record under a budget: what 'teeperf allowlist generate' solves for a list,
 * solved again and again while the program runs. Pure arithmetic;
 * docs/decisions/0039-live-budget.md.
 */
#ifndef TP_BUDGET_CHOICE_H
#define TP_BUDGET_CHOICE_H

#include "common/err.h"

#include <stdbool.h>
#include <stdint.h>

struct tp_budget_function {
	double calls; /* a second of the program's own running time */
	double ticks; /* of its own in that second: the named time that is lost without it */
	bool fixed;   /* it cannot be switched: it has no name */
	bool held;    /* it was switched off again lately, and is not to come back yet */
	bool on;      /* before, and then as it was chosen */
};

struct tp_budget_rule {
	double share;   /* of the running time that events may cost */
	double others;  /* records in a second that no choice takes away, as jumps: pairs of them */
	double call_ns; /* what the events of a call cost */
	bool widen;     /* functions may come back, too */
};

/*
 * Choose. 0 or TP_ERR_MEMORY. Returns in *cost the share of running time that the choice costs. A
 * function that is on gives way only to one that is clearly better, so that nothing changes back
 * and forth.
 */
int tp_budget_choose(struct tp_budget_function *functions, uint32_t count,
    const struct tp_budget_rule *rule, double *cost);

#endif
