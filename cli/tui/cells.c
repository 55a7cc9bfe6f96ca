// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What pages have in columns: which ones there are, by relations, and cells, names and shares.
#include "page.h"

#include "analyzer/output/relation/show.h"
#include "analyzer/output/view.h"

#include <stdio.h>
#include <string.h>

// Columns of pages that text views have no table of, by their keys; those that a trace or a
// relation does not have are left out.
static const char *const tree_keys[] = {"calls", "inclusive_ns", "self_ns", "self_cpu_ns",
    "self_wait_ns", "self_preempted_ns", "p50_ns", "p99_ns", "min_ns", "max_ns", NULL};
static const char *const call_keys[] = {"start_ns", "duration_ns", "inclusive_cpu_ns",
    "self_raw_ns", "self_cpu_ns", "self_wait_ns", "self_preempted_ns", "thread", "how", NULL};
static const char *const neighbour_keys[] = {
    "calls", "inclusive_ns", "self_ns", "self_cpu_ns", "self_wait_ns", "mean_ns", NULL};

bool tp_tui_page_is_text(const struct tp_tui_page *page)
{
	return page->kind == TP_TUI_NOTES || page->kind == TP_TUI_HELP;
}

// ---- columns

static const struct tp_relation *relation_of(const struct tp_tui_page *page)
{
	switch (page->kind) {
	case TP_TUI_FUNCTIONS:
	case TP_TUI_NEIGHBOURS:
		return &tp_relation_functions;
	case TP_TUI_TREE:
		return page->thread == TP_TUI_ALL ? &tp_relation_paths : &tp_relation_thread_paths;
	case TP_TUI_THREADS:
		return &tp_relation_threads;
	case TP_TUI_CALLS:
	case TP_TUI_CALL:
		return &tp_relation_calls;
	default:
		return NULL;
	}
}

static uint32_t find_column(const struct tp_relation *relation, const char *key)
{
	for (uint32_t i = 0; i < relation->count; i++)
		if (strcmp(relation->columns[i].key, key) == 0)
			return i;
	return UINT32_MAX;
}

// A column is called the same everywhere: in the table of functions, or by its key without the
// unit.
static void set_title(struct tp_tui_column *column)
{
	const char *key = column->as->key;
	const uint32_t same = find_column(&tp_relation_functions, key);
	const char *title = column->as->title;
	if (!title && same != UINT32_MAX)
		title = tp_relation_functions.columns[same].title;
	snprintf(column->title, sizeof(column->title), "%s", title ? title : key);
	char *unit = title ? NULL : strstr(column->title, "_ns");
	if (unit)
		*unit = '\0';
	// self_raw: as recorded, as all times of single calls are.
	char *raw = title ? NULL : strstr(column->title, "_raw");
	if (raw)
		*raw = '\0';
	if (!column->as->title && same != UINT32_MAX)
		column->rank = tp_relation_functions.columns[same].rank;
}

static void add_column(struct tp_tui_page *page, const struct tp_tui_data *data,
    const struct tp_relation_column *as, uint32_t number)
{
	const bool timed = as->unit == TP_UNIT_TIME || as->unit == TP_UNIT_PERCENT;
	// The name is drawn by itself, and the source is with it.
	if (as->elastic || as->made || (timed && data->analysis->timeless) ||
	    page->column_count == TP_TUI_COLUMNS)
		return;
	struct tp_tui_column *column = &page->columns[page->column_count++];
	// Where there was one, columns do not move with each look at a recording.
	const uint8_t width = column->as == as ? column->width : 0;
	*column = (struct tp_tui_column){
	    .as = as, .number = (uint8_t)number, .rank = as->rank, .width = width};
	set_title(column);
}

