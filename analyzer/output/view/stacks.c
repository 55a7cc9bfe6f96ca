// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The view "stacks": where each thread was when its records end.
#include "analyzer/output/relation/show.h"

static int render(const struct tp_analysis *analysis, const struct tp_view_options *options,
    bool *marks, struct tp_buf *out, struct tp_err *err)
{
	(void)marks;
	struct tp_relation_data data = {.analysis = analysis};
	struct tp_relation_show show;
	uint64_t calls = 0;
	tp_relation_show_init(&show, &tp_relation_stacks, &data, options, NULL, out);
	for (uint32_t i = 0; i < analysis->thread_count; i++) {
		const struct tp_thread_result *thread = &analysis->threads[i];
		for (uint32_t call = thread->open_count; call-- > 0;)
			tp_relation_show_row(&show, &(struct tp_stack_row){thread, call});
		calls += thread->open_count;
	}
	const int code = tp_grid_end(&show.grid, 0, err);
	if (!calls && options->format == TP_FORMAT_TABLE)
		tp_buf_add_string(out, "all calls had ended\n");
	return code;
}

const struct tp_view tp_view_stacks = {
    .name = "stacks",
    .summary = "the calls that were running at the end, the innermost of each thread first",
    .of = TP_VIEW_OF_ALL,
    .render = render,
};
