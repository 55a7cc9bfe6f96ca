// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The canonical form of an allowlist.
#include "convert.h"
#include "text.h"

#include <string.h>

/*
 * Whether the section that begins at LINES speaks TeePerf's language: it has a category, or a kind
 * of line that is only ours. If it does not, other tools may read it, too, and many of them look
 * only at lines without a category: there none is added.
 */
static bool has_categories(struct tp_lines lines)
{
	struct tp_span line;
	while (tp_lines_next(&lines, &line)) {
		const struct tp_line_parts parts = tp_line_split(line);
		if (parts.kind == TP_LINE_SECTION)
			break;
		const bool plain =
		    parts.prefix && !parts.more_count && !parts.has_category &&
		    (strcmp(parts.prefix, "fun") == 0 || strcmp(parts.prefix, "src") == 0);
		if (parts.kind == TP_LINE_DEFAULT || (parts.prefix && !plain))
			return true;
	}
	return false;
}

// Predicates of where: are written without blanks.
static void add_part(struct tp_buf *out, const char *lead, const char *prefix, struct tp_span glob)
{
	const bool where = strcmp(prefix, "where") == 0;
	tp_buf_addf(out, "%s%s:", lead, prefix);
	for (size_t i = 0; i < glob.size; i++)
		if (!where || (glob.text[i] != ' ' && glob.text[i] != '\t'))
			tp_buf_add_char(out, glob.text[i]);
}

static void add_line(
    struct tp_buf *out, struct tp_span line, const struct tp_line_parts *parts, bool categories)
{
	if (parts->kind == TP_LINE_DEFAULT) {
		tp_buf_add_string(out, "default:");
		tp_category_add(out, parts->category, parts->sample);
	} else if (parts->prefix) {
		add_part(out, "", parts->prefix, parts->glob);
		for (uint32_t i = 0; i < parts->more_count; i++)
			add_part(out, "@", parts->more[i].prefix, parts->more[i].glob);
		if (parts->has_category || categories) {
			tp_buf_add_char(out, '=');
			tp_category_add(out, parts->category, parts->sample);
		}
	} else {
		tp_buf_add_span(out, line);
	}
	tp_buf_add_char(out, '\n');
}

static void format(const struct tp_list_input *input, struct tp_buf *out)
{
	struct tp_lines lines;
	struct tp_span line;
	bool ours = true;
	bool gap = false;
	bool any = false;
	bool comment = false; // the line above
	tp_lines_init(&lines, input->text, input->size);
	bool categories = has_categories(lines);
	while (tp_lines_next(&lines, &line)) {
		struct tp_line_parts parts = tp_line_split(line);
		if (parts.kind == TP_LINE_EMPTY) {
			gap = any;
			comment = false;
			continue;
		}
		if (parts.kind == TP_LINE_SECTION) {
			ours = tp_line_is_ours(line);
			categories = ours && has_categories(lines);
			gap |= any && !comment;
		}
		// Another tool's section may mean something else by the same words.
		if (!ours)
			parts.prefix = NULL;
		if (!ours && parts.kind == TP_LINE_DEFAULT)
			parts.kind = TP_LINE_RULE;
		if (gap)
			tp_buf_add_char(out, '\n');
		add_line(out, line, &parts, categories);
		gap = false;
		any = true;
		comment = parts.kind == TP_LINE_COMMENT;
	}
}

int tp_list_fmt(const struct tp_list_input *input, struct tp_buf *out, struct tp_err *err)
{
	struct tp_allowlist *list;
	const int status = tp_allowlist_parse(&list, input->text, input->size, input->file, err);
	tp_allowlist_free(list);
	if (status)
		return status;
	format(input, out);
	if (out->failed)
		return tp_err_memory(err, input->file);
	return 0;
}
