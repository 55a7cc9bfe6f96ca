// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reading lists in the syntax of Clang's SpecialCaseList. Globs (version 2) are ours as they are;
// regular expressions (version 1), in which '*' means '.*' and '.' any byte, are translated if they
// hold nothing else.
#include "special.h"

#include "common/array.h"

#include "allowlists/language/glob.h"

#include <stdlib.h>
#include <string.h>

struct reader {
	struct tp_special_list *list;
	const char *const *words;
	bool regex;
	uint32_t section; // index in words; if there is none, as many as there are
	uint32_t word_count;
};

static int drop_glob(void *context, struct tp_glob *glob)
{
	(void)context;
	tp_glob_free(glob);
	return 0;
}

static int match_word(void *context, struct tp_glob *glob)
{
	struct reader *reader = context;
	for (uint32_t i = 0; i < reader->section; i++)
		if (tp_glob_match(glob, reader->words[i], strlen(reader->words[i])))
			reader->section = i;
	tp_glob_free(glob);
	return 0;
}

static int check_glob(struct tp_import *import, struct tp_span glob,
    int (*take)(void *context, struct tp_glob *glob), void *context)
{
	struct tp_glob_error error;
	switch (tp_glob_compile(glob.text, glob.size, take, context, &error)) {
	case 0:
		return 0;
	case TP_ERR_SYNTAX:
		return tp_import_syntax(import, glob.text + error.offset, "%s", error.what);
	default:
		return tp_err_set(import->err, TP_ERR_MEMORY, import->input->file, TP_ERR_NO_OFFSET,
		    "out of memory");
	}
}

static int read_section(struct reader *reader, struct tp_span line)
{
	struct tp_import *import = &reader->list->import;
	if (line.size < 3 || line.text[line.size - 1] != ']')
		return tp_import_syntax(
		    import, line.text, "not a section header; expected '[NAME]'");
	const struct tp_span name = {line.text + 1, line.size - 2};
	reader->section = reader->word_count;
	const int status = check_glob(import, name, match_word, reader);
	if (!status && reader->section == reader->word_count)
		tp_import_warn(import, import->lines.number,
		    "section '[%.*s]' is not imported: it is not about '%s'",
		    (int)(name.size < 60 ? name.size : 60), name.text, reader->words[0]);
	return status;
}

/*
 * A regular expression in which only '*' and '.' are special, as a glob appended to list->patterns.
 * False if it holds more.
 */
static bool translate(struct tp_buf *out, struct tp_span pattern)
{
	for (size_t i = 0; i < pattern.size; i++) {
		const char c = pattern.text[i];
		if (c == '\\' && i + 1 < pattern.size)
			tp_glob_add_byte(out, (unsigned char)pattern.text[++i], TP_DIALECT_OWN);
		else if (c == '.')
			tp_buf_add_char(out, '?');
		else if (c == '*')
			tp_buf_add_char(out, '*');
		else if ((c == '^' && i == 0) || (c == '$' && i + 1 == pattern.size))
			continue;
		else if (memchr("^$+?()[]{}|\\", c, 12))
			return false;
		else
			tp_glob_add_byte(out, (unsigned char)c, TP_DIALECT_OWN);
	}
	return true;
}

static int read_pattern(struct reader *reader, struct tp_span line, struct tp_span *pattern)
{
	struct tp_special_list *list = reader->list;
	if (!reader->regex)
		return check_glob(&list->import, *pattern, drop_glob, NULL);
	const size_t start = list->patterns.size;
	if (!translate(&list->patterns, *pattern)) {
		list->patterns.size = start;
		tp_import_lost(&list->import, list->import.lines.number, line,
		    "a regular expression that no glob can say");
		pattern->size = 0;
		return 0;
	}
	// The buffer may still move: only the size is of use until all is there.
	pattern->size = list->patterns.size - start;
	return 0;
}

