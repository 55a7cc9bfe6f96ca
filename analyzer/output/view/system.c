// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The view "system": which function caused which system calls, waits, page faults and requests to
// devices.
#include "analyzer/output/relation/show.h"
#include "analyzer/output/view/waits.h"

int tp_view_check_events(const struct tp_analysis *analysis, struct tp_err *err)
{
	char why[256];
	if (analysis->trace->system.has)
		return 0;
	if (tp_tracefile_host(analysis->trace, "events_refused", why, sizeof(why)))
		return tp_err_set(err, TP_ERR_NOT_FOUND, analysis->trace->source.name,
		    "has no system events: %s", why);
	return tp_err_set(err, TP_ERR_NOT_FOUND, analysis->trace->source.name,
	    "has no system events: record with '--events sched,syscalls,io,faults'");
}

static int render(const struct tp_analysis *analysis, const struct tp_view_options *options,
    bool *marks, struct tp_buf *out, struct tp_err *err)
{
	struct tp_paths paths;
	struct tp_system_items items = {0};
	struct tp_relation_show show;
	int code = tp_view_check_events(analysis, err);
	if (code)
		return code;
	code = tp_paths_init(&paths, analysis, err);
	if (!code)
		code = tp_system_items_init(&items, analysis, &paths, err);
	if (!code) {
		struct tp_relation_data data = {
		    .analysis = analysis, .paths = &paths, .system = &items};
		tp_relation_show_init(&show, &tp_relation_system, &data, options, NULL, out);
		for (uint32_t i = 0; i < items.row_count; i++) {
			const struct tp_system_row *row = &items.rows[i];
			if (!options->function ||
			    (row->function != TP_SYSTEM_NOBODY && marks[row->function]))
				tp_relation_show_row(&show, row);
		}
		if (options->format == TP_FORMAT_TABLE && !options->function)
			tp_relation_show_total(&show, &items.total);
		code = tp_grid_end(&show.grid, 0, err);
	}
	tp_system_items_release(&items);
	tp_paths_release(&paths);
	return code;
}

const struct tp_view tp_view_system = {
    .name = "system",
    .summary = "kernel work for each function: system calls, waits, faults, devices",
    .of = TP_VIEW_OF_ANY,
    .records = true,
    .render = render,
};
