// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The block "graph": the call graph, laid out by graphviz where it is there.
//
// Its picture (-Tsvg) would be markup of another program, with names of functions in it, that
// nothing in the page may be trusted with. Of dot come only the places of nodes and edges, as
// numbers (-Tplain); the viewer draws them.
#include "report.h"

#include "analyzer/output/format/call_graph.h"
#include "common/clean.h"
#include "common/json.h"
#include "common/process.h"
#include "common/short_name.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NODES_MAX 80
#define EDGES_MAX 240
#define POINTS_MAX 100 // of an edge
#define INCH 72.0      // points
#define WIDTH_MAX 320.0
#define PLACE_MAX 1e6 // limit for coordinates from dot

struct node {
	double x; // the middle, from the upper left corner
	double y;
	double width;
	double height;
	bool placed;
};

struct edge {
	double points[2 * POINTS_MAX]; // of Bezier curves
	uint32_t count;
	double label[2];
	bool placed;
};

struct layout {
	const struct tp_call_graph *graph;
	struct node nodes[NODES_MAX];
	struct edge *edges;
	double width;
	double height;
};

// As wide as the viewer needs for the name, in its font.
static double width_of(const struct tp_analysis *analysis, uint32_t function)
{
	struct tp_buf name;
	tp_buf_init(&name);
	tp_short_name_add(&name, analysis->functions[function].symbol.name);
	const double letters = tp_count_characters(name.data, name.size);
	tp_buf_release(&name);
	const double width = letters * 7 + 22;
	return width < 176 ? 176 : width > WIDTH_MAX ? WIDTH_MAX : width;
}

// No name of a function is handed on: what dot reads and writes are our numbers.
static void describe(struct layout *layout, const struct tp_analysis *analysis, struct tp_buf *out)
{
	const struct tp_call_graph *graph = layout->graph;
	tp_buf_add_string(out, "digraph{node[shape=box,fixedsize=true,label=\"\"];"
			       "edge[arrowhead=none,fontsize=11];\n");
	for (uint32_t i = 0; i < graph->node_count; i++)
		tp_buf_addf(out, "n%" PRIu32 "[width=%.2f,height=%.2f];\n", i,
		    width_of(analysis, graph->nodes[i]) / INCH, (graph->by_calls ? 42 : 72) / INCH);
	for (uint32_t i = 0; i < graph->edge_count; i++)
		tp_buf_addf(out, "n%" PRIu32 "->n%" PRIu32 "[label=\"%" PRIu64 "\"];\n",
		    graph->edges[i].caller, graph->edges[i].callee, graph->edges[i].calls);
	tp_buf_add_string(out, "}\n");
}

// The next word of a line.
static const char *next_word(char **at)
{
	char *word = *at + strspn(*at, " ");
	char *end = word + strcspn(word, " ");
	*at = *end ? end + 1 : end;
	*end = '\0';
	return word;
}

static bool next_number(char **at, double *number)
{
	const char *word = next_word(at);
	char *end;
	*number = strtod(word, &end) * INCH;
	return end != word && !*end && *number > -PLACE_MAX && *number < PLACE_MAX;
}

static bool next_node(char **at, const struct tp_call_graph *graph, uint32_t *node)
{
	const char *word = next_word(at);
	char *end;
	if (word[0] != 'n' || word[1] < '0' || word[1] > '9')
		return false;
	const unsigned long number = strtoul(word + 1, &end, 10);
	*node = (uint32_t)number;
	return !*end && number < graph->node_count;
}

static bool read_node(struct layout *layout, char *at)
{
	uint32_t number;
	if (!next_node(&at, layout->graph, &number))
		return false;
	struct node *node = &layout->nodes[number];
	node->placed = next_number(&at, &node->x) && next_number(&at, &node->y) &&
		       next_number(&at, &node->width) && next_number(&at, &node->height);
	node->y = layout->height - node->y;
	return node->placed;
}

static bool read_edge(struct layout *layout, char *at)
{
	const struct tp_call_graph *graph = layout->graph;
	uint32_t from;
	uint32_t to;
	uint32_t i = 0;
	double count;
	if (!next_node(&at, graph, &from) || !next_node(&at, graph, &to) ||
	    !next_number(&at, &count))
		return false;
	while (i < graph->edge_count &&
	       (graph->edges[i].caller != from || graph->edges[i].callee != to))
		i++;
	count /= INCH;
	if (i == graph->edge_count || count < 2 || count > POINTS_MAX)
		return false;
	struct edge *edge = &layout->edges[i];
	edge->count = (uint32_t)count;
	for (uint32_t j = 0; j < 2 * edge->count; j++) {
		if (!next_number(&at, &edge->points[j]))
			return false;
		if (j % 2)
			edge->points[j] = layout->height - edge->points[j];
	}
	next_word(&at); // the text of the label
	edge->placed = next_number(&at, &edge->label[0]) && next_number(&at, &edge->label[1]);
	edge->label[1] = layout->height - edge->label[1];
	return edge->placed;
}

