// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The view "waits": which function of which thread ended the waits of each function.
#include "analyzer/profile/waits.h"
#include "analyzer/output/grid.h"
#include "analyzer/output/view/waits.h"

#include <inttypes.h>
#include <stdio.h>

const char *tp_view_waker(const struct tp_analysis *analysis, const struct tp_wait_row *row)
{
	if (!row->woken)
		return "";
	if (row->waker != TP_SYSTEM_NOBODY)
		return analysis->functions[row->waker].symbol.name;
	if (row->at_end)
		return "(end of thread)";
	return row->waker_thread == TP_SYSTEM_NOBODY ? "(no recorded thread)"
						     : "(no recorded call)";
}

const char *tp_view_waker_thread(
    const struct tp_analysis *analysis, const struct tp_wait_row *row, char text[64])
{
	text[0] = '\0';
	if (row->woken && row->waker_thread != TP_SYSTEM_NOBODY) {
		const struct tp_thread *thread = analysis->threads[row->waker_thread].thread;
		snprintf(text, 64, "%s %" PRIu32, tp_view_thread_name(thread), thread->number);
	}
	return text;
}

static void add_row(struct tp_grid *grid, const struct tp_wait_row *row, uint64_t all)
{
	const struct tp_analysis *analysis = grid->analysis;
	char text[64];
	tp_grid_count(grid, row->count);
	tp_grid_kernel_ns(grid, true, row->total_ns);
	tp_grid_share(grid, row->total_ns, all);
	tp_grid_kernel_ns(grid, true, row->total_ns / row->count);
	tp_grid_kernel_ns(grid, true, row->max_ns);
	tp_grid_kernel_ns(grid, row->woken, row->late_ns);
	tp_grid_text(grid, tp_system_event_name(analysis, row->event, text));
	tp_grid_text(grid, row->function != TP_SYSTEM_NOBODY
			       ? analysis->functions[row->function].symbol.name
			   : row->outside ? "(no recorded thread)"
					  : "(no recorded call)");
	tp_grid_text(grid, tp_view_waker(analysis, row));
	tp_grid_text(grid, tp_view_waker_thread(analysis, row, text));
}

static int render(const struct tp_analysis *analysis, const struct tp_view_options *options,
    bool *marks, struct tp_buf *out, struct tp_err *err)
{
	static const struct tp_column columns[] = {
	    {"count", "count", 'r', 0, false, false},
	    {"time", "total_ns", 'r', 0, false, false},
	    {"share", "share", 'r', 1, false, false},
	    {"mean", "mean_ns", 'r', 2, false, false},
	    {"max", "max_ns", 'r', 3, false, false},
	    {"late", "late_ns", 'r', 4, false, false},
	    {"in", "call", 'l', 5, false, false},
	    {"function", "function", 'l', 0, false, true},
	    {"ended by", "waker", 'l', 0, false, false},
	    {"of thread", "waker_thread", 'l', 0, false, false},
	    {0},
	};
	struct tp_paths paths = {0};
	struct tp_system_items items = {0};
	struct tp_waits waits = {0};
	int code = tp_view_check_events(analysis, err);
	if (!code)
		code = tp_paths_init(&paths, analysis, err);
	if (!code)
		code = tp_system_items_init(&items, analysis, &paths, err);
	if (!code)
		code = tp_waits_init(&waits, &items, analysis, &paths, err);
	if (!code) {
		struct tp_grid grid;
		tp_grid_init(&grid, analysis, options, columns, "waits", NULL, out);
		for (uint64_t i = 0; i < waits.count; i++) {
			const struct tp_wait_row *row = &waits.rows[i];
			const bool chosen =
			    !options->function ||
			    (row->function != TP_SYSTEM_NOBODY && marks[row->function]);
			if (chosen && !tp_grid_skips(&grid))
				add_row(&grid, row, waits.total_ns);
		}
		code = tp_grid_end(&grid, 0, err);
	}
	tp_waits_release(&waits);
	tp_system_items_release(&items);
	tp_paths_release(&paths);
	return code;
}

const struct tp_view tp_view_waits = {
    .name = "waits",
    .summary = "which function of which thread ended the waits of each function: who held a lock",
    .of = TP_VIEW_OF_ANY,
    .records = true,
    .render = render,
};
