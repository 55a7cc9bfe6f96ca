// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The block "marks": moments and phases with names, in the timeline.
#include "report.h"

#include "analyzer/output/format/slices.h"
#include "common/varint.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

// That are drawn; one more stands for the rest.
enum { MARKS_MAX = 20000 };

static void add_mark(const struct tp_report *report, const struct tp_slice_mark *mark,
    const char *name, uint64_t *last, struct tp_buf *out)
{
	uint64_t thread = 0;
	for (uint32_t i = 0; i < report->thread_count; i++)
		if (report->threads[i] == mark->thread)
			thread = i + UINT64_C(1);
	tp_varint_add(out, strlen(name));
	tp_buf_add_string(out, name);
	tp_varint_add(out, mark->from_ns - *last);
	tp_varint_add(out, !mark->phase ? 0 : !mark->ends ? 1 : mark->to_ns - mark->from_ns + 2);
	tp_varint_add(out, thread);
	*last = mark->from_ns;
}

bool tp_report_add_marks(struct tp_report *report, struct tp_buf *out)
{
	struct tp_marks marks;
	struct tp_err err;
	if (tp_analysis_marks(report->analysis, &marks, &err)) {
		tp_marks_release(&marks);
		return false;
	}
	const struct tp_slices slices = {
	    .analysis = report->analysis, .marks = &marks, .to_ns = UINT64_MAX};
	struct tp_slice_mark mark;
	uint64_t count = 0;
	uint64_t last = 0;
	for (uint64_t at = 0; tp_slices_next_mark(&slices, &at, &mark);)
		if (++count <= MARKS_MAX)
			add_mark(report, &mark, mark.name, &last, out);
	if (count > MARKS_MAX || marks.left_out) {
		char rest[64];
		snprintf(rest, sizeof(rest), "(%" PRIu64 " more marks)",
		    (count > MARKS_MAX ? count - MARKS_MAX : 0) + marks.left_out);
		mark = (struct tp_slice_mark){.thread = UINT32_MAX, .from_ns = last};
		add_mark(report, &mark, rest, &last, out);
	}
	if (count || marks.left_out)
		tp_varint_add(out, 0);
	tp_marks_release(&marks);
	return true;
}
