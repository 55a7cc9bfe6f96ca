// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reading a text line by line: sections, prefixes, defaults, and errors that show their place.
#include "parser.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- sections ------------------------------------------------------------------------------- */

// Which of the names that mean something to us a section's name, a glob, matches.
struct section_names {
	bool teeperf;
	bool always;
	bool never;
	bool clang;
};

static bool matches(const struct tp_glob *glob, const char *name)
{
	return tp_glob_match(glob, name, strlen(name));
}

static int take_names(void *context, struct tp_glob *glob)
{
	struct section_names *names = context;
	names->teeperf |= matches(glob, "teeperf");
	names->always |= matches(glob, "always") || matches(glob, "xray_always_instrument");
	names->never |= matches(glob, "never") || matches(glob, "xray_never_instrument");
	names->clang |= matches(glob, "clang");
	tp_glob_free(glob);
	return 0;
}

// How many letters have to be changed, added or removed to make `word` of `span`; at least `limit`: no matter.
static size_t distance(struct tp_span span, const char *word)
{
	enum { SIZE_MAX_SHOWN = 15 };
	const size_t size = strlen(word);
	size_t row[SIZE_MAX_SHOWN + 1];
	if (size > SIZE_MAX_SHOWN || span.size > SIZE_MAX_SHOWN)
		return SIZE_MAX_SHOWN;
	for (size_t i = 0; i <= size; i++)
		row[i] = i;
	for (size_t s = 0; s < span.size; s++) {
		size_t diagonal = row[0];
		row[0] = s + 1;
		for (size_t i = 0; i < size; i++) {
			const size_t changed = diagonal + (span.text[s] != word[i]);
			diagonal = row[i + 1];
			const size_t one = (row[i] < row[i + 1] ? row[i] : row[i + 1]) + 1;
			row[i + 1] = changed < one ? changed : one;
		}
	}
	return row[size];
}

static void warn_of_typo(struct tp_parser *parser, struct tp_span name)
{
	static const char *const names[] = {"teeperf", "always", "never"};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (distance(name, names[i]) <= 2)
			tp_parser_warn(parser, name.text,
			    "section '[%.*s]' is not read; did you mean '[%s]'?",
			    tp_span_shown(name), name.text, names[i]);
}

static int parse_section(struct tp_parser *parser, struct tp_span line)
{
	if (line.size < 3 || line.text[line.size - 1] != ']')
		return tp_parser_error(parser, line.text,
		    "not a section header; expected '[teeperf]', '[*]' or '[NAME]'");
	const struct tp_span name = {line.text + 1, line.size - 2};
	struct section_names names = {false, false, false, false};
	struct tp_glob_error error;
	switch (tp_glob_compile(name.text, name.size, take_names, &names, &error)) {
	case 0:
		break;
	case TP_ERR_SYNTAX:
		return tp_parser_error(parser, name.text + error.offset, "%s", error.what);
	default:
		return tp_parser_no_memory(parser);
	}
	parser->section = TP_SECTION_FOREIGN;
	if (names.teeperf)
		parser->section = TP_SECTION_OURS;
	else if (names.always)
		parser->section = TP_SECTION_XRAY_ALWAYS;
	else if (names.never)
		parser->section = TP_SECTION_XRAY_NEVER;
	else if (names.clang && !parser->names_us)
		parser->section = TP_SECTION_PROFILE;
	else
		warn_of_typo(parser, name);
	return 0;
}

/* ---- lines ---------------------------------------------------------------------------------- */

#define EXPECTED_PREFIX "expected fun:, src:, name:, mainfile:, mod:, where: or default:"

static int parse_default(struct tp_parser *parser, struct tp_span word)
{
	enum tp_category category;
	uint32_t sample;
	if (!tp_category_find(word, &category, &sample))
		return tp_parser_error(parser, word.text,
		    "'%.*s' is no default; expected default:allow, count, sample/N, skip or force",
		    tp_span_shown(word), word.text);
	// Profile lists may have it. As a default it could not be overruled, which nobody wants.
	if (category == TP_CATEGORY_FORBID) {
		tp_parser_warn(parser, word.text, "default:forbid is read as default:skip");
		category = TP_CATEGORY_SKIP;
	}
	if (category == TP_CATEGORY_FORCE)
		tp_parser_warn(parser, word.text,
		    "default:force keeps every function that no line matches from being inlined, which "
		    "makes programs much slower; write default:allow, and =force for those that are to "
		    "stay");
	parser->list->by_default = (struct tp_verdict){
	    .category = category,
	    .sample = sample,
	    .line = parser->line,
	    .file = parser->file,
	};
	return 0;
}

