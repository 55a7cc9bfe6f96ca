// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions and which of them calls which.
#define _GNU_SOURCE
#include "call_graph.h"

#include "common/array.h"
#include "common/hash.h"
#include "common/index.h"

#include <stdlib.h>
#include <string.h>

// Of all functions, while paths pass: edges are known by functions.
struct pairs {
	struct tp_call_graph_edge *items;
	uint32_t *until; // below this path a call of the two is within another one
	uint32_t count;
	uint32_t capacity;
	uint32_t until_capacity;
	struct tp_index index;
};

static uint32_t hash_pair(const void *context, uint32_t number)
{
	const struct tp_call_graph_edge *edge = &((const struct pairs *)context)->items[number - 1];
	return tp_hash_pair(edge->caller, edge->callee);
}

// The number of the pair from 0 on, which may be new; UINT32_MAX: no memory.
static uint32_t find_pair(struct pairs *pairs, uint32_t caller, uint32_t callee)
{
	if (!tp_index_reserve(&pairs->index, pairs->count, hash_pair, pairs))
		return UINT32_MAX;
	uint32_t *slot = tp_index_first(&pairs->index, tp_hash_pair(caller, callee));
	while (*slot && (pairs->items[*slot - 1].caller != caller ||
			    pairs->items[*slot - 1].callee != callee))
		slot = tp_index_next(&pairs->index, slot);
	if (*slot)
		return *slot - 1;
	if (!TP_GROW(pairs->items, pairs->capacity, pairs->count + UINT64_C(1)) ||
	    !TP_GROW(pairs->until, pairs->until_capacity, pairs->count + UINT64_C(1)))
		return UINT32_MAX;
	pairs->items[pairs->count] =
	    (struct tp_call_graph_edge){.caller = caller, .callee = callee};
	pairs->until[pairs->count] = 0;
	*slot = ++pairs->count;
	return pairs->count - 1;
}

// Paths are in preorder, so that a pair's outermost call comes before those within it.
static bool add_pairs(struct pairs *pairs, const struct tp_paths *paths)
{
	for (uint32_t i = 1; i < paths->count; i++) {
		const struct tp_path *path = &paths->items[i];
		if (!path->parent)
			continue;
		const uint32_t at =
		    find_pair(pairs, paths->items[path->parent].function, path->function);
		if (at == UINT32_MAX)
			return false;
		pairs->items[at].calls += path->calls;
		if (i <= pairs->until[at])
			continue;
		pairs->items[at].inclusive += path->inclusive;
		pairs->until[at] = path->last;
	}
	return true;
}

uint64_t tp_call_graph_weight(const struct tp_call_graph *graph, const struct tp_function *function)
{
	return graph->by_calls ? function->calls
			       : tp_function_scaled(function, function->inclusive);
}

struct order {
	const struct tp_call_graph *graph;
	const struct tp_analysis *analysis;
};

static int compare_nodes(const void *a, const void *b, void *context)
{
	const struct order *order = context;
	const uint32_t x = *(const uint32_t *)a;
	const uint32_t y = *(const uint32_t *)b;
	const uint64_t of_x = tp_call_graph_weight(order->graph, &order->analysis->functions[x]);
	const uint64_t of_y = tp_call_graph_weight(order->graph, &order->analysis->functions[y]);
	if (of_x != of_y)
		return of_x > of_y ? -1 : 1;
	return TP_COMPARE(x, y);
}

static int compare_edges(const void *a, const void *b, void *context)
{
	const struct tp_call_graph_edge *x = a;
	const struct tp_call_graph_edge *y = b;
	const uint64_t of_x = tp_call_graph_edge_weight(context, x);
	const uint64_t of_y = tp_call_graph_edge_weight(context, y);
	if (of_x != of_y)
		return of_x > of_y ? -1 : 1;
	return x->caller != y->caller ? TP_COMPARE(x->caller, y->caller)
				      : TP_COMPARE(x->callee, y->callee);
}

static bool choose_nodes(struct tp_call_graph *graph, const struct tp_analysis *analysis,
    const struct tp_call_graph_limits *limits)
{
	graph->nodes = malloc(((size_t)analysis->function_count + 1) * sizeof(*graph->nodes));
	if (!graph->nodes)
		return false;
	const double least = limits->least_node * (double)graph->total;
	uint32_t all = 0;
	for (uint32_t i = 0; i < analysis->function_count; i++) {
		if (!analysis->functions[i].calls && !analysis->functions[i].inclusive)
			continue;
		all++;
		if ((double)tp_call_graph_weight(graph, &analysis->functions[i]) >= least)
			graph->nodes[graph->node_count++] = i;
	}
	struct order order = {graph, analysis};
	qsort_r(graph->nodes, graph->node_count, sizeof(*graph->nodes), compare_nodes, &order);
	if (graph->node_count > limits->nodes)
		graph->node_count = limits->nodes;
	graph->nodes_left = all - graph->node_count;
	return true;
}

// The pairs between nodes become the edges.
static bool choose_edges(struct tp_call_graph *graph, const struct tp_analysis *analysis,
    struct pairs *pairs, const struct tp_call_graph_limits *limits)
{
	uint32_t *node_of = malloc(((size_t)analysis->function_count + 1) * sizeof(*node_of));
	if (!node_of)
		return false;
	memset(node_of, 0xff, ((size_t)analysis->function_count + 1) * sizeof(*node_of));
	for (uint32_t i = 0; i < graph->node_count; i++)
		node_of[graph->nodes[i]] = i;
	const double least = limits->least_edge * (double)graph->total;
	uint32_t all = 0;
	for (uint32_t i = 0; i < pairs->count; i++) {
		struct tp_call_graph_edge edge = pairs->items[i];
		edge.caller = node_of[edge.caller];
		edge.callee = node_of[edge.callee];
		if (edge.caller == UINT32_MAX || edge.callee == UINT32_MAX)
			continue;
		all++;
		if ((double)tp_call_graph_edge_weight(graph, &edge) >= least)
			pairs->items[graph->edge_count++] = edge;
	}
	free(node_of);
	graph->edges = pairs->items;
	pairs->items = NULL;
	if (graph->edge_count)
		qsort_r(
		    graph->edges, graph->edge_count, sizeof(*graph->edges), compare_edges, graph);
	if (graph->edge_count > limits->edges)
		graph->edge_count = limits->edges;
	graph->edges_left = all - graph->edge_count;
	return true;
}

int tp_call_graph_init(struct tp_call_graph *graph, const struct tp_analysis *analysis,
    const struct tp_paths *paths, const struct tp_call_graph_limits *limits, struct tp_err *err)
{
	*graph = (struct tp_call_graph){
	    .by_calls = analysis->timeless,
	    .total = analysis->scaled_self,
	};
	for (uint32_t i = 0; graph->by_calls && i < analysis->function_count; i++)
		graph->total += analysis->functions[i].calls;
	struct pairs pairs = {0};
	const bool ok = add_pairs(&pairs, paths) && choose_nodes(graph, analysis, limits) &&
			choose_edges(graph, analysis, &pairs, limits);
	free(pairs.items);
	free(pairs.until);
	tp_index_release(&pairs.index);
	return ok ? 0 : tp_err_memory(err, NULL);
}

void tp_call_graph_release(struct tp_call_graph *graph)
{
	free(graph->nodes);
	free(graph->edges);
	*graph = (struct tp_call_graph){0};
}
