// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ncurses: colours, keys, and the contents of the screen.
#define _GNU_SOURCE
#define _XOPEN_SOURCE_EXTENDED 1
#include "screen.h"

#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

// Its short names of keys and colours are many; ours have prefixes.
#include <curses.h>

// Milliseconds after Esc in which a terminal sends the rest of a key.
#define ESCAPE_MS 25

enum { PAIR_WRONG = 1, PAIR_LIMIT, PAIR_BAR, PAIR_FOUND };

static SCREEN *screen;
static bool colors;

// Names are UTF-8, and so is the output: nearly every terminal shows it, even where LANG is not
// set.
static bool choose_locale(void)
{
	setlocale(LC_CTYPE, "");
	if (strcmp(nl_langinfo(CODESET), "UTF-8") == 0)
		return true;
	const char *wanted = getenv("LC_ALL");
	wanted = wanted && *wanted ? wanted : getenv("LC_CTYPE");
	wanted = wanted && *wanted ? wanted : getenv("LANG");
	// Another character set was asked for.
	if (wanted && *wanted && strcmp(wanted, "C") != 0 && strcmp(wanted, "POSIX") != 0)
		return false;
	return setlocale(LC_CTYPE, "C.UTF-8") != NULL;
}

static void choose_colors(bool wanted)
{
	colors = wanted && has_colors() && start_color() == OK && use_default_colors() == OK;
	if (!colors)
		return;
	init_pair(PAIR_WRONG, COLOR_RED, -1);
	init_pair(PAIR_LIMIT, COLOR_YELLOW, -1);
	init_pair(PAIR_BAR, COLOR_CYAN, -1);
	init_pair(PAIR_FOUND, COLOR_GREEN, -1);
}

int tp_tui_screen_open(bool color, bool mouse, bool *ascii, struct tp_err *err)
{
	const char *term = getenv("TERM");
	*ascii = !choose_locale();
	screen = newterm(NULL, stdout, stdin);
	if (!screen)
		return tp_err_set(err, TP_ERR_NOT_FOUND, NULL,
		    "the terminal '%s' is not known: set TERM, or use 'teeperf analyze'",
		    term ? term : "");
	set_term(screen);
	const char *moves = tigetstr("cup");
	if (!moves || moves == (const char *)-1) {
		endwin();
		delscreen(screen);
		return tp_err_set(err, TP_ERR_NOT_FOUND, NULL,
		    "the terminal '%s' cannot place text: set TERM to another, or use 'teeperf "
		    "analyze'",
		    term ? term : "");
	}
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	set_escdelay(ESCAPE_MS);
	curs_set(0);
	choose_colors(color);
	if (mouse) {
		mousemask(
		    BUTTON1_CLICKED | BUTTON1_PRESSED | BUTTON4_PRESSED | BUTTON5_PRESSED, NULL);
		mouseinterval(0);
	}
	return 0;
}

void tp_tui_screen_close(void)
{
	if (!screen)
		return;
	endwin();
	delscreen(screen);
	screen = NULL;
}

void tp_tui_screen_size(uint32_t *lines, uint32_t *columns)
{
	*lines = (uint32_t)getmaxy(stdscr);
	*columns = (uint32_t)getmaxx(stdscr);
}

static int mouse_key(uint32_t *line)
{
	MEVENT event;
	if (getmouse(&event) != OK)
		return 0;
	*line = (uint32_t)event.y;
	if (event.bstate & BUTTON4_PRESSED)
		return TP_KEY_WHEEL_UP;
	if (event.bstate & BUTTON5_PRESSED)
		return TP_KEY_WHEEL_DOWN;
	return TP_KEY_CLICK;
}

int tp_tui_screen_key(uint32_t *line)
{
	static const struct {
		wint_t code;
		int key;
	} keys[] = {
	    {KEY_UP, TP_KEY_UP},
	    {KEY_DOWN, TP_KEY_DOWN},
	    {KEY_LEFT, TP_KEY_LEFT},
	    {KEY_RIGHT, TP_KEY_RIGHT},
	    {KEY_PPAGE, TP_KEY_PAGE_UP},
	    {KEY_NPAGE, TP_KEY_PAGE_DOWN},
	    {KEY_HOME, TP_KEY_HOME},
	    {KEY_END, TP_KEY_END},
	    {KEY_BACKSPACE, TP_KEY_BACKSPACE},
	    {KEY_ENTER, TP_KEY_ENTER},
	    {KEY_RESIZE, TP_KEY_RESIZE},
	};
	wint_t code;
	const int got = get_wch(&code);
	if (got == OK)
		return code == 127 || code == 8 ? TP_KEY_BACKSPACE : (int)code;
	if (got != KEY_CODE_YES)
		return 0;
	if (code == KEY_MOUSE)
		return mouse_key(line);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (keys[i].code == code)
			return keys[i].key;
	// Some key that means nothing here, but that there was one.
	return TP_KEY_CLICK + 100;
}

static attr_t attributes(unsigned style, short *pair)
{
	attr_t bits = A_NORMAL;
	*pair = 0;
	bits |= style & TP_TUI_BOLD ? A_BOLD : 0;
	bits |= style & TP_TUI_FAINT ? A_DIM : 0;
	bits |= style & TP_TUI_REVERSE ? A_REVERSE : 0;
	if (!colors) {
		bits |= style & TP_TUI_FOUND ? A_UNDERLINE : 0;
		bits |= style & (TP_TUI_WRONG | TP_TUI_LIMIT) ? A_BOLD : 0;
		return bits;
	}
	if (style & TP_TUI_WRONG)
		*pair = PAIR_WRONG;
	else if (style & TP_TUI_LIMIT)
		*pair = PAIR_LIMIT;
	else if (style & TP_TUI_FOUND)
		*pair = PAIR_FOUND;
	else if ((style & TP_TUI_BAR) && !(style & TP_TUI_REVERSE))
		*pair = PAIR_BAR;
	return bits;
}

static void put(void *context, uint32_t line, uint32_t column, const char *text, unsigned style)
{
	short pair;
	(void)context;
	const attr_t bits = attributes(style, &pair);
	attr_set(bits, pair, NULL);
	mvaddstr((int)line, (int)column, text);
}

void tp_tui_screen_draw(struct tp_tui *tui, bool anew)
{
	static const struct tp_tui_canvas canvas = {.put = put};
	attr_set(A_NORMAL, 0, NULL);
	erase();
	tp_tui_draw(tui, &canvas);
	if (anew)
		clearok(stdscr, TRUE);
	refresh();
}
