/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The terminal, by ncurses, which screen.c alone includes. There is one. */
#ifndef TP_TUI_SCREEN_H
#define TP_TUI_SCREEN_H

#include "tui.h"

/* Input that is not a key of keys.h. */
enum {
	TP_KEY_RESIZE = TP_KEY_BACKSPACE + 1, /* the screen has another size */
	TP_KEY_CLICK,
	TP_KEY_WHEEL_UP,
	TP_KEY_WHEEL_DOWN,
};

/*
 * Take the terminal over. *ASCII: it shows nothing else. 0; TP_ERR_NOT_FOUND: it cannot be steered.
 * Close it only after 0.
 */
int tp_tui_screen_open(bool color, bool mouse, bool *ascii, struct tp_err *err);
void tp_tui_screen_close(void);
void tp_tui_screen_size(uint32_t *lines, uint32_t *columns);
/* The next key, without waiting; 0: there is none. *LINE: of TP_KEY_CLICK. */
int tp_tui_screen_key(uint32_t *line);
/* Draw; ANEW: all of it, as something else may have written to the terminal. */
void tp_tui_screen_draw(struct tp_tui *tui, bool anew);

#endif
