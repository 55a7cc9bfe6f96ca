// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pages that are trees, of paths or of the calls in a call: items are numbered in preorder, so the
// descendants of item N are N + 1 to its last one. Only open items have rows. Stacks replace
// recursion, since paths may be very deep.
#define _GNU_SOURCE
#include "page.h"

#include "common/array.h"

#include <stdlib.h>
#include <string.h>

// While a search looks through a tree.
#define MARK_WAY 4 // the selected one is below it

struct item {
	uint32_t at;
	uint32_t depth;
};

struct walk {
	struct tp_tui_page *page;
	struct tp_tui_data *data;
	const uint8_t *marks; // NULL: of the filter
	struct item *items;   // still to be visited, the next one last
	uint32_t count;
	uint32_t room;
};

static uint32_t item_count(const struct tp_tui_page *page, const struct tp_tui_data *data)
{
	return page->kind == TP_TUI_TREE ? data->paths.count : page->calls.count;
}

static uint32_t last_of(const struct tp_tui_page *page, const struct tp_tui_data *data, uint32_t at)
{
	return page->kind == TP_TUI_TREE ? data->paths.items[at].last : page->calls.items[at].last;
}

uint32_t tp_tui_tree_parent(
    const struct tp_tui_page *page, const struct tp_tui_data *data, uint32_t at)
{
	if (page->kind == TP_TUI_CALL)
		return page->calls.items[at].parent;
	// Path 0 is the program, which has no row.
	const uint32_t parent = data->paths.items[at].parent;
	return parent ? parent : at;
}

// Whether it is one of the thread that the tree is of, and of what the filter leaves.
static bool is_there(const struct tp_tui_page *page, const struct tp_tui_data *data, uint32_t at)
{
	if (page->marks && !page->marks[at])
		return false;
	return page->kind == TP_TUI_CALL || page->thread == TP_TUI_ALL ||
	       tp_tui_data_row(data, at, page->thread) != UINT32_MAX;
}

static bool has_below(const struct tp_tui_page *page, const struct tp_tui_data *data, uint32_t at)
{
	const uint32_t last = last_of(page, data, at);
	for (uint32_t i = at + 1; i <= last; i = last_of(page, data, i) + 1)
		if (is_there(page, data, i))
			return true;
	return false;
}

// Those that are to be visited first are last.
// Call circle with page.c: a tree is the rows of its page, in its page's order.
static int compare(const void *a, const void *b, void *context)
{
	const struct walk *walk = context;
	return tp_tui_page_compare(
	    walk->page, walk->data, ((const struct item *)b)->at, ((const struct item *)a)->at);
}

static bool push(struct walk *walk, uint32_t at, uint32_t depth)
{
	if (walk->marks && !walk->marks[at])
		return true;
	if (!is_there(walk->page, walk->data, at))
		return true;
	if (!TP_GROW(walk->items, walk->room, walk->count + UINT64_C(1)))
		return false;
	walk->items[walk->count++] = (struct item){at, depth};
	return true;
}

static bool push_below(struct walk *walk, uint32_t at, uint32_t depth)
{
	const uint32_t first = walk->count;
	const uint32_t last = last_of(walk->page, walk->data, at);
	for (uint32_t i = at + 1; i <= last; i = last_of(walk->page, walk->data, i) + 1)
		if (!push(walk, i, depth))
			return false;
	if (walk->count > first + 1)
		qsort_r(
		    walk->items + first, walk->count - first, sizeof(*walk->items), compare, walk);
	return true;
}

static bool begin(struct walk *walk)
{
	if (!item_count(walk->page, walk->data))
		return true;
	return walk->page->kind == TP_TUI_CALL ? push(walk, 0, 1) : push_below(walk, 0, 1);
}

// Have `open` for all items; those of the first level are open at first.
static bool keep_open(struct tp_tui_page *page, const struct tp_tui_data *data)
{
	const uint32_t count = item_count(page, data);
	if (page->open && page->open_count == count)
		return true;
	free(page->open);
	page->open = calloc((size_t)count + 1, 1);
	page->open_count = page->open ? count : 0;
	for (uint32_t i = 0; page->open && i < count; i++)
		if (tp_tui_tree_parent(page, data, i) == i)
			page->open[i] = 1;
	return page->open;
}

bool tp_tui_tree_rows(struct tp_tui_page *page, struct tp_tui_data *data)
{
	struct walk walk = {.page = page, .data = data};
	bool ok = keep_open(page, data);
	if (ok && page->filter.text[0])
		ok = tp_tui_tree_filter(page, data);
	ok = ok && begin(&walk);
	while (ok && walk.count) {
		const struct item item = walk.items[--walk.count];
		const bool open = page->open[item.at];
		const struct tp_tui_row row = {
		    item.at, item.depth, has_below(page, data, item.at), open};
		ok = tp_tui_page_add(page, row);
		if (ok && open)
			ok = push_below(&walk, item.at, item.depth + 1);
	}
	free(walk.items);
	return ok || page->cut;
}

