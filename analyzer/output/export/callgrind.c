// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The export "callgrind": functions, who calls whom how often, and what that costs, as the chapter
// "Callgrind Format Specification" of Valgrind's manual has it.
//
// The format knows calls between two functions, not paths. So that its readers compute our
// inclusive times, a function (root) calls the first functions of threads, and a function that is
// called again while it runs becomes another one, NAME'2, NAME'3, ..., as in callgrind's own output
// for recursion.
#define _GNU_SOURCE
#include "analyzer/output/format/export.h"
#include "analyzer/output/format/path_sums.h"
#include "analyzer/output/view.h"
#include "common/arena.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <teeperf/version.h>

// A node is a function at a level of recursion: of function F, those from first[F] on. Before them
// come those that are made up: the root, who "calls" what was only counted, and the threads.
enum { ROOT, COUNTED, MADE_UP };

struct edge {
	uint32_t caller;
	uint32_t callee;
	uint64_t calls;
	uint64_t inclusive;
};

struct graph {
	const struct tp_analysis *analysis;
	struct tp_path_sums sums;
	struct tp_arena arena; // of all arrays
	bool threads;          // have nodes
	uint32_t *first;
	uint32_t *function_of; // of a node, unless it is a made-up one
	uint32_t node_count;
	uint64_t *self;
	struct edge *edges;
	uint32_t edge_count;
	uint32_t *file_of; // number of a function's file
	bool *twin;        // another function has the same name and file
	// What has been written out in full already, and is only a number from then on.
	bool *named_nodes;
	bool *named_files;
	bool *named_modules;
};

static uint32_t fixed_nodes(const struct graph *graph)
{
	return MADE_UP + (graph->threads ? graph->analysis->thread_count : 0);
}

static uint32_t node_of(const struct graph *graph, const struct tp_path *path)
{
	return graph->first[path->function] + path->recursion;
}

// COUNT items of SIZE bytes and one more, so that none are no failure.
static void *make(struct graph *graph, size_t count, size_t size)
{
	return tp_arena_alloc(&graph->arena, (count + 1) * size);
}

// As many nodes for each function as it has levels of recursion.
static bool number_nodes(struct graph *graph)
{
	const struct tp_analysis *analysis = graph->analysis;
	const struct tp_paths *paths = &graph->sums.paths;
	uint32_t *levels = make(graph, analysis->function_count, sizeof(*levels));
	graph->first = make(graph, analysis->function_count, sizeof(*graph->first));
	if (!levels || !graph->first)
		return false;
	for (uint32_t i = 1; i < paths->count; i++)
		if (levels[paths->items[i].function] <= paths->items[i].recursion)
			levels[paths->items[i].function] = paths->items[i].recursion + 1;
	graph->node_count = fixed_nodes(graph);
	// One more, as a function without paths may be one that was only counted.
	for (uint32_t i = 0; i < analysis->function_count; i++) {
		graph->first[i] = graph->node_count;
		graph->node_count += levels[i] ? levels[i] : 1;
	}
	graph->function_of = make(graph, graph->node_count, sizeof(*graph->function_of));
	for (uint32_t i = 0; graph->function_of && i < analysis->function_count; i++)
		for (uint32_t j = 0; j < (levels[i] ? levels[i] : 1); j++)
			graph->function_of[graph->first[i] + j] = i;
	return graph->function_of != NULL;
}

static void add_edge(
    struct graph *graph, uint32_t caller, uint32_t callee, uint64_t calls, uint64_t inclusive)
{
	graph->edges[graph->edge_count++] = (struct edge){caller, callee, calls, inclusive};
}

