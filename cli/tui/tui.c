// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pages on a stack, and what keys do with them.
#include "tui.h"

#include "analyzer/output/view.h"
#include "common/clean.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void tp_tui_init(struct tp_tui *tui, const char *file)
{
	*tui = (struct tp_tui){.file = file, .lines = TP_TUI_LEAST_LINES, .page_count = 1};
	tui->columns = TP_TUI_LEAST_COLUMNS;
	tp_tui_page_init(&tui->pages[0], TP_TUI_FUNCTIONS);
}

void tp_tui_release(struct tp_tui *tui)
{
	while (tui->page_count)
		tp_tui_page_release(&tui->pages[--tui->page_count]);
	tp_tui_match_release(&tui->search);
}

void tp_tui_say(struct tp_tui *tui, bool is_wrong, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	vsnprintf(tui->message, sizeof(tui->message), format, args);
	va_end(args);
	tp_clean(tui->message, strlen(tui->message));
	tui->is_wrong = is_wrong;
}

static struct tp_tui_page *shown(struct tp_tui *tui)
{
	return &tui->pages[tui->page_count - 1];
}

static void make_text(struct tp_tui *tui, struct tp_tui_page *page)
{
	if (page->text.size && page->text_width == tui->columns && page->made)
		return;
	tp_buf_reset(&page->text);
	page->text_width = tui->columns;
	page->made = false;
	if (page->kind == TP_TUI_HELP)
		tp_tui_add_help(tui->columns, &page->text);
	else if (tui->data)
		tp_tui_add_notes(tui->data, tui->columns, &page->text);
}

struct tp_tui_page *tp_tui_page(struct tp_tui *tui)
{
	struct tp_tui_page *page = shown(tui);
	if (tp_tui_page_is_text(page))
		make_text(tui, page);
	if (!page->made && (tui->data || page->kind == TP_TUI_HELP) &&
	    tp_tui_page_make(page, tui->data, tui->ready))
		tp_tui_say(tui, true, "no memory for this page");
	return page;
}

static void move_to(struct tp_tui *tui, uint32_t row)
{
	struct tp_tui_page *page = tp_tui_page(tui);
	if (!page->count)
		return;
	page->cursor = row < page->count ? row : page->count - 1;
	page->selected = page->rows[page->cursor].at;
}

static void move_by(struct tp_tui *tui, int64_t rows)
{
	const struct tp_tui_page *page = tp_tui_page(tui);
	const int64_t row = (int64_t)page->cursor + rows;
	move_to(tui, row < 0 ? 0 : row > UINT32_MAX ? UINT32_MAX : (uint32_t)row);
}

// ---- to and fro

// A page on top of the others, to be filled in. The oldest but the first is forgotten where there
// are too many.
static struct tp_tui_page *push(struct tp_tui *tui, enum tp_tui_kind kind)
{
	struct tp_tui_page *below = shown(tui);
	tp_tui_page_drop(below);
	if (tui->page_count == TP_TUI_PAGES) {
		tp_tui_page_release(&tui->pages[1]);
		memmove(&tui->pages[1], &tui->pages[2], (TP_TUI_PAGES - 2) * sizeof(tui->pages[0]));
		tui->page_count--;
	}
	struct tp_tui_page *page = &tui->pages[tui->page_count++];
	tp_tui_page_init(page, kind);
	return page;
}

static void back(struct tp_tui *tui)
{
	struct tp_tui_page *page = shown(tui);
	// First what narrows the page goes.
	if (page->filter.text[0]) {
		tp_tui_match_release(&page->filter);
		page->made = false;
		return;
	}
	if (tui->page_count == 1)
		return;
	tp_tui_page_release(page);
	tui->page_count--;
}

// A page of KIND that has no function; none if it is there already.
static void go_to(struct tp_tui *tui, enum tp_tui_kind kind)
{
	if (shown(tui)->kind != kind || tp_tui_page_is_tree(shown(tui)))
		push(tui, kind);
}

