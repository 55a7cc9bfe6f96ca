// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Splitting lines of allowlists that load.
#include "list_line.h"

#include "glob.h"

#include <string.h>

// How kinds are written; the first of each is the canonical one.
static const char *const prefixes[][2] = {
    {"fun", "function"},
    {"name", "name"},
    {"src", "source"},
    {"mainfile", "mainfile"},
    {"mod", "mod"},
    {"where", "where"},
};

static const char *find_prefix(struct tp_span word)
{
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		for (size_t k = 0; k < 2; k++)
			if (tp_span_is(word, prefixes[i][k]))
				return prefixes[i][0];
	return NULL;
}

static bool is_escaped(struct tp_span span, size_t at)
{
	size_t backslashes = 0;
	while (backslashes < at && span.text[at - backslashes - 1] == '\\')
		backslashes++;
	return backslashes % 2 != 0;
}

// "sample/64", "allow": also its number.
static bool read_category(struct tp_span word, struct tp_line_parts *parts)
{
	for (int i = TP_CATEGORY_ALLOW; i <= TP_CATEGORY_SAMPLE; i++) {
		const char *name = tp_category_name((enum tp_category)i);
		if (!tp_span_starts(word, name))
			continue;
		struct tp_span rest = {word.text + strlen(name), word.size - strlen(name)};
		if (rest.size && (i != TP_CATEGORY_SAMPLE || rest.text[0] != '/'))
			continue;
		parts->category = (enum tp_category)i;
		parts->sample = i == TP_CATEGORY_SAMPLE ? TP_SAMPLE_DEFAULT : 1;
		if (rest.size) {
			parts->sample = 0;
			for (size_t k = 1; k < rest.size; k++)
				parts->sample = parts->sample * 10 + (uint32_t)(rest.text[k] - '0');
		}
		return true;
	}
	return false;
}

static void cut_category(struct tp_line_parts *parts)
{
	struct tp_span *glob = &parts->glob;
	size_t after = glob->size;
	while (after && glob->text[after - 1] != '=')
		after--;
	if (!after || is_escaped(*glob, after - 1))
		return;
	const struct tp_span word =
	    tp_span_trim((struct tp_span){glob->text + after, glob->size - after});
	parts->has_category = read_category(word, parts);
	if (parts->has_category)
		*glob = tp_span_trim((struct tp_span){glob->text, after - 1});
}

// A second predicate begins with '@' and its kind.
static void cut_second(struct tp_line_parts *parts)
{
	struct tp_span *glob = &parts->glob;
	for (size_t i = 0; i < glob->size; i++) {
		if (glob->text[i] != '@' || is_escaped(*glob, i))
			continue;
		struct tp_span rest = {glob->text + i + 1, glob->size - i - 1};
		const char *kind = find_prefix(tp_span_cut(&rest, ':'));
		if (!kind || !rest.size)
			continue;
		parts->and_prefix = kind;
		parts->and_glob = tp_span_trim(rest);
		*glob = tp_span_trim((struct tp_span){glob->text, i});
		return;
	}
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
	struct tp_span word = tp_span_trim(tp_span_cut(&rest, ':'));
	parts.glob = tp_span_trim(rest);
	if (tp_span_is(word, "default")) {
		parts.kind = TP_LINE_DEFAULT;
		read_category(parts.glob, &parts);
		return parts;
	}
	const bool negated = tp_span_starts(word, "!");
	if (negated)
		word = tp_span_trim((struct tp_span){word.text + 1, word.size - 1});
	parts.prefix = find_prefix(word);
	cut_category(&parts);
	if (negated) {
		parts.has_category = true;
		parts.category = TP_CATEGORY_SKIP;
	}
	if (parts.prefix && strcmp(parts.prefix, "where"))
		cut_second(&parts);
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
