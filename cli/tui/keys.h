/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Keys and what they do. The help page is made of the same table. */
#ifndef TP_TUI_KEYS_H
#define TP_TUI_KEYS_H

#include <stdint.h>

/* A key is a Unicode character, or one of these. */
enum {
	TP_KEY_UP = 0x110000,
	TP_KEY_DOWN,
	TP_KEY_LEFT,
	TP_KEY_RIGHT,
	TP_KEY_PAGE_UP,
	TP_KEY_PAGE_DOWN,
	TP_KEY_HOME,
	TP_KEY_END,
	TP_KEY_BACKSPACE,
	TP_KEY_ENTER = '\n',
	TP_KEY_ESCAPE = 27,
};

enum tp_tui_command {
	TP_TUI_NOTHING = 0,
	TP_TUI_UP,
	TP_TUI_DOWN,
	TP_TUI_PAGE_UP,
	TP_TUI_PAGE_DOWN,
	TP_TUI_FIRST,
	TP_TUI_LAST,
	TP_TUI_ENTER,
	TP_TUI_BACK,
	TP_TUI_TO_FUNCTIONS,
	TP_TUI_TO_TREE,
	TP_TUI_TO_THREADS,
	TP_TUI_TO_NEIGHBOURS,
	TP_TUI_TO_CALLS,
	TP_TUI_TO_NOTES,
	TP_TUI_TO_HELP,
	TP_TUI_OPEN,
	TP_TUI_CLOSE,
	TP_TUI_TOGGLE,
	TP_TUI_OPEN_ALL,
	TP_TUI_TO_CALLER,
	TP_TUI_SEARCH,
	TP_TUI_SEARCH_NEXT,
	TP_TUI_SEARCH_BEFORE,
	TP_TUI_FILTER,
	TP_TUI_SORT_BEFORE,
	TP_TUI_SORT_NEXT,
	TP_TUI_SORT_TURN,
	TP_TUI_SORT_BY, /* the column of the key */
	TP_TUI_WATCH,
	TP_TUI_SINCE,
	TP_TUI_REDRAW,
	TP_TUI_QUIT,
};

struct tp_tui_key {
	int keys[3]; /* 0 where there are fewer */
	enum tp_tui_command command;
	const char *column; /* of TP_TUI_SORT_BY: keys, with blanks; the first that is there */
	const char *shown;  /* in help; NULL: the row is not there */
	const char *help;
};

/* What KEY does; NULL: nothing. */
const struct tp_tui_key *tp_tui_key_find(int key);
/* All of them, in the order of help, ended by TP_TUI_NOTHING. */
extern const struct tp_tui_key tp_tui_keys[];

#endif
