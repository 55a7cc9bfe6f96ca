// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What one line says: its category, its parts, and the globs in them.
#include "list.h"
#include "common/buf.h"

#include "common/array.h"

#include <stdlib.h>
#include <string.h>

// Of each kind the word that lists are written with first.
static const struct {
	const char *text;
	enum tp_rule_kind kind;
} kinds[] = {
    {"fun", TP_RULE_FUNCTION},
    {"function", TP_RULE_FUNCTION},
    {"src", TP_RULE_SOURCE},
    {"source", TP_RULE_SOURCE},
    {"name", TP_RULE_NAME},
    {"mainfile", TP_RULE_MAIN_FILE},
    {"mod", TP_RULE_MODULE},
    {"where", TP_RULE_WHERE},
};

bool tp_rule_kind_find(struct tp_span text, enum tp_rule_kind *kind)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (tp_span_is(text, kinds[i].text)) {
			*kind = kinds[i].kind;
			return true;
		}
	}
	return false;
}

const char *tp_rule_kind_name(enum tp_rule_kind kind)
{
	size_t i = 0;
	while (kinds[i].kind != kind)
		i++;
	return kinds[i].text;
}

/* ---- categories ----------------------------------------------------------------------------- */

const char *tp_category_name(enum tp_category category)
{
	static const char *const names[] = {
	    [TP_CATEGORY_ALLOW] = "allow",
	    [TP_CATEGORY_SKIP] = "skip",
	    [TP_CATEGORY_FORCE] = "force",
	    [TP_CATEGORY_FORBID] = "forbid",
	    [TP_CATEGORY_COUNT] = "count",
	    [TP_CATEGORY_SAMPLE] = "sample",
	};
	return (unsigned int)category < sizeof(names) / sizeof(names[0]) ? names[category] : "?";
}

void tp_category_add(struct tp_buf *buf, enum tp_category category, uint32_t sample)
{
	tp_buf_add_string(buf, tp_category_name(category));
	if (category == TP_CATEGORY_SAMPLE)
		tp_buf_addf(buf, "/%u", sample);
}

bool tp_category_find(struct tp_span word, enum tp_category *category, uint32_t *sample)
{
	*sample = 1;
	for (int i = TP_CATEGORY_ALLOW; i <= TP_CATEGORY_SAMPLE; i++) {
		if (tp_span_is(word, tp_category_name((enum tp_category)i))) {
			*category = (enum tp_category)i;
			*sample = i == TP_CATEGORY_SAMPLE ? TP_SAMPLE_DEFAULT : 1;
			return true;
		}
	}
	if (!tp_span_starts(word, "sample/") || word.size > 7 + 9)
		return false;
	uint32_t value = 0;
	for (size_t i = 7; i < word.size; i++) {
		if (word.text[i] < '0' || word.text[i] > '9')
			return false;
		value = value * 10 + (uint32_t)(word.text[i] - '0');
	}
	*category = TP_CATEGORY_SAMPLE;
	*sample = value;
	return value >= 1 && value <= TP_SAMPLE_MAX;
}

// Whether it is meant as a category, right or wrong.
static bool is_like_category(struct tp_span span)
{
	if (span.size > 7 && !memcmp(span.text, "sample/", 7))
		return tp_span_is_word((struct tp_span){span.text + 7, span.size - 7});
	return tp_span_is_word(span) || tp_span_is(span, "sample/");
}

const char *tp_rule_last_part(struct tp_span rest, enum tp_rule_kind *kind)
{
	for (size_t at = rest.size; at-- > 0;) {
		if (rest.text[at] != '@' || tp_span_is_escaped(rest, at))
			continue;
		struct tp_span behind = {rest.text + at + 1, rest.size - at - 1};
		const struct tp_span word = tp_span_cut(&behind, ':');
		if (behind.text > word.text + word.size && tp_rule_kind_find(word, kind))
			return behind.text;
	}
	return NULL;
}

