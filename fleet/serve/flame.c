// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the report's viewer shows, of a set or of two: the functions, and the paths without those
// that are too light.
#include "flame.h"

#include "common/array.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	PATHS_USUAL = 20000, // that are sent
	PATHS_MOST = 200000,
	FUNCTIONS_MOST = 5000, // that are sent for the table; those on paths come besides
};

// ---- nodes

// Nodes are a's paths, then those that only b has: each of these behind its parent.
static int join(struct tp_flame *flame, struct tp_err *err)
{
	const struct tp_serve_sums *a = flame->a;
	const struct tp_serve_sums *b = flame->b;
	const uint64_t most = (uint64_t)a->path_count + (b ? b->path_count : 0);
	uint32_t *of_b = b ? malloc((b->path_count + (size_t)1) * sizeof(*of_b)) : NULL;
	flame->nodes = calloc(most + 1, sizeof(*flame->nodes));
	if (!flame->nodes || (b && !of_b)) {
		free(of_b);
		return tp_err_memory(err, NULL);
	}
	for (uint32_t i = 0; i < a->path_count; i++)
		flame->nodes[i] =
		    (struct tp_flame_node){.a = &a->paths[i], .parent = a->paths[i].parent};
	flame->node_count = a->path_count;
	for (uint32_t i = 0; b && i < b->path_count; i++) {
		const struct tp_serve_path *it = &b->paths[i];
		const struct tp_serve_path *same = tp_serve_sums_find_path(a, it->key);
		of_b[i] = same ? (uint32_t)(same - a->paths) : flame->node_count++;
		struct tp_flame_node *node = &flame->nodes[of_b[i]];
		node->b = it;
		if (!same)
			node->parent =
			    it->parent == TP_SERVE_NONE ? TP_SERVE_NONE : of_b[it->parent];
	}
	free(of_b);
	return 0;
}

static int compare_shares(const void *a, const void *b)
{
	const double x = *(const double *)a;
	const double y = *(const double *)b;
	return TP_COMPARE(y, x);
}

// With all below, and what share of the set that is.
static int weigh(struct tp_flame *flame, uint64_t most, struct tp_err *err)
{
	double all_a = 0;
	double all_b = 0;
	for (uint32_t i = 0; i < flame->node_count; i++) {
		struct tp_flame_node *node = &flame->nodes[i];
		node->total_a = node->a ? (double)node->a->self_ns : 0;
		node->total_b = node->b ? (double)node->b->self_ns : 0;
		all_a += node->total_a;
		all_b += node->total_b;
	}
	for (uint32_t i = flame->node_count; i-- > 0;) {
		const struct tp_flame_node *node = &flame->nodes[i];
		if (node->parent != TP_SERVE_NONE) {
			flame->nodes[node->parent].total_a += node->total_a;
			flame->nodes[node->parent].total_b += node->total_b;
		}
	}
	double *shares = malloc((flame->node_count + (size_t)1) * sizeof(*shares));
	if (!shares)
		return tp_err_memory(err, NULL);
	for (uint32_t i = 0; i < flame->node_count; i++) {
		struct tp_flame_node *node = &flame->nodes[i];
		const double a = all_a > 0 ? node->total_a / all_a : 0;
		const double b = all_b > 0 ? node->total_b / all_b : 0;
		node->share = shares[i] = a > b ? a : b;
	}
	flame->cut = flame->least;
	// All of the same share stay or go, so that the answer does not depend on their order.
	if (flame->node_count > most) {
		qsort(shares, flame->node_count, sizeof(*shares), compare_shares);
		const double next = nextafter(shares[most], 2);
		flame->cut = next > flame->cut ? next : flame->cut;
	}
	double folded_a = 0;
	double folded_b = 0;
	for (uint32_t i = 0; i < flame->node_count; i++) {
		const struct tp_flame_node *node = &flame->nodes[i];
		if (node->share >= flame->cut)
			continue;
		flame->folded++;
		folded_a += node->a ? (double)node->a->self_ns : 0;
		folded_b += node->b ? (double)node->b->self_ns : 0;
	}
	folded_a = all_a > 0 ? folded_a / all_a : 0;
	folded_b = all_b > 0 ? folded_b / all_b : 0;
	flame->folded_share = folded_a > folded_b ? folded_a : folded_b;
	free(shares);
	return 0;
}

