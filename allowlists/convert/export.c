// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writing lists for other tools: our rules in order, and what the other tool makes of the order.
#include "formats.h"
#include "common/array.h"

#include "allowlists/language/glob.h"

#include <stdlib.h>
#include <string.h>

enum {
	PAIRS_MAX = 1 << 18, // that are compared; lists with more opposing lines are rare
	STEPS_MAX = 1 << 24, // pairs that are looked at
	REPORTS_MAX = 20,
};

bool tp_export_is(const struct tp_export_rule *rule, const char *prefix)
{
	return strcmp(rule->parts.prefix, prefix) == 0;
}

const char *tp_export_needs_linkage_names(const struct tp_export_rule *rule)
{
	if (tp_export_is(rule, "fun") || tp_export_is(rule, "src"))
		return NULL;
	return tp_export_is(rule, "name") ? "it supports linkage names only"
					  : "it does not support such a line";
}

static void lose(struct tp_export *export, const struct tp_export_rule *rule, const char *why)
{
	tp_list_add_lines(export->out, rule->comment);
	tp_buf_addf(export->out, "# not exported, %s: ", why);
	tp_buf_add_span(export->out, rule->text);
	tp_buf_add_char(export->out, '\n');
	tp_list_warn(export->input, rule->line, "'%.*s' is not exported to %s: %s",
	    (int)(rule->text.size < 100 ? rule->text.size : 100), rule->text.text,
	    export->writer->tool, why);
}

// What becomes of the levels that the other tool has not.
static void warn_of_level(const struct tp_export *export, const struct tp_export_rule *rule)
{
	const enum tp_category category = rule->parts.category;
	if (category == TP_CATEGORY_FORCE)
		tp_list_warn(export->input, rule->line,
		    "'force' becomes 'allow': %s does not keep a function from being inlined",
		    export->writer->tool);
	else if (category == TP_CATEGORY_COUNT || category == TP_CATEGORY_SAMPLE)
		tp_list_warn(export->input, rule->line,
		    "'%s' becomes 'skip': %s would record every call", tp_category_name(category),
		    export->writer->tool);
}

static int add(struct tp_export *export, const struct tp_export_rule *rule)
{
	if (!TP_GROW(export->rules, export->room, export->count + UINT64_C(1)))
		return tp_err_memory(export->err, export->input->file);
	export->rules[export->count++] = *rule;
	return 0;
}

// Forbid lines behind the others, which stay in order.
static int put_forbid_last(struct tp_export *export)
{
	struct tp_export_rule *sorted = malloc((export->count + 1) * sizeof(*sorted));
	if (!sorted)
		return tp_err_memory(export->err, export->input->file);
	uint32_t at = 0;
	for (int pass = 0; pass < 2; pass++)
		for (uint32_t i = 0; i < export->count; i++)
			if ((export->rules[i].parts.category == TP_CATEGORY_FORBID) == (pass == 1))
				sorted[at++] = export->rules[i];
	free(export->rules);
	export->rules = sorted;
	return 0;
}

static int read_rule(struct tp_export *export, const struct tp_export_rule *rule)
{
	const char *why = NULL;
	if (!rule->parts.prefix)
		why =
		    "it is not in the language of allowlists; 'teeperf allowlist import' reads it";
	else if (rule->parts.more_count)
		why = "it does not support several conditions in a line";
	else
		why = export->writer->cannot(rule);
	if (why) {
		lose(export, rule, why);
		return 0;
	}
	warn_of_level(export, rule);
	return add(export, rule);
}

static int read_lines(struct tp_export *export)
{
	struct tp_lines lines;
	struct tp_export_rule rule = {0};
	bool ours = true;
	int status = 0;
	tp_lines_init(&lines, export->input->text, export->input->size);
	while (!status && tp_lines_next(&lines, &rule.text)) {
		rule.parts = tp_line_split(rule.text);
		rule.line = lines.number;
		rule.allow = rule.parts.category == TP_CATEGORY_ALLOW ||
			     rule.parts.category == TP_CATEGORY_FORCE;
		switch (rule.parts.kind) {
		case TP_LINE_COMMENT:
			if (!rule.comment.size)
				rule.comment.text = rule.text.text;
			rule.comment.size =
			    (size_t)(rule.text.text + rule.text.size - rule.comment.text);
			continue;
		case TP_LINE_EMPTY:
			tp_list_add_lines(export->out, rule.comment);
			break;
		case TP_LINE_SECTION:
			ours = tp_line_is_ours(rule.text);
			tp_list_add_lines(export->out, rule.comment);
			break;
		case TP_LINE_DEFAULT:
			tp_list_add_lines(export->out, rule.comment);
			if (ours) {
				export->allow = rule.allow;
				warn_of_level(export, &rule);
			}
			break;
		case TP_LINE_RULE:
			if (ours)
				status = read_rule(export, &rule);
			else
				lose(export, &rule, "its section belongs to another tool");
			break;
		}
		rule.comment = (struct tp_span){0};
	}
	tp_list_add_lines(export->out, rule.comment);
	return status;
}

static int compile(struct tp_globs *globs, struct tp_span text)
{
	struct tp_glob_error error;
	return tp_globs_compile(globs, text.text, text.size, &error);
}

static bool tokens_meet(
    const struct tp_glob *a, uint16_t token_a, const struct tp_glob *b, uint16_t token_b)
{
	if (token_a < TP_GLOB_ANY)
		return tp_glob_token_has(b, token_b, (unsigned char)token_a);
	for (unsigned byte = 1; byte < 256; byte++)
		if (tp_glob_token_has(a, token_a, (unsigned char)byte) &&
		    tp_glob_token_has(b, token_b, (unsigned char)byte))
			return true;
	return false;
}

