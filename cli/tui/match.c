// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Search and filter: a part of a name, or a regular expression.
#define _GNU_SOURCE
#include "match.h"

#include <stdio.h>
#include <string.h>

static bool has_capital(const char *text)
{
	for (; *text; text++)
		if (*text >= 'A' && *text <= 'Z')
			return true;
	return false;
}

bool tp_tui_match_set(struct tp_tui_match *match, const char *text, char wrong[TP_TUI_TEXT])
{
	struct tp_tui_match new = {.exact = has_capital(text)};
	const size_t size = strlen(text);
	snprintf(new.text, sizeof(new.text), "%s", text);
	new.is_regex = size > 2 && text[0] == '/' && text[size - 1] == '/';
	if (new.is_regex) {
		char inner[TP_TUI_TEXT];
		snprintf(inner, sizeof(inner), "%.*s", (int)size - 2, text + 1);
		const int flags = REG_EXTENDED | REG_NOSUB | (new.exact ? 0 : REG_ICASE);
		const int code = regcomp(&new.regex, inner, flags);
		if (code) {
			regerror(code, &new.regex, wrong, TP_TUI_TEXT);
			return false;
		}
	}
	tp_tui_match_release(match);
	*match = new;
	return true;
}

void tp_tui_match_release(struct tp_tui_match *match)
{
	if (match->is_regex)
		regfree(&match->regex);
	memset(match, 0, sizeof(*match));
}

bool tp_tui_match_test(const struct tp_tui_match *match, const char *name)
{
	if (!match->text[0])
		return false;
	if (match->is_regex)
		return regexec(&match->regex, name, 0, NULL, 0) == 0;
	return (match->exact ? strstr(name, match->text) : strcasestr(name, match->text)) != NULL;
}