// The function of the selected row, or else of the page; UINT32_MAX: none.
static uint32_t selected_function(struct tp_tui *tui)
{
	const struct tp_tui_page *page = tp_tui_page(tui);
	uint32_t function = UINT32_MAX;
	if (!tui->data)
		return UINT32_MAX;
	if (page->count)
		function = tp_tui_page_function(page, tui->data, page->rows[page->cursor].at);
	return function < tui->data->analysis->function_count ? function : page->function;
}

static void to_neighbours(struct tp_tui *tui)
{
	const uint32_t function = selected_function(tui);
	const struct tp_tui_page *page = shown(tui);
	if (function == UINT32_MAX)
		tp_tui_say(tui, true, "no function is selected");
	else if (page->kind != TP_TUI_NEIGHBOURS || page->function != function)
		push(tui, TP_TUI_NEIGHBOURS)->function = function;
}

static void to_calls(struct tp_tui *tui)
{
	const uint32_t function = selected_function(tui);
	if (function == UINT32_MAX)
		tp_tui_say(tui, true, "no function is selected");
	else if (tui->data->analysis->timeless)
		tp_tui_say(tui, true, "recorded without a clock: calls have no times");
	else if (!tp_function_timed(&tui->data->analysis->functions[function]))
		tp_tui_say(tui, true, "calls of this function were counted, not timed");
	else if (shown(tui)->kind != TP_TUI_CALLS || shown(tui)->function != function) {
		struct tp_tui_page *page = push(tui, TP_TUI_CALLS);
		page->function = function;
		page->ticket = ++tui->tickets;
	}
}

static void to_call(struct tp_tui *tui)
{
	const struct tp_tui_page *from = tp_tui_page(tui);
	const struct tp_tui_call *call = &from->calls.items[from->rows[from->cursor].at];
	const struct tp_kept_call outer = call->kept;
	const uint32_t function = call->function;
	struct tp_tui_page *page = push(tui, TP_TUI_CALL);
	page->outer = outer;
	page->function = function;
	page->ticket = ++tui->tickets;
}

// The tree of all threads, or of one; at the heaviest path of the function that was selected.
static void to_tree(struct tp_tui *tui, uint32_t thread)
{
	const uint32_t function = thread == TP_TUI_ALL ? selected_function(tui) : UINT32_MAX;
	struct tp_tui_page *page = shown(tui);
	if (page->kind == TP_TUI_TREE && page->thread == thread)
		return;
	page = push(tui, TP_TUI_TREE);
	page->thread = thread;
	page = tp_tui_page(tui);
	if (function == UINT32_MAX || !tui->ready || tui->data->paths_code)
		return;
	const uint32_t path = tp_tui_data_heaviest(tui->data, function);
	if (path)
		tp_tui_page_select(page, tui->data, path);
}

static void enter(struct tp_tui *tui)
{
	const struct tp_tui_page *page = tp_tui_page(tui);
	if (!page->count)
		return;
	const uint32_t at = page->rows[page->cursor].at;
	switch (page->kind) {
	case TP_TUI_THREADS:
		to_tree(tui, at);
		break;
	case TP_TUI_CALLS:
		to_call(tui);
		break;
	case TP_TUI_NEIGHBOURS:
		if (at == page->caller_count)
			to_calls(tui);
		else
			to_neighbours(tui);
		break;
	case TP_TUI_NOTES:
	case TP_TUI_HELP:
		break;
	default:
		to_neighbours(tui);
	}
}

// ---- trees

static void set_open(struct tp_tui *tui, bool open, bool all)
{
	struct tp_tui_page *page = tp_tui_page(tui);
	tp_tui_tree_open(page, tui->data, page->rows[page->cursor].at, open, all);
	page->made = false;
}

static void to_caller(struct tp_tui *tui)
{
	struct tp_tui_page *page = tp_tui_page(tui);
	const uint32_t depth = page->rows[page->cursor].depth;
	uint32_t row = page->cursor;
	while (row && page->rows[row].depth >= depth)
		row--;
	if (page->rows[row].depth < depth)
		move_to(tui, row);
}

