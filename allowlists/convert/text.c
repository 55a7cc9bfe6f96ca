// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lines of allowlists that load, cut into their parts, and globs that are written anew.
#include "text.h"

#include "allowlists/language/list.h"
#include "common/clean.h"

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

void tp_glob_add_byte(struct tp_buf *out, unsigned char byte)
{
	if (byte && strchr("*?[]{}\\#", byte))
		tp_buf_add_char(out, '\\');
	tp_buf_add_char(out, (char)byte);
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
			tp_glob_add_byte(out, (unsigned char)clean.data[i]);
		else
			tp_buf_add_char(out, '?');
	}
	tp_buf_release(&clean);
}
