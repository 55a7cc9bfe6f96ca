// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The view "threads": one row for each thread.
#include "analyzer/output/relation/show.h"

static int render(const struct tp_analysis *analysis, const struct tp_view_options *options,
    bool *marks, struct tp_buf *out, struct tp_err *err)
{
	(void)marks;
	struct tp_relation_data data = {.analysis = analysis};
	struct tp_relation_show show;
	tp_relation_show_init(&show, &tp_relation_threads, &data, options, NULL, out);
	for (uint32_t i = 0; i < analysis->thread_count; i++)
		tp_relation_show_row(&show, &analysis->threads[i]);
	return tp_grid_end(&show.grid, 0, err);
}

const struct tp_view tp_view_threads = {
    .name = "threads",
    .summary = "one row for each thread",
    .render = render,
};