// Read the output of dot. False: it is not as expected.
static bool read_places(struct layout *layout, char *text)
{
	for (char *end; *text; text = end) {
		end = text + strcspn(text, "\n");
		if (*end)
			*end++ = '\0';
		const char *kind = next_word(&text);
		double scale;
		bool ok = true;
		if (!strcmp(kind, "graph"))
			ok = next_number(&text, &scale) && next_number(&text, &layout->width) &&
			     next_number(&text, &layout->height);
		else if (!strcmp(kind, "node"))
			ok = read_node(layout, text);
		else if (!strcmp(kind, "edge"))
			ok = read_edge(layout, text);
		if (!ok)
			return false;
	}
	bool all = true;
	for (uint32_t i = 0; i < layout->graph->node_count; i++)
		all = all && layout->nodes[i].placed;
	for (uint32_t i = 0; i < layout->graph->edge_count; i++)
		all = all && layout->edges[i].placed;
	return all;
}

static bool lay_out(struct layout *layout, const struct tp_analysis *analysis, const char *dot)
{
	struct tp_buf text;
	struct tp_buf places;
	tp_buf_init(&text);
	tp_buf_init(&places);
	describe(layout, analysis, &text);
	const char *const argv[] = {dot, "-Tplain", NULL};
	const struct tp_program program = {.argv = argv, .input = text.data, .output = &places};
	int status = 0;
	const bool done = !text.failed && !tp_process_run(&program, &status) && !status &&
			  places.size && !places.failed && read_places(layout, places.data);
	tp_buf_release(&text);
	tp_buf_release(&places);
	return done;
}

static void add_places(struct tp_json *json, const double *numbers, uint32_t count)
{
	tp_json_array(json, "at");
	for (uint32_t i = 0; i < count; i++)
		tp_json_real(json, NULL, 1, numbers[i]);
	tp_json_end(json);
}

static void add_json(
    const struct tp_report *report, const struct layout *layout, bool done, struct tp_buf *out)
{
	const struct tp_call_graph *graph = layout->graph;
	const struct tp_timebase *base = &report->analysis->time;
	struct tp_json json;
	tp_json_init(&json, out, TP_JSON_COMPACT);
	tp_json_object(&json, NULL);
	if (!done)
		tp_json_text(&json, "why",
		    report->options->dot
			? "Graphviz could not lay out this call graph when the report was made."
			: "Graphviz, which lays out the call graph, was not installed when the "
			  "report was made.");
	tp_json_uint(
	    &json, "total", graph->by_calls ? graph->total : tp_timebase_ns(base, graph->total));
	tp_json_uint(&json, "nodes_left", graph->nodes_left);
	tp_json_uint(&json, "edges_left", graph->edges_left);
	tp_json_real(&json, "width", 1, layout->width);
	tp_json_real(&json, "height", 1, layout->height);
	tp_json_array(&json, "nodes");
	for (uint32_t i = 0; done && i < graph->node_count; i++) {
		const struct node *node = &layout->nodes[i];
		tp_json_object(&json, NULL);
		tp_json_uint(&json, "fn", graph->nodes[i]);
		add_places(&json, (const double[]){node->x, node->y, node->width, node->height}, 4);
		tp_json_end(&json);
	}
	tp_json_end(&json);
	tp_json_array(&json, "edges");
	for (uint32_t i = 0; done && i < graph->edge_count; i++) {
		const struct tp_call_graph_edge *edge = &graph->edges[i];
		tp_json_object(&json, NULL);
		tp_json_uint(&json, "from", edge->caller);
		tp_json_uint(&json, "to", edge->callee);
		tp_json_uint(&json, "calls", edge->calls);
		if (!graph->by_calls)
			tp_json_uint(&json, "inclusive", tp_timebase_ns(base, edge->inclusive));
		tp_json_real(&json, "x", 1, layout->edges[i].label[0]);
		tp_json_real(&json, "y", 1, layout->edges[i].label[1]);
		add_places(&json, layout->edges[i].points, 2 * layout->edges[i].count);
		tp_json_end(&json);
	}
	tp_json_end(&json);
	tp_json_end(&json);
}

bool tp_report_add_graph(struct tp_report *report, struct tp_buf *out)
{
	const struct tp_call_graph_limits limits = {
	    .least_node = 0.005, .least_edge = 0.001, .nodes = NODES_MAX, .edges = EDGES_MAX};
	struct tp_call_graph graph = {0};
	struct layout layout = {.graph = &graph};
	struct tp_err err;
	const int code =
	    tp_call_graph_init(&graph, report->analysis, &report->paths, &limits, &err);
	layout.edges = calloc((size_t)graph.edge_count + 1, sizeof(*layout.edges));
	const bool ok = !code && layout.edges;
	if (ok && graph.node_count)
		add_json(report, &layout,
		    report->options->dot &&
			lay_out(&layout, report->analysis, report->options->dot),
		    out);
	free(layout.edges);
	tp_call_graph_release(&graph);
	return ok;
}
