// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The view "tree": each thread's calling-context tree, the heaviest calls first.
#define _GNU_SOURCE
#include "analyzer/output/grid.h"
#include "common/array.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

// A node that is to be printed; a stack of them replaces recursion, for paths may be very deep.
struct item {
	uint32_t node;
	uint32_t depth;
};

struct walk {
	const struct tp_analysis *analysis;
	const struct tp_view_options *options;
	struct item *items;
	size_t count;
	size_t capacity;
	uint64_t least;              // inclusive ticks below which a node is left out
	uint64_t printed;            // rows
	const struct tp_node *nodes; // of the items
	struct tp_grid grid;
};

static const struct tp_column columns[] = {
    {NULL, "thread", 'r', 0, false, false},
    {NULL, "depth", 'r', 0, false, false},
    {NULL, "function", 'l', 0, false, false},
    {NULL, "calls", 'r', 0, false, false},
    {"inclusive", "inclusive_ns", 'r', 0, true, false},
    {"share", NULL, 'r', 0, true, false},
    {"self", "self_ns", 'r', 0, true, false},
    {"calls", NULL, 'r', 0, false, false},
    {NULL, "min_ns", 'r', 0, false, false},
    {NULL, "max_ns", 'r', 0, false, false},
    {"function", NULL, 'l', 0, false, true},
    {0},
};

// Ascending, as the heaviest must be pushed last to be printed first.
static int compare(const void *a, const void *b, void *context)
{
	const struct walk *walk = context;
	const bool by_calls = walk->analysis->timeless;
	const struct item *x = a;
	const struct item *y = b;
	const struct tp_node *a_node = &walk->nodes[x->node];
	const struct tp_node *b_node = &walk->nodes[y->node];
	const uint64_t p = by_calls ? a_node->calls : a_node->inclusive;
	const uint64_t q = by_calls ? b_node->calls : b_node->inclusive;
	const int order = TP_COMPARE(p, q);
	// Older nodes were called earlier: they come first.
	return order ? order : TP_COMPARE(y->node, x->node);
}

// Put the children of NODE on the stack. False: no memory.
static bool push_children(
    struct walk *walk, const struct tp_profile *profile, uint32_t node, uint32_t depth)
{
	const struct tp_node *nodes = profile->nodes;
	const size_t first = walk->count;
	for (uint32_t at = profile->first_child[node]; at; at = profile->next_sibling[at]) {
		if (nodes[at].inclusive < walk->least) {
			walk->grid.more++;
			continue;
		}
		if (!TP_GROW(walk->items, walk->capacity, walk->count + 1))
			return false;
		walk->items[walk->count++] = (struct item){at, depth};
	}
	walk->nodes = nodes;
	if (walk->count > first)
		qsort_r(
		    walk->items + first, walk->count - first, sizeof(*walk->items), compare, walk);
	return true;
}

static void add_row(struct walk *walk, const struct tp_thread_result *thread, struct item item)
{
	struct tp_grid *grid = &walk->grid;
	const struct tp_node *node = &thread->profile.nodes[item.node];
	const char *name = tp_analysis_function(walk->analysis, thread, node)->symbol.name;
	tp_grid_number(grid, thread->thread->number);
	tp_grid_number(grid, item.depth);
	tp_grid_text(grid, name);
	tp_grid_count(grid, node->calls);
	tp_grid_time(grid, true, node->inclusive);
	tp_grid_share(grid, node->inclusive, thread->busy);
	tp_grid_time(grid, true, node->self);
	tp_grid_count(grid, node->calls);
	tp_grid_time(grid, true, node->calls ? node->min : 0);
	tp_grid_time(grid, true, node->max);
	tp_grid_indented(grid, name, item.depth);
	walk->printed++;
}

static bool add_thread(struct walk *walk, const struct tp_thread_result *thread)
{
	const struct tp_profile *profile = &thread->profile;
	if (profile->node_count < 2)
		return true;
	walk->least = (uint64_t)((double)thread->busy * walk->options->min_share);
	if (walk->options->format == TP_FORMAT_TABLE && walk->analysis->thread_count > 1) {
		char text[64];
		for (uint32_t i = 0; i + 1 < walk->grid.count; i++)
			tp_grid_blank(&walk->grid);
		snprintf(text, sizeof(text), "%s %" PRIu32, tp_view_thread_name(thread->thread),
		    thread->thread->number);
		tp_grid_text(&walk->grid, text);
	}
	walk->count = 0;
	if (!push_children(walk, profile, 0, 1))
		return false;
	while (walk->count) {
		const struct item item = walk->items[--walk->count];
		if (walk->options->limit && walk->printed >= walk->options->limit) {
			walk->grid.more++;
			continue;
		}
		add_row(walk, thread, item);
		if (!push_children(walk, profile, item.node, item.depth + 1))
			return false;
	}
	return true;
}

static int render(const struct tp_analysis *analysis, const struct tp_view_options *options,
    bool *marks, struct tp_buf *out, struct tp_err *err)
{
	(void)marks;
	struct walk walk = {.analysis = analysis, .options = options};
	tp_grid_init(&walk.grid, analysis, options, columns, "tree", NULL, out);
	walk.grid.left_out = "lighter branches left out: see --min-share and --limit";
	bool done = true;
	for (uint32_t i = 0; i < analysis->thread_count && done; i++)
		done = add_thread(&walk, &analysis->threads[i]);
	free(walk.items);
	return tp_grid_end(&walk.grid, done ? 0 : tp_err_memory(err, NULL), err);
}

const struct tp_view tp_view_tree = {
    .name = "tree",
    .summary = "each thread's call tree, the heaviest calls first",
    .render = render,
};
