// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lines of allowlists that load, cut into their parts, and globs that are written anew.
#include "text.h"

#include "allowlists/language/list.h"
#include "common/clean.h"

#include <ctype.h>
#include <string.h>

int tp_text_check(const char *text, size_t size, const char *file, struct tp_err *err)
{
	struct tp_lines lines;
	struct tp_span line;
	tp_lines_init(&lines, text, size);
	while (tp_lines_next(&lines, &line)) {
		const char *control = tp_span_find_control(line);
		if (control)
			return tp_err_set_line(err, TP_ERR_SYNTAX, file, lines.number,
			    (uint32_t)(control - lines.whole.text) + 1,
			    "byte 0x%02x in the list; expected a text file",
			    (unsigned char)*control);
	}
	return 0;
}

void tp_buf_add_span(struct tp_buf *buf, struct tp_span span)
{
	tp_buf_add(buf, span.text, span.size);
}

/* ---- lines ---------------------------------------------------------------------------------- */

static const char *find_prefix(struct tp_span word)
{
	enum tp_rule_kind kind;
	return tp_rule_kind_find(word, &kind) ? tp_rule_kind_name(kind) : NULL;
}

// Cut "=CATEGORY" off; false if the category is another tool's.
static bool cut_category(struct tp_span *rest, struct tp_line_parts *parts)
{
	const char *equals = tp_rule_last_equals(*rest);
	if (!equals)
		return true;
	const struct tp_span word = tp_span_between(equals + 1, rest->text + rest->size);
	enum tp_category category;
	uint32_t sample;
	if (!tp_category_find(word, &category, &sample))
		return !tp_span_is_word(word);
	parts->has_category = true;
	parts->category = category;
	parts->sample = sample;
	*rest = tp_span_between(rest->text, equals);
	return true;
}

// Fill in the parts behind the first, and leave that in *rest. False if there are too many.
static bool cut_parts(struct tp_span *rest, struct tp_line_parts *parts)
{
	enum tp_rule_kind kind;
	for (const char *start; (start = tp_rule_last_part(*rest, &kind));) {
		if (parts->more_count == TP_LINE_MORE_MAX)
			return false;
		memmove(parts->more + 1, parts->more, parts->more_count * sizeof(*parts->more));
		parts->more_count++;
		parts->more[0].prefix = tp_rule_kind_name(kind);
		parts->more[0].glob = tp_span_between(start, rest->text + rest->size);
		while (*--start != '@')
			;
		*rest = tp_span_between(rest->text, start);
	}
	return true;
}

static bool has_where(const struct tp_line_parts *parts)
{
	bool any = parts->prefix && !strcmp(parts->prefix, "where");
	for (uint32_t i = 0; i < parts->more_count; i++)
		any |= !strcmp(parts->more[i].prefix, "where");
	return any;
}

struct tp_line_parts tp_line_split(struct tp_span line)
{
	struct tp_line_parts parts = {.kind = TP_LINE_EMPTY, .sample = 1};
	if (!line.size)
		return parts;
	if (line.text[0] == '#') {
		parts.kind = TP_LINE_COMMENT;
		return parts;
	}
	if (line.text[0] == '[') {
		parts.kind = TP_LINE_SECTION;
		return parts;
	}
	parts.kind = TP_LINE_RULE;
	struct tp_span rest = line;
	struct tp_span word = tp_span_cut(&rest, ':');
	rest = tp_span_trim(rest);
	if (word.size == line.size)
		return parts; // without a prefix, as AFL++ has them
	if (tp_span_is(word, "default")) {
		parts.kind = TP_LINE_DEFAULT;
		tp_category_find(rest, &parts.category, &parts.sample);
		return parts;
	}
	const bool reversed = tp_span_starts(word, "!");
	if (reversed)
		word = (struct tp_span){word.text + 1, word.size - 1};
	const bool ours = cut_category(&rest, &parts);
	parts.prefix = find_prefix(word);
	if (!parts.prefix || !cut_parts(&rest, &parts) || (!ours && !has_where(&parts)))
		parts.prefix = NULL;
	parts.glob = rest;
	if (reversed) {
		parts.has_category = true;
		parts.category = TP_CATEGORY_SKIP;
	}
	return parts;
}

