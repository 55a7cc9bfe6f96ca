// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Draws a title, the position in the pages, facts of the page, titles of columns, rows, the
// selected row in full, the limits of the numbers, and a line for keys, messages and input.
#include "tui.h"

#include "analyzer/output/relation/show.h"
#include "analyzer/output/view.h"
#include "common/clean.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	LINE_TITLE = 0,
	LINE_WHERE,
	LINE_FACTS,
	LINE_COLUMNS,
	LINES_ABOVE, // rows
	LINES_BELOW = 3,
	CELL = 48,       // bytes of a cell
	NAME_LEAST = 22, // columns of the name, before others are left out for it
	TREE_LEAST = 36, // ... in a tree
	BAR = 10,
	TIMELINE = 24,
	SPARK = 20,
};

struct drawing {
	struct tp_tui *tui;
	const struct tp_tui_canvas *canvas;
	struct tp_tui_page *page;
	struct tp_buf text;
	uint32_t order[TP_TUI_COLUMNS]; // columns that fit
	uint32_t order_count;
	uint32_t bar;        // width of the bar, 0: none
	uint32_t percent;    // width of the number before it
	uint32_t name_at;    // where names begin
	char (*cells)[CELL]; // of each row that is shown, of each column
};

static void put(
    struct drawing *drawing, uint32_t line, uint32_t column, const char *text, unsigned style)
{
	if (*text)
		drawing->canvas->put(drawing->canvas->context, line, column, text, style);
}

// TEXT from COLUMN on, cut to WIDTH.
static void put_fit(struct drawing *drawing, uint32_t line, uint32_t column, const char *text,
    uint32_t width, bool padded, unsigned style)
{
	struct tp_buf fit;
	tp_buf_init(&fit);
	tp_tui_fit(&fit, text, width, padded, drawing->tui->ascii);
	put(drawing, line, column, fit.data, style);
	tp_buf_release(&fit);
}

static void put_line(struct drawing *drawing, uint32_t line, const char *text, unsigned style)
{
	put_fit(drawing, line, 0, text, drawing->tui->columns, style & TP_TUI_REVERSE, style);
}

// ---- the first lines

static const char *state_text(const struct tp_tui *tui, char text[64])
{
	switch (tui->state) {
	case TP_TUI_RECORDING:
		return "still being recorded: w follows it";
	case TP_TUI_LIVE:
		snprintf(text, 64, "%s, %.0f s ago", tui->is_last ? "live, last interval" : "live",
		    tui->age);
		return text;
	case TP_TUI_GONE:
		return "the recorder is gone: see teeperf-recover(1)";
	default:
		return "";
	}
}

static void draw_title(struct drawing *drawing)
{
	struct tp_tui *tui = drawing->tui;
	struct tp_buf *text = &drawing->text;
	char state[64];
	char number[TP_TEXT_NUMBER];
	const char *right = state_text(tui, state);
	tp_buf_reset(text);
	tp_buf_add_string(text, " teeperf tui  ");
	tp_buf_add_clean(text, tui->file);
	if (tui->data) {
		const struct tp_analysis *analysis = tui->data->analysis;
		tp_buf_addf(text, "  %s", tp_text_ns(number, tp_analysis_duration_ns(analysis)));
		tp_buf_addf(text, "  %" PRIu32 " thread%s", analysis->thread_count,
		    tp_plural(analysis->thread_count));
		tp_buf_addf(text, "  %s calls", tp_text_count(number, tui->data->calls));
	}
	put_line(drawing, LINE_TITLE, text->data, TP_TUI_REVERSE | TP_TUI_BOLD);
	const uint32_t width = tp_tui_width(right);
	if (width && width + 2 < tui->columns)
		put(drawing, LINE_TITLE, tui->columns - width - 1, right,
		    TP_TUI_REVERSE | (tui->state == TP_TUI_GONE ? TP_TUI_WRONG : TP_TUI_BOLD));
}