// Edges to what threads begin with, one for each thread that has it.
static void add_first_edges(struct graph *graph, const uint64_t *first_rows)
{
	const struct tp_paths *paths = &graph->sums.paths;
	uint64_t *calls = graph->self; // of threads: their nodes have no time of their own
	for (uint32_t i = 0; i < paths->row_count; i++) {
		const struct tp_path_row *row = &paths->rows[i];
		const struct tp_path *path = &paths->items[row->path];
		if (path->depth != 1)
			continue;
		add_edge(graph, graph->threads ? MADE_UP + row->thread : ROOT, node_of(graph, path),
		    tp_path_sums_node(graph->analysis, row)->calls, first_rows[i]);
		if (graph->threads)
			calls[MADE_UP + row->thread] += first_rows[i];
	}
	for (uint32_t i = 0; graph->threads && i < graph->analysis->thread_count; i++) {
		add_edge(graph, ROOT, MADE_UP + i, 1, calls[MADE_UP + i]);
		calls[MADE_UP + i] = 0;
	}
}

// Sum up the rows, and the paths from the deepest up.
static bool sum_up(struct graph *graph)
{
	const struct tp_analysis *analysis = graph->analysis;
	const struct tp_paths *paths = &graph->sums.paths;
	const size_t edges =
	    (size_t)paths->count + paths->row_count + graph->node_count + analysis->thread_count;
	uint64_t *inclusive = make(graph, paths->count, sizeof(*inclusive));
	uint64_t *first_rows = make(graph, paths->row_count, sizeof(*first_rows));
	uint32_t *at_first = make(graph, analysis->thread_count, sizeof(*at_first));
	graph->self = make(graph, graph->node_count, sizeof(*graph->self));
	graph->edges = make(graph, edges, sizeof(*graph->edges));
	if (!inclusive || !first_rows || !at_first || !graph->self || !graph->edges)
		return false;
	for (uint32_t i = 0; i < paths->row_count; i++) {
		const struct tp_path_row *row = &paths->rows[i];
		const struct tp_path *path = &paths->items[row->path];
		if (path->depth == 1)
			at_first[row->thread] = i;
		graph->self[node_of(graph, path)] += graph->sums.self[i];
		inclusive[row->path] += graph->sums.self[i];
		first_rows[at_first[row->thread]] += graph->sums.self[i];
	}
	for (uint32_t i = paths->count; i-- > 1;)
		inclusive[paths->items[i].parent] += inclusive[i];
	add_first_edges(graph, first_rows);
	for (uint32_t i = 1; i < paths->count; i++) {
		const struct tp_path *path = &paths->items[i];
		if (path->depth > 1)
			add_edge(graph, node_of(graph, &paths->items[path->parent]),
			    node_of(graph, path), path->calls, inclusive[i]);
	}
	for (uint32_t i = 0; i < analysis->function_count; i++)
		if (analysis->functions[i].counted)
			add_edge(
			    graph, COUNTED, graph->first[i], analysis->functions[i].counted, 0);
	return true;
}

static int compare_edges(const void *a, const void *b)
{
	const struct edge *x = a;
	const struct edge *y = b;
	if (x->caller != y->caller)
		return x->caller < y->caller ? -1 : 1;
	return x->callee < y->callee ? -1 : x->callee > y->callee;
}

static void merge_edges(struct graph *graph)
{
	uint32_t kept = 0;
	qsort(graph->edges, graph->edge_count, sizeof(*graph->edges), compare_edges);
	for (uint32_t i = 0; i < graph->edge_count; i++) {
		if (kept && compare_edges(&graph->edges[kept - 1], &graph->edges[i]) == 0) {
			graph->edges[kept - 1].calls += graph->edges[i].calls;
			graph->edges[kept - 1].inclusive += graph->edges[i].inclusive;
		} else {
			graph->edges[kept++] = graph->edges[i];
		}
	}
	graph->edge_count = kept;
}

static int compare_names(const void *a, const void *b, void *context)
{
	const struct tp_function *functions = context;
	const struct tp_symbol *x = &functions[*(const uint32_t *)a].symbol;
	const struct tp_symbol *y = &functions[*(const uint32_t *)b].symbol;
	const int order = strcmp(x->name, y->name);
	return order ? order : strcmp(x->file, y->file);
}

