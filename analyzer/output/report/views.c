// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The blocks "transitions" and "contention": views of the command line, as they are, for tables of
// the page.
#include "report.h"

#include "analyzer/output/view.h"

enum { ROWS_MAX = 300 };
// The view reads this many calls once; more calls take one more pass for each multiple of it.
#define CONTENTION_CALLS_MAX (UINT64_C(1) << 24)

// A view that finds nothing to show leaves nothing.
static bool add_view(const struct tp_report *report, const char *name, struct tp_buf *out)
{
	const struct tp_view *view = tp_view_find(name);
	const struct tp_view_options options = {.format = TP_FORMAT_JSON, .limit = ROWS_MAX};
	const struct tp_analysis recorded = tp_view_as_recorded(report->analysis);
	struct tp_err err;
	const int code = tp_view_render(view, &recorded, &options, out, &err);
	if (code)
		tp_buf_reset(out);
	return code != TP_ERR_MEMORY;
}

bool tp_report_add_transitions(struct tp_report *report, struct tp_buf *out)
{
	return add_view(report, "transitions", out);
}

bool tp_report_add_contention(struct tp_report *report, struct tp_buf *out)
{
	report->contention_left = report->analysis->counts.events / 2 > CONTENTION_CALLS_MAX;
	return report->contention_left || add_view(report, "contention", out);
}
