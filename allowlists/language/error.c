// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Errors and warnings of a list that show their place, and warnings of what only all lines together show.
#include "list.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void report(struct tp_parser *parser, struct tp_err *err, const char *at, const char *format,
    va_list arguments)
{
	char what[sizeof(err->what)];
	vsnprintf(what, sizeof(what), format, arguments);
	tp_err_set_line(err, TP_ERR_SYNTAX, parser->file, parser->line,
	    (uint32_t)(at - parser->whole.text) + 1, "%s", what);
	tp_err_set_excerpt(err, parser->whole.text, parser->whole.size);
}

int tp_parser_error(struct tp_parser *parser, const char *at, const char *format, ...)
{
	if (!parser->err)
		return TP_ERR_SYNTAX;
	va_list arguments;
	va_start(arguments, format);
	report(parser, parser->err, at, format, arguments);
	va_end(arguments);
	return TP_ERR_SYNTAX;
}

void tp_parser_warn(struct tp_parser *parser, const char *at, const char *format, ...)
{
	struct tp_allowlist *list = parser->list;
	if (list->warning_count == TP_ALLOWLIST_WARNINGS_MAX)
		return;
	if (!list->warnings)
		list->warnings = calloc(TP_ALLOWLIST_WARNINGS_MAX, sizeof(*list->warnings));
	if (!list->warnings)
		return; // the list is of use without them
	va_list arguments;
	va_start(arguments, format);
	report(parser, &list->warnings[list->warning_count++], at, format, arguments);
	va_end(arguments);
}

int tp_parser_no_memory(struct tp_parser *parser)
{
	return tp_err_set_line(
	    parser->err, TP_ERR_MEMORY, parser->file, parser->line, 1, "out of memory");
}

int tp_parser_glob_error(
    struct tp_parser *parser, int status, const char *text, const struct tp_glob_error *error)
{
	return status == TP_ERR_SYNTAX
		   ? tp_parser_error(parser, text + error->offset, "%s", error->what)
		   : tp_parser_no_memory(parser);
}

// Of XRay's lines: by what they match, those of [always] first.
static int by_pattern(const void *a, const void *b)
{
	const struct tp_entry *left = *(const struct tp_entry *const *)a;
	const struct tp_entry *right = *(const struct tp_entry *const *)b;
	// "fun:GLOB", or "fun:GLOB=arg1" in [always].
	const size_t left_size = strcspn(left->line.text, "=");
	const size_t right_size = strcspn(right->line.text, "=");
	const size_t size = left_size < right_size ? left_size : right_size;
	const int order = memcmp(left->line.text, right->line.text, size);
	if (order || left_size != right_size)
		return order ? order : left_size < right_size ? -1 : 1;
	return (int)left->line.category - (int)right->line.category;
}

static void warn_of_conflict(struct tp_allowlist *list, const struct tp_entry *never)
{
	const char *text = never->line.text;
	struct tp_parser parser = {.list = list,
	    .file = never->line.file,
	    .line = never->line.line,
	    .whole = {text, strlen(text)}};
	const uint32_t count = list->warning_count;
	const char *glob = strchr(text, ':') + 1;
	tp_parser_warn(&parser, glob + strspn(glob, " \t"),
	    "'%.*s' is in [always], too, and that wins", tp_span_shown(parser.whole), text);
	// Blanks in front of the line are gone from its text.
	if (list->warning_count > count)
		list->warnings[count].column = never->line.column;
}

// Lines of [never] that have no effect because [always] has them.
static void check_conflicts(struct tp_allowlist *list)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < list->entry_count; i++)
		count += list->entries[i].party != TP_PARTY_ORDINARY;
	const struct tp_entry **entries = calloc(count, sizeof(*entries));
	if (!entries)
		return; // none, or no memory: the list is of use without the warnings
	count = 0;
	for (uint32_t i = 0; i < list->entry_count; i++)
		if (list->entries[i].party != TP_PARTY_ORDINARY)
			entries[count++] = &list->entries[i];
	qsort(entries, count, sizeof(*entries), by_pattern);
	const struct tp_entry *always = NULL;
	for (uint32_t i = 0; i < count; i++) {
		if (entries[i]->line.category == TP_CATEGORY_ALLOW)
			always = entries[i];
		else if (always &&
			 strcspn(always->line.text, "=") == strlen(entries[i]->line.text) &&
			 !strncmp(always->line.text, entries[i]->line.text,
			     strlen(entries[i]->line.text)))
			warn_of_conflict(list, entries[i]);
	}
	free(entries);
}

void tp_allowlist_doubt(struct tp_allowlist *list)
{
	struct tp_parser parser = {
	    .list = list, .file = list->by_default.file, .whole = {"", 0}, .line = 1};
	if (list->leaves_out && !list->chooses && list->by_default.category == TP_CATEGORY_SKIP)
		tp_parser_warn(&parser, parser.whole.text,
		    "no line instruments anything; a list of what to leave out needs 'default:allow', "
		    "and lines in another tool's section may need a '[teeperf]' above them");
	check_conflicts(list);
}