static void add_keys(struct tp_tui_page *page, struct tp_tui_data *data, const char *const *keys)
{
	const struct tp_relation *relation = relation_of(page);
	for (uint32_t i = 0; keys[i]; i++) {
		const uint32_t number = find_column(relation, keys[i]);
		if (number == UINT32_MAX)
			continue;
		const struct tp_relation_column *as = &relation->columns[number];
		// All rows of one call have its thread.
		if ((page->kind == TP_TUI_CALL && strcmp(as->key, "thread") == 0) ||
		    (as->sparse && !data->analysis->with_parts))
			continue;
		add_column(page, data, as, page->kind == TP_TUI_NEIGHBOURS ? i : number);
	}
}

void tp_tui_page_make_columns(struct tp_tui_page *page, struct tp_tui_data *data)
{
	const struct tp_relation *relation = relation_of(page);
	uint8_t list[TP_RELATION_COLUMNS];
	page->column_count = 0;
	if (!relation)
		return;
	if (page->kind == TP_TUI_TREE)
		add_keys(page, data, tree_keys);
	else if (page->kind == TP_TUI_NEIGHBOURS)
		add_keys(page, data, neighbour_keys);
	else if (page->kind == TP_TUI_CALLS || page->kind == TP_TUI_CALL)
		add_keys(page, data, call_keys);
	else {
		const uint32_t count = tp_relation_list(relation, TP_FORM_TEXT, list);
		for (uint32_t i = 0; i < count; i++)
			if (tp_relation_is_shown(relation, &data->cells, list[i]))
				add_column(page, data, &relation->columns[list[i]], list[i]);
	}
}

// ---- cells

static struct tp_cell neighbour_cell(
    const struct tp_tui_data *data, const struct tp_neighbour *item, uint32_t number)
{
	const struct tp_relation_data *cells = &data->cells;
	const bool parts = item->timed && !item->has_no_parts;
	switch (number) {
	case 0:
		return tp_cell_count(item->calls);
	case 1:
		return tp_cell_time(cells, item->timed, item->inclusive);
	case 2:
		return tp_cell_time(cells, item->timed, item->self);
	case 3:
		return tp_cell_time(cells, parts, item->parts.self_cpu);
	case 4:
		return tp_cell_time(cells, parts, item->parts.self_off.blocked);
	default: {
		struct tp_cell mean = tp_cell_time(cells, item->timed, item->total);
		if (mean.type)
			mean.count /= item->timed;
		return mean;
	}
	}
}

static struct tp_cell call_cell(
    struct tp_tui_data *data, const struct tp_tui_call *item, uint32_t number)
{
	const struct tp_call *call = &item->kept.call;
	const struct tp_call_row row = {
	    .call =
		{
		    .start = call->start,
		    .end = call->end,
		    .duration = call->duration,
		    .self = call->self,
		    .net = call->net,
		    .off = call->off,
		    .self_off = call->self_off,
		    .parent = TP_CALL_NONE,
		    .how = (uint8_t)call->how,
		    .away = call->away,
		},
	    .thread = data->analysis->threads[item->kept.thread].thread,
	};
	return tp_relation_calls.value(&data->cells, &row, number);
}

struct tp_cell tp_tui_page_cell(const struct tp_tui_page *page, struct tp_tui_data *data,
    uint32_t at, const struct tp_tui_column *column)
{
	const struct tp_relation *relation = relation_of(page);
	const void *row = NULL;
	switch (page->kind) {
	case TP_TUI_FUNCTIONS:
		row = &data->analysis->functions[at];
		break;
	case TP_TUI_THREADS:
		row = &data->analysis->threads[at];
		break;
	case TP_TUI_TREE: {
		const uint32_t number =
		    page->thread == TP_TUI_ALL ? 0 : tp_tui_data_row(data, at, page->thread);
		if (number == UINT32_MAX)
			return (struct tp_cell){.type = TP_CELL_NULL};
		row = page->thread == TP_TUI_ALL ? (const void *)&data->paths.items[at]
						 : &data->paths.rows[number];
		break;
	}
	case TP_TUI_NEIGHBOURS:
		return neighbour_cell(data, &page->neighbours[at], column->number);
	case TP_TUI_CALLS:
	case TP_TUI_CALL:
		return call_cell(data, &page->calls.items[at], column->number);
	default:
		return (struct tp_cell){.type = TP_CELL_NULL};
	}
	return relation->value(&data->cells, row, column->number);
}

