// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What one line of another tool's list says: XRay's, and AFL++'s without a prefix.
#include "list.h"

#include "common/buf.h"

#include <string.h>

int tp_parser_add_xray(struct tp_parser *parser, enum tp_rule_kind kind, struct tp_span rest)
{
	const bool always = parser->section == TP_SECTION_XRAY_ALWAYS;
	// As Clang does: from the first '=' on.
	const char *equals = memchr(rest.text, '=', rest.size);
	if (equals) {
		const struct tp_span word = tp_span_between(equals + 1, rest.text + rest.size);
		const bool may_log = always && kind == TP_RULE_FUNCTION;
		if (!may_log || !tp_span_is(word, "arg1")) {
			tp_parser_warn(parser, equals,
			    "the line is skipped, as XRay does; expected nothing behind the glob%s",
			    may_log ? ", or '=arg1'" : "");
			return 0;
		}
		rest.size = (size_t)(equals - rest.text);
	}
	struct tp_entry *entry = tp_parser_add_entry(parser, rest.text);
	if (!entry)
		return tp_parser_no_memory(parser);
	entry->line.category = always ? TP_CATEGORY_ALLOW : TP_CATEGORY_SKIP;
	if (kind == TP_RULE_FUNCTION)
		entry->party =
		    always ? TP_PARTY_XRAY_ALWAYS_FUNCTION : TP_PARTY_XRAY_NEVER_FUNCTION;
	else
		entry->party = always ? TP_PARTY_XRAY_ALWAYS_SOURCE : TP_PARTY_XRAY_NEVER_SOURCE;
	entry->first.kind = kind;
	const int status = tp_parser_add_globs(parser, rest, &entry->first);
	return status ? status : tp_parser_finish_entry(parser, entry);
}

int tp_parser_add_bare(struct tp_parser *parser, struct tp_span line)
{
	const char *comment = memchr(line.text, '#', line.size);
	if (comment)
		line = tp_span_between(line.text, comment);
	const bool is_file = memchr(line.text, '/', line.size) || memchr(line.text, '.', line.size);
	struct tp_entry *entry = tp_parser_add_entry(parser, line.text);
	if (!entry)
		return tp_parser_no_memory(parser);
	entry->line.category = TP_CATEGORY_ALLOW;
	entry->first.kind = is_file ? TP_RULE_SOURCE : TP_RULE_FUNCTION;
	entry->any_name = !is_file;
	parser->list->needs |= is_file ? 0 : TP_NEEDS_NAMES;
	// The end of a path is enough. Braces are nothing special there.
	struct tp_buf glob;
	tp_buf_init(&glob);
	if (is_file)
		tp_buf_add_char(&glob, '*');
	for (size_t i = 0; i < line.size; i++) {
		if (line.text[i] == '{' || line.text[i] == '}')
			tp_buf_add_char(&glob, '\\');
		tp_buf_add_char(&glob, line.text[i]);
	}
	struct tp_glob_error error;
	const int status =
	    glob.failed ? TP_ERR_MEMORY
			: tp_globs_compile(&entry->first.globs, glob.data, glob.size, &error);
	tp_buf_release(&glob);
	if (status == TP_ERR_SYNTAX)
		return tp_parser_error(parser, line.text, "%s", error.what);
	return status ? tp_parser_no_memory(parser) : tp_parser_finish_entry(parser, entry);
}
