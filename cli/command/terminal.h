/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What a command needs to know of the terminal that standard output is, and the pager in front of
 * it: TEEPERF_PAGER, else PAGER, else less. Where standard output is no terminal there is no pager.
 */
#ifndef TP_TERMINAL_H
#define TP_TERMINAL_H

#include "options.h"

struct tp_terminal_options {
	int color; /* of tp_color_words */
	bool no_pager;
};
extern struct tp_terminal_options tp_terminal_options;
extern const char *const tp_color_words[];

/* Rows of commands that have them; main() takes them before the command, too. */
#define TP_OPT_COLOR                                                                  \
	TP_OPT_CHOICE(0, "color", &tp_terminal_options.color, tp_color_words, "WHEN", \
	    "use colour: auto (default; on a terminal, unless NO_COLOR is set), always or never")
#define TP_OPT_PAGER                                              \
	TP_OPT_BOOL(0, "no-pager", &tp_terminal_options.no_pager, \
	    "write to the terminal, not to the pager (TEEPERF_PAGER, else PAGER, else less)")

/* Columns of the terminal, 0 if standard output is none. */
uint32_t tp_terminal_width(void);
/* Whether text is shown as UTF-8, by LC_ALL, LC_CTYPE or LANG. */
bool tp_terminal_utf8(void);
/* Whether colour is wanted. */
bool tp_terminal_color(void);

/*
 * From here on standard output goes to the pager, if it is a terminal and a pager is wanted. Before
 * this call Ctrl-C interrupts the computation, afterwards it belongs to the pager. STATUS: the exit
 * status if the user leaves the pager before all is written, which is not a failure.
 */
void tp_pager_start(int status);
/* Standard output is complete: wait until it has been read. */
void tp_pager_end(void);

#endif