bool tp_line_is_ours(struct tp_span line)
{
	struct tp_glob_error error;
	struct tp_globs globs;
	if (line.size <= 2)
		return false;
	tp_globs_compile(&globs, line.text + 1, line.size - 2, &error);
	const bool ours = tp_globs_match(&globs, "teeperf", 7);
	tp_globs_release(&globs);
	return ours;
}

/* ---- globs ---------------------------------------------------------------------------------- */

void tp_glob_add_byte(struct tp_buf *out, unsigned char byte, enum tp_dialect dialect)
{
	const bool own = dialect == TP_DIALECT_OWN;
	if (!own && (byte == ' ' || byte == '\t' || byte == '#')) {
		tp_buf_add_char(out, '?');
		return;
	}
	if (byte && strchr(own ? "*?[]{}\\#" : "*?[]\\", byte))
		tp_buf_add_char(out, '\\');
	tp_buf_add_char(out, (char)byte);
}

static bool has(const tp_byte_set set, unsigned byte)
{
	return set[byte / 8] >> byte % 8 & 1;
}

static void put(tp_byte_set set, unsigned byte)
{
	set[byte / 8] |= (uint8_t)(1u << byte % 8);
}

static void add_member(struct tp_buf *out, unsigned byte, enum tp_dialect dialect)
{
	if (byte == '\\' && dialect == TP_DIALECT_FNMATCH)
		tp_buf_add_char(out, '\\');
	tp_buf_add_char(out, (char)byte);
}

// The members of a set as they stand between brackets. ']' can only be the first, '-' the first or
// last, and '^' and '!' anywhere but first: a run never begins or ends with one of the four.
static void add_members(struct tp_buf *out, const tp_byte_set set, enum tp_dialect dialect)
{
	const size_t start = out->size;
	if (has(set, ']'))
		tp_buf_add_char(out, ']');
	for (unsigned first = 0; first < 256; first++) {
		if (!has(set, first) || memchr("]-^!", (int)first, 4))
			continue;
		unsigned last = first;
		while (last < 255 && has(set, last + 1) && !memchr("]-^!", (int)last + 1, 4))
			last++;
		add_member(out, first, dialect);
		if (last > first + 1)
			tp_buf_add_char(out, '-');
		if (last > first)
			add_member(out, last, dialect);
		first = last;
	}
	const bool dash_first = out->size == start;
	if (has(set, '-') && dash_first)
		tp_buf_add_char(out, '-');
	if (has(set, '^'))
		tp_buf_add_char(out, '^');
	if (has(set, '!'))
		tp_buf_add_char(out, '!');
	if (has(set, '-') && !dash_first)
		tp_buf_add_char(out, '-');
}

void tp_glob_add_set(struct tp_buf *out, const tp_byte_set set, enum tp_dialect dialect)
{
	unsigned count = 0;
	unsigned member = 0;
	tp_byte_set others = {0};
	for (unsigned byte = 0; byte < 256; byte++) {
		if (has(set, byte)) {
			count++;
			member = byte;
		} else {
			put(others, byte);
		}
	}
	if (count == 256) {
		tp_buf_add_char(out, '?');
	} else if (!count) {
		tp_buf_add_string(out, "[^ -~]"); // none, as "[z-a]": what no name has
	} else if (count == 1) {
		tp_glob_add_byte(out, (unsigned char)member, dialect);
	} else if (count == 2 && has(set, '^') && has(set, '!')) {
		// Neither can be the first.
		tp_buf_add_string(out, dialect == TP_DIALECT_OWN ? "{^,!}" : "[\\^!]");
	} else {
		const bool negated =
		    count > 128 && !(dialect == TP_DIALECT_OWN && has(others, ']'));
		tp_byte_set members;
		memcpy(members, negated ? others : set, sizeof(members));
		if (count > 128 && !negated) {
			// A ']' cannot be in one of our negated sets. No name has the bytes that a
			// list cannot.
			memset(members, 0, 4);
			members[0x7f / 8] &= 0x7f;
		}
		tp_buf_add_string(out, negated ? "[^" : "[");
		add_members(out, members, dialect);
		tp_buf_add_char(out, ']');
	}
}

