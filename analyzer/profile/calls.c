// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The calls of one thread one after another.
#include "calls.h"

#include "analyzer/replay/replay.h"
#include "analyzer/profile/together.h"

// Between the stack and the sink of an analysis that leaves paths out.
struct filter {
	const struct tp_analysis *analysis;
	const struct tp_profile *profile; // which paths are left
	struct tp_call_sink *sink;
	struct tp_call_sink own;
};

// A path that has no call that counts may be asked for all the same: it is in no time range.
static bool is_left(const struct filter *filter, uint32_t node)
{
	return node < filter->profile->node_count && filter->profile->nodes[node].function;
}

static void enter(void *context, uint64_t id, uint32_t node, uint64_t time)
{
	struct filter *filter = context;
	if (is_left(filter, node) && filter->sink->enter)
		filter->sink->enter(filter->sink->context, id, node, time);
	filter->own.stop = filter->sink->stop;
}

static void leave(void *context, const struct tp_call *call)
{
	struct filter *filter = context;
	if (!is_left(filter, call->node) || !filter->sink->leave)
		return;
	struct tp_call shown = *call;
	if (filter->analysis->depth && call->depth == filter->analysis->depth)
		shown.self = call->duration;
	if (filter->profile->nodes[call->node].is_way)
		shown.self = 0;
	filter->sink->leave(filter->sink->context, &shown);
	filter->own.stop = filter->sink->stop;
}

static void pause_call(void *context, uint32_t node, uint64_t time)
{
	struct filter *filter = context;
	if (is_left(filter, node) && filter->sink->pause)
		filter->sink->pause(filter->sink->context, node, time);
}

static void resume_call(void *context, uint32_t node, uint64_t time)
{
	struct filter *filter = context;
	if (is_left(filter, node) && filter->sink->resume)
		filter->sink->resume(filter->sink->context, node, time);
}

static void lost(void *context, uint64_t count, uint64_t time)
{
	struct filter *filter = context;
	if (filter->sink->lost)
		filter->sink->lost(filter->sink->context, count, time);
}

int tp_calls_each(const struct tp_analysis *analysis, uint32_t thread, struct tp_call_sink *sink,
    struct tp_err *err)
{
	struct filter filter = {
	    .analysis = analysis,
	    .profile = &analysis->threads[thread].profile,
	    .sink = sink,
	    .own = {NULL, enter, leave, pause_call, resume_call, lost, false},
	};
	filter.own.context = &filter;
	if (tp_together_concerns(analysis, thread))
		return tp_together_calls(
		    analysis, thread, analysis->filtered ? &filter.own : sink, err);
	struct tp_profile profile = {0};
	struct tp_stack stack = {0};
	struct tp_replay replay =
	    tp_analysis_replay(analysis, analysis->threads[thread].thread, &stack);
	int code =
	    tp_analysis_stack(analysis, &stack, &profile, analysis->filtered ? &filter.own : sink);
	// The analysis has the sums.
	stack.only_calls = true;
	if (code)
		tp_err_set(err, code, analysis->trace->source.name, TP_ERR_NO_OFFSET,
		    "out of memory before thread %u was replayed", replay.thread->number);
	else
		code = tp_replay(&replay, err);
	tp_stack_release(&stack);
	tp_profile_release(&profile);
	return code;
}
