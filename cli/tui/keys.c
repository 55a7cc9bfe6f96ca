// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The table of keys.
#include "keys.h"

#include <stddef.h>

#define CONTROL(letter) ((letter) - '@')

const struct tp_tui_key tp_tui_keys[] = {
    {{TP_KEY_UP, 'k'}, TP_TUI_UP, NULL, "Up, k", "one row up"},
    {{TP_KEY_DOWN, 'j'}, TP_TUI_DOWN, NULL, "Down, j", "one row down"},
    {{TP_KEY_PAGE_UP, CONTROL('B')}, TP_TUI_PAGE_UP, NULL, "PgUp, Ctrl-B", "one page up"},
    {{TP_KEY_PAGE_DOWN, CONTROL('F')}, TP_TUI_PAGE_DOWN, NULL, "PgDn, Ctrl-F", "one page down"},
    {{TP_KEY_HOME, 'g'}, TP_TUI_FIRST, NULL, "Home, g", "first row"},
    {{TP_KEY_END, 'G'}, TP_TUI_LAST, NULL, "End, G", "last row"},
    {{TP_KEY_ENTER, '\r'}, TP_TUI_ENTER, NULL, "Enter",
	"callers and callees of a function; tree of a thread; what a call did"},
    {{TP_KEY_ESCAPE, TP_KEY_BACKSPACE}, TP_TUI_BACK, NULL, "Esc, Backspace", "back"},
    {{'f'}, TP_TUI_TO_FUNCTIONS, NULL, "f", "functions"},
    {{'t'}, TP_TUI_TO_TREE, NULL, "t", "call tree, at the heaviest path of the selected function"},
    {{'T'}, TP_TUI_TO_THREADS, NULL, "T", "threads"},
    {{'c'}, TP_TUI_TO_NEIGHBOURS, NULL, "c", "callers and callees of the selected function"},
    {{'l'}, TP_TUI_TO_CALLS, NULL, "l", "the slowest calls of the selected function"},
    {{'o'}, TP_TUI_TO_NOTES, NULL, "o", "what limits these numbers, and how they were recorded"},
    {{TP_KEY_RIGHT, '+'}, TP_TUI_OPEN, NULL, "Right, +", "in a tree: show the calls below"},
    {{TP_KEY_LEFT, '-'}, TP_TUI_CLOSE, NULL, "Left, -",
	"in a tree: hide the calls below; or go to the caller"},
    {{' '}, TP_TUI_TOGGLE, NULL, "Space", "in a tree: show or hide the calls below"},
    {{'*'}, TP_TUI_OPEN_ALL, NULL, "*", "in a tree: show all calls below"},
    {{'u'}, TP_TUI_TO_CALLER, NULL, "u", "in a tree: go to the caller"},
    {{'/'}, TP_TUI_SEARCH, NULL, "/",
	"search a part of a name, or /REGEX/; in a tree also hidden rows"},
    {{'n'}, TP_TUI_SEARCH_NEXT, NULL, "n", "next match"},
    {{'N', 'p'}, TP_TUI_SEARCH_BEFORE, NULL, "N, p", "match before"},
    {{'&'}, TP_TUI_FILTER, NULL, "&", "show only names that match; nothing shows all"},
    {{'<', ','}, TP_TUI_SORT_BEFORE, NULL, "<", "sort by the column before"},
    {{'>', '.'}, TP_TUI_SORT_NEXT, NULL, ">", "sort by the next column"},
    {{'r'}, TP_TUI_SORT_TURN, NULL, "r", "reverse the order"},
    {{'S'}, TP_TUI_SORT_BY, "self_ns self_raw_ns", "S", "sort by self time"},
    {{'I'}, TP_TUI_SORT_BY, "inclusive_ns duration_ns busy_ns", "I", "sort by inclusive time"},
    {{'C'}, TP_TUI_SORT_BY, "calls", "C", "sort by calls"},
    {{'P'}, TP_TUI_SORT_BY, "p99_ns", "P", "sort by the 99th percentile"},
    {{'W'}, TP_TUI_SORT_BY, "self_wait_ns wait_ns", "W", "sort by waiting"},
    {{'A'}, TP_TUI_SORT_BY, "", "A", "sort by name"},
    {{'w'}, TP_TUI_WATCH, NULL, "w", "follow a recording, or stop to"},
    {{'s'}, TP_TUI_SINCE, NULL, "s", "of a recording that is followed: the last interval, or all"},
    {{'?', 'h'}, TP_TUI_TO_HELP, NULL, "?, h", "this page"},
    {{CONTROL('L')}, TP_TUI_REDRAW, NULL, "Ctrl-L", "draw the screen anew"},
    {{'q', 'Q', CONTROL('C')}, TP_TUI_QUIT, NULL, "q, Ctrl-C", "quit"},
    {{0}, TP_TUI_NOTHING, NULL, NULL, NULL},
};

const struct tp_tui_key *tp_tui_key_find(int key)
{
	for (const struct tp_tui_key *at = tp_tui_keys; key && at->command; at++)
		for (int i = 0; i < 3; i++)
			if (at->keys[i] == key)
				return at;
	return NULL;
}
