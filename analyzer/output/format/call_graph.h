/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Functions and which of them calls which, the light ones left out: what a drawing of the calls has
 * room for. The numbers of functions are those of the table of functions; those of an edge are what
 * the view "function" says of the pair.
 */
#ifndef TP_CALL_GRAPH_H
#define TP_CALL_GRAPH_H

#include "analyzer/profile/paths.h"

struct tp_call_graph_edge {
	uint32_t caller; /* nodes */
	uint32_t callee;
	uint64_t calls;
	uint64_t
	    inclusive; /* ticks; of calls within another call of the same pair only the outermost */
};

struct tp_call_graph {
	uint32_t *nodes; /* indices in analysis->functions, the heaviest first */
	uint32_t node_count;
	struct tp_call_graph_edge *edges; /* the heaviest first */
	uint32_t edge_count;
	/* functions with calls or time that are not there, and edges between functions that are */
	uint32_t nodes_left;
	uint32_t edges_left;
	uint64_t total; /* ticks, or without a clock calls, of which weights are parts */
	bool by_calls;  /* weights are calls, as there are no times */
};

struct tp_call_graph_limits {
	double
	    least_node; /* part (0 to 1) of the total that a function needs; what it calls counts */
	double least_edge;
	uint32_t nodes; /* at most */
	uint32_t edges;
};

/* 0 or TP_ERR_MEMORY. Release it in any case. */
int tp_call_graph_init(struct tp_call_graph *graph, const struct tp_analysis *analysis,
    const struct tp_paths *paths, const struct tp_call_graph_limits *limits, struct tp_err *err);
void tp_call_graph_release(struct tp_call_graph *graph);

/* What a node, and an edge, weigh of the total. */
uint64_t tp_call_graph_weight(
    const struct tp_call_graph *graph, const struct tp_function *function);
static inline uint64_t tp_call_graph_edge_weight(
    const struct tp_call_graph *graph, const struct tp_call_graph_edge *edge)
{
	return graph->by_calls ? edge->calls : edge->inclusive;
}

#endif
