/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the user searches or filters names for. */
#ifndef TP_TUI_MATCH_H
#define TP_TUI_MATCH_H

#include <regex.h>
#include <stdbool.h>

#define TP_TUI_TEXT 128 /* bytes of typed text, with the NUL */

/*
 * A part of the name, in any case unless there is a capital in it; or /REGEX/, POSIX extended, for
 * a part of it. All zeroes: nothing, which no name matches.
 */
struct tp_tui_match {
	char text[TP_TUI_TEXT];
	bool is_regex;
	bool exact; /* case matters */
	regex_t regex;
};

/* True; or false for a wrong expression, as WRONG says, and MATCH stays as it is. "" is nothing. */
bool tp_tui_match_set(struct tp_tui_match *match, const char *text, char wrong[TP_TUI_TEXT]);
void tp_tui_match_release(struct tp_tui_match *match);
bool tp_tui_match_test(const struct tp_tui_match *match, const char *name);

#endif
