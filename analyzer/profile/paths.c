// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The calling contexts of all threads in one tree.
#include "paths.h"

#include "common/hash.h"
#include "common/index.h"

#include <stdlib.h>
#include <string.h>

// The tree while it grows, numbered as paths are found.
struct tree {
	struct tp_path *items;
	uint32_t *first_child;
	uint32_t *next;
	uint32_t count;
	struct tp_index index; // by (parent, function)
};

static uint32_t *slot_of(const struct tree *tree, uint32_t parent, uint32_t function)
{
	uint32_t *slot = tp_index_first(&tree->index, tp_hash_pair(parent, function));
	for (;; slot = tp_index_next(&tree->index, slot)) {
		const struct tp_path *item = &tree->items[*slot];
		if (!*slot || (item->parent == parent && item->function == function))
			return slot;
	}
}

static uint32_t find_child(struct tree *tree, uint32_t parent, uint32_t function)
{
	uint32_t *slot = slot_of(tree, parent, function);
	if (*slot)
		return *slot;
	*slot = tree->count++;
	tree->items[*slot] = (struct tp_path){
	    .parent = parent,
	    .function = function,
	    .depth = tree->items[parent].depth + 1,
	    .min = UINT64_MAX,
	};
	return *slot;
}

// Add the nodes of thread number T; callers come before their callees.
static void add_thread(
    struct tree *tree, struct tp_paths *paths, const struct tp_analysis *analysis, uint32_t t)
{
	const struct tp_thread_result *thread = &analysis->threads[t];
	for (uint32_t i = 1; i < thread->profile.node_count; i++) {
		const struct tp_node *node = &thread->profile.nodes[i];
		if (!node->function)
			continue;
		const uint32_t at = find_child(
		    tree, paths->of_node[t][node->parent], thread->functions[node->function]);
		struct tp_path *path = &tree->items[at];
		path->calls += node->calls;
		path->inclusive += node->inclusive;
		path->self += node->self;
		if (thread->profile.parts_of) {
			const struct tp_node_parts parts = tp_profile_parts(&thread->profile, i);
			tp_node_parts_add(&path->parts, &parts);
		}
		path->has_no_parts |= !thread->profile.parts_of;
		path->min = node->min < path->min ? node->min : path->min;
		path->max = node->max > path->max ? node->max : path->max;
		paths->of_node[t][i] = at;
		paths->row_count++;
	}
	if (thread->profile.node_count)
		tree->items[0].inclusive += thread->profile.nodes[0].inclusive;
}

// Number the paths in preorder. ACTIVE has a place for each function, all 0.
static void number(
    const struct tree *tree, struct tp_paths *paths, uint32_t *moved, uint32_t *active)
{
	uint32_t at = 0;
	uint32_t count = 0;
	for (;;) {
		struct tp_path *path = &paths->items[count];
		*path = tree->items[at];
		path->parent = at ? moved[tree->items[at].parent] : 0;
		path->recursion = at ? active[path->function]++ : 0;
		moved[at] = count++;
		if (tree->first_child[at]) {
			at = tree->first_child[at];
			continue;
		}
		// Up to the next one that has a sibling, ending all that lie between.
		for (;;) {
			paths->items[moved[at]].last = count - 1;
			if (!at)
				return;
			active[tree->items[at].function]--;
			if (tree->next[at])
				break;
			at = tree->items[at].parent;
		}
		at = tree->next[at];
	}
}

// The rows of all paths: by counting how many each has.
static void add_rows(struct tp_paths *paths, const struct tp_analysis *analysis)
{
	for (uint32_t i = 0; i < paths->count; i++)
		paths->items[i].row = 0;
	for (uint32_t t = 0; t < paths->thread_count; t++)
		for (uint32_t i = 1; i < analysis->threads[t].profile.node_count; i++)
			if (paths->of_node[t][i])
				paths->items[paths->of_node[t][i]].row++;
	uint32_t before = 0;
	for (uint32_t i = 0; i < paths->count; i++) {
		const uint32_t rows = paths->items[i].row;
		paths->items[i].row = before;
		before += rows;
	}
	for (uint32_t t = 0; t < paths->thread_count; t++)
		for (uint32_t i = 1; i < analysis->threads[t].profile.node_count; i++) {
			const uint32_t path = paths->of_node[t][i];
			if (path)
				paths->rows[paths->items[path].row++] =
				    (struct tp_path_row){path, t, i};
		}
	// Each stands behind its rows now.
	for (uint32_t i = paths->count; i-- > 1;)
		paths->items[i].row = paths->items[i - 1].row;
	paths->items[0].row = 0;
}

