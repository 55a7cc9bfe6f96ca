// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pages of text: notes and help, as lines that fit the screen.
#include "tui.h"

#include "analyzer/output/view.h"
#include "common/clean.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void pad(struct tp_buf *text, uint32_t count)
{
	while (count--)
		tp_buf_add_char(text, ' ');
}

// LINE, broken at blanks where it is longer than WIDTH; what follows is indented by INDENT. Lines
// end with a NUL.
static void add_wrapped(struct tp_buf *text, const char *line, uint32_t width, uint32_t indent)
{
	const char *at = line;
	for (bool first = true; *at || first; first = false) {
		// On a screen that is too small nothing is shown, but it ends.
		const uint32_t left = first ? width : width - indent;
		const uint32_t room = left && left <= width ? left : 1;
		size_t size = strlen(at);
		if (size > room) {
			size = room;
			while (size && at[size] != ' ')
				size--;
			if (!size)
				for (size = room;
				     size < strlen(at) && !tp_begins_character(at[size]);)
					size++;
		}
		if (!first)
			pad(text, indent);
		tp_buf_add_clean_part(text, at, size);
		tp_buf_add_char(text, '\0');
		at += size;
		at += strspn(at, " ");
	}
}

static void add_wrapped_lines(struct tp_buf *text, const char *lines, uint32_t width)
{
	while (*lines) {
		const size_t size = strcspn(lines, "\n");
		char *line = strndup(lines, size);
		if (!line) {
			text->failed = true;
			return;
		}
		add_wrapped(text, line, width, 11);
		free(line);
		lines += size + (lines[size] == '\n');
	}
}

// Some say themselves what to do.
static bool has_remedy(const struct tp_note *note)
{
	char begin[16];
	snprintf(begin, sizeof(begin), "%s", note->kind->remedy);
	return strstr(note->text, begin);
}

void tp_tui_add_notes(const struct tp_tui_data *data, uint32_t width, struct tp_buf *text)
{
	struct tp_buf line;
	tp_buf_init(&line);
	add_wrapped(text,
	    data->notes.count ? "What limits these numbers:" : "Nothing limits these numbers.",
	    width, 0);
	for (int severity = TP_NOTE_WRONG; severity >= TP_NOTE_SCOPE; severity--)
		for (uint32_t i = 0; i < data->notes.count; i++) {
			const struct tp_note *note = &data->notes.items[i];
			if ((int)note->kind->severity != severity)
				continue;
			tp_buf_reset(&line);
			tp_buf_addf(&line, "%-6s %s: ", tp_note_severity_name(note->kind->severity),
			    note->kind->title);
			tp_buf_add_clean(&line, note->text);
			if (note->kind->remedy[0] && !has_remedy(note))
				tp_buf_addf(&line, "; %s", note->kind->remedy);
			add_wrapped(text, line.data, width, 7);
		}
	add_wrapped(text, "", width, 0);
	add_wrapped(text, "How it was recorded:", width, 0);
	tp_buf_reset(&line);
	tp_view_add_facts(data->analysis, &line);
	add_wrapped_lines(text, line.data, width);
	tp_buf_release(&line);
}

void tp_tui_add_help(uint32_t width, struct tp_buf *text)
{
	struct tp_buf line;
	tp_buf_init(&line);
	for (const struct tp_tui_key *key = tp_tui_keys; key->command; key++) {
		tp_buf_reset(&line);
		tp_buf_addf(&line, "%-16s %s", key->shown, key->help);
		add_wrapped(text, line.data, width, 17);
	}
	add_wrapped(text, "", width, 0);
	add_wrapped(text,
	    "Bars: the dark part is self time, all of it inclusive time; "
	    "of threads, running and in "
	    "recorded functions.",
	    width, 0);
	add_wrapped(text,
	    "Times of single calls are as recorded; all others are without the cost of recording, "
	    "if it is known.",
	    width, 0);
	tp_buf_release(&line);
}