static void add_place(struct tp_buf *text, const struct tp_tui *tui, const struct tp_tui_page *page)
{
	static const char *const names[] = {[TP_TUI_FUNCTIONS] = "functions",
	    [TP_TUI_TREE] = "call tree",
	    [TP_TUI_THREADS] = "threads",
	    [TP_TUI_NEIGHBOURS] = "callers and callees",
	    [TP_TUI_CALLS] = "slowest calls",
	    [TP_TUI_CALL] = "one call",
	    [TP_TUI_NOTES] = "notes",
	    [TP_TUI_HELP] = "help"};
	tp_buf_add_string(text, names[page->kind]);
	if (page->kind == TP_TUI_TREE && page->thread != TP_TUI_ALL && tui->data &&
	    page->thread < tui->data->analysis->thread_count) {
		const struct tp_thread *thread = tui->data->analysis->threads[page->thread].thread;
		tp_buf_addf(text, " of thread %" PRIu32 " ", thread->number);
		tp_buf_add_clean(text, tp_view_thread_name(thread));
	}
	if (tui->data && page->function < tui->data->analysis->function_count) {
		tp_buf_add_string(text, " of ");
		tp_buf_add_clean(text, tui->data->analysis->functions[page->function].symbol.name);
	}
}

// The page, and of those below it as many as fit.
static void draw_where(struct drawing *drawing)
{
	struct tp_tui *tui = drawing->tui;
	struct tp_buf *text = &drawing->text;
	tp_buf_reset(text);
	add_place(text, tui, drawing->page);
	if (drawing->page->filter.text[0]) {
		tp_buf_add_string(text, "  only: ");
		tp_buf_add_clean(text, drawing->page->filter.text);
	}
	put_fit(drawing, LINE_WHERE, 0, text->data, tui->columns, false, TP_TUI_BOLD);
	const uint32_t used = tp_tui_width(text->data) + 4;
	if (tui->page_count < 2 || used + 20 > tui->columns)
		return;
	tp_buf_reset(text);
	tp_buf_add_string(text, "Esc: ");
	add_place(text, tui, &tui->pages[tui->page_count - 2]);
	const uint32_t room = tui->columns - used;
	const uint32_t width = tp_tui_width(text->data);
	put_fit(drawing, LINE_WHERE, tui->columns - (width < room ? width : room), text->data, room,
	    false, TP_TUI_FAINT);
}

// A time in ticks behind its name.
static void add_time(
    struct tp_buf *text, const struct tp_tui *tui, const char *name, uint64_t ticks)
{
	char number[TP_TEXT_NUMBER];
	tp_buf_addf(text, "  %s %s", name, tp_view_time(tui->data->analysis, number, ticks));
}