const char *tp_rule_last_equals(struct tp_span rest)
{
	size_t at = rest.size;
	while (at && rest.text[at - 1] != '=')
		at--;
	return at && !tp_span_is_escaped(rest, at - 1) ? rest.text + at - 1 : NULL;
}

// Words that sanitizers' lists have behind a '='; such lines say nothing about instrumentation.
static const char *const sanitizer_categories[] = {"sanitize", "init", "init-list",
    "uninstrumented", "discard", "functional", "custom", "force_zero_labels", NULL};

struct level {
	enum tp_category category;
	uint32_t sample;
	const char *at; // where the line says so, NULL: it does not
	bool ignored;   // the line is of no use to us
};

/*
 * Cut "=CATEGORY" off *rest. What follows the last '=' is a category if it looks like a word;
 * otherwise ("operator==", "a=b/c.c", "operator=*") the '=' belongs to the glob, as does "\=". In
 * where: lines it also stands for a comparison ("loops=0"), which only a true category ends.
 */
static int cut_category(
    struct tp_parser *parser, enum tp_rule_kind kind, struct tp_span *rest, struct level *level)
{
	*level = (struct level){.category = TP_CATEGORY_ALLOW, .sample = 1};
	const char *equals = tp_rule_last_equals(*rest);
	if (!equals)
		return 0;
	const struct tp_span word = tp_span_between(equals + 1, rest->text + rest->size);
	if (!is_like_category(word))
		return 0;
	if (!tp_category_find(word, &level->category, &level->sample)) {
		tp_rule_last_part(*rest, &kind);
		if (kind == TP_RULE_WHERE)
			return 0;
		level->ignored = tp_span_is_one_of(word, sanitizer_categories) ||
				 parser->section == TP_SECTION_PROFILE;
		if (level->ignored)
			tp_parser_warn(parser, word.text,
			    "the line is skipped: '%.*s' is a category of other tools",
			    tp_span_shown(word), word.text);
		else if (word.size >= 6 && !memcmp(word.text, "sample", 6))
			return tp_parser_error(parser, word.text,
			    "invalid sampling '%.*s'; expected sample/N, N from 1 to %u",
			    tp_span_shown(word), word.text, (unsigned int)TP_SAMPLE_MAX);
		else
			return tp_parser_error(parser, word.text,
			    "unknown category '%.*s'; expected allow, count, sample/N, skip, force "
			    "or forbid, or '\\=' for the character itself",
			    tp_span_shown(word), word.text);
	}
	level->at = word.text;
	*rest = tp_span_between(rest->text, equals);
	return 0;
}

/* ---- parts ---------------------------------------------------------------------------------- */

int tp_parser_add_globs(
    struct tp_parser *parser, struct tp_span text, struct tp_condition *condition)
{
	if (!text.size)
		return tp_parser_error(
		    parser, text.text, "nothing to match; expected a name or a glob");
	for (size_t i = 1; i < text.size; i++) {
		if (text.text[i] == '#' && (text.text[i - 1] == ' ' || text.text[i - 1] == '\t'))
			return tp_parser_error(parser, text.text + i,
			    "a comment after a rule would be part of it; put it on a line of its "
			    "own, or write '\\#' for the character itself");
	}
	// Files are compared without a leading "./": a glob that has it would never match.
	const bool is_file =
	    condition->kind == TP_RULE_SOURCE || condition->kind == TP_RULE_MAIN_FILE;
	while (is_file && text.size > 2 && memcmp(text.text, "./", 2) == 0) {
		text.text += 2;
		text.size -= 2;
	}
	struct tp_glob_error error;
	const int status = tp_globs_compile(&condition->globs, text.text, text.size, &error);
	return status ? tp_parser_glob_error(parser, status, text.text, &error) : 0;
}

static int parse_where(
    struct tp_parser *parser, struct tp_span text, struct tp_condition *condition)
{
	struct tp_where_error error;
	condition->where = tp_where_parse(&parser->list->arena, text.text, text.size, &error);
	if (condition->where)
		return 0;
	return error.what[0] ? tp_parser_error(parser, text.text + error.offset, "%s", error.what)
			     : tp_parser_no_memory(parser);
}