static int read_line(struct reader *reader, struct tp_span line)
{
	struct tp_special_list *list = reader->list;
	struct tp_import *import = &list->import;
	if (line.text[0] == '[')
		return read_section(reader, line);
	if (reader->section == reader->word_count)
		return 0;
	struct tp_span rest = line;
	const struct tp_span prefix = tp_span_cut(&rest, ':');
	if (prefix.size == line.size)
		return tp_import_syntax(import, line.text,
		    "'%.*s' has no prefix; expected PREFIX:GLOB",
		    (int)(line.size < 60 ? line.size : 60), line.text);
	struct tp_span pattern = tp_span_trim(tp_span_cut(&rest, '='));
	if (!pattern.size)
		return tp_import_syntax(import, line.text, "nothing to match behind the ':'");
	int status = read_pattern(reader, line, &pattern);
	if (status || !pattern.size)
		return status;
	const uint32_t index = import->count;
	if (!TP_GROW(list->entries, list->room, index + UINT64_C(1)))
		return tp_err_set(import->err, TP_ERR_MEMORY, import->input->file, TP_ERR_NO_OFFSET,
		    "out of memory");
	list->entries[index] = (struct tp_special_entry){
	    .section = reader->section,
	    .prefix = prefix,
	    .category = tp_span_trim(rest),
	};
	return tp_import_add(import, pattern, index);
}

int tp_special_read(struct tp_special_list *list, const char *const *words)
{
	struct reader reader = {.list = list, .words = words};
	struct tp_span line;
	while (words[reader.word_count])
		reader.word_count++;
	const struct tp_list_input *input = list->import.input;
	reader.regex =
	    tp_span_starts((struct tp_span){input->text, input->size}, "#!special-case-list-v1");
	list->entries = NULL;
	list->room = 0;
	tp_buf_init(&list->patterns);
	int status = 0;
	while (!status && tp_import_line(&list->import, &line))
		status = read_line(&reader, line);
	if (list->patterns.failed)
		status = tp_err_set(list->import.err, TP_ERR_MEMORY, input->file, TP_ERR_NO_OFFSET,
		    "out of memory");
	const char *at = list->patterns.data;
	for (uint32_t i = 0; reader.regex && !status && i < list->import.count; i++) {
		list->import.entries[i].pattern.text = at;
		at += list->import.entries[i].pattern.size;
	}
	return status;
}

void tp_special_release(struct tp_special_list *list)
{
	tp_import_release(&list->import);
	free(list->entries);
	tp_buf_release(&list->patterns);
}

void tp_special_write(struct tp_special_list *list, uint32_t section, const char *prefix,
    const char *category, const char *kind, enum tp_category becomes)
{
	for (uint32_t i = 0; i < list->import.count; i++) {
		struct tp_special_entry *entry = &list->entries[i];
		if (entry->used || entry->section != section ||
		    !tp_span_is(entry->prefix, prefix) || !tp_span_is(entry->category, category))
			continue;
		const struct tp_import_entry *pattern = &list->import.entries[i];
		entry->used = true;
		tp_import_comment(&list->import, pattern->comment);
		tp_import_rule(
		    &list->import, kind, pattern->pattern, NULL, (struct tp_span){0}, becomes);
	}
}

void tp_special_finish(struct tp_special_list *list, const char *why)
{
	for (uint32_t i = 0; i < list->import.count; i++) {
		const struct tp_special_entry *entry = &list->entries[i];
		if (entry->used)
			continue;
		struct tp_buf line;
		tp_buf_init(&line);
		tp_buf_add_span(&line, entry->prefix);
		tp_buf_add_char(&line, ':');
		tp_buf_add_span(&line, list->import.entries[i].pattern);
		if (entry->category.size) {
			tp_buf_add_char(&line, '=');
			tp_buf_add_span(&line, entry->category);
		}
		tp_import_lost(&list->import, list->import.entries[i].line,
		    (struct tp_span){line.data, line.size}, "%s", why);
		list->import.out->failed |= line.failed;
		tp_buf_release(&line);
	}
}
