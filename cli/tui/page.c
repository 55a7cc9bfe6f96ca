// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pages: rows and their order.
#define _GNU_SOURCE
#include "page.h"

#include "analyzer/output/view.h"
#include "common/array.h"

#include <stdlib.h>
#include <string.h>

bool tp_tui_page_needs_paths(const struct tp_tui_page *page)
{
	return page->kind == TP_TUI_TREE || page->kind == TP_TUI_NEIGHBOURS;
}

bool tp_tui_page_is_tree(const struct tp_tui_page *page)
{
	return page->kind == TP_TUI_TREE || page->kind == TP_TUI_CALL;
}

void tp_tui_page_init(struct tp_tui_page *page, enum tp_tui_kind kind)
{
	*page = (struct tp_tui_page){
	    .kind = kind,
	    .function = UINT32_MAX,
	    .thread = TP_TUI_ALL,
	    .selected = UINT32_MAX,
	    .again = UINT32_MAX,
	};
	tp_buf_init(&page->text);
}

void tp_tui_page_drop(struct tp_tui_page *page)
{
	free(page->rows);
	free(page->marks);
	free(page->neighbours);
	page->rows = NULL;
	page->marks = NULL;
	page->neighbours = NULL;
	page->count = page->room = 0;
	page->neighbour_count = page->caller_count = 0;
	page->made = false;
}

void tp_tui_page_release(struct tp_tui_page *page)
{
	tp_tui_page_drop(page);
	free(page->open);
	tp_tui_match_release(&page->filter);
	tp_tui_calls_release(&page->calls);
	tp_buf_release(&page->text);
	memset(page, 0, sizeof(*page));
}

// ---- order

static const char *first_sort(const struct tp_tui_page *page)
{
	switch (page->kind) {
	case TP_TUI_FUNCTIONS:
		return "self_ns";
	case TP_TUI_TREE:
	case TP_TUI_NEIGHBOURS:
		return "inclusive_ns";
	case TP_TUI_THREADS:
		return "thread";
	case TP_TUI_CALLS:
		return page->calls.time == TP_TIME_CPU ? "inclusive_cpu_ns" : "duration_ns";
	default:
		return "start_ns";
	}
}

static uint32_t find_sort(const struct tp_tui_page *page, const char *key)
{
	uint32_t i = 0;
	while (i < page->column_count && strcmp(page->columns[i].as->key, key) != 0)
		i++;
	return i;
}

static void choose_sort(struct tp_tui_page *page)
{
	page->sorted = page->sort && !*page->sort
			   ? page->column_count
			   : find_sort(page, page->sort ? page->sort : first_sort(page));
	// Without a clock there are calls.
	if (page->sorted == page->column_count && !(page->sort && !*page->sort))
		page->sorted = find_sort(page, "calls");
	page->ascends = true;
	if (page->sorted < page->column_count) {
		const struct tp_relation_column *as = page->columns[page->sorted].as;
		page->ascends = as->type == TP_TYPE_TEXT || as->unit == TP_UNIT_NONE ||
				strcmp(as->key, "start_ns") == 0;
	}
	page->ascends = page->ascends != page->turned;
}

static double amount(const struct tp_cell *cell)
{
	return cell->type == TP_CELL_REAL    ? cell->real
	       : cell->type == TP_CELL_COUNT ? (double)cell->count
					     : (double)cell->number;
}

// Numbers by amount; what has no value comes last, whichever way the order is.
static int compare_cells(const struct tp_cell *a, const struct tp_cell *b, bool ascends)
{
	if (!a->type || !b->type)
		return !a->type - !b->type;
	int order = a->type == TP_CELL_TEXT    ? strcmp(a->text, b->text)
		    : a->type == TP_CELL_COUNT ? TP_COMPARE(a->count, b->count)
					       : TP_COMPARE(amount(a), amount(b));
	return ascends ? order : -order;
}

