// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Splitting lines of allowlists that load.
#include "line.h"

#include "allowlists/language/parser.h"
#include "allowlists/language/glob.h"

#include <string.h>

// The canonical word of a kind, or NULL.
static const char *find_prefix(struct tp_span word)
{
	static const char *const words[TP_RULE_KIND_COUNT] = {
	    [TP_RULE_FUNCTION] = "fun",
	    [TP_RULE_NAME] = "name",
	    [TP_RULE_SOURCE] = "src",
	    [TP_RULE_MAIN_FILE] = "mainfile",
	    [TP_RULE_MODULE] = "mod",
	    [TP_RULE_WHERE] = "where",
	};
	enum tp_rule_kind kind;
	return tp_rule_kind_find(word, &kind) ? words[kind] : NULL;
}

static bool is_escaped(struct tp_span span, size_t at)
{
	size_t backslashes = 0;
	while (backslashes < at && span.text[at - backslashes - 1] == '\\')
		backslashes++;
	return backslashes % 2 != 0;
}

// Whether it is a category, ours or another tool's.
static bool is_word(struct tp_span span)
{
	for (size_t i = 0; i < span.size; i++) {
		const char c = span.text[i];
		if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9') &&
		    c != '_' && c != '-')
			return false;
	}
	return span.size != 0;
}

// Cut "=CATEGORY" off; false if the category is another tool's.
static bool cut_category(struct tp_span *rest, struct tp_line_parts *parts)
{
	size_t after = rest->size;
	while (after && rest->text[after - 1] != '=')
		after--;
	if (!after || is_escaped(*rest, after - 1))
		return true;
	const struct tp_span word =
	    tp_span_trim((struct tp_span){rest->text + after, rest->size - after});
	enum tp_category category;
	uint32_t sample;
	if (!tp_category_find(word, &category, &sample))
		return !is_word(word);
	parts->has_category = true;
	parts->category = category;
	parts->sample = sample;
	*rest = tp_span_trim((struct tp_span){rest->text, after - 1});
	return true;
}

// The place of the last "@KIND:" in `rest`, or its size.
static size_t last_part(struct tp_span rest)
{
	for (size_t at = rest.size; at-- > 0;) {
		if (rest.text[at] != '@' || is_escaped(rest, at))
			continue;
		struct tp_span behind = {rest.text + at + 1, rest.size - at - 1};
		const size_t size = behind.size;
		const struct tp_span word = tp_span_cut(&behind, ':');
		if (word.size < size && find_prefix(word))
			return at;
	}
	return rest.size;
}

// Fill in the parts behind the first, and leave that in *rest. False if there are too many.
static bool cut_parts(struct tp_span *rest, struct tp_line_parts *parts)
{
	struct tp_line_part found[TP_LINE_MORE_MAX + 1]; // from the last on
	uint32_t count = 0;
	for (size_t at; (at = last_part(*rest)) < rest->size;) {
		if (count > TP_LINE_MORE_MAX)
			return false;
		struct tp_span behind = {rest->text + at + 1, rest->size - at - 1};
		found[count].prefix = find_prefix(tp_span_cut(&behind, ':'));
		found[count++].glob = tp_span_trim(behind);
		*rest = tp_span_trim((struct tp_span){rest->text, at});
	}
	if (!count)
		return true;
	parts->and_prefix = found[count - 1].prefix;
	parts->and_glob = found[count - 1].glob;
	parts->more_count = count - 1;
	for (uint32_t i = 0; i < parts->more_count; i++)
		parts->more[i] = found[count - 2 - i];
	return true;
}

static bool is_where(const char *prefix)
{
	return prefix && strcmp(prefix, "where") == 0;
}

static bool has_where(const struct tp_line_parts *parts)
{
	bool any = is_where(parts->prefix) || is_where(parts->and_prefix);
	for (uint32_t i = 0; i < parts->more_count; i++)
		any |= is_where(parts->more[i].prefix);
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

static int match_ours(void *context, struct tp_glob *glob)
{
	*(bool *)context |= tp_glob_match(glob, "teeperf", 7);
	tp_glob_free(glob);
	return 0;
}

bool tp_line_is_ours(struct tp_span line)
{
	bool ours = false;
	struct tp_glob_error error;
	if (line.size > 2)
		tp_glob_compile(line.text + 1, line.size - 2, match_ours, &ours, &error);
	return ours;
}

void tp_line_add_category(struct tp_buf *out, const struct tp_line_parts *parts)
{
	tp_buf_addf(out, "=%s", tp_category_name(parts->category));
	if (parts->category == TP_CATEGORY_SAMPLE)
		tp_buf_addf(out, "/%u", parts->sample);
}