// ---- functions

static int compare_functions(const void *a, const void *b)
{
	const struct tp_serve_function *x = *(const struct tp_serve_function *const *)a;
	const struct tp_serve_function *y = *(const struct tp_serve_function *const *)b;
	const int by_time = TP_COMPARE(y->self_ns, x->self_ns);
	return by_time ? by_time : TP_COMPARE(x->key, y->key);
}

// Have the function in the answer.
static uint32_t show_function(struct tp_flame *flame, int64_t key)
{
	const uint32_t a = tp_serve_sums_find(flame->a, key);
	const uint32_t b = flame->b ? tp_serve_sums_find(flame->b, key) : TP_SERVE_NONE;
	uint32_t *slot_a = a == TP_SERVE_NONE ? NULL : &flame->functions_a[a];
	uint32_t *slot_b = b == TP_SERVE_NONE ? NULL : &flame->functions_b[b];
	if (!slot_a && !slot_b)
		return TP_SERVE_NONE; // a path of a function that no file has
	uint32_t shown = slot_a ? *slot_a : *slot_b;
	if (shown == TP_SERVE_NONE) {
		shown = flame->function_count++;
		flame->shown_a[shown] = slot_a ? &flame->a->functions[a] : NULL;
		flame->shown_b[shown] = slot_b ? &flame->b->functions[b] : NULL;
		if (slot_a)
			*slot_a = shown;
		if (slot_b)
			*slot_b = shown;
	}
	return shown;
}

static int choose_functions(struct tp_flame *flame, struct tp_err *err)
{
	const uint32_t count_a = flame->a->function_count;
	const uint32_t count_b = flame->b ? flame->b->function_count : 0;
	const size_t all = (size_t)count_a + count_b + 1;
	flame->functions_a = malloc((count_a + (size_t)1) * sizeof(*flame->functions_a));
	flame->functions_b = malloc((count_b + (size_t)1) * sizeof(*flame->functions_b));
	flame->shown_a = calloc(all, sizeof(*flame->shown_a));
	flame->shown_b = calloc(all, sizeof(*flame->shown_b));
	const struct tp_serve_function **sorted = malloc(all * sizeof(*sorted));
	if (!flame->functions_a || !flame->functions_b || !flame->shown_a || !flame->shown_b ||
	    !sorted) {
		free(sorted);
		return tp_err_memory(err, NULL);
	}
	memset(flame->functions_a, 0xff, count_a * sizeof(*flame->functions_a));
	memset(flame->functions_b, 0xff, count_b * sizeof(*flame->functions_b));
	for (uint32_t i = 0; i < count_a; i++)
		sorted[i] = &flame->a->functions[i];
	for (uint32_t i = 0; i < count_b; i++)
		sorted[count_a + i] = &flame->b->functions[i];
	qsort(sorted, all - 1, sizeof(const struct tp_serve_function *), compare_functions);
	for (size_t i = 0; i < all - 1 && flame->function_count < FUNCTIONS_MOST; i++)
		show_function(flame, sorted[i]->key);
	free(sorted);
	for (uint32_t i = 0; i < flame->node_count; i++) {
		const struct tp_flame_node *node = &flame->nodes[i];
		if (node->share >= flame->cut)
			show_function(flame, (node->a ? node->a : node->b)->function_key);
	}
	uint32_t different = count_a;
	for (uint32_t i = 0; i < count_b; i++)
		different +=
		    tp_serve_sums_find(flame->a, flame->b->functions[i].key) == TP_SERVE_NONE;
	flame->functions_left = different - flame->function_count;
	return 0;
}

// ---- items

static uint32_t add_item(struct tp_flame *flame, uint32_t parent, uint32_t function)
{
	if (!TP_GROW(flame->items, flame->item_room, flame->item_count + UINT64_C(1)))
		return TP_SERVE_NONE;
	flame->items[flame->item_count] =
	    (struct tp_flame_item){.parent = parent, .function = function, .min_ns = UINT64_MAX};
	return flame->item_count++;
}

static void add_paths(struct tp_flame_item *item, const struct tp_flame_node *node)
{
	const struct tp_serve_path *sides[2] = {node->a, node->b};
	for (int i = 0; i < 2; i++) {
		item->calls[i] += sides[i] ? (double)sides[i]->calls : 0;
		item->self[i] += sides[i] ? (double)sides[i]->self_ns : 0;
	}
}

