// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Each call of each thread, once, for what a report has of single calls: latency over time, and the
// slowest ones.
#include "analyzer/output/report/report.h"
#include "analyzer/profile/calls.h"

bool tp_report_watch_begin(struct tp_report *report, const struct tp_report_time *time)
{
	return tp_report_heat_init(
		   &report->heat, report->analysis, time, report->options->heat_maps) &&
	       tp_report_slowest_init(&report->slowest, report->analysis, report->options->slowest);
}

void tp_report_watch_thread(struct tp_report *report, uint32_t thread)
{
	report->watched = thread;
	tp_report_slowest_start(&report->slowest);
}

void tp_report_watch_call(struct tp_report *report, const struct tp_call *call)
{
	const struct tp_analysis *analysis = report->analysis;
	const struct tp_thread_result *thread = &analysis->threads[report->watched];
	if (call->node >= thread->profile.node_count)
		return;
	const struct tp_node *node = &thread->profile.nodes[call->node];
	const uint32_t function =
	    (uint32_t)(tp_analysis_function(analysis, thread, node) - analysis->functions);
	tp_report_heat_add(&report->heat, function, call);
	tp_report_slowest_add(&report->slowest, function, report->watched, call);
}

static void on_leave(void *context, const struct tp_call *call)
{
	tp_report_watch_call(context, call);
}

int tp_report_watch_end(struct tp_report *report, struct tp_err *err)
{
	const struct tp_analysis *analysis = report->analysis;
	// Threads that are in no timeline.
	for (uint32_t i = 0, shown = 0; i < analysis->thread_count; i++) {
		if (shown < report->thread_count && report->threads[shown] == i) {
			shown++;
			continue;
		}
		if (analysis->threads[i].profile.node_count < 2)
			continue;
		struct tp_call_sink sink = {.context = report, .leave = on_leave};
		struct tp_err damage;
		tp_report_watch_thread(report, i);
		if (tp_calls_each(analysis, i, &sink, &damage) == TP_ERR_MEMORY)
			return tp_err_memory(err, NULL);
	}
	return tp_report_slowest_finish(&report->slowest, &report->paths, &report->tree,
		   &report->time, report->threads, report->options->slowest_calls)
		   ? 0
		   : tp_err_memory(err, NULL);
}