static void tree_command(struct tp_tui *tui, enum tp_tui_command command)
{
	const struct tp_tui_page *page = tp_tui_page(tui);
	if (!tp_tui_page_is_tree(page) || !page->count)
		return;
	const struct tp_tui_row *row = &page->rows[page->cursor];
	const bool open = row->below && row->open;
	if (command == TP_TUI_TO_CALLER || (command == TP_TUI_CLOSE && !open))
		to_caller(tui);
	else if (command == TP_TUI_OPEN && open)
		move_by(tui, 1);
	else if (row->below)
		set_open(tui,
		    command == TP_TUI_OPEN_ALL || command == TP_TUI_OPEN ||
			(command == TP_TUI_TOGGLE && !open),
		    command == TP_TUI_OPEN_ALL);
}

// ---- sort, search, filter

static void sort_by(struct tp_tui *tui, const char *key)
{
	struct tp_tui_page *page = shown(tui);
	page->sort = key;
	page->turned = false;
	page->made = false;
}

// One of the columns in KEYS, with blanks in between, that the page has; "" for the names.
static void sort_by_one_of(struct tp_tui *tui, const char *keys)
{
	const struct tp_tui_page *page = tp_tui_page(tui);
	if (tp_tui_page_is_text(page))
		return;
	if (!*keys) {
		sort_by(tui, "");
		return;
	}
	for (const char *at = keys; *at; at += strspn(at, " ")) {
		const size_t size = strcspn(at, " ");
		for (uint32_t i = 0; i < page->column_count; i++) {
			const char *key = page->columns[i].as->key;
			if (strlen(key) == size && memcmp(key, at, size) == 0) {
				sort_by(tui, key);
				return;
			}
		}
		at += size;
	}
	tp_tui_say(tui, true, "this page has no such column");
}

static void sort_step(struct tp_tui *tui, bool next)
{
	const struct tp_tui_page *page = tp_tui_page(tui);
	const uint32_t count = page->column_count + 1;
	if (count == 1)
		return;
	const uint32_t at = (page->sorted + (next ? 1 : count - 1)) % count;
	sort_by(tui, at == page->column_count ? "" : page->columns[at].as->key);
}

static void turn(struct tp_tui *tui)
{
	struct tp_tui_page *page = tp_tui_page(tui);
	page->turned = !page->turned;
	page->made = false;
}

static void search(struct tp_tui *tui, bool backwards)
{
	struct tp_tui_page *page = tp_tui_page(tui);
	if (!tui->search.text[0])
		tp_tui_say(tui, true, "nothing was searched for yet: press /");
	else if (!page->count || !tp_tui_page_search(page, tui->data, &tui->search, backwards))
		tp_tui_say(tui, true, "'%s' is not here", tui->search.text);
}

static void filter(struct tp_tui *tui)
{
	struct tp_tui_page *page = shown(tui);
	char wrong[TP_TUI_TEXT];
	if (!tp_tui_match_set(&page->filter, tui->typed, wrong)) {
		tp_tui_say(tui, true, "'%s': %s", tui->typed, wrong);
		return;
	}
	page->made = false;
	page = tp_tui_page(tui);
	if (tp_tui_page_is_tree(page) && page->marks) {
		tp_tui_tree_open_matches(page, tui->data);
		page->made = false;
	}
}

static void prompt(struct tp_tui *tui, enum tp_tui_prompt prompt)
{
	if (tp_tui_page_is_text(shown(tui)) && prompt == TP_TUI_PROMPT_FILTER)
		return;
	tui->prompt = prompt;
	tui->typed[0] = '\0';
}

static void end_prompt(struct tp_tui *tui)
{
	const enum tp_tui_prompt prompt = tui->prompt;
	char wrong[TP_TUI_TEXT];
	tui->prompt = TP_TUI_NO_PROMPT;
	if (prompt == TP_TUI_PROMPT_FILTER) {
		filter(tui);
		return;
	}
	// Nothing: what was searched for before.
	if (tui->typed[0] && !tp_tui_match_set(&tui->search, tui->typed, wrong))
		tp_tui_say(tui, true, "'%s': %s", tui->typed, wrong);
	else
		search(tui, false);
}