void tp_glob_add_literal(struct tp_buf *out, struct tp_span text)
{
	struct tp_buf clean; // as long as the text
	tp_buf_init(&clean);
	tp_buf_add_clean_part(&clean, text.text, text.size);
	if (clean.failed)
		out->failed = true;
	for (size_t i = 0; i < clean.size; i++) {
		if (clean.data[i] == text.text[i])
			tp_glob_add_byte(out, (unsigned char)clean.data[i], TP_DIALECT_OWN);
		else
			tp_buf_add_char(out, '?');
	}
	tp_buf_release(&clean);
}

static bool add_class(struct tp_span name, tp_byte_set set)
{
	static const struct {
		const char *name;
		int (*is)(int c);
	} classes[] = {{"alnum", isalnum}, {"alpha", isalpha}, {"blank", isblank},
	    {"digit", isdigit}, {"lower", islower}, {"punct", ispunct}, {"space", isspace},
	    {"upper", isupper}, {"xdigit", isxdigit}};
	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
		if (!tp_span_is(name, classes[i].name))
			continue;
		for (unsigned byte = 0; byte < 128; byte++)
			if (classes[i].is((int)byte))
				put(set, byte);
		return true;
	}
	return false;
}

// The set that begins behind a '['. Its size with the ']', or 0 if there is none.
static size_t read_set(struct tp_span rest, tp_byte_set set)
{
	size_t at = 0;
	const bool negated = rest.size && (rest.text[0] == '!' || rest.text[0] == '^');
	at += negated;
	const size_t first = at;
	memset(set, 0, sizeof(tp_byte_set));
	while (at < rest.size && (rest.text[at] != ']' || at == first)) {
		if (rest.text[at] == '[' && at + 1 < rest.size && rest.text[at + 1] == ':') {
			struct tp_span tail = {rest.text + at + 2, rest.size - at - 2};
			const struct tp_span name = tp_span_cut(&tail, ':');
			if (tail.size && tail.text[0] == ']' && add_class(name, set)) {
				at += name.size + 4;
				continue;
			}
		}
		at += rest.text[at] == '\\' && at + 1 < rest.size;
		const unsigned low = (unsigned char)rest.text[at++];
		unsigned high = low;
		if (at + 1 < rest.size && rest.text[at] == '-' && rest.text[at + 1] != ']') {
			at++;
			at += rest.text[at] == '\\' && at + 1 < rest.size;
			high = (unsigned char)rest.text[at++];
		}
		for (unsigned byte = low; byte <= high; byte++)
			put(set, byte);
	}
	if (at >= rest.size)
		return 0;
	for (size_t i = 0; negated && i < sizeof(tp_byte_set); i++)
		set[i] = (uint8_t)~set[i];
	return at + 1;
}

void tp_glob_add_fnmatch(struct tp_buf *out, struct tp_span pattern)
{
	for (size_t i = 0; i < pattern.size; i++) {
		const char c = pattern.text[i];
		tp_byte_set set;
		size_t taken;
		if (c == '*' || c == '?') {
			tp_buf_add_char(out, c);
		} else if (c == '\\' && i + 1 < pattern.size) {
			tp_glob_add_byte(out, (unsigned char)pattern.text[++i], TP_DIALECT_OWN);
		} else if (c == '[' && (taken = read_set((struct tp_span){pattern.text + i + 1,
							     pattern.size - i - 1},
					    set))) {
			tp_glob_add_set(out, set, TP_DIALECT_OWN);
			i += taken;
		} else {
			tp_glob_add_byte(out, (unsigned char)c, TP_DIALECT_OWN);
		}
	}
}
