// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reports errors in the line that is being read, with their place and its text.
#include "list.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

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