static void type(struct tp_tui *tui, int key)
{
	size_t size = strlen(tui->typed);
	if (key == TP_KEY_ESCAPE || key == 3) { // Ctrl-C
		tui->prompt = TP_TUI_NO_PROMPT;
	} else if (key == TP_KEY_ENTER || key == '\r') {
		end_prompt(tui);
	} else if (key == TP_KEY_BACKSPACE) {
		if (!size)
			tui->prompt = TP_TUI_NO_PROMPT;
		while (size && !tp_begins_character(tui->typed[--size]))
			;
		tui->typed[size] = '\0';
	} else if (key == 21) { // Ctrl-U
		tui->typed[0] = '\0';
	} else if (key >= ' ' && key < TP_KEY_UP && size + 5 < sizeof(tui->typed)) {
		unsigned char *to = (unsigned char *)tui->typed + size;
		if (key < 0x80) {
			*to++ = (unsigned char)key;
		} else if (key < 0x800) {
			*to++ = (unsigned char)(0xc0 | key >> 6);
			*to++ = (unsigned char)(0x80 | (key & 0x3f));
		} else {
			*to++ =
			    (unsigned char)(key < 0x10000 ? 0xe0 | key >> 12 : 0xf0 | key >> 18);
			if (key >= 0x10000)
				*to++ = (unsigned char)(0x80 | (key >> 12 & 0x3f));
			*to++ = (unsigned char)(0x80 | (key >> 6 & 0x3f));
			*to++ = (unsigned char)(0x80 | (key & 0x3f));
		}
		*to = '\0';
		tp_clean(tui->typed, strlen(tui->typed));
	}
}

static void watch(struct tp_tui *tui)
{
	if (tui->state == TP_TUI_FINISHED || tui->state == TP_TUI_GONE) {
		tp_tui_say(tui, true, "the recording has ended");
		return;
	}
	tui->follow = !tui->follow;
	tui->state = tui->follow ? TP_TUI_LIVE : TP_TUI_RECORDING;
}

static void switch_since(struct tp_tui *tui)
{
	if (!tui->follow) {
		tp_tui_say(tui, true, "no recording is followed: there is no last interval");
		return;
	}
	tui->last = !tui->last;
	tp_tui_say(tui, false, "%s",
	    tui->last ? "from the next look on: the last interval" : "all since the start");
}

static void run(struct tp_tui *tui, const struct tp_tui_key *key)
{
	const int64_t rows = tui->page_rows > 1 ? tui->page_rows - 1 : 1;
	switch (key->command) {
	case TP_TUI_UP:
		move_by(tui, -1);
		break;
	case TP_TUI_DOWN:
		move_by(tui, 1);
		break;
	case TP_TUI_PAGE_UP:
		move_by(tui, -rows);
		break;
	case TP_TUI_PAGE_DOWN:
		move_by(tui, rows);
		break;
	case TP_TUI_FIRST:
		move_to(tui, 0);
		break;
	case TP_TUI_LAST:
		move_to(tui, UINT32_MAX);
		break;
	case TP_TUI_ENTER:
		enter(tui);
		break;
	case TP_TUI_BACK:
		back(tui);
		break;
	case TP_TUI_TO_FUNCTIONS:
		go_to(tui, TP_TUI_FUNCTIONS);
		break;
	case TP_TUI_TO_TREE:
		to_tree(tui, TP_TUI_ALL);
		break;
	case TP_TUI_TO_THREADS:
		go_to(tui, TP_TUI_THREADS);
		break;
	case TP_TUI_TO_NEIGHBOURS:
		to_neighbours(tui);
		break;
	case TP_TUI_TO_CALLS:
		to_calls(tui);
		break;
	case TP_TUI_TO_NOTES:
		go_to(tui, TP_TUI_NOTES);
		break;
	case TP_TUI_TO_HELP:
		go_to(tui, TP_TUI_HELP);
		break;
	case TP_TUI_OPEN:
	case TP_TUI_CLOSE:
	case TP_TUI_TOGGLE:
	case TP_TUI_OPEN_ALL:
	case TP_TUI_TO_CALLER:
		tree_command(tui, key->command);
		break;
	case TP_TUI_SEARCH:
		prompt(tui, TP_TUI_PROMPT_SEARCH);
		break;
	case TP_TUI_FILTER:
		prompt(tui, TP_TUI_PROMPT_FILTER);
		break;
	case TP_TUI_SEARCH_NEXT:
	case TP_TUI_SEARCH_BEFORE:
		search(tui, key->command == TP_TUI_SEARCH_BEFORE);
		break;
	case TP_TUI_SORT_BEFORE:
	case TP_TUI_SORT_NEXT:
		sort_step(tui, key->command == TP_TUI_SORT_NEXT);
		break;
	case TP_TUI_SORT_TURN:
		turn(tui);
		break;
	case TP_TUI_SORT_BY:
		sort_by_one_of(tui, key->column);
		break;
	case TP_TUI_WATCH:
		watch(tui);
		break;
	case TP_TUI_SINCE:
		switch_since(tui);
		break;
	case TP_TUI_REDRAW:
		tui->redraw = true;
		break;
	case TP_TUI_QUIT:
		tui->quit = true;
		break;
	case TP_TUI_NOTHING:
		break;
	}
}

