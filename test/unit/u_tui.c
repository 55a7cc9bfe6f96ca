// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// teeperf tui without a terminal: pages, order, search, filter, history, trees, calls, other data,
// and the output, which never leaves the screen, whatever keys are pressed.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <locale.h>

#include "analyzer/output/view.h"
#include "analyzer/trace/text/dump_text.h"
#include "cli/tui/tui.h"

// ---- traces

struct opened {
	struct tp_buf file;
	struct tp_tracefile trace;
	struct tp_analysis analysis;
	struct tp_tui_data data;
};

static struct tp_err err;
static struct tp_tui tui;
static struct opened first;

static void open_trace(struct opened *opened, const char *text)
{
	const struct tp_analysis_options options = {0};
	tp_buf_init(&opened->file);
	if (tp_dump_assemble(text, strlen(text), "text", &opened->file, &err))
		fail_msg("line %u: %s", err.line, err.what);
	assert_int_equal(tp_tracefile_from_memory(
			     &opened->trace, "trace", opened->file.data, opened->file.size, &err),
	    0);
	assert_int_equal(tp_analysis_init(&opened->analysis, &opened->trace, &options, &err), 0);
	assert_int_equal(tp_tui_data_init(&opened->data, &opened->analysis, &err), 0);
	tp_tui_data_add_paths(&opened->data);
	assert_int_equal(opened->data.paths_code, 0);
}

static void close_trace(struct opened *opened)
{
	tp_tui_data_release(&opened->data);
	tp_analysis_release(&opened->analysis);
	tp_tracefile_close(&opened->trace);
	tp_buf_release(&opened->file);
}

static void begin(const char *text)
{
	open_trace(&first, text);
	tp_tui_init(&tui, "app.trace");
	tp_tui_show(&tui, &first.data, true);
}

static void end(void)
{
	tp_tui_release(&tui);
	close_trace(&first);
}

// self: emit 290, main 110, parse 70, read_all 30; inclusive: main 500, emit 290, parse 100,
// read_all 30.
static const char four[] = "clock kind=tsc hz=1000000000\n"
			   "symbols\n	symbol 0x1000 main\n	symbol 0x2000 parse\n"
			   "	symbol 0x3000 read_all\n	symbol 0x4000 emit\n"
			   "chunk\n"
			   "	0 enter main\n	10 enter parse\n	20 enter read_all\n"
			   "	50 exit read_all\n	100 exit parse\n"
			   "	100 enter parse\n	110 exit parse\n"
			   "	110 enter emit\n	400 exit emit\n	500 exit main\n"
			   "end\n";

// ---- a screen

enum { LINES_MOST = 70, COLUMNS_MOST = 240 };
static char cells[LINES_MOST][COLUMNS_MOST][8];
static char lines[LINES_MOST][COLUMNS_MOST * 8];

static void put(void *context, uint32_t line, uint32_t column, const char *text, unsigned style)
{
	(void)context;
	(void)style;
	assert_true(line < tui.lines);
	assert_true(column + tp_tui_width(text) <= tui.columns);
	for (; *text; column++) {
		size_t size = 1;
		while (((unsigned char)text[size] & 0xc0) == 0x80)
			size++;
		assert_true(size < sizeof(cells[0][0]));
		assert_true(size > 1 || (text[0] >= 0x20 && text[0] < 0x7f));
		memcpy(cells[line][column], text, size);
		cells[line][column][size] = '\0';
		text += size;
	}
}

static void draw_cells(void)
{
	const struct tp_tui_canvas canvas = {.put = put};
	memset(cells, 0, sizeof(cells));
	tp_tui_draw(&tui, &canvas);
}

static void draw(void)
{
	draw_cells();
	for (uint32_t i = 0; i < tui.lines; i++) {
		lines[i][0] = '\0';
		for (uint32_t j = 0; j < tui.columns; j++)
			strcat(lines[i], cells[i][j][0] ? cells[i][j] : " ");
	}
}

static bool shows(const char *text)
{
	draw();
	for (uint32_t i = 0; i < tui.lines; i++)
		if (strstr(lines[i], text))
			return true;
	return false;
}

static void press(const char *keys)
{
	for (; *keys; keys++)
		tp_tui_press(&tui, (unsigned char)*keys);
}

// Do at once what the loader would do.
static void load(void)
{
	struct tp_tui_reading reading = {0};
	struct tp_tui_calls calls = {0};
	const struct tp_tui_page *page = tp_tui_waiting(&tui);
	if (!page)
		return;
	const int code =
	    page->kind == TP_TUI_CALLS
		? tp_tui_calls_slowest(&calls, tui.data->analysis, page->function, &reading, &err)
		: tp_tui_calls_inside(&calls, tui.data->analysis, &page->outer, &reading, &err);
	assert_int_equal(code, 0);
	tp_tui_take_calls(&tui, page->ticket, &calls, NULL);
	assert_null(tp_tui_waiting(&tui));
}