// Prefixes of sanitizers' lists, about things that are no functions.
static bool is_sanitizer_prefix(struct tp_span prefix)
{
	static const char *const prefixes[] = {"global", "type", "enum", "object", "vtable"};
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (tp_span_is(prefix, prefixes[i]))
			return true;
	return false;
}

static int unknown_prefix(struct tp_parser *parser, struct tp_span prefix, bool is_demangled)
{
	static const char *const hints[][2] = {
	    {"fun", "fun"},
	    {"func", "fun"},
	    {"function", "fun"},
	    {"functions", "fun"},
	    {"symbol", "fun"},
	    {"mangled", "fun"},
	    {"src", "src"},
	    {"source", "src"},
	    {"sources", "src"},
	    {"file", "src"},
	    {"path", "src"},
	    {"main", "mainfile"},
	    {"main_file", "mainfile"},
	    {"mainfile", "mainfile"},
	    {"name", "name"},
	    {"names", "name"},
	    {"demangled", "name"},
	    {"mod", "mod"},
	    {"module", "mod"},
	    {"lib", "mod"},
	    {"library", "mod"},
	    {"if", "where"},
	    {"where", "where"},
	    {"default", "default"},
	};
	if (parser->section != TP_SECTION_OURS || is_sanitizer_prefix(prefix)) {
		tp_parser_warn(parser, prefix.text,
		    "the line is skipped: '%.*s:' says nothing about functions here",
		    tp_span_shown(prefix), prefix.text);
		return 0;
	}
	for (size_t i = 0; i < sizeof(hints) / sizeof(hints[0]); i++) {
		if (prefix.size == strlen(hints[i][0]) &&
		    strncasecmp(prefix.text, hints[i][0], prefix.size) == 0)
			return tp_parser_error(parser, prefix.text,
			    "unknown prefix '%.*s:'; did you mean '%s:'?", tp_span_shown(prefix),
			    prefix.text, hints[i][1]);
	}
	if (is_demangled)
		return tp_parser_error(parser, prefix.text,
		    "'%.*s' looks like a demangled name; expected 'name:' in front of it",
		    tp_span_shown(prefix), prefix.text);
	return tp_parser_error(parser, prefix.text,
	    "unknown prefix '%.*s:'; " EXPECTED_PREFIX
	    ", or a section of its own for another tool's lines",
	    tp_span_shown(prefix), prefix.text);
}

static int parse_bare(struct tp_parser *parser, struct tp_span line)
{
	if (parser->section != TP_SECTION_OURS) {
		tp_parser_warn(parser, line.text, "the line is skipped: it has no prefix");
		return 0;
	}
	if (memchr(line.text, '=', line.size))
		return tp_parser_error(parser, line.text, "'%.*s' has no prefix; " EXPECTED_PREFIX,
		    tp_span_shown(line), line.text);
	if (!parser->warned_bare)
		tp_parser_warn(parser, line.text,
		    "a line without a prefix is read as AFL++ does: a file if there is a '/' or '.' in "
		    "it, else a function");
	parser->warned_bare = true;
	return tp_parser_add_bare(parser, line);
}

static int parse_rule(struct tp_parser *parser, struct tp_span line, const char *colon)
{
	struct tp_span prefix = {line.text, (size_t)(colon - line.text)};
	const struct tp_span rest = tp_span_between(colon + 1, line.text + line.size);
	const bool reversed = prefix.size && prefix.text[0] == '!';
	enum tp_rule_kind kind;
	if (tp_span_is(prefix, "default") && parser->section <= TP_SECTION_PROFILE)
		return parse_default(parser, rest);
	if (reversed) {
		prefix.text++;
		prefix.size--;
	}
	if (!tp_rule_kind_find(prefix, &kind))
		return unknown_prefix(parser, prefix, rest.size && colon[1] == ':');
	if (parser->section > TP_SECTION_PROFILE) {
		// Not "function:" and "source:", which XRay does not know.
		if (reversed || prefix.size != 3 ||
		    (kind != TP_RULE_FUNCTION && kind != TP_RULE_SOURCE)) {
			tp_parser_warn(parser, line.text,
			    "the line is skipped, as XRay does; expected fun: or src: in its sections");
			return 0;
		}
		return tp_parser_add_xray(parser, kind, rest);
	}
	if (reversed)
		tp_parser_warn(parser, line.text, "'!' is deprecated; expected '%.*s:GLOB=skip'",
		    tp_span_shown(prefix), prefix.text);
	return tp_parser_add_rule(parser, kind, rest, reversed);
}