// A view with the same order is used, since it also orders rows that look the same.
static bool view_sort(const char *key, enum tp_sort *sort)
{
	static const char *const keys[] = {[TP_SORT_SELF] = "self_ns",
	    [TP_SORT_INCLUSIVE] = "inclusive_ns",
	    [TP_SORT_CALLS] = "calls",
	    [TP_SORT_MEAN] = "mean_ns",
	    [TP_SORT_MIN] = "min_ns",
	    [TP_SORT_MAX] = "max_ns",
	    [TP_SORT_P50] = "p50_ns",
	    [TP_SORT_P90] = "p90_ns",
	    [TP_SORT_P99] = "p99_ns"};
	for (uint32_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (strcmp(keys[i], key) == 0) {
			*sort = (enum tp_sort)i;
			return true;
		}
	return false;
}

static int compare_names(
    const struct tp_tui_page *page, const struct tp_tui_data *data, uint32_t a, uint32_t b)
{
	if (page->kind == TP_TUI_FUNCTIONS)
		return tp_view_compare(
		    TP_SORT_NAME, &data->analysis->functions[a], &data->analysis->functions[b]);
	return strcmp(tp_tui_page_name(page, data, a), tp_tui_page_name(page, data, b));
}

int tp_tui_page_compare(
    const struct tp_tui_page *page, struct tp_tui_data *data, uint32_t a, uint32_t b)
{
	int order;
	if (page->sorted == page->column_count) {
		order = compare_names(page, data, a, b);
		order = page->ascends ? order : -order;
		return order ? order : TP_COMPARE(a, b);
	}
	const struct tp_tui_column *column = &page->columns[page->sorted];
	enum tp_sort sort;
	if (page->kind == TP_TUI_FUNCTIONS && !page->turned && view_sort(column->as->key, &sort))
		return tp_view_compare(
		    sort, &data->analysis->functions[a], &data->analysis->functions[b]);
	const struct tp_cell x = tp_tui_page_cell(page, data, a, column);
	const struct tp_cell y = tp_tui_page_cell(page, data, b, column);
	order = compare_cells(&x, &y, page->ascends);
	if (!order && page->kind == TP_TUI_FUNCTIONS)
		order = compare_names(page, data, a, b);
	// Items are in an order of their own: as they were found, or began.
	return order ? order : TP_COMPARE(a, b);
}

struct sorting {
	const struct tp_tui_page *page;
	struct tp_tui_data *data;
};

// Callers, the function, callees.
static int group_of(const struct tp_tui_page *page, uint32_t at)
{
	return page->kind != TP_TUI_NEIGHBOURS ? 0
	       : at < page->caller_count       ? 0
	       : at == page->caller_count      ? 1
					       : 2;
}

static int compare_rows(const void *a, const void *b, void *context)
{
	const struct sorting *sorting = context;
	const struct tp_tui_row *x = a;
	const struct tp_tui_row *y = b;
	const int order = group_of(sorting->page, x->at) - group_of(sorting->page, y->at);
	return order ? order : tp_tui_page_compare(sorting->page, sorting->data, x->at, y->at);
}

// ---- rows

bool tp_tui_page_add(struct tp_tui_page *page, struct tp_tui_row row)
{
	if (page->count >= TP_TUI_ROWS_MAX) {
		page->cut = true;
		return false;
	}
	if (!TP_GROW(page->rows, page->room, page->count + UINT64_C(1)))
		return false;
	page->rows[page->count++] = row;
	return true;
}

static bool add_flat(
    struct tp_tui_page *page, const struct tp_tui_data *data, uint32_t at, uint32_t depth)
{
	if (page->filter.text[0] &&
	    !tp_tui_match_test(&page->filter, tp_tui_page_name(page, data, at)))
		return true;
	return tp_tui_page_add(page, (struct tp_tui_row){.at = at, .depth = depth});
}

static bool add_all(struct tp_tui_page *page, const struct tp_tui_data *data, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (!add_flat(page, data, i, 1))
			return page->cut;
	return true;
}

// Copies, as the sums are those of the last function that was asked for.
static bool find_neighbours(struct tp_tui_page *page, struct tp_tui_data *data)
{
	const struct tp_function *function = &data->analysis->functions[page->function];
	struct tp_neighbours *from = &data->neighbours;
	tp_neighbours_find(from, page->function, true);
	const uint32_t callers = from->count;
	uint32_t room = 0;
	if (!TP_GROW(page->neighbours, room, callers + UINT64_C(1)))
		return false;
	memcpy(page->neighbours, from->items, callers * sizeof(*from->items));
	page->neighbours[callers] = (struct tp_neighbour){
	    .function = page->function,
	    .calls = function->calls,
	    .timed = tp_function_timed(function),
	    .inclusive = function->inclusive,
	    .total = function->total,
	    .self = function->self,
	    .parts = function->parts,
	    .has_no_parts = function->has_no_parts,
	};
	tp_neighbours_find(from, page->function, false);
	if (!TP_GROW(page->neighbours, room, (uint64_t)callers + 1 + from->count))
		return false;
	memcpy(page->neighbours + callers + 1, from->items, from->count * sizeof(*from->items));
	page->caller_count = callers;
	page->neighbour_count = callers + 1 + from->count;
	return true;
}

static bool add_neighbours(struct tp_tui_page *page, struct tp_tui_data *data)
{
	if (page->function >= data->analysis->function_count)
		return true;
	if (!find_neighbours(page, data))
		return false;
	for (uint32_t i = 0; i < page->neighbour_count; i++) {
		// Callers and callees stand further in than the function, as in the view function.
		const bool own = i == page->caller_count;
		const bool added =
		    own ? tp_tui_page_add(page, (struct tp_tui_row){.at = i, .depth = 1})
			: add_flat(page, data, i, 3);
		if (!added)
			return page->cut;
	}
	return true;
}

static bool add_lines(struct tp_tui_page *page)
{
	for (uint32_t at = 0; at < page->text.size;
	     at += (uint32_t)strlen(page->text.data + at) + 1)
		if (!tp_tui_page_add(page, (struct tp_tui_row){.at = at, .depth = 1}))
			return page->cut;
	return true;
}

static bool add_rows(struct tp_tui_page *page, struct tp_tui_data *data)
{
	switch (page->kind) {
	case TP_TUI_FUNCTIONS:
		return add_all(page, data, data->analysis->function_count);
	case TP_TUI_THREADS:
		return add_all(page, data, data->analysis->thread_count);
	case TP_TUI_CALLS:
		return add_all(page, data, page->calls.count);
	case TP_TUI_NEIGHBOURS:
		return add_neighbours(page, data);
	case TP_TUI_TREE:
	case TP_TUI_CALL:
		return tp_tui_tree_rows(page, data);
	default:
		return add_lines(page);
	}
}

static void put_cursor(struct tp_tui_page *page)
{
	for (uint32_t i = 0; page->selected != UINT32_MAX && i < page->count; i++)
		if (page->rows[i].at == page->selected) {
			page->cursor = i;
			break;
		}
	if (page->cursor >= page->count)
		page->cursor = page->count ? page->count - 1 : 0;
}

int tp_tui_page_make(struct tp_tui_page *page, struct tp_tui_data *data, bool ready)
{
	struct sorting sorting = {page, data};
	tp_tui_page_drop(page);
	page->cut = false;
	page->made = true;
	if ((tp_tui_page_needs_paths(page) && (!ready || data->paths_code)) || page->ticket)
		return 0;
	tp_tui_page_make_columns(page, data);
	choose_sort(page);
	if (!add_rows(page, data)) {
		tp_tui_page_drop(page);
		page->made = true;
		return TP_ERR_MEMORY;
	}
	if (page->count && !tp_tui_page_is_tree(page) && !tp_tui_page_is_text(page))
		qsort_r(page->rows, page->count, sizeof(*page->rows), compare_rows, &sorting);
	// Of a function first itself is selected.
	if (page->kind == TP_TUI_NEIGHBOURS && page->selected == UINT32_MAX)
		page->selected = page->caller_count;
	for (uint32_t i = 0; page->again != UINT32_MAX && i < page->neighbour_count; i++)
		if (page->neighbours[i].function == page->again &&
		    group_of(page, i) == page->again_group)
			page->selected = i;
	page->again = UINT32_MAX;
	put_cursor(page);
	return 0;
}

void tp_tui_page_select(struct tp_tui_page *page, struct tp_tui_data *data, uint32_t at)
{
	page->selected = at;
	if (tp_tui_page_is_tree(page)) {
		for (uint32_t up = tp_tui_tree_parent(page, data, at), below = at; up != below;
		     below = up, up = tp_tui_tree_parent(page, data, up))
			if (page->open && up < page->open_count)
				page->open[up] = 1;
		tp_tui_page_make(page, data, true);
		return;
	}
	put_cursor(page);
}

bool tp_tui_page_search(struct tp_tui_page *page, struct tp_tui_data *data,
    const struct tp_tui_match *match, bool backwards)
{
	if (tp_tui_page_is_tree(page))
		return tp_tui_tree_search(page, data, match, backwards);
	for (uint32_t i = 1; i <= page->count; i++) {
		const uint32_t step = backwards ? page->count - i : i;
		const uint32_t row = (uint32_t)(((uint64_t)page->cursor + step) % page->count);
		if (tp_tui_match_test(match, tp_tui_page_name(page, data, page->rows[row].at))) {
			page->cursor = row;
			page->selected = page->rows[row].at;
			return true;
		}
	}
	return false;
}

// ---- other data

static uint32_t moved(const uint32_t *map, const struct tp_tui_data *from, uint32_t function)
{
	return function < from->analysis->function_count ? map[function] : UINT32_MAX;
}

// The thread with this index, which its number tells; UINT32_MAX: it is not there.
static uint32_t moved_thread(
    const struct tp_tui_data *from, const struct tp_tui_data *to, uint32_t thread)
{
	if (thread >= from->analysis->thread_count)
		return UINT32_MAX;
	const uint32_t number = from->analysis->threads[thread].thread->number;
	for (uint32_t i = 0; i < to->analysis->thread_count; i++)
		if (to->analysis->threads[i].thread->number == number)
			return i;
	return UINT32_MAX;
}

static void move_calls(struct tp_tui_page *page, const struct tp_tui_data *from,
    const struct tp_tui_data *to, const uint32_t *map)
{
	uint32_t known = 0;
	uint32_t old = UINT32_MAX; // calls of one thread stand together
	uint32_t new = UINT32_MAX;
	for (uint32_t i = 0; i < page->calls.count; i++) {
		struct tp_tui_call *item = &page->calls.items[i];
		item->function = moved(map, from, item->function);
		if (item->kept.thread != old)
			new = moved_thread(from, to, old = item->kept.thread);
		item->kept.thread = new;
		known += new != UINT32_MAX;
	}
	if (known < page->calls.count)
		page->calls.count = 0;
	if (page->kind == TP_TUI_CALL)
		page->outer.thread = moved_thread(from, to, page->outer.thread);
	// Of a call of a thread that is gone there is nothing to be read, either.
	if (page->kind == TP_TUI_CALL && page->outer.thread == UINT32_MAX)
		page->ticket = page->calls.count = page->outer.thread = 0;
}

bool tp_tui_page_move(struct tp_tui_page *page, const struct tp_tui_data *from,
    const struct tp_tui_data *to, const uint32_t *map)
{
	bool ok = true;
	if (page->kind == TP_TUI_TREE) {
		ok = tp_tui_tree_move(page, from, to, map);
		if (page->thread != TP_TUI_ALL)
			page->thread = moved_thread(from, to, page->thread);
	} else if (page->kind == TP_TUI_FUNCTIONS) {
		page->selected = moved(map, from, page->selected);
	} else if (page->kind == TP_TUI_NEIGHBOURS) {
		if (page->selected < page->neighbour_count) {
			page->again = moved(map, from, page->neighbours[page->selected].function);
			page->again_group = group_of(page, page->selected);
		}
		page->selected = UINT32_MAX;
		page->function = moved(map, from, page->function);
	} else if (page->kind == TP_TUI_CALLS || page->kind == TP_TUI_CALL) {
		page->function = moved(map, from, page->function);
		move_calls(page, from, to, map);
	} else if (page->kind == TP_TUI_THREADS) {
		page->selected = moved_thread(from, to, page->selected);
	}
	page->made = false;
	return ok;
}
