// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is different if a program is instrumented by one list or by another.
#include "diff.h"

#include "use.h"

#include <stdlib.h>

const char *tp_change_kind_name(enum tp_change_kind kind)
{
	static const char *const names[] = {"added", "removed", "changed"};
	return names[kind];
}

// Whether the two verdicts make a difference, and which.
static bool differ(
    const struct tp_verdict *a, const struct tp_verdict *b, enum tp_change_kind *kind)
{
	const bool before = tp_category_instruments(a->category);
	const bool after = tp_category_instruments(b->category);
	*kind = before && after ? TP_CHANGE_LEVEL : after ? TP_CHANGE_ADDED : TP_CHANGE_REMOVED;
	if (before != after)
		return true;
	return before && (a->category != b->category ||
			     (a->category == TP_CATEGORY_SAMPLE && a->sample != b->sample));
}

static int by_cost(const void *a, const void *b)
{
	const struct tp_change *x = a;
	const struct tp_change *y = b;
	const double x_ns = x->delta_ns < 0 ? -x->delta_ns : x->delta_ns;
	const double y_ns = y->delta_ns < 0 ? -y->delta_ns : y->delta_ns;
	if (x_ns != y_ns)
		return x_ns < y_ns ? 1 : -1;
	return (x->function > y->function) - (x->function < y->function);
}

int tp_list_diff_init(struct tp_list_diff *diff, const struct tp_list_use *a,
    const struct tp_list_use *b, const struct tp_workload *workload, const struct tp_cost *cost,
    struct tp_err *err)
{
	*diff = (struct tp_list_diff){0};
	const struct tp_inventory *inventory = a->inventory;
	diff->changes = calloc((size_t)inventory->function_count + 1, sizeof(*diff->changes));
	if (!diff->changes)
		return tp_err_memory(err, NULL);
	for (uint32_t i = 0; i < inventory->function_count; i++) {
		const struct tp_verdict *from = &a->verdicts[i];
		const struct tp_verdict *to = &b->verdicts[i];
		struct tp_change change = {.function = i};
		if (!differ(from, to, &change.kind))
			continue;
		change.effective = tp_fate_of(&inventory->functions[i]) <= TP_FATE_PARTLY ||
				   from->category == TP_CATEGORY_FORCE ||
				   to->category == TP_CATEGORY_FORCE;
		if (workload && cost) {
			change.calls = tp_list_calls(workload, &inventory->functions[i]);
			change.delta_ns = (double)change.calls *
					  (tp_cost_call_ns(cost, to->category, to->sample) -
					      tp_cost_call_ns(cost, from->category, from->sample));
		}
		if (change.effective)
			diff->effective[change.kind]++;
		else
			diff->without_effect++;
		diff->changes[diff->count++] = change;
	}
	qsort(diff->changes, diff->count, sizeof(*diff->changes), by_cost);
	return 0;
}

void tp_list_diff_release(struct tp_list_diff *diff)
{
	free(diff->changes);
}
