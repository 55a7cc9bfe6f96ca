// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reading a list: lines, sections, categories, and errors that name line and column.
#include "allowlist_list.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
	RULES_MAX = 1 << 20, // globs after brace expansion, in one kind of line
	SHOWN_MAX = 40,      // bytes of the input in an error
};

struct span {
	const char *text;
	size_t size;
};

struct parser {
	struct tp_allowlist *list;
	const char *file;
	struct tp_err *err;
	const char *line_start;
	uint32_t line;
	bool foreign; // in a section that is another tool's
	// The rule that is being added.
	struct tp_rule_index *index;
	enum tp_category category;
};

static bool span_is(struct span span, const char *text)
{
	return span.size == strlen(text) && memcmp(span.text, text, span.size) == 0;
}

static struct span trim(const char *start, const char *end)
{
	while (start < end && (*start == ' ' || *start == '\t'))
		start++;
	while (start < end && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	return (struct span){start, (size_t)(end - start)};
}

static int shown(struct span span)
{
	return (int)(span.size < SHOWN_MAX ? span.size : SHOWN_MAX);
}

static uint32_t column(const struct parser *parser, const char *at)
{
	return (uint32_t)(at - parser->line_start) + 1;
}

#define SYNTAX(parser, at, ...)                                                       \
	tp_err_set_line((parser)->err, TP_ERR_SYNTAX, (parser)->file, (parser)->line, \
	    column(parser, at), __VA_ARGS__)

static int no_memory(const struct parser *parser)
{
	return tp_err_set_line(
	    parser->err, TP_ERR_MEMORY, parser->file, parser->line, 1, "out of memory");
}

static int add_rule(void *context, struct tp_glob *glob)
{
	const struct parser *parser = context;
	struct tp_rule_index *index = parser->index;
	if (index->count == RULES_MAX) {
		tp_glob_free(glob);
		return tp_err_set_line(parser->err, TP_ERR_LIMIT, parser->file, parser->line, 1,
		    "the list stands for more than %d globs; use fewer braces", RULES_MAX);
	}
	if (index->count == index->capacity) {
		const uint32_t capacity = index->capacity ? index->capacity * 2 : 64;
		struct tp_rule *rules = realloc(index->rules, capacity * sizeof(*rules));
		if (!rules) {
			tp_glob_free(glob);
			return no_memory(parser);
		}
		index->rules = rules;
		index->capacity = capacity;
	}
	index->rules[index->count++] = (struct tp_rule){
	    .glob = glob,
	    .category = parser->category,
	    .line = parser->line,
	};
	return 0;
}

static bool find_category(struct span word, enum tp_category *category)
{
	for (int i = TP_CATEGORY_ALLOW; i <= TP_CATEGORY_COUNT; i++) {
		if (span_is(word, tp_category_name((enum tp_category)i))) {
			*category = (enum tp_category)i;
			return true;
		}
	}
	return false;
}

static bool is_word(struct span span)
{
	for (size_t i = 0; i < span.size; i++) {
		const char c = span.text[i];
		const char lower = (char)(c | 0x20);
		if (!(lower >= 'a' && lower <= 'z') && !(c >= '0' && c <= '9') && c != '_' &&
		    c != '-')
			return false;
	}
	return span.size != 0;
}

static bool is_escaped(struct span span, size_t at)
{
	size_t backslashes = 0;
	while (backslashes < at && span.text[at - backslashes - 1] == '\\')
		backslashes++;
	return backslashes % 2 != 0;
}

/*
 * Cut "=CATEGORY" off *glob. What follows the last '=' is a category if it looks like a word;
 * otherwise ("operator==", "a=b/c.c", "operator=*") the '=' belongs to the glob, as does "\=".
 */
static int cut_category(struct parser *parser, struct span *glob)
{
	parser->category = TP_CATEGORY_ALLOW;
	size_t after = glob->size;
	while (after && glob->text[after - 1] != '=')
		after--;
	if (!after || is_escaped(*glob, after - 1))
		return 0;
	const char *equals = glob->text + after - 1;
	const struct span word = trim(equals + 1, glob->text + glob->size);
	if (!is_word(word))
		return 0;
	if (!find_category(word, &parser->category))
		return SYNTAX(parser, word.text,
		    "unknown category '%.*s'; expected allow, count, skip, force or forbid, or '\\=' for "
		    "the character itself",
		    shown(word), word.text);
	*glob = trim(glob->text, equals);
	return 0;
}

static int parse_rule(struct parser *parser, enum tp_rule_kind kind, struct span glob)
{
	const char *start = glob.text;
	const int status = cut_category(parser, &glob);
	if (status)
		return status;
	if (!glob.size)
		return SYNTAX(parser, start, "nothing to match; expected a name or a glob");
	for (size_t i = 1; i < glob.size; i++) {
		if (glob.text[i] == '#' && (glob.text[i - 1] == ' ' || glob.text[i - 1] == '\t'))
			return SYNTAX(parser, glob.text + i,
			    "a comment behind a rule would be part of it; put it on a line of its "
			    "own, or write '\\#' for the character itself");
	}
	// Sources are compared without a leading "./": a glob that has it would never match.
	while (kind == TP_RULE_SOURCE && glob.size > 2 && memcmp(glob.text, "./", 2) == 0) {
		glob.text += 2;
		glob.size -= 2;
	}
	struct tp_glob_error error;
	parser->index = &parser->list->indexes[kind];
	switch (tp_glob_compile(glob.text, glob.size, add_rule, parser, &error)) {
	case 0:
		return 0;
	case TP_ERR_SYNTAX:
		return SYNTAX(parser, glob.text + error.offset, "%s", error.what);
	case TP_ERR_LIMIT:
		return TP_ERR_LIMIT;
	default:
		return no_memory(parser);
	}
}

static int parse_default(struct parser *parser, struct span word)
{
	enum tp_category category;
	if (!find_category(word, &category) || category == TP_CATEGORY_FORBID)
		return SYNTAX(parser, word.text,
		    "'%.*s' is no default; expected default:allow, default:count, default:skip or default:force",
		    shown(word), word.text);
	parser->list->default_category = category;
	parser->list->default_line = parser->line;
	return 0;
}

// A section is ours if its name, a glob, matches "teeperf"; so [*] is.
static int take_section(void *context, struct tp_glob *glob)
{
	struct parser *parser = context;
	if (tp_glob_match(glob, "teeperf", 7))
		parser->foreign = false;
	tp_glob_free(glob);
	return 0;
}

static int parse_section(struct parser *parser, struct span line)
{
	if (line.size < 3 || line.text[line.size - 1] != ']')
		return SYNTAX(parser, line.text,
		    "not a section header; expected '[teeperf]', '[*]' or '[NAME]'");
	struct tp_glob_error error;
	parser->foreign = true;
	switch (tp_glob_compile(line.text + 1, line.size - 2, take_section, parser, &error)) {
	case 0:
		return 0;
	case TP_ERR_SYNTAX:
		return SYNTAX(parser, line.text + 1 + error.offset, "%s", error.what);
	default:
		return no_memory(parser);
	}
}

static int unknown_prefix(struct parser *parser, struct span prefix)
{
	static const char *const hints[][2] = {
	    {"fun", "fun"},
	    {"func", "fun"},
	    {"function", "fun"},
	    {"symbol", "fun"},
	    {"mangled", "fun"},
	    {"src", "src"},
	    {"source", "src"},
	    {"file", "src"},
	    {"mainfile", "src"},
	    {"path", "src"},
	    {"name", "name"},
	    {"names", "name"},
	    {"demangled", "name"},
	    {"default", "default"},
	};
	if (prefix.size && prefix.text[0] == '!')
		return SYNTAX(parser, prefix.text,
		    "'!' is not supported; expected '%.*s:GLOB=skip'", shown(prefix) - 1,
		    prefix.text + 1);
	for (size_t i = 0; i < sizeof(hints) / sizeof(hints[0]); i++) {
		if (prefix.size == strlen(hints[i][0]) &&
		    strncasecmp(prefix.text, hints[i][0], prefix.size) == 0)
			return SYNTAX(parser, prefix.text,
			    "unknown prefix '%.*s:'; did you mean '%s:'?", shown(prefix),
			    prefix.text, hints[i][1]);
	}
	return SYNTAX(parser, prefix.text,
	    "unknown prefix '%.*s:'; expected fun:, src:, name: or default:, or a section of its "
	    "own for another tool's lines",
	    shown(prefix), prefix.text);
}

static int parse_line(struct parser *parser, struct span line)
{
	if (!line.size)
		return 0;
	if (line.text[0] == '#') {
		if (span_is(line, "#!special-case-list-v1"))
			return SYNTAX(parser, line.text,
			    "regular expressions (special-case-list-v1) are not supported; expected "
			    "globs");
		return 0;
	}
	if (line.text[0] == '[')
		return parse_section(parser, line);
	if (parser->foreign)
		return 0;
	const char *end = line.text + line.size;
	const char *colon = memchr(line.text, ':', line.size);
	if (!colon)
		return SYNTAX(parser, line.text,
		    "'%.*s' has no prefix; expected fun:, src:, name: or default:", shown(line),
		    line.text);
	const struct span prefix = {line.text, (size_t)(colon - line.text)};
	const struct span rest = trim(colon + 1, end);
	if (span_is(prefix, "fun"))
		return parse_rule(parser, TP_RULE_FUNCTION, rest);
	if (span_is(prefix, "name"))
		return parse_rule(parser, TP_RULE_NAME, rest);
	if (span_is(prefix, "src"))
		return parse_rule(parser, TP_RULE_SOURCE, rest);
	if (span_is(prefix, "default"))
		return parse_default(parser, rest);
	return unknown_prefix(parser, prefix);
}

static int check_bytes(struct parser *parser, struct span line)
{
	for (size_t i = 0; i < line.size; i++) {
		const unsigned char byte = (unsigned char)line.text[i];
		if ((byte < ' ' && byte != '\t') || byte == 0x7f)
			return SYNTAX(parser, line.text + i,
			    "byte 0x%02x in the list; expected a text file", byte);
	}
	return 0;
}

static int parse_lines(struct parser *parser, const char *text, size_t size)
{
	const char *at = text;
	const char *end = text + size;
	if (size >= 3 && memcmp(at, "\xef\xbb\xbf", 3) == 0)
		at += 3; // a byte order mark
	while (at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		const char *next = newline ? newline + 1 : end;
		const char *stop = newline ? newline : end;
		if (stop > at && stop[-1] == '\r')
			stop--;
		parser->line++;
		parser->line_start = at;
		int status = check_bytes(parser, (struct span){at, (size_t)(stop - at)});
		if (!status)
			status = parse_line(parser, trim(at, stop));
		if (status)
			return status;
		at = next;
	}
	return 0;
}

void tp_allowlist_free(struct tp_allowlist *list)
{
	if (!list)
		return;
	for (int kind = 0; kind < TP_RULE_KIND_COUNT; kind++)
		tp_rule_index_release(&list->indexes[kind]);
	free(list);
}

int tp_allowlist_parse(
    struct tp_allowlist **list, const char *text, size_t size, const char *file, struct tp_err *err)
{
	*list = NULL;
	if (size > TP_ALLOWLIST_BYTES_MAX)
		return tp_err_set(err, TP_ERR_LIMIT, file, TP_ERR_NO_OFFSET,
		    "a list of %zu bytes; expected at most %d", size, TP_ALLOWLIST_BYTES_MAX);
	const size_t file_size = strlen(file) + 1;
	struct tp_allowlist *result = calloc(1, sizeof(*result) + file_size);
	if (!result)
		return tp_err_set(err, TP_ERR_MEMORY, file, TP_ERR_NO_OFFSET, "out of memory");
	memcpy(result->file, file, file_size);
	result->default_category = TP_CATEGORY_SKIP;

	struct parser parser = {.list = result, .file = file, .err = err};
	int status = parse_lines(&parser, text, size);
	for (int kind = 0; !status && kind < TP_RULE_KIND_COUNT; kind++) {
		status = tp_rule_index_build(&result->indexes[kind]);
		if (status)
			no_memory(&parser);
	}
	if (status) {
		tp_allowlist_free(result);
		return status;
	}
	*list = result;
	return 0;
}