// The names of the rows, with dots in front for their depth.
static const char *rows(void)
{
	static char text[1024];
	const struct tp_tui_page *page = tp_tui_page(&tui);
	text[0] = '\0';
	for (uint32_t i = 0; i < page->count; i++) {
		if (i)
			strcat(text, " ");
		for (uint32_t j = 1; j < page->rows[i].depth; j++)
			strcat(text, ".");
		strcat(text, tp_tui_page_name(page, tui.data, page->rows[i].at));
	}
	return text;
}

static const char *selected(void)
{
	const struct tp_tui_page *page = tp_tui_page(&tui);
	return page->count ? tp_tui_page_name(page, tui.data, page->rows[page->cursor].at) : "";
}

// ---- tests

static void test_order(void **state)
{
	(void)state;
	begin(four);
	assert_string_equal(rows(), "emit main parse read_all");
	press("I");
	assert_string_equal(rows(), "main emit parse read_all");
	press("r");
	assert_string_equal(rows(), "read_all parse emit main");
	press("C");
	assert_string_equal(rows(), "parse emit main read_all");
	press("A");
	assert_string_equal(rows(), "emit main parse read_all");
	press("r");
	assert_string_equal(rows(), "read_all parse main emit");
	end();
}

// Each order of a view is the same here.
static void test_order_of_views(void **state)
{
	(void)state;
	static const struct {
		const char *key;
		enum tp_sort sort;
	} cases[] = {{"self_ns", TP_SORT_SELF}, {"inclusive_ns", TP_SORT_INCLUSIVE},
	    {"calls", TP_SORT_CALLS}, {"mean_ns", TP_SORT_MEAN}, {"min_ns", TP_SORT_MIN},
	    {"max_ns", TP_SORT_MAX}, {"p50_ns", TP_SORT_P50}, {"p90_ns", TP_SORT_P90},
	    {"p99_ns", TP_SORT_P99}, {"", TP_SORT_NAME}};
	bool seen[sizeof(cases) / sizeof(cases[0])] = {0};
	begin(four);
	// All of them come by, to either side.
	for (int side = 0; side < 2; side++)
		for (int step = 0; step < 40; step++) {
			const struct tp_tui_page *page = tp_tui_page(&tui);
			const uint32_t sorted = page->sorted;
			const char *key =
			    sorted == page->column_count ? "" : page->columns[sorted].as->key;
			for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
				const struct tp_view_options options = {.sort = cases[i].sort};
				uint32_t count;
				if (strcmp(cases[i].key, key) != 0)
					continue;
				uint32_t *order =
				    tp_view_order(&first.analysis, &options, NULL, &count, &err);
				assert_int_equal(count, page->count);
				for (uint32_t j = 0; j < count; j++)
					assert_int_equal(page->rows[j].at, order[j]);
				free(order);
				seen[i] = true;
			}
			press(side ? "<" : ">");
		}
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_true(seen[i]);
	end();
}

static void test_search(void **state)
{
	(void)state;
	begin(four);
	press("n");
	assert_true(shows("nothing was searched for yet"));
	press("/A\n"); // a capital: case matters
	assert_string_equal(selected(), "emit");
	assert_true(shows("'A' is not here"));
	press("/a\n");
	assert_string_equal(selected(), "main");
	press("n");
	assert_string_equal(selected(), "parse");
	press("nn");
	assert_string_equal(selected(), "main");
	press("N");
	assert_string_equal(selected(), "read_all");
	press("//^e.i/\n");
	assert_string_equal(selected(), "emit");
	press("//(/\n");
	assert_true(shows("'/(/'"));
	// Input can be erased, and abandoned.
	press("/xy");
	assert_true(shows("search: xy_"));
	tp_tui_press(&tui, TP_KEY_BACKSPACE);
	assert_true(shows("search: x_"));
	tp_tui_press(&tui, TP_KEY_ESCAPE);
	assert_false(shows("search:"));
	assert_int_equal(tui.page_count, 1);
	end();
}

