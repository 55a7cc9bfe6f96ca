// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The view "function": of each function that was asked for, its callers above and its callees below.
#include "analyzer/output/grid.h"
#include "analyzer/profile/paths.h"
#include "common/array.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// The calls between the function and another one; a caller of UINT32_MAX is the start of a thread.
struct edge {
	uint32_t function;
	uint32_t until; // below this path a call of the same edge is within another one
	uint64_t calls;
	uint64_t timed;     // of these
	uint64_t inclusive; // of recursive calls only the outermost
	uint64_t total;     // of all
	uint64_t self;
};

struct sandwich {
	const struct tp_analysis *analysis;
	struct tp_paths paths;
	uint32_t *by_function; // paths in preorder, those of a function together
	uint32_t *starts;      // of each function; one more at the end
	uint32_t *by_caller;   // the same by the function of the path's parent
	uint32_t *caller_starts;
	struct edge *edges;
	uint32_t *edge_of; // of each function, and of the start of threads; 0: none, else + 1
	uint32_t edge_count;
	struct tp_grid grid;
};

static uint32_t key_of(const struct sandwich *sandwich, uint32_t path, bool caller)
{
	const struct tp_path *items = sandwich->paths.items;
	const uint32_t function = items[caller ? items[path].parent : path].function;
	return function == UINT32_MAX ? sandwich->analysis->function_count : function;
}

// Sort the paths by a key, by counting; ORDER and STARTS are zeroed.
static void sort_paths(
    const struct sandwich *sandwich, bool caller, uint32_t *order, uint32_t *starts)
{
	const uint32_t keys = sandwich->analysis->function_count + 1;
	for (uint32_t i = 1; i < sandwich->paths.count; i++)
		starts[key_of(sandwich, i, caller) + 1]++;
	for (uint32_t i = 0; i < keys; i++)
		starts[i + 1] += starts[i];
	for (uint32_t i = 1; i < sandwich->paths.count; i++)
		order[starts[key_of(sandwich, i, caller)]++] = i;
	for (uint32_t i = keys; i > 0; i--)
		starts[i] = starts[i - 1];
	starts[0] = 0;
}

static bool allocate(struct sandwich *sandwich)
{
	const size_t functions = (size_t)sandwich->analysis->function_count + 2;
	const size_t paths = (size_t)sandwich->paths.count + 1;
	sandwich->by_function = calloc(paths, sizeof(*sandwich->by_function));
	sandwich->by_caller = calloc(paths, sizeof(*sandwich->by_caller));
	sandwich->starts = calloc(functions + 1, sizeof(*sandwich->starts));
	sandwich->caller_starts = calloc(functions + 1, sizeof(*sandwich->caller_starts));
	sandwich->edges = calloc(functions, sizeof(*sandwich->edges));
	sandwich->edge_of = calloc(functions, sizeof(*sandwich->edge_of));
	return sandwich->by_function && sandwich->by_caller && sandwich->starts &&
	       sandwich->caller_starts && sandwich->edges && sandwich->edge_of;
}

static struct edge *edge_to(struct sandwich *sandwich, uint32_t function)
{
	uint32_t *edge = &sandwich->edge_of[function];
	if (!*edge) {
		*edge = ++sandwich->edge_count;
		sandwich->edges[*edge - 1] = (struct edge){.function = function};
	}
	return &sandwich->edges[*edge - 1];
}

// The edges of the paths from FIRST to END, keyed by their callers or themselves.
static void collect(
    struct sandwich *sandwich, const uint32_t *order, uint32_t first, uint32_t end, bool callers)
{
	for (uint32_t i = 0; i < sandwich->edge_count; i++)
		sandwich->edge_of[sandwich->edges[i].function] = 0;
	sandwich->edge_count = 0;
	for (uint32_t i = first; i < end; i++) {
		const struct tp_path *path = &sandwich->paths.items[order[i]];
		struct edge *edge = edge_to(sandwich, key_of(sandwich, order[i], callers));
		edge->calls += path->calls;
		edge->timed += path->calls;
		edge->total += path->inclusive;
		edge->self += path->self;
		if (order[i] < edge->until)
			continue;
		edge->inclusive += path->inclusive;
		edge->until = path->last + 1;
	}
}

static int compare_edges(const void *a, const void *b)
{
	const struct edge *x = a;
	const struct edge *y = b;
	int order = TP_COMPARE(y->inclusive, x->inclusive);
	order = order ? order : TP_COMPARE(y->calls, x->calls);
	return order ? order : TP_COMPARE(x->function, y->function);
}

static const char *name_of(const struct sandwich *sandwich, uint32_t function)
{
	return function < sandwich->analysis->function_count
		   ? sandwich->analysis->functions[function].symbol.name
		   : "(start of a thread)";
}

// A row of FUNCTION; times that are not KNOWN are left out.
static void add_row(struct sandwich *sandwich, const char *function, const char *relation,
    const struct edge *edge, bool known, uint32_t depth)
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

static void add_edges(struct sandwich *sandwich, const char *function, const char *relation)
{
	// Which edge is whose is not asked any more.
	for (uint32_t i = 0; i < sandwich->edge_count; i++)
		sandwich->edge_of[sandwich->edges[i].function] = 0;
	qsort(sandwich->edges, sandwich->edge_count, sizeof(*sandwich->edges), compare_edges);
	for (uint32_t i = 0; i < sandwich->edge_count; i++)
		add_row(sandwich, function, relation, &sandwich->edges[i], true, 3);
	sandwich->edge_count = 0;
}

static void add_function(struct sandwich *sandwich, uint32_t index, struct tp_err *err)
{
	const struct tp_function *function = &sandwich->analysis->functions[index];
	const char *name = function->symbol.name;
	const struct edge own = {
	    .function = index,
	    .calls = function->calls,
	    .timed = tp_function_timed(function),
	    .inclusive = function->inclusive,
	    .total = function->total,
	    .self = function->self,
	};
	collect(sandwich, sandwich->by_function, sandwich->starts[index],
	    sandwich->starts[index + 1], true);
	add_edges(sandwich, name, "caller");
	add_row(sandwich, name, "function", &own, own.timed, 1);
	collect(sandwich, sandwich->by_caller, sandwich->caller_starts[index],
	    sandwich->caller_starts[index + 1], false);
	add_edges(sandwich, name, "callee");
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
	if (!allocate(&sandwich)) {
		code = tp_err_memory(err, analysis->trace->source.name);
		goto out;
	}
	sort_paths(&sandwich, false, sandwich.by_function, sandwich.starts);
	sort_paths(&sandwich, true, sandwich.by_caller, sandwich.caller_starts);
	tp_grid_init(&sandwich.grid, analysis, options, columns, "functions", NULL, out);
	code = add_functions(&sandwich, marks, err);
	code = tp_grid_end(&sandwich.grid, code, err);
out:
	free(sandwich.by_function);
	free(sandwich.by_caller);
	free(sandwich.starts);
	free(sandwich.caller_starts);
	free(sandwich.edges);
	free(sandwich.edge_of);
	tp_paths_release(&sandwich.paths);
	return code;
}

const struct tp_view tp_view_function = {
    .name = "function",
    .summary = "the callers of a function above it, its callees below",
    .of = TP_VIEW_OF_SOME,
    .sorted = true,
    .render = render,
};
