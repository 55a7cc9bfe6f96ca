// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Read any bytes as a plan of experiments; a valid one has a grid with names that are fit for
// folders, and runs.
// Runs: 1 of 4.
#include "experiment/grid.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct tp_grid *grid)
{
	for (uint32_t i = 0; i < grid->cell_count; i++) {
		const char *name = grid->cells[i].name;
		if (!*name || *name == '.' || *name == '-' || strchr(name, '/') ||
		    strlen(name) > 255)
			abort();
	}
	for (uint32_t i = 0; i < grid->run_count; i++)
		if (grid->runs[i].cell >= grid->cell_count)
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tp_plan plan;
	struct tp_grid grid = {0};
	struct tp_err err;
	char text[TP_ERR_TEXT_SIZE];
	int code = tp_plan_parse(&plan, "plan.toml", (const char *)data, size, &err);
	if (!code)
		code = tp_grid_make(&grid, &plan, &err);
	if (!code)
		code = tp_grid_order(&grid, size, &err);
	if (code)
		tp_err_render(&err, text, sizeof(text));
	else
		check(&grid);
	tp_grid_release(&grid);
	tp_plan_release(&plan);
	return 0;
}