static void test_filter(void **state)
{
	(void)state;
	begin(four);
	press("&ar\n");
	assert_string_equal(rows(), "parse");
	assert_true(shows("only: ar"));
	press("&nowhere\n");
	assert_true(shows("no name matches"));
	tp_tui_press(&tui, TP_KEY_ESCAPE);
	assert_string_equal(rows(), "emit main parse read_all");
	// In a tree, the ancestors of a match stay, and are open; its descendants stay, too.
	press("t&ars\n");
	assert_string_equal(rows(), "main .parse");
	press("j");
	tp_tui_press(&tui, TP_KEY_RIGHT);
	assert_string_equal(rows(), "main .parse ..read_all");
	tp_tui_press(&tui, TP_KEY_ESCAPE);
	assert_int_equal(tui.page_count, 2);
	tp_tui_press(&tui, TP_KEY_ESCAPE);
	assert_int_equal(tui.page_count, 1);
	end();
}

static void test_neighbours(void **state)
{
	(void)state;
	begin(four);
	press("jj");
	assert_string_equal(selected(), "parse");
	press("\n");
	assert_string_equal(rows(), "..main parse ..read_all");
	assert_string_equal(selected(), "parse");
	press("k\n");
	assert_string_equal(rows(), "..(start of a thread) main ..emit ..parse");
	press("k\n"); // nothing to go to
	assert_int_equal(tui.page_count, 3);
	tp_tui_press(&tui, TP_KEY_BACKSPACE);
	assert_string_equal(selected(), "main");
	tp_tui_press(&tui, TP_KEY_BACKSPACE);
	assert_string_equal(selected(), "parse");
	tp_tui_press(&tui, TP_KEY_BACKSPACE);
	assert_int_equal(tui.page_count, 1);
	end();
}

static void test_tree(void **state)
{
	(void)state;
	begin(four);
	tp_tui_press(&tui, TP_KEY_END);
	assert_string_equal(selected(), "read_all");
	// It is opened where the function is.
	press("t");
	assert_string_equal(rows(), "main .emit .parse ..read_all");
	assert_string_equal(selected(), "read_all");
	press("u");
	assert_string_equal(selected(), "parse");
	press(" ");
	assert_string_equal(rows(), "main .emit .parse");
	tp_tui_press(&tui, TP_KEY_RIGHT);
	tp_tui_press(&tui, TP_KEY_RIGHT);
	assert_string_equal(selected(), "read_all");
	tp_tui_press(&tui, TP_KEY_LEFT);
	tp_tui_press(&tui, TP_KEY_LEFT);
	assert_string_equal(rows(), "main .emit .parse");
	press("g*");
	assert_string_equal(rows(), "main .emit .parse ..read_all");
	press("-");
	assert_string_equal(rows(), "main");
	// A search opens what it finds.
	press("/read\n");
	assert_string_equal(rows(), "main .emit .parse ..read_all");
	assert_string_equal(selected(), "read_all");
	press("/a\n"); // round the end
	assert_string_equal(selected(), "main");
	press("n");
	assert_string_equal(selected(), "parse");
	press("N");
	assert_string_equal(selected(), "main");
	press("A");
	assert_string_equal(rows(), "main .emit .parse ..read_all");
	press("r");
	assert_string_equal(rows(), "main .parse ..read_all .emit");
	// From the threads: the tree of one.
	press("T\n");
	assert_string_equal(rows(), "main .emit .parse");
	assert_true(shows("call tree of thread 0"));
	assert_true(shows("100.0%"));
	end();
}

static void test_calls(void **state)
{
	(void)state;
	begin(four);
	press("jjl");
	assert_true(shows("reading calls"));
	load();
	assert_string_equal(rows(), "parse parse");
	assert_true(shows("2 of 2 calls"));
	assert_true(shows("90 ns"));
	press("\n");
	load();
	assert_string_equal(rows(), "parse .read_all");
	assert_true(shows("calls in it: 1"));
	press("j\n");
	assert_string_equal(rows(), "..parse read_all");
	press("\n");
	load();
	assert_string_equal(rows(), "read_all");
	// Calls that nobody waits for any more are dropped.
	struct tp_tui_calls none = {0};
	tp_tui_take_calls(&tui, 77, &none, NULL);
	assert_false(tp_tui_waits_for(&tui, 77));
	end();
}