// Readers tell functions apart by name and file.
static bool find_twins(struct graph *graph)
{
	const struct tp_analysis *analysis = graph->analysis;
	const size_t count = analysis->function_count;
	uint32_t *order = make(graph, count, sizeof(*order));
	graph->twin = make(graph, count, sizeof(*graph->twin));
	graph->file_of = make(graph, count, sizeof(*graph->file_of));
	if (!order || !graph->twin || !graph->file_of)
		return false;
	for (uint32_t i = 0; i < count; i++) {
		order[i] = i;
		graph->file_of[i] = i && strcmp(analysis->functions[i].symbol.file,
					     analysis->functions[i - 1].symbol.file) == 0
					? graph->file_of[i - 1]
					: i + 2;
	}
	qsort_r(order, count, sizeof(*order), compare_names, analysis->functions);
	for (uint32_t i = 1; i < count; i++)
		if (compare_names(&order[i - 1], &order[i], analysis->functions) == 0)
			graph->twin[order[i - 1]] = graph->twin[order[i]] = true;
	return true;
}

// A name, which ends with the line, and does not begin with a space.
static void add_name(struct tp_buf *out, const char *name)
{
	const char *at = name;
	for (; *at == ' '; at++)
		tp_buf_add_char(out, '_');
	for (; *at; at++)
		tp_buf_add_char(out, (unsigned char)*at < ' ' ? '?' : *at);
	if (at == name)
		tp_buf_add_string(out, "???");
}

static void add_node_name(const struct graph *graph, uint32_t node, struct tp_buf *out)
{
	if (node == ROOT || node == COUNTED) {
		tp_buf_add_string(out, node == ROOT ? "(root)" : "(only counted)");
		return;
	}
	if (node < fixed_nodes(graph)) {
		const struct tp_thread *thread = graph->analysis->threads[node - MADE_UP].thread;
		tp_buf_add_string(out, "(thread ");
		tp_buf_addf(out, "%" PRIu32 " ", thread->number);
		add_name(out, tp_view_thread_name(thread));
		tp_buf_add_char(out, ')');
		return;
	}
	const uint32_t function = graph->function_of[node];
	const struct tp_symbol *symbol = &graph->analysis->functions[function].symbol;
	add_name(out, symbol->name);
	if (graph->twin[function])
		tp_buf_addf(out, " [%s%s0x%" PRIx64 "]", symbol->module,
		    symbol->module[0] ? "+" : "", symbol->address);
	if (node > graph->first[function])
		tp_buf_addf(out, "'%" PRIu32, node - graph->first[function] + 1);
}

// "PREFIX=(NUMBER) ", behind which its NAME stands the first time; true: it is that.
static bool add_number(struct tp_buf *out, const char *prefix, uint32_t number, bool *named)
{
	const bool first = !named[number];
	tp_buf_addf(out, "%s=(%" PRIu32 ")%s", prefix, number, first ? " " : "");
	named[number] = true;
	return first;
}

static void add_position(
    struct graph *graph, uint32_t node, const char *const prefixes[3], struct tp_buf *out)
{
	const struct tp_analysis *analysis = graph->analysis;
	const struct tp_module_map *map = &analysis->trace->map;
	const bool made_up = node < fixed_nodes(graph);
	const uint32_t function = made_up ? 0 : graph->function_of[node];
	const struct tp_symbol *symbol = made_up ? NULL : &analysis->functions[function].symbol;
	if (map->count) {
		const uint32_t place = symbol ? symbol->place : UINT32_MAX;
		const uint32_t number = place < map->count ? place + 2 : 1;
		if (add_number(out, prefixes[0], number, graph->named_modules))
			add_name(out, number > 1 ? map->modules[place].path : "");
		tp_buf_add_char(out, '\n');
	}
	if (add_number(out, prefixes[1], symbol ? graph->file_of[function] : 1, graph->named_files))
		add_name(out, symbol ? symbol->file : "");
	tp_buf_add_char(out, '\n');
	if (add_number(out, prefixes[2], node + 1, graph->named_nodes))
		add_node_name(graph, node, out);
	tp_buf_add_char(out, '\n');
}

static uint64_t line_of(const struct graph *graph, uint32_t node)
{
	return node < fixed_nodes(graph)
		   ? 0
		   : graph->analysis->functions[graph->function_of[node]].symbol.line;
}

