// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which functions record under a budget.
#include "choice.h"

#include "allowlists/choose/choose.h"

#include <stdlib.h>

// So much better a function that is off must be.
#define STAY 1.5
// The program waits for the answer: a choice that is a little worse, at once.
#define WORK 100000
// What a function is worth that has no time of its own, for each call: enough to be chosen where
// there is room.
#define CALL_WORTH 1e-3

int tp_budget_choose(struct tp_budget_function *functions, uint32_t count,
    const struct tp_budget_rule *rule, double *cost)
{
	struct tp_choice *items = calloc(count + (size_t)1, sizeof(*items));
	if (!items)
		return TP_ERR_MEMORY;
	for (uint32_t i = 0; i < count; i++) {
		const struct tp_budget_function *function = &functions[i];
		const bool stays_off =
		    !function->fixed && !function->on && (!rule->widen || function->held);
		items[i] = (struct tp_choice){
		    .calls = function->calls,
		    .value = (function->ticks + function->calls * CALL_WORTH) *
			     (function->on ? STAY : 1),
		    .pinned = function->fixed || stays_off,
		    .level = function->fixed ? TP_CATEGORY_ALLOW : TP_CATEGORY_SKIP,
		    .sample = 1,
		    .reason = function->fixed ? TP_REASON_KEPT : TP_REASON_NEVER,
		};
	}
	const double left_ns = rule->share * 1e9 - rule->others * rule->call_ns;
	const struct tp_choose_options options = {
	    .budget_ns = left_ns > 1 ? left_ns : 1,
	    .work = WORK,
	    .cost = {.event_ns = rule->call_ns, .source = TP_COST_GIVEN},
	};
	struct tp_chosen chosen;
	const int code = tp_choose(items, count, &options, &chosen);
	for (uint32_t i = 0; !code && i < count; i++)
		// Without calls it costs nothing, and would be missed if it had some.
		functions[i].on = items[i].level == TP_CATEGORY_ALLOW ||
				  (functions[i].calls <= 0 && !items[i].pinned);
	*cost = code ? 0 : chosen.cost_ns / 1e9;
	free(items);
	return code;
}