// Whether some text matches both: reach[i][k] is whether some text matches the first i tokens of A
// and the first k of B. Rows are kept one at a time.
static bool globs_meet(const struct tp_glob *a, const struct tp_glob *b)
{
	const size_t width = b->token_count + 1;
	bool *rows = calloc(2 * width, sizeof(*rows));
	if (!rows)
		return true; // rather warn once too often
	bool *above = rows;
	bool *row = rows + width;
	bool result = false;
	for (size_t i = 0; i <= a->token_count; i++) {
		const bool star_a = i && a->tokens[i - 1] == TP_GLOB_STAR;
		for (size_t k = 0; k < width; k++) {
			const bool star_b = k && b->tokens[k - 1] == TP_GLOB_STAR;
			row[k] = (i == 0 && k == 0) || (star_a && above[k]) ||
				 (star_b && row[k - 1]) || (star_a && k && row[k - 1]) ||
				 (star_b && i && above[k]);
			if (!row[k] && i && k && !star_a && !star_b && above[k - 1])
				row[k] = tokens_meet(a, a->tokens[i - 1], b, b->tokens[k - 1]);
		}
		result = row[width - 1];
		bool *swap = above;
		above = row;
		row = swap;
	}
	free(rows);
	return result;
}

// Of different kinds any two may be about one function.
static bool rules_meet(const struct tp_export_rule *a, const struct tp_export_rule *b)
{
	if (strcmp(a->parts.prefix, b->parts.prefix))
		return true;
	struct tp_globs first;
	struct tp_globs second;
	bool meet = compile(&first, a->parts.glob) != 0;
	meet |= compile(&second, b->parts.glob) != 0;
	for (uint32_t i = 0; !meet && i < first.count; i++)
		for (uint32_t k = 0; !meet && k < second.count; k++)
			meet = globs_meet(first.items[i], second.items[k]);
	tp_globs_release(&first);
	tp_globs_release(&second);
	return meet;
}

// What a format's precedence looks at: the kind of a rule and what it says.
static uint32_t class_of(const struct tp_export_rule *rule)
{
	static const char *const kinds[] = {"fun", "name", "src"};
	uint32_t kind = 0;
	while (kind < 3 && !tp_export_is(rule, kinds[kind]))
		kind++;
	return kind * 2 + rule->allow;
}

enum { CLASSES = 8 };

// Which classes of earlier rules win over which of later ones; false if none that are there do.
static bool find_wins(const struct tp_export *export, bool wins[CLASSES][CLASSES],
    bool (*earlier_wins)(const struct tp_export_rule *earlier, const struct tp_export_rule *later))
{
	const struct tp_export_rule *one[CLASSES] = {NULL};
	bool any = false;
	for (uint32_t i = 0; i < export->count; i++)
		one[class_of(&export->rules[i])] = &export->rules[i];
	for (uint32_t a = 0; a < CLASSES; a++) {
		for (uint32_t b = 0; b < CLASSES; b++) {
			wins[a][b] = one[a] && one[b] && one[a]->allow != one[b]->allow &&
				     earlier_wins(one[a], one[b]);
			any |= wins[a][b];
		}
	}
	return any;
}

void tp_export_check_order(struct tp_export *export,
    bool (*earlier_wins)(const struct tp_export_rule *earlier, const struct tp_export_rule *later))
{
	bool wins[CLASSES][CLASSES];
	uint64_t steps = 0;
	uint64_t pairs = 0;
	uint32_t reports = 0;
	if (!find_wins(export, wins, earlier_wins))
		return;
	for (uint32_t later = 1; later < export->count; later++) {
		const struct tp_export_rule *b = &export->rules[later];
		const uint32_t class_b = class_of(b);
		for (uint32_t earlier = 0; earlier < later; earlier++) {
			const struct tp_export_rule *a = &export->rules[earlier];
			const bool wrong = wins[class_of(a)][class_b];
			pairs += wrong;
			if (++steps > STEPS_MAX || pairs > PAIRS_MAX || reports == REPORTS_MAX) {
				tp_list_warn(export->input, 0,
				    "more lines may be decided differently by %s; not all pairs "
				    "were compared",
				    export->writer->tool);
				return;
			}
			if (!wrong || !rules_meet(a, b))
				continue;
			tp_list_warn(export->input, b->line,
			    "'%.*s' decides over line %u here, but not in %s, where that line wins",
			    (int)(b->text.size < 100 ? b->text.size : 100), b->text.text, a->line,
			    export->writer->tool);
			reports++;
		}
	}
}

bool tp_export_needs_dot(const struct tp_export_rule *rule, struct tp_span *glob)
{
	*glob = rule->parts.glob;
	if (!tp_export_is(rule, "src") && !tp_export_is(rule, "mainfile"))
		return false;
	while (tp_span_starts(*glob, "./"))
		*glob = (struct tp_span){glob->text + 2, glob->size - 2};
	return glob->size && glob->text[0] != '/' && glob->text[0] != '*';
}

int tp_list_export(const struct tp_list_format *format, const struct tp_list_input *input,
    struct tp_buf *out, struct tp_err *err)
{
	struct tp_allowlist *list;
	int status = tp_allowlist_parse(&list, input->text, input->size, input->file, err);
	tp_allowlist_free(list);
	if (status)
		return status;
	struct tp_export export = {.writer = format->write, .input = input, .out = out, .err = err};
	tp_buf_add_string(out, format->write->heading);
	status = read_lines(&export);
	if (!status)
		status = put_forbid_last(&export);
	if (!status)
		format->write->write(&export);
	free(export.rules);
	return !status && out->failed ? tp_err_memory(err, input->file) : status;
}
