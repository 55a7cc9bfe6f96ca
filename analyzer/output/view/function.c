// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The view "function": of each function that was asked for, its callers above and its callees
// below.
#include "analyzer/output/grid.h"
#include "analyzer/profile/around/neighbours.h"

#include <stdlib.h>

struct sandwich {
	const struct tp_analysis *analysis;
	struct tp_paths paths;
	struct tp_neighbours neighbours;
	struct tp_grid grid;
};

static const char *name_of(const struct sandwich *sandwich, uint32_t function)
{
	return function < sandwich->analysis->function_count
		   ? sandwich->analysis->functions[function].symbol.name
		   : "(start of a thread)";
}

// A row of FUNCTION; times that are not KNOWN are left out.
static void add_row(struct sandwich *sandwich, const char *function, const char *relation,
    const struct tp_neighbour *edge, bool known, uint32_t depth)
{
	struct tp_grid *grid = &sandwich->grid;
	if (tp_grid_skips(grid))
		return;
	tp_grid_text(grid, function);
	tp_grid_text(grid, relation);
	tp_grid_count(grid, edge->calls);
	tp_grid_time(grid, known, edge->inclusive);
	tp_grid_time(grid, known, edge->self);
	tp_grid_mean(grid, edge->total, edge->timed);
	tp_grid_indented(grid, name_of(sandwich, edge->function), depth);
}

static void add_edges(struct sandwich *sandwich, uint32_t index, bool callers, const char *relation)
{
	struct tp_neighbours *neighbours = &sandwich->neighbours;
	tp_neighbours_find(neighbours, index, callers);
	for (uint32_t i = 0; i < neighbours->count; i++)
		add_row(sandwich, sandwich->analysis->functions[index].symbol.name, relation,
		    &neighbours->items[i], true, 3);
}

static void add_function(struct sandwich *sandwich, uint32_t index, struct tp_err *err)
{
	const struct tp_function *function = &sandwich->analysis->functions[index];
	const char *name = function->symbol.name;
	const struct tp_neighbour own = {
	    .function = index,
	    .calls = function->calls,
	    .timed = tp_function_timed(function),
	    .inclusive = function->inclusive,
	    .total = function->total,
	    .self = function->self,
	};
	add_edges(sandwich, index, true, "caller");
	add_row(sandwich, name, "function", &own, own.timed, 1);
	add_edges(sandwich, index, false, "callee");
	if (sandwich->grid.options->format != TP_FORMAT_TABLE)
		return;
	tp_grid_flush(&sandwich->grid, err);
	tp_buf_add_char(sandwich->grid.out, '\n');
}

static int add_functions(struct sandwich *sandwich, const bool *marks, struct tp_err *err)
{
	const struct tp_analysis *analysis = sandwich->analysis;
	uint32_t count;
	uint32_t *order = tp_view_order(analysis, sandwich->grid.options, marks, &count, err);
	if (!order)
		return TP_ERR_MEMORY;
	for (uint32_t i = 0; i < count; i++) {
		if (tp_grid_full(&sandwich->grid)) {
			sandwich->grid.more += count - i;
			break;
		}
		add_function(sandwich, order[i], err);
	}
	free(order);
	return 0;
}

static int render(const struct tp_analysis *analysis, const struct tp_view_options *options,
    bool *marks, struct tp_buf *out, struct tp_err *err)
{
	static const struct tp_column columns[] = {
	    {NULL, "function", 'l', 0, false, false},
	    {"relation", "relation", 'l', 1, false, false},
	    {"calls", "calls", 'r', 0, false, false},
	    {"inclusive", "inclusive_ns", 'r', 0, true, false},
	    {"self", "self_ns", 'r', 0, true, false},
	    {"mean", "mean_ns", 'r', 2, true, false},
	    {"function", "name", 'l', 0, false, true},
	    {0},
	};
	struct sandwich sandwich = {.analysis = analysis};
	int code = tp_paths_init(&sandwich.paths, analysis, err);
	if (code)
		goto out;
	code = tp_neighbours_init(&sandwich.neighbours, analysis, &sandwich.paths, err);
	if (code)
		goto out;
	tp_grid_init(&sandwich.grid, analysis, options, columns, "functions", NULL, out);
	code = add_functions(&sandwich, marks, err);
	code = tp_grid_end(&sandwich.grid, code, err);
out:
	tp_neighbours_release(&sandwich.neighbours);
	tp_paths_release(&sandwich.paths);
	return code;
}

const struct tp_view tp_view_function = {
    .name = "function",
    .summary = "the callers of a function above it, its callees below",
    .of = TP_VIEW_OF_SOME,
    .render = render,
};