void tp_tui_press(struct tp_tui *tui, int key)
{
	tui->message[0] = '\0';
	if (tui->prompt) {
		type(tui, key);
		return;
	}
	const struct tp_tui_key *known = tp_tui_key_find(key);
	// Until there is something to look at, one can leave, and read what keys there are.
	if (!known ||
	    (!tui->data && known->command != TP_TUI_QUIT && known->command != TP_TUI_TO_HELP &&
		known->command != TP_TUI_BACK && known->command != TP_TUI_REDRAW))
		return;
	run(tui, known);
}

void tp_tui_click(struct tp_tui *tui, uint32_t line)
{
	const struct tp_tui_page *page = tp_tui_page(tui);
	if (!tui->prompt && line >= tui->first_line && line - tui->first_line < tui->page_rows &&
	    line - tui->first_line < page->count - page->top)
		move_to(tui, page->top + line - tui->first_line);
}

void tp_tui_scroll(struct tp_tui *tui, int rows)
{
	if (!tui->prompt)
		move_by(tui, rows);
}

// ---- what the loader brings

void tp_tui_show(struct tp_tui *tui, struct tp_tui_data *data, bool ready)
{
	struct tp_tui_data *old = tui->data;
	uint32_t *map = old && old != data ? tp_tui_data_map(old, data) : NULL;
	for (uint32_t i = 0; i < tui->page_count; i++) {
		struct tp_tui_page *page = &tui->pages[i];
		// Who looks at the first row sees which that is.
		if (page->kind == TP_TUI_FUNCTIONS && !page->cursor)
			page->selected = UINT32_MAX;
		if (map && !tp_tui_page_move(page, old, data, map))
			tp_tui_say(tui, true, "out of memory for the open rows of the tree");
		if (tp_tui_page_is_text(page))
			page->text_width = 0;
		tp_tui_page_drop(page);
	}
	free(map);
	tui->data = data;
	tui->ready = ready;
}

struct tp_tui_page *tp_tui_waiting(struct tp_tui *tui)
{
	return tui->data && shown(tui)->ticket ? shown(tui) : NULL;
}

static uint32_t find_ticket(const struct tp_tui *tui, uint32_t ticket)
{
	uint32_t i = 0;
	while (i < tui->page_count && tui->pages[i].ticket != ticket)
		i++;
	return i;
}

bool tp_tui_waits_for(const struct tp_tui *tui, uint32_t ticket)
{
	return find_ticket(tui, ticket) < tui->page_count;
}

void tp_tui_take_calls(
    struct tp_tui *tui, uint32_t ticket, struct tp_tui_calls *calls, const char *wrong)
{
	const uint32_t found = find_ticket(tui, ticket);
	if (found < tui->page_count) {
		struct tp_tui_page *page = &tui->pages[found];
		tp_tui_page_drop(page);
		page->ticket = 0;
		page->calls = *calls;
		*calls = (struct tp_tui_calls){0};
		if (wrong)
			tp_tui_say(tui, true, "%s", wrong);
	}
	tp_tui_calls_release(calls);
}
