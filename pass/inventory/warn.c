// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Warns of functions that a list names and that will have no events: those that are gone by the end
// of the pipeline, and those that cannot be kept. Only of lines that name one function: a glob does
// not promise that all it matches are there.
#include "notes.h"

#include <stdlib.h>
#include <string.h>

#include "pass/function.h"

enum { CALLERS_SHOWN = 3 };

static bool is_instrumented(enum tp_category category)
{
	return category != TP_CATEGORY_SKIP && category != TP_CATEGORY_FORBID;
}

// The place of a line is that of what it matches, which the line's text may be indented from.
static void warn(
    LLVMModuleRef module, const struct tp_allowlist_line *line, const struct tp_buf *text)
{
	size_t before = strcspn(line->text, ":");
	before += line->text[before] == ':';
	before += strspn(line->text + before, " \t");
	const struct tp_llvm_place place = {.file = line->file,
	    .line = line->line,
	    .column = line->column,
	    .text = line->text,
	    .before = (uint32_t)before};
	if (!text->failed)
		tp_llvm_report_at(module, &place, false, text->data);
}

// The first of the copies of a function that has some.
static const struct tp_noted_copy *copies_of(const struct tp_notes *notes, uint32_t noted)
{
	const struct tp_noted_copy *copy = notes->copies;
	while (copy->noted != noted)
		copy++;
	return copy;
}

// Into whom the function was inlined: "'a', 'b' (3 times) and 2 more".
static void add_callers(struct tp_buf *text, const struct tp_notes *notes, uint32_t noted)
{
	const struct tp_noted_copy *copies = copies_of(notes, noted);
	const uint32_t all = notes->noted[noted].copies;
	const uint32_t shown = all <= CALLERS_SHOWN + 1 ? all : CALLERS_SHOWN;
	for (uint32_t i = 0; i < shown; i++) {
		const LLVMValueRef into = notes->emitted[copies[i].into].function;
		if (i)
			tp_buf_add_string(text, i + 1 == all ? " and " : ", ");
		tp_buf_addf(text, "'%s'", tp_function_name(into, NULL));
		if (copies[i].sites > 1)
			tp_buf_addf(text, " (%u times)", copies[i].sites);
	}
	if (shown < all)
		tp_buf_addf(text, " and %u more", all - shown);
}

static void warn_of(
    const struct tp_notes *notes, uint32_t noted, const struct tp_allowlist_line *line)
{
	// A function that is inlined although forced was declared always_inline; another warning
	// reports this.
	if (line->category == TP_CATEGORY_FORCE && notes->noted[noted].copies)
		return;
	struct tp_buf text;
	tp_buf_init(&text);
	tp_buf_addf(&text, "'%s' ", line->exact);
	if (notes->noted[noted].copies) {
		tp_buf_addf(&text, "was %sinlined into ",
		    copies_of(notes, noted)->guessed ? "probably " : "");
		add_callers(&text, notes, noted);
		tp_buf_add_string(&text,
		    " and has no events of its own: keep it with '=force', or name its callers");
	} else {
		tp_buf_add_string(&text,
		    "was removed, as nothing calls it or its calls were computed at compile time, "
		    "and has no events");
	}
	warn(notes->module, line, &text);
	tp_buf_release(&text);
}

// Whether the function is gone for sure: no other file has a definition of its own.
static bool has_vanished(const struct tp_notes *notes, uint32_t noted)
{
	const struct tp_noted *function = &notes->noted[noted];
	const bool internal = tp_notes_is_internal(function);
	// What a line says of it holds for what was made of it.
	if (function->emitted != TP_NOTE_NONE || function->has_made ||
	    (!internal && notes->unit_count == 1))
		return false;
	for (uint32_t i = tp_notes_find(notes, function->name, strlen(function->name));
	     !internal && i != TP_NOTE_NONE; i = tp_notes_find_next(notes, i))
		if (notes->noted[i].emitted != TP_NOTE_NONE)
			return false;
	return true;
}

// Whether this line decided, for it may have been overridden.
static bool is_decided_by(const struct tp_noted *noted, const struct tp_allowlist_line *line)
{
	struct tp_buf file;
	tp_buf_init(&file);
	tp_note_add_string(&file, line->file, strlen(line->file));
	const bool same =
	    !strcmp(noted->list, file.data) && strtoul(noted->list_line, NULL, 10) == line->line;
	tp_buf_release(&file);
	return same;
}

void tp_warn_of_vanished(const struct tp_notes *notes)
{
	const struct tp_allowlist *list = notes->pass->allowlist;
	bool any = false;
	for (uint32_t i = 0; list && !any && i < notes->noted_count; i++)
		any = *notes->noted[i].list && has_vanished(notes, i);
	const uint32_t count = any ? tp_allowlist_line_count(list) : 0;
	for (uint32_t i = 0; i < count; i++) {
		const struct tp_allowlist_line line = tp_allowlist_line(list, i);
		if (!line.exact || !is_instrumented(line.category))
			continue;
		for (uint32_t noted = tp_notes_find(notes, line.exact, strlen(line.exact));
		     noted != TP_NOTE_NONE; noted = tp_notes_find_next(notes, noted)) {
			if (!has_vanished(notes, noted) ||
			    !is_decided_by(&notes->noted[noted], &line))
				continue;
			warn_of(notes, noted, &line);
			break;
		}
	}
}

void tp_warn_of_always_inline(
    const struct tp_pass *pass, LLVMValueRef function, const struct tp_verdict *verdict)
{
	for (uint32_t i = 0; verdict->line && i < tp_allowlist_line_count(pass->allowlist); i++) {
		const struct tp_allowlist_line line = tp_allowlist_line(pass->allowlist, i);
		if (line.line != verdict->line || strcmp(line.file, verdict->file) != 0)
			continue;
		struct tp_buf text;
		tp_buf_init(&text);
		tp_buf_addf(&text,
		    "'%s' is declared always_inline, so '=force' cannot keep it: its calls have "
		    "no events of their own",
		    tp_function_name(function, NULL));
		if (line.exact)
			warn(LLVMGetGlobalParent(function), &line, &text);
		tp_buf_release(&text);
		return;
	}
}