// "fun:x@foo:y" is a glob with an '@' in it, but looks like a part.
static void warn_of_unknown_part(struct tp_parser *parser, struct tp_span text)
{
	for (size_t at = 0; at < text.size; at++) {
		if (text.text[at] != '@' || tp_span_is_escaped(text, at))
			continue;
		size_t end = at + 1;
		while (end < text.size && ((text.text[end] >= 'a' && text.text[end] <= 'z') ||
					      text.text[end] == '_' || text.text[end] == '-'))
			end++;
		if (end == at + 1 || end == text.size || text.text[end] != ':' ||
		    (end + 1 < text.size && text.text[end + 1] == ':'))
			continue;
		tp_parser_warn(parser, text.text + at,
		    "'%.*s' does not start a part, so it belongs to the glob; expected '@fun:', "
		    "'@name:', '@src:', '@mainfile:', '@mod:' or '@where:', or '\\@' for the "
		    "character itself",
		    tp_span_shown((struct tp_span){text.text + at, end + 1 - at}), text.text + at);
		return;
	}
}

static int parse_part(struct tp_parser *parser, struct tp_span text, struct tp_condition *condition)
{
	if (condition->kind != TP_RULE_WHERE)
		warn_of_unknown_part(parser, text);
	static const unsigned int needs[TP_RULE_KIND_COUNT] = {
	    [TP_RULE_NAME] = TP_NEEDS_NAMES,
	    [TP_RULE_WHERE] = TP_NEEDS_FACTS,
	    [TP_RULE_MODULE] = TP_NEEDS_MODULE,
	};
	parser->list->needs |= needs[condition->kind];
	return condition->kind == TP_RULE_WHERE ? parse_where(parser, text, condition)
						: tp_parser_add_globs(parser, text, condition);
}

// How telling the parts of a line are: the first of these is looked for by its index.
static bool is_better_first(const struct tp_condition *a, const struct tp_condition *b)
{
	static const int worth[TP_RULE_KIND_COUNT] = {
	    [TP_RULE_FUNCTION] = 5,
	    [TP_RULE_NAME] = 4,
	    [TP_RULE_SOURCE] = 3,
	    [TP_RULE_MAIN_FILE] = 2,
	    [TP_RULE_MODULE] = 1,
	};
	return worth[a->kind] > worth[b->kind];
}

// Put `part` in front of the entry's other parts. The entry owns it from then on.
static int add_part(struct tp_parser *parser, struct tp_entry *entry, struct tp_condition *part)
{
	if (entry->part_count) {
		part->next = tp_arena_alloc(&parser->list->arena, sizeof(*part->next));
		if (!part->next) {
			tp_globs_release(&part->globs);
			return tp_parser_no_memory(parser);
		}
		*part->next = entry->first;
	}
	entry->first = *part;
	entry->part_count++;
	return 0;
}

// Read the parts of `rest`, from the last to the first, which is `kind`.
static int parse_parts(
    struct tp_parser *parser, enum tp_rule_kind kind, struct tp_span rest, struct tp_entry *entry)
{
	for (;;) {
		struct tp_condition part = {.kind = kind};
		const char *start = tp_rule_last_part(rest, &part.kind);
		const struct tp_span text =
		    start ? tp_span_between(start, rest.text + rest.size) : rest;
		const int status = parse_part(parser, text, &part);
		// Keep a wrong part as well, so that it is freed with the list.
		const int added = add_part(parser, entry, &part);
		if (status || added || !start)
			return status ? status : added;
		while (*--start != '@')
			;
		rest = tp_span_between(rest.text, start);
	}
}