// How long calls were, from the shortest to the longest: each mark is as high as its part of them.
static void add_spark(struct drawing *drawing, const struct tp_histogram *times)
{
	static const char *const marks[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
	static const char plain[] = " .:-=+*#@";
	uint64_t sums[SPARK] = {0};
	uint64_t most = 0;
	const uint32_t count = times->size < SPARK ? times->size : SPARK;
	for (uint32_t i = 0; i < times->size; i++)
		sums[(uint64_t)i * count / times->size] += times->counts[i];
	for (uint32_t i = 0; i < count; i++)
		most = sums[i] > most ? sums[i] : most;
	if (count < 2)
		return;
	tp_buf_add_string(&drawing->text, "  [");
	for (uint32_t i = 0; i < count; i++) {
		// A few are more than none.
		const uint64_t height = (sums[i] * 8 + most - 1) / most;
		if (drawing->tui->ascii)
			tp_buf_add_char(&drawing->text, plain[height]);
		else
			tp_buf_add_string(&drawing->text, marks[height]);
	}
	tp_buf_add_char(&drawing->text, ']');
}

static void add_function_facts(struct drawing *drawing, const struct tp_function *function)
{
	struct tp_buf *text = &drawing->text;
	const struct tp_tui *tui = drawing->tui;
	char number[TP_TEXT_NUMBER];
	tp_buf_addf(text, "%s calls", tp_text_count(number, function->calls));
	if (tui->data->analysis->timeless || !tp_function_timed(function))
		return;
	add_time(text, tui, "min", function->min);
	add_time(text, tui, "p50", function->percentiles[0]);
	add_time(text, tui, "p99", function->percentiles[2]);
	add_time(text, tui, "max", function->max);
	add_spark(drawing, &function->times);
}

static void add_call_facts(struct drawing *drawing)
{
	struct tp_buf *text = &drawing->text;
	const struct tp_tui_page *page = drawing->page;
	const struct tp_analysis *analysis = drawing->tui->data->analysis;
	const struct tp_call *call = &page->outer.call;
	char number[TP_TEXT_NUMBER];
	char of[TP_TEXT_NUMBER];
	tp_buf_addf(
	    text, "in thread %" PRIu32, analysis->threads[page->outer.thread].thread->number);
	add_time(text, drawing->tui, "from", call->start - analysis->origin);
	add_time(text, drawing->tui, "for", call->duration);
	if (page->calls.seen > page->calls.count)
		tp_buf_addf(text, "  the %s longest of %s calls in it",
		    tp_text_count(number, page->calls.count), tp_text_count(of, page->calls.seen));
	else
		tp_buf_addf(text, "  calls in it: %s",
		    tp_text_count(number, page->calls.count ? page->calls.count - 1 : 0));
}

static void draw_facts(struct drawing *drawing)
{
	struct tp_buf *text = &drawing->text;
	const struct tp_tui *tui = drawing->tui;
	const struct tp_tui_page *page = drawing->page;
	char number[TP_TEXT_NUMBER];
	char of[TP_TEXT_NUMBER];
	if (!tui->data)
		return;
	tp_buf_reset(text);
	const struct tp_analysis *analysis = tui->data->analysis;
	if (page->kind == TP_TUI_NEIGHBOURS && page->function < analysis->function_count)
		add_function_facts(drawing, &analysis->functions[page->function]);
	else if (page->kind == TP_TUI_CALLS && !page->ticket)
		tp_buf_addf(text, "%s of %s calls, in times as recorded; Enter shows what one did",
		    tp_text_count(number, page->calls.count), tp_text_count(of, page->calls.seen));
	else if (page->kind == TP_TUI_CALL && !page->ticket)
		add_call_facts(drawing);
	else if (page->kind == TP_TUI_FUNCTIONS) {
		tp_buf_addf(text, "%s functions", tp_text_count(number, analysis->function_count));
		if (!analysis->timeless)
			add_time(text, tui, "self time of all", analysis->scaled_self);
		if (page->filter.text[0])
			tp_buf_addf(text, "  %s shown", tp_text_count(number, page->count));
	} else if (page->cut)
		tp_buf_addf(text, "more than %s rows: the rest is not shown",
		    tp_text_count(number, TP_TUI_ROWS_MAX));
	put_line(drawing, LINE_FACTS, text->data, TP_TUI_FAINT);
}

// ---- rows

static void format_cell(
    struct drawing *drawing, uint32_t at, struct tp_tui_column *column, char text[CELL])
{
	struct tp_tui_data *data = drawing->tui->data;
	const struct tp_cell cell = tp_tui_page_cell(drawing->page, data, at, column);
	char table[TP_TEXT_NUMBER + 1];
	char other[TP_TEXT_NUMBER];
	text[0] = '\0';
	if (cell.type == TP_CELL_TEXT) {
		snprintf(text, CELL, "%s", cell.text);
		tp_clean(text, strlen(text));
	} else if (cell.type) {
		tp_relation_format(data->analysis, column->as->unit, cell, table, other);
		snprintf(text, CELL, "%s", table);
	}
	const uint32_t width = tp_tui_width(text);
	column->width = (uint8_t)(width > column->width ? width : column->width);
}

// The columns that there is room for: where it is too narrow, the one with the highest rank goes,
// but not that of the order.
static void arrange(struct drawing *drawing)
{
	const struct tp_tui_page *page = drawing->page;
	const uint32_t sorted = page->sorted;
	drawing->order_count = page->column_count;
	for (uint32_t i = 0; i < page->column_count; i++)
		drawing->order[i] = i;
	for (;;) {
		uint32_t sum = drawing->bar + drawing->percent + 2 +
			       (tp_tui_page_is_tree(page) ? TREE_LEAST : NAME_LEAST);
		uint32_t last = UINT32_MAX;
		for (uint32_t i = 0; i < drawing->order_count; i++) {
			const struct tp_tui_column *column = &page->columns[drawing->order[i]];
			sum += column->width + 2;
			if (column->rank && drawing->order[i] != sorted &&
			    (last == UINT32_MAX ||
				column->rank >= page->columns[drawing->order[last]].rank))
				last = i;
		}
		if (sum <= drawing->tui->columns || last == UINT32_MAX)
			break;
		memmove(drawing->order + last, drawing->order + last + 1,
		    (drawing->order_count - last - 1) * sizeof(drawing->order[0]));
		drawing->order_count--;
	}
	drawing->name_at = drawing->bar + drawing->percent + (drawing->bar ? 2 : 0);
	for (uint32_t i = 0; i < drawing->order_count; i++)
		drawing->name_at += page->columns[drawing->order[i]].width + 2;
}

static void pad(struct tp_buf *text, uint32_t count)
{
	while (count--)
		tp_buf_add_char(text, ' ');
}

static void draw_titles(struct drawing *drawing)
{
	const struct tp_tui_page *page = drawing->page;
	const uint32_t sorted = page->sorted;
	const char *mark =
	    drawing->tui->ascii ? (page->ascends ? "^" : "v") : (page->ascends ? "▲" : "▼");
	uint32_t at = 0;
	for (uint32_t i = 0; i < drawing->order_count; i++) {
		const struct tp_tui_column *column = &page->columns[drawing->order[i]];
		const bool own = drawing->order[i] == sorted;
		struct tp_buf *text = &drawing->text;
		tp_buf_reset(text);
		const uint32_t width = tp_tui_width(column->title) + own;
		pad(text, width < column->width ? column->width - width : 0);
		tp_buf_addf(text, "%s%s", column->title, own ? mark : "");
		put(drawing, LINE_COLUMNS, at, text->data,
		    TP_TUI_BOLD | (own ? TP_TUI_REVERSE : 0));
		at += column->width + 2;
	}
	if (drawing->bar)
		put(drawing, LINE_COLUMNS, at,
		    page->kind == TP_TUI_CALL      ? "from start to end"
		    : page->kind == TP_TUI_THREADS ? "share"
						   : "self, all",
		    TP_TUI_BOLD);
	tp_buf_reset(&drawing->text);
	tp_buf_addf(&drawing->text, "%s%s", page->kind == TP_TUI_THREADS ? "name" : "function",
	    sorted == page->column_count ? mark : "");
	put(drawing, LINE_COLUMNS, drawing->name_at, drawing->text.data,
	    TP_TUI_BOLD | (sorted == page->column_count ? TP_TUI_REVERSE : 0));
}

// Of WIDTH marks the first SELF parts of 1 dark, up to INCLUSIVE light.
static void add_bar(struct drawing *drawing, const struct tp_tui_share *share, uint32_t width)
{
	const bool ascii = drawing->tui->ascii;
	const uint32_t dark = (uint32_t)(share->self * width + 0.5);
	uint32_t all = (uint32_t)(share->inclusive * width + 0.5);
	all = all < dark ? dark : all;
	for (uint32_t i = 0; i < width; i++)
		tp_buf_add_string(&drawing->text, i < dark  ? (ascii ? "#" : "█")
						  : i < all ? (ascii ? "-" : "░")
							    : " ");
}

// Where a call lies in the one that the page is of.
static void add_span(struct drawing *drawing, const struct tp_call *call, uint32_t width)
{
	const struct tp_call *outer = &drawing->page->outer.call;
	const double length = (double)(outer->end > outer->start ? outer->end - outer->start : 1);
	uint32_t from = (uint32_t)((double)(call->start - outer->start) / length * width);
	uint32_t to = (uint32_t)((double)(call->end - outer->start) / length * width + 0.5);
	from = from < width ? from : width - 1;
	to = to <= from ? from + 1 : to > width ? width : to;
	for (uint32_t i = 0; i < width; i++)
		tp_buf_add_string(&drawing->text, i < from || i >= to   ? " "
						  : drawing->tui->ascii ? "="
									: "█");
}

static void draw_bar(
    struct drawing *drawing, uint32_t line, uint32_t column, uint32_t at, unsigned style)
{
	const struct tp_tui_page *page = drawing->page;
	const struct tp_tui_data *data = drawing->tui->data;
	struct tp_buf *text = &drawing->text;
	char number[TP_TEXT_NUMBER];
	tp_buf_reset(text);
	if (page->kind == TP_TUI_CALL) {
		add_span(drawing, &page->calls.items[at].kept.call, drawing->bar);
	} else {
		const struct tp_tui_share share = tp_tui_page_share(page, data, at);
		if (!share.known)
			return;
		if (drawing->percent) {
			snprintf(number, sizeof(number), "%.1f%%", share.inclusive * 100);
			tp_buf_addf(text, "%*s", (int)drawing->percent - 1, number);
			put(drawing, line, column, text->data, style);
			tp_buf_reset(text);
		}
		add_bar(drawing, &share, drawing->bar);
	}
	put(drawing, line, column + drawing->percent, text->data, style | TP_TUI_BAR);
}

static void add_name(struct drawing *drawing, const struct tp_tui_row *row)
{
	struct tp_buf *text = &drawing->text;
	const bool ascii = drawing->tui->ascii;
	// Deep ones do not push the names out of the screen.
	const uint32_t room = drawing->tui->columns - drawing->name_at;
	const uint32_t most = room < drawing->tui->columns ? room / 2 : 0;
	const uint32_t step = tp_tui_page_is_tree(drawing->page) ? 1 : 2;
	const uint64_t indent = UINT64_C(1) * step * (row->depth - 1);
	tp_buf_reset(text);
	pad(text, indent < most ? (uint32_t)indent : most);
	if (indent > most)
		tp_buf_addf(text, "[%" PRIu32 "] ", row->depth);
	if (tp_tui_page_is_tree(drawing->page))
		tp_buf_add_string(text, !row->below ? "  "
					: row->open ? (ascii ? "- " : "▾ ")
						    : (ascii ? "+ " : "▸ "));
	// Only the name is cut.
	const uint32_t used = tp_tui_width(text->data);
	tp_tui_fit(text, tp_tui_page_name(drawing->page, drawing->tui->data, row->at),
	    used < room ? room - used : 0, false, ascii);
}

static unsigned row_style(const struct drawing *drawing, uint32_t index)
{
	const struct tp_tui_page *page = drawing->page;
	unsigned style = 0;
	if (index == page->cursor)
		style |= TP_TUI_REVERSE;
	if (page->kind == TP_TUI_NEIGHBOURS && page->rows[index].at == page->caller_count)
		style |= TP_TUI_BOLD;
	return style;
}

static void draw_row(struct drawing *drawing, uint32_t line, uint32_t index)
{
	struct tp_tui *tui = drawing->tui;
	const struct tp_tui_page *page = drawing->page;
	const struct tp_tui_row *row = &page->rows[index];
	const unsigned style = row_style(drawing, index);
	const char(*cells)[CELL] = drawing->cells + (size_t)(index - page->top) * TP_TUI_COLUMNS;
	uint32_t at = 0;
	// The selected row is one stripe.
	if (style & TP_TUI_REVERSE)
		put_fit(drawing, line, 0, "", tui->columns, true, style);
	for (uint32_t i = 0; i < drawing->order_count; i++) {
		const struct tp_tui_column *column = &page->columns[drawing->order[i]];
		const char *cell = cells[drawing->order[i]];
		const uint32_t width = tp_tui_width(cell);
		const bool left = column->as->type == TP_TYPE_TEXT;
		put_fit(drawing, line, at + (left ? 0 : column->width - width), cell, width, false,
		    style);
		at += column->width + 2;
	}
	if (drawing->bar)
		draw_bar(drawing, line, at, row->at, style);
	add_name(drawing, row);
	const bool found =
	    tp_tui_match_test(&tui->search, tp_tui_page_name(page, tui->data, row->at));
	if (drawing->name_at < tui->columns)
		put_fit(drawing, line, drawing->name_at, drawing->text.data,
		    tui->columns - drawing->name_at, false, style | (found ? TP_TUI_FOUND : 0));
}

static void draw_table(struct drawing *drawing)
{
	struct tp_tui_page *page = drawing->page;
	const uint32_t end = page->count - page->top < drawing->tui->page_rows
				 ? page->count
				 : page->top + drawing->tui->page_rows;
	const bool timeless = drawing->tui->data->analysis->timeless;
	drawing->bar = timeless ? 0 : page->kind == TP_TUI_CALL ? TIMELINE : BAR;
	if (page->kind == TP_TUI_CALL && drawing->tui->columns > 120)
		drawing->bar = 2 * TIMELINE;
	drawing->percent =
	    !timeless && (page->kind == TP_TUI_TREE || page->kind == TP_TUI_NEIGHBOURS) ? 7 : 0;
	drawing->cells =
	    calloc((size_t)(end - page->top + 1) * TP_TUI_COLUMNS, sizeof(*drawing->cells));
	if (!drawing->cells)
		return;
	for (uint32_t i = 0; i < page->column_count; i++) {
		struct tp_tui_column *column = &page->columns[i];
		const uint32_t title =
		    tp_tui_width(column->title) + 1; // with the mark of the order
		column->width = (uint8_t)(title > column->width ? title : column->width);
		for (uint32_t row = page->top; row < end; row++)
			format_cell(drawing, page->rows[row].at, column,
			    drawing->cells[(size_t)(row - page->top) * TP_TUI_COLUMNS + i]);
	}
	arrange(drawing);
	draw_titles(drawing);
	for (uint32_t row = page->top; row < end; row++)
		draw_row(drawing, LINES_ABOVE + row - page->top, row);
	free(drawing->cells);
}

static void draw_lines(struct drawing *drawing)
{
	const struct tp_tui_page *page = drawing->page;
	for (uint32_t i = page->top; i < page->count && i - page->top < drawing->tui->page_rows;
	     i++) {
		const char *line = page->text.data + page->rows[i].at;
		const bool wrong = strncmp(line, "wrong ", 6) == 0;
		const bool limit = strncmp(line, "limit ", 6) == 0;
		put_line(drawing, LINES_ABOVE + i - page->top, line,
		    (i == page->cursor ? TP_TUI_REVERSE : 0) | (wrong ? TP_TUI_WRONG : 0) |
			(limit ? TP_TUI_LIMIT : 0));
	}
}

// Why there are no rows.
static const char *nothing(const struct drawing *drawing)
{
	const struct tp_tui *tui = drawing->tui;
	const struct tp_tui_page *page = drawing->page;
	if (!tui->data)
		return "reading the trace";
	if (page->ticket)
		return "reading calls; Esc stops it";
	if (tp_tui_page_needs_paths(page) && !tui->ready)
		return "building the call tree";
	if (tp_tui_page_needs_paths(page) && tui->data->paths_code)
		return "not enough memory for the call tree: use --depth or --min-time";
	if (page->filter.text[0])
		return "no name matches: Esc shows all again";
	return "nothing was recorded";
}

static void draw_page(struct drawing *drawing)
{
	struct tp_tui *tui = drawing->tui;
	struct tp_tui_page *page = drawing->page;
	tui->first_line = LINES_ABOVE;
	tui->page_rows = tui->lines - LINES_ABOVE - LINES_BELOW;
	if (page->top > page->cursor)
		page->top = page->cursor;
	if (page->cursor - page->top >= tui->page_rows)
		page->top = page->cursor - tui->page_rows + 1;
	// No lines stay empty that could show rows.
	if (page->count - page->top < tui->page_rows)
		page->top = page->count > tui->page_rows ? page->count - tui->page_rows : 0;
	if (page->count && tp_tui_page_is_text(page)) {
		draw_lines(drawing);
		return;
	}
	if (page->count) {
		draw_table(drawing);
		return;
	}
	tp_buf_reset(&drawing->text);
	tp_buf_add_string(&drawing->text, nothing(drawing));
	if (tui->reads && tui->all)
		tp_buf_addf(&drawing->text, ": %" PRIu64 " of %" PRIu64 " %s", tui->at, tui->all,
		    page->ticket ? "calls" : "chunks");
	put_fit(drawing, LINES_ABOVE + 1, 2, drawing->text.data, tui->columns - 4, false, 0);
}

// ---- the last lines

static void draw_selected(struct drawing *drawing)
{
	const struct tp_tui *tui = drawing->tui;
	const struct tp_tui_page *page = drawing->page;
	struct tp_buf *text = &drawing->text;
	if (!page->count || tp_tui_page_is_text(page) || !tui->data)
		return;
	const uint32_t at = page->rows[page->cursor].at;
	const uint32_t function = tp_tui_page_function(page, tui->data, at);
	tp_buf_reset(text);
	tp_buf_add_clean(text, tp_tui_page_name(page, tui->data, at));
	if (function < tui->data->analysis->function_count) {
		const struct tp_symbol *symbol = &tui->data->analysis->functions[function].symbol;
		if (symbol->module[0]) {
			tp_buf_add_string(text, "  [");
			tp_buf_add_clean(text, symbol->module);
			tp_buf_add_char(text, ']');
		}
		if (symbol->file[0]) {
			tp_buf_add_string(text, "  ");
			tp_buf_add_clean(text, symbol->file);
			tp_buf_addf(text, ":%" PRIu64, symbol->line);
		}
	}
	put_line(drawing, tui->lines - 3, text->data, TP_TUI_FAINT);
}

// What makes the numbers wrong is always there to be seen.
static void draw_notes(struct drawing *drawing)
{
	const struct tp_tui *tui = drawing->tui;
	struct tp_buf *text = &drawing->text;
	uint32_t counts[TP_NOTE_WRONG + 1] = {0};
	const struct tp_note *wrong = NULL;
	if (!tui->data)
		return;
	const struct tp_notes *notes = &tui->data->notes;
	for (uint32_t i = 0; i < notes->count; i++) {
		const struct tp_note *note = &notes->items[i];
		if (!counts[note->kind->severity]++ && note->kind->severity == TP_NOTE_WRONG)
			wrong = note;
	}
	tp_buf_reset(text);
	if (wrong) {
		tp_buf_addf(text, "wrong: %s ", wrong->kind->title);
		tp_buf_add_clean(text, wrong->text);
		if (counts[TP_NOTE_WRONG] > 1)
			tp_buf_addf(text, " (and %" PRIu32 " more: o)", counts[TP_NOTE_WRONG] - 1);
		put_line(drawing, tui->lines - 2, text->data, TP_TUI_WRONG | TP_TUI_BOLD);
	} else if (counts[TP_NOTE_LIMIT]) {
		tp_buf_addf(text, "%" PRIu32 " note%s limit%s what these numbers mean: o shows %s",
		    counts[TP_NOTE_LIMIT], tp_plural(counts[TP_NOTE_LIMIT]),
		    tp_by_count(counts[TP_NOTE_LIMIT], "s", ""),
		    tp_by_count(counts[TP_NOTE_LIMIT], "it", "them"));
		put_line(drawing, tui->lines - 2, text->data, TP_TUI_LIMIT);
	}
}

static void draw_keys(struct drawing *drawing)
{
	const struct tp_tui *tui = drawing->tui;
	struct tp_buf *text = &drawing->text;
	const uint32_t line = tui->lines - 1;
	tp_buf_reset(text);
	if (tui->prompt) {
		tp_buf_add_string(
		    text, tui->prompt == TP_TUI_PROMPT_SEARCH ? "search: " : "show only: ");
		tp_buf_add_clean(text, tui->typed);
		tp_buf_add_char(text, '_');
		put_line(drawing, line, text->data, TP_TUI_BOLD);
	} else if (tui->message[0]) {
		put_line(
		    drawing, line, tui->message, TP_TUI_BOLD | (tui->is_wrong ? TP_TUI_WRONG : 0));
	} else {
		put_line(drawing, line,
		    "Enter open  t tree  T threads  c callers  l calls  / find  & only  ? all keys",
		    TP_TUI_FAINT);
	}
}

void tp_tui_draw(struct tp_tui *tui, const struct tp_tui_canvas *canvas)
{
	struct drawing drawing = {.tui = tui, .canvas = canvas};
	tp_buf_init(&drawing.text);
	if (tui->lines < TP_TUI_LEAST_LINES || tui->columns < TP_TUI_LEAST_COLUMNS) {
		tp_buf_addf(&drawing.text, "%" PRIu32 "x%" PRIu32 " is too small: %dx%d",
		    tui->columns, tui->lines, TP_TUI_LEAST_COLUMNS, TP_TUI_LEAST_LINES);
		put_line(&drawing, 0, drawing.text.data, 0);
		tp_buf_release(&drawing.text);
		return;
	}
	drawing.page = tp_tui_page(tui);
	draw_title(&drawing);
	draw_where(&drawing);
	draw_facts(&drawing);
	draw_page(&drawing);
	draw_selected(&drawing);
	draw_notes(&drawing);
	draw_keys(&drawing);
	tp_buf_release(&drawing.text);
}