// Another look at the same recording: what was selected and open stays.
static void test_other_data(void **state)
{
	(void)state;
	struct opened second;
	open_trace(&second,
	    "clock kind=tsc hz=1000000000\n"
	    "symbols\n	symbol 0x1000 main\n	symbol 0x1800 boot\n	symbol 0x2000 parse\n"
	    "	symbol 0x3000 read_all\n	symbol 0x4000 emit\n"
	    "chunk\n"
	    "	0 enter main\n	10 enter parse\n	20 enter read_all\n"
	    "	50 exit read_all\n	100 exit parse\n"
	    "	100 enter parse\n	110 exit parse\n"
	    "	110 enter emit\n	400 exit emit\n	500 exit main\n"
	    "	500 enter boot\n	510 enter main\n	900 exit main\n	1900 exit boot\n"
	    "end\n");
	begin(four);
	press("jj"); // parse
	press("t");
	assert_string_equal(rows(), "main .emit .parse");
	press("*/read\n");
	press("c");
	assert_string_equal(rows(), "..parse read_all");
	press("k");
	tp_tui_show(&tui, &second.data, true);
	assert_string_equal(selected(), "parse");
	assert_string_equal(rows(), "..parse read_all");
	tp_tui_press(&tui, TP_KEY_ESCAPE);
	assert_string_equal(rows(), "boot main .emit .parse ..read_all");
	assert_string_equal(selected(), "read_all");
	tp_tui_press(&tui, TP_KEY_ESCAPE);
	assert_string_equal(rows(), "boot main emit parse read_all");
	assert_string_equal(selected(), "parse");
	// A user who has not moved sees the present first row.
	press("g");
	tp_tui_show(&tui, &first.data, true);
	assert_string_equal(selected(), "emit");
	end();
	close_trace(&second);
}

static void test_early(void **state)
{
	(void)state;
	open_trace(&first, four);
	tp_tui_init(&tui, "app.trace");
	assert_true(shows("reading the trace"));
	press("t?");
	assert_true(shows("callers and callees of the selected function"));
	tp_tui_press(&tui, TP_KEY_ESCAPE);
	tp_tui_show(&tui, &first.data, false);
	assert_string_equal(rows(), "emit main parse read_all");
	press("t");
	assert_true(shows("building the call tree"));
	tp_tui_show(&tui, &first.data, true);
	assert_string_equal(rows(), "main .emit .parse");
	end();
}

static void test_notes(void **state)
{
	(void)state;
	begin("threads\n	thread lost=1234\n"
	      "chunk\n	4 enter 0x1000\n	5 exit 0x2000\nend forked=3\n");
	// On each page.
	assert_true(shows("wrong: lost 1,234 events"));
	press("T");
	assert_true(shows("wrong: lost 1,234 events"));
	assert_true(shows("and 1 more"));
	press("o");
	tui.columns = 200;
	assert_true(shows("wrong  lost: 1,234 events"));
	assert_true(shows("give a larger --size"));
	assert_true(shows("limit  forked: "));
	end();
	begin(four);
	assert_false(shows("wrong"));
	end();
}

static void test_without_a_clock(void **state)
{
	(void)state;
	begin("clock kind=none\nsymbols\n	symbol 0x1000 main\n	symbol 0x2000 leaf\n"
	      "chunk\n	0 enter main\n	0 enter leaf\n	0 exit leaf\n	0 exit main\nend\n");
	assert_true(shows("calls"));
	assert_false(shows("self"));
	press("l");
	assert_true(shows("recorded without a clock"));
	press("t");
	assert_string_equal(rows(), "main .leaf");
	end();
}

static void test_fit(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		uint32_t width;
		bool padded;
		bool ascii;
		const char *fit;
	} cases[] = {
	    {"abc", 5, false, false, "abc"},
	    {"abc", 5, true, false, "abc  "},
	    {"abcdefgh", 5, false, false, "ab…gh"},
	    {"abcdefgh", 5, false, true, "a..gh"},
	    {"abcdefgh", 1, false, false, "…"},
	    {"abcdefgh", 0, false, false, ""},
	    {"größe", 5, true, false, "größe"},
	    {"größe", 5, true, true, "gr??e"},
	    {"日本語", 6, true, false, "日本語"},
	    {"日本語", 5, true, false, "日…語"},
	    {"日本語", 4, true, false, "…語 "},
	    // Nothing steers a terminal.
	    {"a\033[2Jb", 9, false, false, "a?[2Jb"},
	    {"a\302\233b\r\n\t\177", 9, false, false, "a?b????"},
	    {"a\342\200\256b", 9, false, false, "a?b"},
	    {"\377a\303", 9, false, false, "?a?"},
	};
	assert_non_null(setlocale(LC_CTYPE, "C.UTF-8"));
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tp_buf out;
		tp_buf_init(&out);
		tp_tui_fit(&out, cases[i].text, cases[i].width, cases[i].padded, cases[i].ascii);
		assert_string_equal(out.data, cases[i].fit);
		assert_true(tp_tui_width(out.data) <= cases[i].width);
		tp_buf_release(&out);
	}
}