// Let the most telling part come first.
static void order_parts(struct tp_entry *entry)
{
	struct tp_condition *first = &entry->first;
	for (struct tp_condition *part = first->next; part; part = part->next) {
		if (!is_better_first(part, first))
			continue;
		const struct tp_condition other = *part;
		struct tp_condition *next = first->next;
		*part = *first;
		part->next = other.next;
		*first = other;
		first->next = next;
	}
}

/* ---- lines ---------------------------------------------------------------------------------- */

struct tp_entry *tp_parser_add_entry(struct tp_parser *parser, const char *at)
{
	struct tp_allowlist *list = parser->list;
	if (!TP_GROW(list->entries, list->entry_capacity, list->entry_count + UINT64_C(1)))
		return NULL;
	const char *end = parser->whole.text + parser->whole.size;
	const struct tp_span line = tp_span_between(parser->whole.text, end);
	const char *text = tp_arena_copy(&list->arena, line.text, line.size);
	if (!text)
		return NULL;
	struct tp_entry *entry = &list->entries[list->entry_count++];
	*entry = (struct tp_entry){
	    .line =
		{
		    .file = parser->file,
		    .line = parser->line,
		    .column = (uint32_t)(at - parser->whole.text) + 1,
		    .text = text,
		    .sample = 1,
		},
	};
	return entry;
}

static int check_limit(struct tp_parser *parser, const struct tp_entry *entry)
{
	parser->list->glob_count += entry->first.globs.count;
	if (parser->list->glob_count <= TP_ALLOWLIST_RULES_MAX)
		return 0;
	return tp_err_set_line(parser->err, TP_ERR_LIMIT, parser->file, parser->line, 1,
	    "the list expands to more than %d globs; use fewer braces", TP_ALLOWLIST_RULES_MAX);
}

int tp_parser_finish_entry(struct tp_parser *parser, struct tp_entry *entry)
{
	const struct tp_condition *first = &entry->first;
	if (first->kind == TP_RULE_FUNCTION && !first->next && first->globs.count == 1 &&
	    first->globs.items[0]->literal && !entry->any_name)
		entry->line.exact = (const char *)first->globs.items[0]->prefix;
	entry->line.names_only = true;
	for (const struct tp_condition *part = first; part; part = part->next)
		entry->line.names_only &=
		    part->kind == TP_RULE_FUNCTION || part->kind == TP_RULE_NAME;
	const bool out =
	    entry->line.category == TP_CATEGORY_SKIP || entry->line.category == TP_CATEGORY_FORBID;
	parser->list->chooses |= !out;
	parser->list->leaves_out |= out;
	return check_limit(parser, entry);
}

static bool has_where(const struct tp_condition *part)
{
	while (part && part->kind != TP_RULE_WHERE)
		part = part->next;
	return part != NULL;
}

int tp_parser_add_rule(
    struct tp_parser *parser, enum tp_rule_kind kind, struct tp_span rest, bool reversed)
{
	struct level level;
	const char *start = rest.text;
	int status = cut_category(parser, kind, &rest, &level);
	if (status || level.ignored)
		return status;
	if (reversed) {
		if (level.at)
			return tp_parser_error(parser, level.at,
			    "'!' already says skip; expected the line without '!', or without a "
			    "category");
		level.category = TP_CATEGORY_SKIP;
	}
	struct tp_entry *entry = tp_parser_add_entry(parser, start);
	if (!entry)
		return tp_parser_no_memory(parser);
	entry->line.category = level.category;
	entry->line.sample = level.sample;
	if (!rest.size)
		rest.text = start;
	status = parse_parts(parser, kind, rest, entry);
	if (status)
		return status;
	order_parts(entry);
	if (level.category == TP_CATEGORY_FORCE && has_where(&entry->first))
		return tp_parser_error(parser, level.at,
		    "where: looks at functions after inlining, which =force prevents; expected "
		    "another category");
	return tp_parser_finish_entry(parser, entry);
}

/* ---- lines of other tools: XRay's, and AFL++'s without a prefix ---- */

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
			    "the line is skipped, as XRay does; expected nothing after the glob%s",
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
