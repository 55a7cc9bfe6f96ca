// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reading a text line by line: sections, prefixes, defaults, and errors that show their place.
#include "list.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- errors and warnings ------------------------------------------------------------------- */

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
	    "'%.*s' is also in [always], which wins", tp_span_shown(parser.whole), text);
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
		    "no line instruments anything; a list of functions to leave out needs "
		    "'default:allow', and lines in another tool's section may need a '[teeperf]' "
		    "above them");
	check_conflicts(list);
}

/* ---- sections ------------------------------------------------------------------------------- */

// Which of the names that mean something to us a section's name, a glob, matches.
struct section_names {
	bool teeperf;
	bool always;
	bool never;
	bool clang;
};

static int read_section(
    struct tp_span name, struct section_names *names, struct tp_glob_error *error)
{
	struct tp_globs globs;
	const int status = tp_globs_compile(&globs, name.text, name.size, error);
	*names = (struct section_names){
	    .teeperf = tp_globs_match(&globs, "teeperf", 7),
	    .always = tp_globs_match(&globs, "always", 6) ||
		      tp_globs_match(&globs, "xray_always_instrument", 22),
	    .never = tp_globs_match(&globs, "never", 5) ||
		     tp_globs_match(&globs, "xray_never_instrument", 21),
	    .clang = tp_globs_match(&globs, "clang", 5),
	};
	tp_globs_release(&globs);
	return status;
}

// How many letters have to be changed, added or removed to make `word` of `span`; at least `limit`:
// no matter.
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
	struct section_names names;
	struct tp_glob_error error;
	const int status = read_section(name, &names, &error);
	if (status)
		return tp_parser_glob_error(parser, status, name.text, &error);
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
		    "invalid default '%.*s'; expected default:allow, count, sample/N, skip or "
		    "force",
		    tp_span_shown(word), word.text);
	// Profile lists may have it. As a default it could not be overruled, which nobody wants.
	if (category == TP_CATEGORY_FORBID) {
		tp_parser_warn(parser, word.text, "default:forbid is read as default:skip");
		category = TP_CATEGORY_SKIP;
	}
	if (category == TP_CATEGORY_FORCE)
		tp_parser_warn(parser, word.text,
		    "default:force keeps every function that no line matches from being inlined, "
		    "which makes programs much slower; write default:allow, and =force for "
		    "functions that must stay");
	parser->list->by_default = (struct tp_verdict){
	    .category = category,
	    .sample = sample,
	    .line = parser->line,
	    .file = parser->file,
	};
	return 0;
}

// Prefixes of sanitizers' lists, about things that are no functions.
static const char *const sanitizer_prefixes[] = {
    "global", "type", "enum", "object", "vtable", NULL};

static int unknown_prefix(struct tp_parser *parser, struct tp_span prefix, bool is_demangled)
{
	static const char *const hints[][2] = {{"fun", "fun"}, {"func", "fun"}, {"function", "fun"},
	    {"functions", "fun"}, {"symbol", "fun"}, {"mangled", "fun"}, {"src", "src"},
	    {"source", "src"}, {"sources", "src"}, {"file", "src"}, {"path", "src"},
	    {"main", "mainfile"}, {"main_file", "mainfile"}, {"mainfile", "mainfile"},
	    {"name", "name"}, {"names", "name"}, {"demangled", "name"}, {"mod", "mod"},
	    {"module", "mod"}, {"lib", "mod"}, {"library", "mod"}, {"if", "where"},
	    {"where", "where"}, {"default", "default"}};
	if (parser->section != TP_SECTION_OURS || tp_span_is_one_of(prefix, sanitizer_prefixes)) {
		tp_parser_warn(parser, prefix.text,
		    "the line is skipped: '%.*s:' does not select functions here",
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
		    "a line without a prefix is read as in AFL++: a file if it has a '/' or '.', "
		    "else a function");
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
			    "the line is skipped, as XRay does; expected fun: or src: in its "
			    "sections");
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
		    "version '%.*s' of special case lists is not supported: the list is read as "
		    "version 2; expected '%s2', or no such line",
		    tp_span_shown(version), version.text, header);
	return 0;
}

static int parse_line(struct tp_parser *parser, struct tp_span line)
{
	if (!line.size)
		return 0;
	if (line.text[0] == '#')
		return parse_header(parser, line);
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

// [teeperf] is ours by name; [*] is everybody's.
static bool names_us(struct tp_span line)
{
	struct section_names names;
	struct tp_glob_error error;
	return line.size > 2 && line.text[0] == '[' && line.text[line.size - 1] == ']' &&
	       !read_section((struct tp_span){line.text + 1, line.size - 2}, &names, &error) &&
	       names.teeperf && !names.clang;
}

int tp_allowlist_add_text(
    struct tp_allowlist *list, const char *text, size_t size, const char *file, struct tp_err *err)
{
	if (size > TP_ALLOWLIST_BYTES_MAX)
		return tp_err_set(err, TP_ERR_LIMIT, file,
		    "a list of %zu bytes; expected at most %d", size, TP_ALLOWLIST_BYTES_MAX);
	struct tp_parser parser = {
	    .list = list, .err = err, .file = tp_arena_copy(&list->arena, file, strlen(file))};
	if (!parser.file)
		return tp_err_memory(err, file);
	struct tp_lines lines;
	struct tp_span line;
	tp_lines_init(&lines, text, size);
	while (!parser.names_us && tp_lines_next(&lines, &line))
		parser.names_us = names_us(line);
	tp_lines_init(&lines, text, size);
	int status = 0;
	while (!status && tp_lines_next(&lines, &line)) {
		parser.line = lines.number;
		parser.whole = lines.whole;
		const char *control = tp_span_find_control(line);
		status = control ? tp_parser_error(&parser, control,
				       "byte 0x%02x in the list; expected a text file",
				       (unsigned char)*control)
				 : parse_line(&parser, line);
	}
	return status;
}