// Each kept path is an item. Its light children become one more item, with the calls from there and
// the time of everything below.
static int make_items(struct tp_flame *flame, struct tp_err *err)
{
	uint32_t *smaller = NULL; // of each item its "(smaller)", 0: none yet
	uint32_t room = 0;
	if (add_item(flame, TP_SERVE_NONE, TP_SERVE_NONE) == TP_SERVE_NONE)
		return tp_err_memory(err, NULL);
	bool ok = true;
	for (uint32_t i = 0; ok && i < flame->node_count; i++) {
		struct tp_flame_node *node = &flame->nodes[i];
		const struct tp_flame_node *above =
		    node->parent == TP_SERVE_NONE ? NULL : &flame->nodes[node->parent];
		const uint32_t parent = above ? above->shown : 0;
		const struct tp_serve_path *it = node->a ? node->a : node->b;
		// Of functions whose paths are all light only those are shown that choose_functions
		// took.
		const uint32_t function = node->share >= flame->cut
					      ? show_function(flame, it->function_key)
					      : TP_SERVE_NONE;
		node->shown = TP_SERVE_NONE;
		if (parent == TP_SERVE_NONE)
			continue; // its sums are with those of what it is in
		if (node->share >= flame->cut && function != TP_SERVE_NONE) {
			node->shown = add_item(flame, parent, function);
			ok = node->shown != TP_SERVE_NONE;
			if (!ok)
				break;
			struct tp_flame_item *item = &flame->items[node->shown];
			add_paths(item, node);
			item->level = it->recursion > 0 ? it->recursion : 0;
			item->min_ns = it->min_ns;
			item->max_ns = it->max_ns;
			continue;
		}
		const uint32_t before = room;
		ok = TP_GROW(smaller, room, flame->item_count + UINT64_C(1));
		if (!ok)
			break;
		memset(smaller + before, 0, (room - before) * sizeof(*smaller));
		if (!smaller[parent])
			smaller[parent] = add_item(flame, parent, TP_SERVE_NONE);
		ok = smaller[parent] != TP_SERVE_NONE;
		if (!ok)
			break;
		struct tp_flame_item *item = &flame->items[smaller[parent]];
		add_paths(item, node);
		// Of time all that is below.
		item->self[0] += node->total_a - (node->a ? (double)node->a->self_ns : 0);
		item->self[1] += node->total_b - (node->b ? (double)node->b->self_ns : 0);
	}
	free(smaller);
	return ok ? 0 : tp_err_memory(err, NULL);
}

int tp_serve_answer_flame(
    struct tp_serve_question *question, struct tp_buf *out, struct tp_err *err)
{
	const uint32_t parts = TP_SERVE_FUNCTIONS | TP_SERVE_PATHS | TP_SERVE_BUCKETS;
	const bool two = question->has_b;
	struct tp_flame flame = {.question = question};
	uint64_t most;
	int code =
	    tp_serve_argument_count(question->request, "most", PATHS_USUAL, PATHS_MOST, &most, err);
	if (!code)
		code = tp_serve_argument_real(
		    question->request, "least", 0.0001, 0, 1, &flame.least, err);
	if (code)
		return code;
	flame.a =
	    tp_serve_store_sums(question->store, two ? &question->b : &question->a, parts, err);
	if (flame.a && two)
		flame.b = tp_serve_store_sums(
		    question->store, &question->a, TP_SERVE_FUNCTIONS | TP_SERVE_PATHS, err);
	if (!flame.a || (two && !flame.b))
		return err->code;
	flame.runs_a = two ? question->b.count : 1;
	flame.runs_b = question->a.count;
	code = join(&flame, err);
	if (!code)
		code = weigh(&flame, most, err);
	if (!code)
		code = choose_functions(&flame, err);
	if (!code)
		code = make_items(&flame, err);
	if (!code && !tp_flame_add(&flame, out))
		code = tp_err_memory(err, NULL);
	free(flame.nodes);
	free(flame.items);
	free(flame.functions_a);
	free(flame.functions_b);
	free(flame.shown_a);
	free(flame.shown_b);
	return code;
}
