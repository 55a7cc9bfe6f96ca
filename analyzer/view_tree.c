// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The view "tree": each thread's calling-context tree, the heaviest calls first.
#define _GNU_SOURCE
#include "analyzer/text.h"
#include "analyzer/view.h"
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
	uint64_t least;   // inclusive ticks below which a node is left out
	uint64_t printed; // rows
	uint64_t left_out;
	const struct tp_node *nodes; // of the items
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
	if (p != q)
		return p < q ? -1 : 1;
	// Older nodes were called earlier: they come first.
	return x->node > y->node ? -1 : x->node < y->node;
}

// Put the children of NODE on the stack. False: no memory.
static bool push_children(
    struct walk *walk, const struct tp_node *nodes, uint32_t node, uint32_t depth)
{
	const size_t first = walk->count;
	for (uint32_t at = nodes[node].first_child; at; at = nodes[at].next_sibling) {
		if (nodes[at].inclusive < walk->least) {
			walk->left_out++;
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

static void add_row(struct walk *walk, const struct tp_thread_result *thread, struct item item,
    struct tp_table *table, struct tp_buf *out)
{
	const struct tp_analysis *analysis = walk->analysis;
	const struct tp_node *node = &thread->profile.nodes[item.node];
	const struct tp_function *function = tp_analysis_function(analysis, thread, node);
	char text[TP_TEXT_NUMBER];
	switch (walk->options->format) {
	case TP_FORMAT_TABLE: {
		if (!analysis->timeless) {
			tp_table_add(table, tp_view_time(analysis, text, node->inclusive));
			snprintf(text, sizeof(text), "%.1f%%",
			    thread->busy ? (double)node->inclusive * 100 / (double)thread->busy
					 : 0.0);
			tp_table_add(table, text);
			tp_table_add(table, tp_view_time(analysis, text, node->self));
		}
		tp_table_add(table, tp_text_count(text, node->calls));
		struct tp_buf name;
		tp_buf_init(&name);
		// Beyond this, indentation says nothing more to the eye: the depth does.
		for (uint32_t i = 1; i < item.depth && i < 64; i++)
			tp_buf_add_string(&name, "  ");
		if (item.depth > 64)
			tp_buf_addf(&name, "[%" PRIu32 "] ", item.depth);
		tp_buf_add_string(&name, function->symbol.name);
		if (name.failed)
			out->failed = true;
		tp_table_add(table, name.data);
		tp_buf_release(&name);
		break;
	}
	case TP_FORMAT_CSV:
		tp_buf_addf(out, "%" PRIu32 ",%" PRIu32 ",", thread->thread->number, item.depth);
		tp_text_add_csv(out, function->symbol.name);
		tp_buf_addf(out, ",%" PRIu64, node->calls);
		tp_view_add_ns(analysis, true, node->inclusive, ",", "", out);
		tp_view_add_ns(analysis, true, node->self, ",", "", out);
		tp_view_add_ns(analysis, true, node->calls ? node->min : 0, ",", "", out);
		tp_view_add_ns(analysis, true, node->max, ",", "", out);
		tp_buf_add_char(out, '\n');
		break;
	case TP_FORMAT_JSON:
		tp_buf_addf(out, "%s\n{\"thread\":%" PRIu32 ",\"depth\":%" PRIu32 ",\"function\":",
		    walk->printed ? "," : "", thread->thread->number, item.depth);
		tp_text_add_json(out, function->symbol.name);
		tp_buf_addf(out, ",\"calls\":%" PRIu64, node->calls);
		tp_view_add_ns(analysis, true, node->inclusive, ",\"inclusive_ns\":", "null", out);
		tp_view_add_ns(analysis, true, node->self, ",\"self_ns\":", "null", out);
		tp_buf_add_char(out, '}');
		break;
	}
	walk->printed++;
}

static bool add_thread(struct walk *walk, const struct tp_thread_result *thread,
    struct tp_table *table, struct tp_buf *out)
{
	const struct tp_node *nodes = thread->profile.nodes;
	if (thread->profile.node_count < 2)
		return true;
	walk->least = (uint64_t)((double)thread->busy * walk->options->min_share);
	if (walk->options->format == TP_FORMAT_TABLE && walk->analysis->thread_count > 1) {
		char text[64];
		for (uint32_t i = 0; i < table->elastic; i++)
			tp_table_add(table, "");
		snprintf(text, sizeof(text), "%s %" PRIu32, tp_view_thread_name(thread->thread),
		    thread->thread->number);
		tp_table_add(table, text);
	}
	walk->count = 0;
	if (!push_children(walk, nodes, 0, 1))
		return false;
	while (walk->count) {
		const struct item item = walk->items[--walk->count];
		if (walk->options->limit && walk->printed >= walk->options->limit) {
			walk->left_out++;
			continue;
		}
		add_row(walk, thread, item, table, out);
		if (!push_children(walk, nodes, item.node, item.depth + 1))
			return false;
	}
	return true;
}

static int render(const struct tp_analysis *analysis, const struct tp_view_options *options,
    struct tp_buf *out, struct tp_err *err)
{
	static const char *const titles[] = {"inclusive", "share", "self", "calls", "function"};
	const int first = analysis->timeless ? 3 : 0;
	struct walk walk = {.analysis = analysis, .options = options};
	struct tp_table table;
	tp_table_init(&table, analysis->timeless ? "rl" : "rrrrl", analysis->timeless ? 1 : 4);
	table.width = options->width;
	table.color = options->color;
	for (int i = first; i < 5; i++)
		tp_table_add(&table, titles[i]);
	const int code =
	    options->format == TP_FORMAT_TABLE ? tp_table_choose(&table, options->columns, err) : 0;
	if (code) {
		tp_table_release(&table);
		return code;
	}
	if (options->format == TP_FORMAT_CSV)
		tp_buf_add_string(
		    out, "thread,depth,function,calls,inclusive_ns,self_ns,min_ns,max_ns\n");
	if (options->format == TP_FORMAT_JSON) {
		tp_buf_add_char(out, '{');
		tp_view_add_json_header(analysis, out);
		tp_buf_add_string(out, "\"tree\":[");
	}
	bool done = true;
	for (uint32_t i = 0; i < analysis->thread_count && done; i++)
		done = add_thread(&walk, &analysis->threads[i], &table, out);
	if (options->format == TP_FORMAT_TABLE) {
		tp_table_render(&table, out);
		if (walk.left_out)
			tp_buf_addf(out,
			    "(%" PRIu64
			    " lighter branches left out: see --min-share and --limit)\n",
			    walk.left_out);
	}
	if (options->format == TP_FORMAT_JSON)
		tp_buf_add_string(out, "\n]}\n");
	tp_table_release(&table);
	free(walk.items);
	return done ? 0
		    : tp_err_set(err, TP_ERR_MEMORY, NULL, TP_ERR_NO_OFFSET,
			  "no memory for the call tree");
}

const struct tp_view tp_view_tree = {
    .name = "tree",
    .summary = "each thread's call tree, the heaviest calls first",
    .shares = true,
    .render = render,
};
