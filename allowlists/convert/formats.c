// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The formats that lists can be converted from and to, and reading lists of other tools: lines, the
// rules they become, and what cannot become one.
#include "formats.h"

#include "allowlists/language/list.h"
#include "common/array.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct tp_list_format tp_list_formats[] = {
    {"profile-list", "a -fprofile-list of Clang", tp_import_profile_list, &tp_export_profile_list},
    {"sancov", "a -fsanitize-coverage-allowlist of Clang", tp_import_sancov, &tp_export_sancov},
    {"sancov-ignore", "a -fsanitize-coverage-ignorelist of Clang", tp_import_sancov_ignore,
	&tp_export_sancov_ignore},
    {"xray", "a -fxray-attr-list of Clang", tp_import_xray, &tp_export_xray},
    {0},
};

const struct tp_list_format *tp_list_format_find(const char *name)
{
	for (const struct tp_list_format *format = tp_list_formats; format->name; format++)
		if (!strcmp(format->name, name))
			return format;
	return NULL;
}

void tp_list_warn(const struct tp_list_input *input, uint32_t line, const char *format, ...)
{
	char text[512];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	input->warn(input->file, line, text);
}

void tp_list_add_lines(struct tp_buf *out, struct tp_span text)
{
	struct tp_lines lines;
	struct tp_span line;
	tp_lines_init(&lines, text.text, text.size);
	while (tp_lines_next(&lines, &line)) {
		tp_buf_add_span(out, line);
		tp_buf_add_char(out, '\n');
	}
}

/* ---- reading ---- */

// Write the comment above the current line, which no entry keeps then.
static void own_comment(struct tp_import *import)
{
	tp_list_add_lines(import->out, import->comment);
	import->comment = (struct tp_span){0};
}

bool tp_import_line(struct tp_import *import, struct tp_span *line)
{
	// A comment that belongs to no entry is kept at the head of the list.
	own_comment(import);
	while (tp_lines_next(&import->lines, line)) {
		if (line->size && line->text[0] != '#')
			return true;
		if (!line->size) {
			own_comment(import);
		} else if (!tp_span_starts(*line, "#!")) {
			if (!import->comment.size)
				import->comment.text = line->text;
			import->comment.size =
			    (size_t)(line->text + line->size - import->comment.text);
		}
	}
	own_comment(import);
	return false;
}

int tp_import_add(struct tp_import *import, struct tp_span pattern, uint32_t group)
{
	if (!TP_GROW(import->entries, import->capacity, import->count + UINT64_C(1)))
		return tp_err_memory(import->err, import->input->file);
	import->entries[import->count++] = (struct tp_import_entry){
	    .pattern = pattern,
	    .line = import->lines.number,
	    .group = group,
	    .comment = import->comment,
	};
	import->comment = (struct tp_span){0};
	return 0;
}

int tp_import_syntax(const struct tp_import *import, const char *at, const char *format, ...)
{
	char text[256];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	return tp_err_set_line(import->err, TP_ERR_SYNTAX, import->input->file,
	    import->lines.number, (uint32_t)(at - import->lines.whole.text) + 1, "%s", text);
}

void tp_import_lost(
    struct tp_import *import, uint32_t line, struct tp_span text, const char *format, ...)
{
	char why[256];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(why, sizeof(why), format, arguments);
	va_end(arguments);
	tp_buf_addf(import->out, "# not imported, %s: ", why);
	tp_buf_add_span(import->out, text);
	tp_buf_add_char(import->out, '\n');
	tp_list_warn(import->input, line, "'%.*s' is not imported: %s",
	    (int)(text.size < 100 ? text.size : 100), text.text, why);
}

static bool begins_part(struct tp_span rest)
{
	const size_t size = rest.size;
	const struct tp_span word = tp_span_cut(&rest, ':');
	enum tp_rule_kind kind;
	return word.size < size && tp_rule_kind_find(word, &kind);
}

// "@src:" and its like would begin a second predicate, a blank at an end would be cut off.
static void add_glob(struct tp_buf *out, struct tp_span glob)
{
	for (size_t i = 0; i < glob.size; i++) {
		const char c = glob.text[i];
		if (c == '@' && begins_part((struct tp_span){glob.text + i + 1, glob.size - i - 1}))
			tp_buf_add_char(out, '\\');
		const bool end = i == 0 || i + 1 == glob.size;
		tp_buf_add_char(out, end && (c == ' ' || c == '\t') ? '?' : c);
	}
}

struct tp_span tp_import_keep(struct tp_import *import, struct tp_buf *glob)
{
	const char *kept = tp_arena_copy(&import->arena, glob->data, glob->size);
	const struct tp_span span = {kept, kept ? glob->size : 0};
	import->out->failed |= glob->failed || !kept;
	tp_buf_release(glob);
	return span;
}

void tp_import_rule(
    struct tp_import *import, const char *kind, struct tp_span glob, enum tp_category category)
{
	tp_import_rule_and(import, kind, glob, NULL, glob, category);
}

void tp_import_rule_and(struct tp_import *import, const char *kind, struct tp_span glob,
    const char *and_kind, struct tp_span and_glob, enum tp_category category)
{
	tp_buf_addf(import->out, "%s:", kind);
	add_glob(import->out, glob);
	if (and_kind) {
		tp_buf_addf(import->out, "@%s:", and_kind);
		add_glob(import->out, and_glob);
	}
	tp_buf_addf(import->out, "=%s\n", tp_category_name(category));
}

int tp_list_import(const struct tp_list_format *format, const struct tp_list_input *input,
    struct tp_buf *out, struct tp_err *err)
{
	int status = tp_text_check(input->text, input->size, input->file, err);
	if (status)
		return status;
	const size_t start = out->size;
	const char *slash = strrchr(input->file, '/');
	tp_buf_addf(out, "# From %s, %s, by teeperf allowlist import.\n",
	    slash ? slash + 1 : input->file, format->summary);
	struct tp_import import = {.input = input, .out = out, .err = err};
	tp_lines_init(&import.lines, input->text, input->size);
	tp_arena_init(&import.arena);
	status = format->read(&import);
	free(import.entries);
	tp_arena_release(&import.arena);
	if (status)
		return status;
	if (out->failed)
		return tp_err_memory(err, input->file);
	// What comes out must load: a pattern that our globs cannot hold is found here.
	struct tp_allowlist *list;
	struct tp_err inner;
	status =
	    tp_allowlist_parse(&list, out->data + start, out->size - start, input->file, &inner);
	tp_allowlist_free(list);
	if (status)
		return tp_err_set(err, inner.code, input->file,
		    "line %u of the converted list: %.400s", inner.line, inner.what);
	return 0;
}
