// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What all that replay threads of an analysis begin with.
#include "analysis.h"

#include "analyzer/replay/replay.h"

struct tp_profile_cost tp_analysis_cost(const struct tp_analysis *analysis)
{
	struct tp_profile_cost cost =
	    tp_compensation_cost(&analysis->compensation, &analysis->time);
	cost.own = analysis->costs;
	cost.own_count = analysis->cost_count;
	return cost;
}

double tp_analysis_fine_ns(const struct tp_analysis *analysis)
{
	const struct tp_timebase *time = &analysis->time;
	if (!analysis->options.fine_histograms || !time->known || analysis->timeless)
		return 0;
	return (double)time->ns / (double)time->ticks;
}

uint32_t tp_analysis_most_nodes(const struct tp_analysis *analysis)
{
	const uint32_t most = analysis->options.most_paths;
	return most && most < UINT32_MAX ? most + 1 : TP_PATHS_MOST + 1; // and the thread itself
}

int tp_analysis_stack(const struct tp_analysis *analysis, const struct tp_thread *thread,
    struct tp_stack *stack, struct tp_profile *profile, struct tp_call_sink *sink)
{
	int code = tp_profile_init(profile);
	if (!code)
		code = tp_stack_init(stack, profile);
	if (code)
		return code;
	if (analysis->compensation.applied || (analysis->compensation.chooses && analysis->least))
		profile->cost = tp_analysis_cost(analysis);
	if (!tp_profile_keep_waited(profile))
		return TP_ERR_MEMORY;
	profile->time = analysis->options.time;
	profile->fine_ns = tp_analysis_fine_ns(analysis);
	profile->most_nodes = tp_analysis_most_nodes(analysis);
	stack->special = profile->time > TP_TIME_CPU; // most calls have nothing of it
	tp_stack_set_off(stack, thread->off);
	tp_stack_set_until(stack, analysis->timeless ? 0 : thread->until, thread->lost);
	if (!tp_stack_set_selected(stack, &analysis->selected))
		return TP_ERR_MEMORY;
	if (thread->off && !tp_profile_keep_parts(profile))
		return TP_ERR_MEMORY;
	if (analysis->from || analysis->to != UINT64_MAX)
		tp_stack_set_range(stack, analysis->from, analysis->to);
	if (analysis->least) {
		tp_stack_set_least(stack, analysis->least);
		if (!tp_profile_keep_dropped(profile))
			return TP_ERR_MEMORY;
	}
	if (thread->attached && !tp_stack_set_attached(stack))
		return TP_ERR_MEMORY;
	if (sink)
		tp_stack_set_sink(stack, sink);
	return 0;
}

struct tp_replay tp_analysis_replay(
    const struct tp_analysis *analysis, const struct tp_thread *thread, struct tp_stack *stack)
{
	return (struct tp_replay){
	    .trace = analysis->trace,
	    .thread = thread,
	    .stack = stack,
	    .timeless = analysis->timeless,
	};
}
