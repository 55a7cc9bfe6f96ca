// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Notes: their kinds, a list of them, and how they are written.
#define _GNU_SOURCE
#include "notes.h"

#include "common/array.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct tp_note_kind tp_note_kinds[TP_NOTE_IDS] = {
#define TP_NOTE(name, id, title, severity, meaning, remedy) \
	{id, title, TP_NOTE_##severity, meaning, remedy},
#include "notes.def"
};

static const char *const severities[] = {"scope", "limit", "wrong"};

const char *tp_note_severity_name(enum tp_note_severity severity)
{
	return severities[severity];
}

void tp_notes_release(struct tp_notes *notes)
{
	tp_arena_release(&notes->arena);
	free(notes->items);
	memset(notes, 0, sizeof(*notes));
}

void tp_notes_add(
    struct tp_notes *notes, enum tp_note_id id, uint64_t count, const char *format, ...)
{
	char *text = NULL;
	va_list args;
	va_start(args, format);
	const int size = vasprintf(&text, format, args);
	va_end(args);
	char *copy = size < 0 ? NULL : tp_arena_copy(&notes->arena, text, (size_t)size);
	if (size >= 0)
		free(text);
	if (!copy || !TP_GROW(notes->items, notes->room, notes->count + UINT64_C(1))) {
		notes->failed = true;
		return;
	}
	uint32_t at = notes->count++;
	for (; at && notes->items[at - 1].kind > &tp_note_kinds[id]; at--)
		notes->items[at] = notes->items[at - 1];
	notes->items[at] = (struct tp_note){&tp_note_kinds[id], count, copy};
}

void tp_notes_add_text(const struct tp_notes *notes, struct tp_buf *out)
{
	for (uint32_t i = 0; i < notes->count; i++)
		tp_buf_addf(out, "%-10s %s\n", notes->items[i].kind->title, notes->items[i].text);
	out->failed |= notes->failed;
}

void tp_notes_add_json(const struct tp_notes *notes, struct tp_json *json)
{
	tp_json_array(json, "notes");
	for (uint32_t i = 0; i < notes->count; i++) {
		const struct tp_note *note = &notes->items[i];
		tp_json_object(json, NULL);
		tp_json_text(json, "id", note->kind->id);
		tp_json_text(json, "severity", tp_note_severity_name(note->kind->severity));
		tp_json_uint(json, "count", note->count);
		tp_json_text(json, "text", note->text);
		tp_json_text(json, "remedy", note->kind->remedy[0] ? note->kind->remedy : NULL);
		tp_json_end(json);
	}
	tp_json_end(json);
	json->out->failed |= notes->failed;
}

// What follows "note:", or NULL.
static const char *rule_name(const char *text)
{
	static const char prefix[] = "note:";
	return strncmp(text, prefix, sizeof(prefix) - 1) ? NULL : text + sizeof(prefix) - 1;
}

// The least severity that NAME means, or -1.
static int rule_severity(const char *name)
{
	for (int i = TP_NOTE_LIMIT; i <= TP_NOTE_WRONG; i++)
		if (!strcmp(name, severities[i]))
			return i;
	return -1;
}

bool tp_note_rule_is_valid(const char *text)
{
	const char *name = rule_name(text);
	if (!name)
		return false;
	for (int i = 0; i < TP_NOTE_IDS; i++)
		if (!strcmp(name, tp_note_kinds[i].id))
			return true;
	return rule_severity(name) >= 0;
}

bool tp_note_rule_matches(const char *text, const struct tp_note *note)
{
	const char *name = rule_name(text);
	if (!name)
		return false;
	const int severity = rule_severity(name);
	return severity >= 0 ? (int)note->kind->severity >= severity
			     : !strcmp(name, note->kind->id);
}