static void test_keys_are_told_once(void **state)
{
	(void)state;
	for (const struct tp_tui_key *key = tp_tui_keys; key->command; key++) {
		assert_true(key->shown && key->help);
		for (int i = 0; i < 3 && key->keys[i]; i++)
			assert_ptr_equal(tp_tui_key_find(key->keys[i]), key);
	}
	assert_null(tp_tui_key_find(0));
}

// The oldest pages but the first go.
static void test_history(void **state)
{
	(void)state;
	begin(four);
	for (int i = 0; i < 100; i++)
		press(i % 2 ? "f" : "T");
	assert_int_equal(tui.page_count, TP_TUI_PAGES);
	for (int i = 0; i < 100; i++)
		tp_tui_press(&tui, TP_KEY_ESCAPE);
	assert_int_equal(tui.page_count, 1);
	assert_int_equal(tp_tui_page(&tui)->kind, TP_TUI_FUNCTIONS);
	press("q");
	assert_true(tui.quit);
	end();
}

static void test_small(void **state)
{
	(void)state;
	begin(four);
	tui.lines = 10;
	tui.columns = 30;
	assert_true(shows("30x10 is too small: 80x24"));
	tui.columns = 5;
	draw();
	// The help's lines are broken for any width.
	press("?");
	for (tui.columns = 1; tui.columns <= 80; tui.columns++)
		draw();
	end();
}

// Whatever is pressed, on whatever screen, nothing is drawn beside it.
static void press_at_random(const char *text, uint32_t seed)
{
	static const char keys[] = "kjgG\n\nftTclo+-* un/N&<>rSICPWAw?h\004";
	static const int more[] = {TP_KEY_UP, TP_KEY_DOWN, TP_KEY_LEFT, TP_KEY_RIGHT,
	    TP_KEY_PAGE_UP, TP_KEY_PAGE_DOWN, TP_KEY_END, TP_KEY_BACKSPACE, TP_KEY_ESCAPE, 0xfc};
	begin(text);
	for (int i = 0; i < 1500; i++) {
		seed = seed * 1664525 + 1013904223;
		const uint32_t at = seed >> 16;
		const uint32_t count = sizeof(keys) - 1 + sizeof(more) / sizeof(more[0]);
		const uint32_t key = at % count;
		tp_tui_press(
		    &tui, key < sizeof(keys) - 1 ? keys[key] : more[key - (sizeof(keys) - 1)]);
		if (at % 7 == 0)
			load();
		tui.lines = 24 + seed % (LINES_MOST - 24);
		tui.columns = 80 + (seed >> 8) % (COLUMNS_MOST - 80);
		tui.ascii = at % 3 == 0;
		tp_tui_click(&tui, at % tui.lines);
		draw_cells();
	}
	end();
}

static void test_at_random(void **state)
{
	(void)state;
	static char deep[400000];
	size_t size = (size_t)sprintf(deep, "clock kind=tsc hz=1000000000\nsymbols\n");
	for (int i = 0; i < 60; i++)
		size += (size_t)sprintf(
		    deep + size, "	symbol 0x%x function_%d_with_a_name\n", 0x1000 + i * 16, i);
	size += (size_t)sprintf(deep + size, "chunk\n");
	for (int i = 0; i < 1000; i++)
		size += (size_t)sprintf(
		    deep + size, "	%d enter function_%d_with_a_name\n", i, i % 60);
	for (int i = 1000; i-- > 0;)
		size += (size_t)sprintf(
		    deep + size, "	%d exit function_%d_with_a_name\n", 3000 - 2 * i, i % 60);
	sprintf(deep + size, "end\n");
	press_at_random(four, 1);
	press_at_random(deep, 2);
	press_at_random(
	    "clock kind=none\nchunk\n	0 enter 0x1000\n	0 exit 0x1000\nend\n", 3);
	press_at_random("end\n", 4);
}

int main(void)
{
	setlocale(LC_CTYPE, "C.UTF-8");
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_order),
	    cmocka_unit_test(test_order_of_views),
	    cmocka_unit_test(test_search),
	    cmocka_unit_test(test_filter),
	    cmocka_unit_test(test_neighbours),
	    cmocka_unit_test(test_tree),
	    cmocka_unit_test(test_calls),
	    cmocka_unit_test(test_other_data),
	    cmocka_unit_test(test_early),
	    cmocka_unit_test(test_notes),
	    cmocka_unit_test(test_without_a_clock),
	    cmocka_unit_test(test_fit),
	    cmocka_unit_test(test_keys_are_told_once),
	    cmocka_unit_test(test_history),
	    cmocka_unit_test(test_small),
	    cmocka_unit_test(test_at_random),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