uint32_t tp_tui_page_function(
    const struct tp_tui_page *page, const struct tp_tui_data *data, uint32_t at)
{
	switch (page->kind) {
	case TP_TUI_FUNCTIONS:
		return at;
	case TP_TUI_TREE:
		return data->paths.items[at].function;
	case TP_TUI_NEIGHBOURS:
		return page->neighbours[at].function < data->analysis->function_count
			   ? page->neighbours[at].function
			   : UINT32_MAX;
	case TP_TUI_CALLS:
	case TP_TUI_CALL:
		return page->calls.items[at].function;
	default:
		return UINT32_MAX;
	}
}

const char *tp_tui_page_name(
    const struct tp_tui_page *page, const struct tp_tui_data *data, uint32_t at)
{
	if (tp_tui_page_is_text(page))
		return page->text.data + at;
	if (page->kind == TP_TUI_THREADS)
		return tp_view_thread_name(data->analysis->threads[at].thread);
	const uint32_t function = tp_tui_page_function(page, data, at);
	if (function < data->analysis->function_count)
		return data->analysis->functions[function].symbol.name;
	return page->kind == TP_TUI_NEIGHBOURS ? "(start of a thread)" : "?";
}

static struct tp_tui_share share_of(uint64_t self, uint64_t inclusive, uint64_t all)
{
	struct tp_tui_share share = {.known = all};
	if (all) {
		share.self = (double)self / (double)all;
		share.inclusive = (double)inclusive / (double)all;
	}
	share.self = share.self > 1 ? 1 : share.self;
	share.inclusive = share.inclusive > 1 ? 1 : share.inclusive;
	return share;
}

struct tp_tui_share tp_tui_page_share(
    const struct tp_tui_page *page, const struct tp_tui_data *data, uint32_t at)
{
	const struct tp_analysis *analysis = data->analysis;
	if (analysis->timeless)
		return (struct tp_tui_share){0};
	switch (page->kind) {
	case TP_TUI_FUNCTIONS: {
		const struct tp_function *function = &analysis->functions[at];
		return share_of(
		    function->scaled_self, function->scaled_inclusive, analysis->scaled_self);
	}
	case TP_TUI_TREE: {
		const struct tp_path *path = &data->paths.items[at];
		if (page->thread == TP_TUI_ALL)
			return share_of(path->self, path->inclusive, analysis->self);
		const struct tp_thread_result *thread = &analysis->threads[page->thread];
		const uint32_t row = tp_tui_data_row(data, at, page->thread);
		if (row == UINT32_MAX)
			return (struct tp_tui_share){0};
		const struct tp_node *node = &thread->profile.nodes[data->paths.rows[row].node];
		return share_of(node->self, node->inclusive, thread->busy);
	}
	case TP_TUI_NEIGHBOURS:
		return share_of(page->neighbours[at].self, page->neighbours[at].inclusive,
		    analysis->functions[page->function].inclusive);
	case TP_TUI_THREADS: {
		const struct tp_thread_result *thread = &analysis->threads[at];
		const struct tp_off off = tp_thread_off(thread);
		const uint64_t waited = off.blocked + off.preempted;
		if (thread->first == UINT64_MAX || thread->last <= thread->first)
			return (struct tp_tui_share){0};
		return share_of(thread->busy > waited ? thread->busy - waited : 0, thread->busy,
		    thread->last - thread->first);
	}
	case TP_TUI_CALLS:
		return share_of(page->calls.items[at].kept.call.self,
		    page->calls.items[at].kept.call.duration,
		    page->calls.items[0].kept.call.duration);
	default:
		return (struct tp_tui_share){0};
	}
}