static bool allocate(
    struct tp_paths *paths, struct tree *tree, const struct tp_analysis *analysis, uint64_t *most)
{
	*most = 1;
	paths->of_node = calloc((size_t)analysis->thread_count + 1, sizeof(*paths->of_node));
	if (!paths->of_node)
		return false;
	paths->thread_count = analysis->thread_count;
	for (uint32_t t = 0; t < analysis->thread_count; t++) {
		const uint64_t nodes = analysis->threads[t].profile.node_count;
		paths->of_node[t] = calloc(nodes + 1, sizeof(**paths->of_node));
		if (!paths->of_node[t])
			return false;
		*most += nodes;
	}
	if (*most > UINT32_MAX / 4)
		return false;
	tree->count = 1;
	tree->items = calloc(*most, sizeof(*tree->items));
	tree->first_child = calloc(*most, sizeof(*tree->first_child));
	tree->next = calloc(*most, sizeof(*tree->next));
	return tp_index_init(&tree->index, *most) && tree->items && tree->first_child && tree->next;
}

// The tree is complete: make the paths of it.
static bool finish(
    struct tp_paths *paths, const struct tree *tree, const struct tp_analysis *analysis)
{
	uint32_t *moved = calloc(tree->count, sizeof(*moved));
	uint32_t *active = calloc((size_t)analysis->function_count + 1, sizeof(*active));
	paths->count = tree->count;
	paths->items = calloc(paths->count, sizeof(*paths->items));
	paths->rows = calloc((size_t)paths->row_count + 1, sizeof(*paths->rows));
	const bool ok = moved && active && paths->items && paths->rows;
	if (ok) {
		// Siblings in the order in which they were found.
		for (uint32_t i = tree->count; i-- > 1;) {
			tree->next[i] = tree->first_child[tree->items[i].parent];
			tree->first_child[tree->items[i].parent] = i;
		}
		number(tree, paths, moved, active);
		for (uint32_t t = 0; t < paths->thread_count; t++)
			for (uint32_t i = 1; i < analysis->threads[t].profile.node_count; i++)
				paths->of_node[t][i] = moved[paths->of_node[t][i]];
		add_rows(paths, analysis);
	}
	free(moved);
	free(active);
	return ok;
}

int tp_paths_init(struct tp_paths *paths, const struct tp_analysis *analysis, struct tp_err *err)
{
	struct tree tree = {0};
	uint64_t most;
	*paths = (struct tp_paths){0};
	bool ok = allocate(paths, &tree, analysis, &most);
	if (ok) {
		tree.items[0] = (struct tp_path){.function = UINT32_MAX, .min = UINT64_MAX};
		for (uint32_t t = 0; t < paths->thread_count; t++)
			add_thread(&tree, paths, analysis, t);
		ok = finish(paths, &tree, analysis);
	}
	free(tree.items);
	free(tree.first_child);
	free(tree.next);
	tp_index_release(&tree.index);
	return ok ? 0 : tp_err_memory(err, analysis->trace->source.name);
}

void tp_paths_release(struct tp_paths *paths)
{
	for (uint32_t t = 0; paths->of_node && t < paths->thread_count; t++)
		free(paths->of_node[t]);
	free(paths->of_node);
	free(paths->items);
	free(paths->rows);
	*paths = (struct tp_paths){0};
}

struct tp_histogram tp_paths_times(
    const struct tp_paths *paths, const struct tp_analysis *analysis, uint32_t path)
{
	struct tp_histogram times = {0};
	const uint32_t end = tp_paths_rows_end(paths, path);
	for (uint32_t i = paths->items[path].row; i < end; i++) {
		const struct tp_path_row *row = &paths->rows[i];
		tp_histogram_merge(
		    &times, &analysis->threads[row->thread].profile.nodes[row->node].times);
	}
	return times;
}