static void add_graph(struct graph *graph, struct tp_buf *out)
{
	static const char *const own[] = {"ob", "fl", "fn"};
	static const char *const called[] = {"cob", "cfi", "cfn"};
	uint32_t at = 0;
	for (uint32_t node = 0; node < graph->node_count && !out->failed; node++) {
		const bool calls = at < graph->edge_count && graph->edges[at].caller == node;
		if (node == COUNTED && !calls)
			continue;
		tp_buf_add_char(out, '\n');
		add_position(graph, node, own, out);
		tp_buf_addf(
		    out, "%" PRIu64 " %" PRIu64 "\n", line_of(graph, node), graph->self[node]);
		for (; at < graph->edge_count && graph->edges[at].caller == node; at++) {
			const struct edge *edge = &graph->edges[at];
			add_position(graph, edge->callee, called, out);
			// Without calls readers would take what follows for time of the caller's
			// own.
			tp_buf_addf(out, "calls=%" PRIu64 " %" PRIu64 "\n%" PRIu64 " %" PRIu64 "\n",
			    edge->calls ? edge->calls : 1, line_of(graph, edge->callee),
			    line_of(graph, node), edge->inclusive);
		}
	}
}

// Lines of the header that say which recording this is, and how good it is.
static void add_header(const struct graph *graph, bool calls, struct tp_buf *out)
{
	const struct tp_tracefile *trace = graph->analysis->trace;
	const bool ns = graph->analysis->time.known;
	struct tp_buf text;
	tp_buf_init(&text);
	tp_view_add_header(graph->analysis, false, &text);
	tp_buf_add_string(
	    out, "# callgrind format\nversion: 1\ncreator: TeePerf " TEEPERF_VERSION "\ncmd: ");
	for (size_t i = 0; trace->arguments && trace->arguments[i]; i++) {
		tp_buf_add_string(out, i ? " " : "");
		add_name(out, trace->arguments[i]);
	}
	tp_buf_add_char(out, '\n');
	for (char *line = text.data, *end; (end = strchr(line, '\n')); line = end + 1) {
		*end = '\0';
		if (*line)
			tp_buf_addf(out, "desc: %s\n", line);
	}
	if (text.failed)
		out->failed = true;
	tp_buf_release(&text);
	tp_buf_addf(out, "positions: line\nevent: %s\nevents: %s\nsummary: %" PRIu64 "\n",
	    calls ? "Calls : Calls"
	    : ns  ? "ns : Time (ns)"
		  : "Ticks : Time (ticks of the clock)",
	    calls ? "Calls"
	    : ns  ? "ns"
		  : "Ticks",
	    graph->sums.total);
}

static int render(const struct tp_analysis *analysis, const struct tp_export_options *options,
    struct tp_buf *out, struct tp_err *err)
{
	struct graph graph = {
	    .analysis = analysis,
	    .threads = analysis->thread_count > 1,
	};
	tp_arena_init(&graph.arena);
	int code = tp_path_sums_init(&graph.sums, analysis, options->weight, err);
	bool ok = !code && number_nodes(&graph) && sum_up(&graph) && find_twins(&graph);
	graph.named_nodes = make(&graph, graph.node_count + UINT64_C(1), sizeof(bool));
	graph.named_files = make(&graph, analysis->function_count + UINT64_C(1), sizeof(bool));
	graph.named_modules = make(&graph, analysis->trace->map.count + UINT64_C(1), sizeof(bool));
	ok = ok && graph.named_nodes && graph.named_files && graph.named_modules;
	if (ok) {
		merge_edges(&graph);
		add_header(&graph, options->weight == TP_WEIGHT_CALLS, out);
		add_graph(&graph, out);
	} else if (!code) {
		code = tp_err_memory(err, analysis->trace->source.name);
	}
	tp_path_sums_release(&graph.sums);
	tp_arena_release(&graph.arena);
	return code;
}

const struct tp_export tp_export_callgrind = {
    .name = "callgrind",
    .summary = "functions and the calls between them, for KCachegrind and callgrind_annotate",
    .suffix = ".callgrind",
    .render = render,
};
