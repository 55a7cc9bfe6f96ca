// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The export "dot": the functions and their calls as a graph, for graphviz (the language DOT of its
// documentation).
#include "analyzer/output/format/call_graph.h"
#include "analyzer/output/format/export.h"
#include "analyzer/output/text.h"
#include "analyzer/output/view.h"
#include "common/short_name.h"

#include <inttypes.h>
#include <string.h>

#define EDGE_SHARE 0.2 // of what a function needs

// Within quotes. A backslash begins an escape in labels, and is none if there are two.
static void add_quoted(struct tp_buf *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			tp_buf_add_char(out, '\\');
		tp_buf_add_char(out, (unsigned char)*text < ' ' ? ' ' : *text);
	}
}

static double share(const struct tp_call_graph *graph, uint64_t weight)
{
	return graph->total ? (double)weight * 100 / (double)graph->total : 0.0;
}

static uint64_t ns(const struct tp_analysis *analysis, uint64_t ticks)
{
	return tp_timebase_ns(&analysis->time, ticks);
}

// Yellow to red: the more of the time is spent in the function itself.
static void add_node(const struct tp_call_graph *graph, const struct tp_analysis *analysis,
    uint32_t number, struct tp_buf *name, struct tp_buf *out)
{
	const struct tp_function *function = &analysis->functions[graph->nodes[number]];
	const uint64_t self = graph->by_calls ? 0 : tp_function_scaled(function, function->self);
	const uint64_t inclusive =
	    graph->by_calls ? 0 : tp_function_scaled(function, function->inclusive);
	const double own = share(graph, graph->by_calls ? function->calls : self);
	char text[TP_TEXT_NUMBER];
	tp_buf_reset(name);
	tp_short_name_add(name, function->symbol.name);
	tp_buf_addf(out, "\tn%" PRIu32 " [label=\"", number);
	add_quoted(out, name->data ? name->data : "");
	if (!graph->by_calls) {
		tp_buf_addf(out, "\\nself %.1f%% (%s)", own, tp_view_time(analysis, text, self));
		tp_buf_addf(out, "\\nof %.1f%% (%s)", share(graph, inclusive),
		    tp_view_time(analysis, text, inclusive));
	}
	tp_buf_addf(out, "\\n%s call%s\", tooltip=\"", tp_text_count(text, function->calls),
	    tp_plural(function->calls));
	add_quoted(out, function->symbol.name);
	tp_buf_addf(out, "\", fillcolor=\"0.12 %.3f 1.0\", fontsize=%.1f, calls=%" PRIu64,
	    own > 50 ? 0.6 : 0.05 + own * 0.011, 10 + (own > 50 ? 10 : own / 5), function->calls);
	if (!graph->by_calls)
		tp_buf_addf(out, ", self_ns=%" PRIu64 ", inclusive_ns=%" PRIu64, ns(analysis, self),
		    ns(analysis, inclusive));
	tp_buf_add_string(out, "];\n");
}

static void add_edge(const struct tp_call_graph *graph, const struct tp_analysis *analysis,
    const struct tp_call_graph_edge *edge, struct tp_buf *out)
{
	const double weight = share(graph, tp_call_graph_edge_weight(graph, edge));
	char text[TP_TEXT_NUMBER];
	tp_buf_addf(out, "\tn%" PRIu32 " -> n%" PRIu32 " [label=\"%s", edge->caller, edge->callee,
	    tp_text_count(text, edge->calls));
	if (!graph->by_calls)
		tp_buf_addf(out, "\\n%.1f%%", weight);
	tp_buf_addf(out, "\", penwidth=%.1f, weight=%d, calls=%" PRIu64,
	    1 + (weight > 100 ? 100 : weight) / 20, 1 + (int)(weight > 100 ? 100 : weight),
	    edge->calls);
	if (!graph->by_calls)
		tp_buf_addf(out, ", inclusive_ns=%" PRIu64, ns(analysis, edge->inclusive));
	tp_buf_add_string(out, "];\n");
}

static void add_graph(const struct tp_call_graph *graph, const struct tp_analysis *analysis,
    const struct tp_export_options *options, struct tp_buf *out)
{
	struct tp_buf name;
	tp_buf_init(&name);
	tp_buf_add_string(out, "digraph \"");
	add_quoted(out, tp_tracefile_program(analysis->trace));
	tp_buf_add_string(out, "\" {\n\tnode [shape=box, style=filled, fontname=\"Helvetica\"];\n"
			       "\tedge [fontname=\"Helvetica\", fontsize=9, color=\"gray40\"];\n");
	for (uint32_t i = 0; i < graph->node_count; i++)
		add_node(graph, analysis, i, &name, out);
	for (uint32_t i = 0; i < graph->edge_count; i++)
		add_edge(graph, analysis, &graph->edges[i], out);
	tp_buf_add_string(out, "}\n");
	if (options->notes && (graph->nodes_left || graph->edges_left))
		tp_problems_add(options->notes, TP_ERR_LIMIT, analysis->trace->source.name,
		    "%" PRIu32 " functions and %" PRIu32
		    " edges are too light to be drawn; --min-share 0 draws all",
		    graph->nodes_left, graph->edges_left);
	out->failed |= name.failed;
	tp_buf_release(&name);
}

static int render(const struct tp_analysis *analysis, const struct tp_export_options *options,
    struct tp_buf *out, struct tp_err *err)
{
	const struct tp_call_graph_limits limits = {
	    .least_node = options->least_share,
	    .least_edge = options->least_share * EDGE_SHARE,
	    .nodes = UINT32_MAX,
	    .edges = UINT32_MAX,
	};
	struct tp_call_graph graph = {0};
	struct tp_paths paths;
	int code = tp_paths_init(&paths, analysis, err);
	if (!code)
		code = tp_call_graph_init(&graph, analysis, &paths, &limits, err);
	if (!code)
		add_graph(&graph, analysis, options, out);
	tp_call_graph_release(&graph);
	tp_paths_release(&paths);
	return code;
}

const struct tp_export tp_export_dot = {
    .name = "dot",
    .summary = "call graph of functions, for graphviz (dot -Tsvg)",
    .suffix = ".dot",
    .tables = true,
    .render = render,
};
