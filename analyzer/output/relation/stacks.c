// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The relation "stacks": the calls that were running when their thread's records end.
#include "relation.h"

#include "analyzer/output/view.h"

enum { THREAD, NAME, DEPTH, OPEN, FN, FUNCTION, SOURCE, COLUMNS };

static const struct tp_relation_column columns[COLUMNS] = {
    [THREAD] = {"thread", "number of the thread in the trace, from 0, as in --thread",
	.type = TP_TYPE_INT32, .title = "thread"},
    [NAME] = {"name", "its name", .type = TP_TYPE_TEXT, .title = "name", .rank = 2},
    [DEPTH] = {"depth", "of the call: 1 is the outermost", .type = TP_TYPE_INT32, .title = "depth"},
    [OPEN] = {"open_ns", "ns from its start until its thread, or the recording, ended",
	.unit = TP_UNIT_TIME, .title = "open"},
    [FN] = {"fn", "of functions", .type = TP_TYPE_INT32},
    [FUNCTION] = {"function", "that was called", .type = TP_TYPE_TEXT, .title = "function",
	.elastic = true},
    [SOURCE] = {"source", "last component of its file, and line", .type = TP_TYPE_TEXT,
	.title = "source", .made = true, .rank = 1},
};

static struct tp_cell value(struct tp_relation_data *data, const void *row, uint32_t column)
{
	const struct tp_stack_row *at = row;
	const struct tp_thread_result *result = at->thread;
	const struct tp_open_call *call = &result->open[at->call];
	const struct tp_function *function =
	    tp_analysis_function(data->analysis, result, &result->profile.nodes[call->node]);
	switch (column) {
	case THREAD:
		return tp_cell_number(result->thread->number);
	case NAME:
		return tp_cell_text(tp_view_thread_name(result->thread));
	case DEPTH:
		return tp_cell_number(at->call + 1);
	case OPEN:
		return tp_cell_time(
		    data, true, result->last > call->began ? result->last - call->began : 0);
	case FN:
		return tp_cell_number(function - data->analysis->functions);
	case FUNCTION:
		return tp_cell_text(function->symbol.name);
	default:
		return tp_cell_source(data, &function->symbol);
	}
}

const struct tp_relation tp_relation_stacks = {
    .name = "stacks",
    .summary = "the calls that were running at the end, the innermost of each thread first",
    .columns = columns,
    .count = COLUMNS,
    .text = (const uint8_t[]){THREAD, NAME, DEPTH, OPEN, FUNCTION, SOURCE, TP_RELATION_END},
    .forms = TP_FORM_TEXT | TP_FORM_CSV,
    .reason = "these calls are rows of calls whose how is 'open'",
    .value = value,
};