// Marks for all items by MATCH; to be freed.
static uint8_t *mark(const struct tp_tui_page *page, const struct tp_tui_data *data,
    const struct tp_tui_match *match)
{
	const uint32_t count = item_count(page, data);
	const uint32_t functions = data->analysis->function_count;
	uint8_t *marks = calloc((size_t)count + 1, 1);
	// A name is looked at once.
	bool *matches = calloc((size_t)functions + 1, sizeof(*matches));
	for (uint32_t i = 0; marks && matches && i < functions; i++)
		matches[i] = tp_tui_match_test(match, data->analysis->functions[i].symbol.name);
	for (uint32_t i = 0; marks && matches && i < count; i++) {
		const uint32_t function = tp_tui_page_function(page, data, i);
		const uint32_t parent = tp_tui_tree_parent(page, data, i);
		if (function < functions && matches[function])
			marks[i] = TP_TUI_MARK_IN | TP_TUI_MARK_UNDER;
		if (parent != i)
			marks[i] |= marks[parent] & TP_TUI_MARK_UNDER;
	}
	for (uint32_t i = count; marks && matches && i-- > 0;)
		if (marks[i] & TP_TUI_MARK_IN)
			marks[tp_tui_tree_parent(page, data, i)] |= TP_TUI_MARK_IN;
	if (!matches) {
		free(marks);
		marks = NULL;
	}
	free(matches);
	return marks;
}

bool tp_tui_tree_filter(struct tp_tui_page *page, struct tp_tui_data *data)
{
	free(page->marks);
	page->marks = mark(page, data, &page->filter);
	return page->marks;
}

void tp_tui_tree_open_matches(struct tp_tui_page *page, const struct tp_tui_data *data)
{
	if (!page->marks || !keep_open(page, data))
		return;
	for (uint32_t i = 0; i < page->open_count; i++) {
		const uint32_t parent = tp_tui_tree_parent(page, data, i);
		if ((page->marks[i] & TP_TUI_MARK_IN) && parent != i)
			page->open[parent] = 1;
	}
}

void tp_tui_tree_open(
    struct tp_tui_page *page, const struct tp_tui_data *data, uint32_t at, bool open, bool all)
{
	if (!page->open || at >= page->open_count)
		return;
	const uint32_t last = all ? last_of(page, data, at) : at;
	for (uint32_t i = at; i <= last; i++)
		page->open[i] = open;
}

// The first match behind, or the last before, item FROM; else the first, or the last, of all.
// UINT32_MAX: none.
static uint32_t find(struct walk *walk, const struct tp_tui_match *match, uint32_t from, bool back)
{
	uint32_t wrapped = UINT32_MAX;
	uint32_t before = UINT32_MAX;
	bool passed = false;
	bool ok = begin(walk);
	while (ok && walk->count) {
		const struct item item = walk->items[--walk->count];
		const bool own = item.at == from;
		const bool matches =
		    tp_tui_match_test(match, tp_tui_page_name(walk->page, walk->data, item.at));
		if (matches && !own && passed && !back)
			return item.at;
		if (own && back && before != UINT32_MAX)
			return before;
		if (matches && (back || wrapped == UINT32_MAX))
			wrapped = item.at;
		if (matches)
			before = item.at;
		passed |= own;
		ok = push_below(walk, item.at, item.depth + 1);
	}
	return wrapped;
}

bool tp_tui_tree_search(struct tp_tui_page *page, struct tp_tui_data *data,
    const struct tp_tui_match *match, bool backwards)
{
	uint32_t found = UINT32_MAX;
	if (!page->count)
		return false;
	uint8_t *marks = mark(page, data, match);
	// Only what leads to matches, and to where the search begins, is looked through.
	const uint32_t from = page->rows[page->cursor].at;
	for (uint32_t i = 0; marks && i < item_count(page, data); i++)
		marks[i] &= TP_TUI_MARK_IN;
	for (uint32_t at = from, below = UINT32_MAX; marks && at != below;
	     below = at, at = tp_tui_tree_parent(page, data, at))
		marks[at] |= MARK_WAY;
	struct walk walk = {.page = page, .data = data, .marks = marks};
	if (marks)
		found = find(&walk, match, from, backwards);
	free(walk.items);
	free(marks);
	if (found != UINT32_MAX)
		tp_tui_page_select(page, data, found);
	return found != UINT32_MAX;
}

// The path of TO below PARENT with FUNCTION; UINT32_MAX: there is none.
static uint32_t path_below(const struct tp_tui_data *to, uint32_t parent, uint32_t function)
{
	const struct tp_path *items = to->paths.items;
	for (uint32_t i = parent + 1; i <= items[parent].last; i = items[i].last + 1)
		if (items[i].function == function)
			return i;
	return UINT32_MAX;
}

bool tp_tui_tree_move(struct tp_tui_page *page, const struct tp_tui_data *from,
    const struct tp_tui_data *to, const uint32_t *map)
{
	const uint32_t selected = page->selected;
	page->selected = UINT32_MAX;
	if (!page->open || to->paths_code || !to->paths.count ||
	    page->open_count != from->paths.count)
		return true;
	// The selected item must be visible, so all its ancestors are open.
	uint32_t *place = calloc((size_t)page->open_count + 1, sizeof(*place));
	uint8_t *open = calloc((size_t)to->paths.count + 1, 1);
	const bool ok = place && open;
	for (uint32_t i = 1; ok && i < page->open_count; i++) {
		const struct tp_path *path = &from->paths.items[i];
		const uint32_t above = place[path->parent];
		place[i] = UINT32_MAX;
		if ((!page->open[i] && i != selected) || above == UINT32_MAX ||
		    map[path->function] == UINT32_MAX)
			continue;
		place[i] = path_below(to, above, map[path->function]);
		if (place[i] != UINT32_MAX)
			open[place[i]] = page->open[i];
	}
	if (ok && selected < page->open_count && selected)
		page->selected = place[selected];
	free(place);
	if (!ok) {
		free(open);
		return false;
	}
	free(page->open);
	page->open = open;
	page->open_count = to->paths.count;
	return true;
}