// A comment, which may be the header that tells the version of a special case list.
static int parse_header(struct tp_parser *parser, struct tp_span line)
{
	static const char header[] = "#!special-case-list-v";
	const size_t length = sizeof(header) - 1;
	if (line.size < length || memcmp(line.text, header, length) != 0)
		return 0;
	const struct tp_span version = {line.text + length, line.size - length};
	if (tp_span_is(version, "1"))
		return tp_parser_error(parser, line.text,
		    "regular expressions (special-case-list-v1) are not supported; expected globs");
	if (!tp_span_is(version, "2"))
		tp_parser_warn(parser, version.text,
		    "version '%.*s' of special case lists is not known: the list is read as version 2; "
		    "expected '%s2', or no such line",
		    tp_span_shown(version), version.text, header);
	return 0;
}

static int parse_line(struct tp_parser *parser, struct tp_span line)
{
	if (!line.size)
		return 0;
	if (line.text[0] == '#') {
		return parse_header(parser, line);
	}
	if (line.text[0] == '[')
		return parse_section(parser, line);
	if (parser->section == TP_SECTION_FOREIGN) {
		parser->list->leaves_out = true;
		return 0;
	}
	const char *colon = memchr(line.text, ':', line.size);
	return colon ? parse_rule(parser, line, colon) : parse_bare(parser, line);
}

/* ---- texts ---------------------------------------------------------------------------------- */

static int check_bytes(struct tp_parser *parser)
{
	for (size_t i = 0; i < parser->whole.size; i++) {
		const unsigned char byte = (unsigned char)parser->whole.text[i];
		if ((byte < ' ' && byte != '\t') || byte == 0x7f)
			return tp_parser_error(parser, parser->whole.text + i,
			    "byte 0x%02x in the list; expected a text file", byte);
	}
	return 0;
}

static int each_line(struct tp_parser *parser, struct tp_span text,
    int (*visit)(struct tp_parser *parser, struct tp_span line))
{
	const char *at = text.text;
	const char *end = text.text + text.size;
	if (text.size >= 3 && memcmp(at, "\xef\xbb\xbf", 3) == 0)
		at += 3; // a byte order mark
	parser->line = 0;
	while (at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		const char *stop = newline ? newline : end;
		const char *next = newline ? newline + 1 : end;
		if (stop > at && stop[-1] == '\r')
			stop--;
		parser->line++;
		parser->whole = (struct tp_span){at, (size_t)(stop - at)};
		const int status = visit(parser, tp_span_between(at, stop));
		if (status)
			return status;
		at = next;
	}
	return 0;
}

// [teeperf] is ours by name; [*] is everybody's.
static int note_section(struct tp_parser *parser, struct tp_span line)
{
	struct section_names names = {false, false, false, false};
	struct tp_glob_error error;
	if (line.size > 2 && line.text[0] == '[' && line.text[line.size - 1] == ']')
		tp_glob_compile(line.text + 1, line.size - 2, take_names, &names, &error);
	parser->names_us |= names.teeperf && !names.clang;
	return 0;
}

static int check_and_parse_line(struct tp_parser *parser, struct tp_span line)
{
	const int status = check_bytes(parser);
	return status ? status : parse_line(parser, line);
}

int tp_allowlist_add_text(
    struct tp_allowlist *list, const char *text, size_t size, const char *file, struct tp_err *err)
{
	if (size > TP_ALLOWLIST_BYTES_MAX)
		return tp_err_set(err, TP_ERR_LIMIT, file, TP_ERR_NO_OFFSET,
		    "a list of %zu bytes; expected at most %d", size, TP_ALLOWLIST_BYTES_MAX);
	struct tp_parser parser = {
	    .list = list, .err = err, .file = tp_arena_copy(&list->arena, file, strlen(file))};
	if (!parser.file)
		return tp_err_set(err, TP_ERR_MEMORY, file, TP_ERR_NO_OFFSET, "out of memory");
	const struct tp_span whole = {text, size};
	each_line(&parser, whole, note_section);
	return each_line(&parser, whole, check_and_parse_line);
}
