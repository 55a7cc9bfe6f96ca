/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The terminal interface without a terminal: pages and what keys do with them (tui.c), and where
 * they are drawn (draw.c). screen.c brings keys and draws; loader.c reads traces meanwhile; run.c
 * is between them.
 */
#ifndef TP_TUI_H
#define TP_TUI_H

#include "keys.h"
#include "page.h"

#define TP_TUI_PAGES 32 /* that one can go back to */
#define TP_TUI_LEAST_COLUMNS 80
#define TP_TUI_LEAST_LINES 24

enum tp_tui_prompt { TP_TUI_NO_PROMPT = 0, TP_TUI_PROMPT_SEARCH, TP_TUI_PROMPT_FILTER };

/* Of a recording. */
enum tp_tui_state {
	TP_TUI_FINISHED = 0,
	TP_TUI_RECORDING, /* it grows, and is not followed */
	TP_TUI_LIVE,      /* it is followed */
	TP_TUI_GONE,      /* the recorder was killed */
};

struct tp_tui {
	struct tp_tui_data *data;               /* the caller's; NULL: there is none yet */
	bool ready;                             /* it has its tree of calls */
	struct tp_tui_page pages[TP_TUI_PAGES]; /* the last one is shown */
	uint32_t page_count;
	enum tp_tui_prompt prompt;
	char typed[TP_TUI_TEXT];
	struct tp_tui_match search;
	char message[256]; /* until the next key */
	bool is_wrong;     /* it is an error */
	uint32_t tickets;
	bool follow;  /* 'w': look again and again */
	bool last;    /* 's': at what came since the look before */
	bool is_last; /* `data` is of that */
	bool redraw;  /* all of the screen */
	bool quit;
	enum tp_tui_state state;
	const char *file; /* clean */
	double age;       /* seconds since the look that `data` is of began; live */
	/* What the loader reads. */
	uint64_t at;
	uint64_t all;
	bool reads;
	/* The screen. */
	uint32_t lines;
	uint32_t columns;
	bool ascii;          /* it shows ASCII only */
	uint32_t page_rows;  /* rows of the page that fit */
	uint32_t first_line; /* where they begin */
};

/* FILE, clean, outlives it. */
void tp_tui_init(struct tp_tui *tui, const char *file);
void tp_tui_release(struct tp_tui *tui);
/*
 * DATA is there, with its tree of calls if it is READY, and replaces what was there, which the
 * caller releases.
 */
void tp_tui_show(struct tp_tui *tui, struct tp_tui_data *data, bool ready);
/*
 * The page on top if it waits for calls that the loader is to read, else NULL; and whether any page
 * waits for TICKET.
 */
struct tp_tui_page *tp_tui_waiting(struct tp_tui *tui);
bool tp_tui_waits_for(const struct tp_tui *tui, uint32_t ticket);
/* Its calls, or why there are none; WRONG is NULL: it went well. Takes the contents of CALLS. */
void tp_tui_take_calls(
    struct tp_tui *tui, uint32_t ticket, struct tp_tui_calls *calls, const char *wrong);
/* A key was pressed. */
void tp_tui_press(struct tp_tui *tui, int key);
/* The mouse: a row on line LINE was clicked; rows go by. */
void tp_tui_click(struct tp_tui *tui, uint32_t line);
void tp_tui_scroll(struct tp_tui *tui, int rows);
/* The page that is shown, made. */
struct tp_tui_page *tp_tui_page(struct tp_tui *tui);
void tp_tui_say(struct tp_tui *tui, bool is_wrong, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- draw.c */

/* How text looks, as bits. */
enum {
	TP_TUI_BOLD = 1,
	TP_TUI_FAINT = 2,
	TP_TUI_REVERSE = 4,
	TP_TUI_WRONG = 8,  /* numbers are false */
	TP_TUI_LIMIT = 16, /* numbers mean less than they seem to */
	TP_TUI_BAR = 32,
	TP_TUI_FOUND = 64, /* it matches what was searched for */
};

/* Where it is drawn. TEXT is clean, and no longer than to the end of the line. */
struct tp_tui_canvas {
	void *context;
	void (*put)(
	    void *context, uint32_t line, uint32_t column, const char *text, unsigned style);
};

/* Draw all of it on an empty screen of tui->lines and columns. */
void tp_tui_draw(struct tp_tui *tui, const struct tp_tui_canvas *canvas);
/* ---- text.c */

/* The text of NOTES and HELP for a screen of WIDTH. */
void tp_tui_add_notes(const struct tp_tui_data *data, uint32_t width, struct tp_buf *text);
void tp_tui_add_help(uint32_t width, struct tp_buf *text);

/* ---- fit.c */

/* Columns of a terminal that TEXT, which is UTF-8, takes. */
uint32_t tp_tui_width(const char *text);
/*
 * Add TEXT, cut in its middle if it takes more than WIDTH columns; padded to them if PADDED. ASCII:
 * with nothing else in it.
 */
void tp_tui_fit(struct tp_buf *out, const char *text, uint32_t width, bool padded, bool ascii);

#endif
