// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What an allowlist costs in a run of which the calls are known, and what it names for that.
#include "cost.h"

// What the list says of a function: that of the inventory has been asked about already.
static struct tp_verdict verdict_of(
    const struct tp_list_use *use, const struct tp_workload_function *function)
{
	if (function->inventory)
		return use->verdicts[function->inventory - use->inventory->functions];
	const struct tp_subject subject = tp_workload_subject(function);
	return tp_allowlist_match(use->list, &subject);
}

void tp_list_cost(struct tp_list_cost *sum, const struct tp_list_use *use,
    const struct tp_workload *workload, const struct tp_cost *cost)
{
	*sum = (struct tp_list_cost){.time_ns = workload->time_ns};
	for (uint32_t i = 0; i < workload->function_count; i++) {
		const struct tp_workload_function *function = &workload->functions[i];
		const struct tp_verdict verdict = verdict_of(use, function);
		sum->all_ns += function->self_ns;
		if (!tp_category_instruments(verdict.category))
			continue;
		const double calls = (double)function->calls;
		sum->calls += function->calls;
		sum->overhead_ns += calls * tp_cost_call_ns(cost, verdict.category, verdict.sample);
		sum->log_bytes += calls * tp_cost_call_bytes(verdict.category, verdict.sample);
		if (verdict.category == TP_CATEGORY_COUNT) {
			sum->counted += function->calls;
		} else if (verdict.category == TP_CATEGORY_SAMPLE) {
			sum->events += calls / verdict.sample;
			sum->sampled_ns += function->sure_ns;
		} else {
			sum->events += calls;
			sum->named_ns += function->sure_ns;
		}
	}
}

uint64_t tp_list_calls(
    const struct tp_workload *workload, const struct tp_inventory_function *function)
{
	const uint32_t index = tp_workload_find(workload, function->name);
	return index == UINT32_MAX ? 0 : workload->functions[index].calls;
}
