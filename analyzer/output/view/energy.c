// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The view "energy": what 'teeperf record --energy' measured.
#include "analyzer/output/relation/show.h"

static int render(const struct tp_analysis *analysis, const struct tp_view_options *options,
    bool *marks, struct tp_buf *out, struct tp_err *err)
{
	(void)marks;
	struct tp_relation_data data = {.analysis = analysis};
	struct tp_relation_show show;
	const struct tp_rows rows = tp_relation_energy.rows(&data);
	tp_relation_show_init(&show, &tp_relation_energy, &data, options, NULL, out);
	for (uint64_t i = 0; i < rows.count; i++)
		tp_relation_show_row(&show, tp_relation_row(&tp_relation_energy, &data, i));
	const int code = tp_grid_end(&show.grid, 0, err);
	if (!rows.count && options->format == TP_FORMAT_TABLE)
		tp_buf_add_string(out, "nothing was measured: record with '--energy'\n");
	return code;
}

const struct tp_view tp_view_energy = {
    .name = "energy",
    .summary = "the machine's energy consumption, for the whole run and by phase",
    .of = TP_VIEW_OF_ALL,
    .render = render,
};
