// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The view "top": one row for each function, all threads summed.
#include "analyzer/output/relation/show.h"

static int render(const struct tp_analysis *analysis, const struct tp_view_options *options,
    bool *marks, struct tp_buf *out, struct tp_err *err)
{
	(void)marks;
	struct tp_relation_data data = {.analysis = analysis};
	return tp_relation_show_functions(&tp_relation_functions, &data, options, NULL, out, err);
}

const struct tp_view tp_view_top = {
    .name = "top",
    .summary = "one row for each function, all threads summed",
    .render = render,
};
