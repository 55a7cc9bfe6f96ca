// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a check of an allowlist found, as a compiler would print it and as JSON.
#include "lists.h"

#include "allowlists/convert/text.h"
#include "common/clean.h"

#include <inttypes.h>
#include <string.h>

static const char bold[] = "\033[1m";
static const char plain[] = "\033[0m";

static const char *const colors[] = {[TP_SEVERITY_NOTE] = "\033[1;36m",
    [TP_SEVERITY_WARNING] = "\033[1;35m",
    [TP_SEVERITY_ERROR] = "\033[1;31m"};

static void add_head(
    struct tp_buf *out, const struct tp_allowlist_line *line, enum tp_severity severity, bool color)
{
	if (line) {
		tp_buf_add_string(out, color ? bold : "");
		tp_buf_addf_clean(
		    out, "%s:%" PRIu32 ":%" PRIu32 ":", line->file, line->line, line->column);
		tp_buf_addf(out, "%s ", color ? plain : "");
	}
	tp_buf_addf(out, "%s%s:%s ", color ? colors[severity] : "", tp_severity_name(severity),
	    color ? plain : "");
}

/*
 * The line, and below it a mark under the glob:
 *   fun:foo=skip
 *       ^~~
 */
static void add_excerpt(struct tp_buf *out, const char *text)
{
	struct tp_span glob = tp_line_split(tp_span_of(text)).glob;
	if (!glob.size)
		glob = tp_span_of(text); // a bare name
	tp_buf_add_string(out, "  ");
	for (const char *at = text; *at;) { // tabs stay
		const size_t size = strcspn(at, "\t");
		tp_buf_add_clean_part(out, at, size);
		at += size;
		if (*at)
			tp_buf_add_char(out, *at++);
	}
	tp_buf_add_string(out, "\n  ");
	// A tab stays one, so that the mark stands right whatever its width is.
	for (const char *at = text; at < glob.text; at++)
		tp_buf_add_char(out, *at == '\t' ? '\t' : ' ');
	for (size_t i = 0; i < glob.size; i++) {
		const bool inside = !tp_begins_character(glob.text[i]); // of a UTF-8 letter
		if (!inside)
			tp_buf_add_char(out, i ? '~' : '^');
	}
	tp_buf_add_char(out, '\n');
}

void tp_finding_add_text(
    struct tp_buf *out, const struct tp_finding *finding, const struct tp_list_use *use, bool color)
{
	struct tp_allowlist_line line;
	const bool placed = finding->line != TP_LINE_NONE;
	if (placed)
		line = tp_allowlist_line(use->list, finding->line);
	add_head(out, placed ? &line : NULL, finding->severity, color);
	tp_buf_add_string(out, color ? bold : "");
	tp_buf_add_clean(out, finding->what);
	tp_buf_addf(out, "%s [%s]\n", color ? plain : "", tp_finding_kind_name(finding->kind));
	if (placed)
		add_excerpt(out, line.text);
	if (!finding->remedy)
		return;
	add_head(out, placed ? &line : NULL, TP_SEVERITY_NOTE, color);
	tp_buf_addf_clean(out, "%s\n", finding->remedy);
}

void tp_findings_add_counts(struct tp_buf *out, const struct tp_list_check *check)
{
	bool any = false;
	for (int severity = TP_SEVERITY_ERROR; severity >= TP_SEVERITY_NOTE; severity--) {
		const uint32_t count = check->counts[severity];
		if (!count)
			continue;
		tp_buf_addf(out, "%s%" PRIu32 " %s%s", any ? ", " : "", count,
		    tp_severity_name((enum tp_severity)severity), tp_plural(count));
		any = true;
	}
	if (!any)
		tp_buf_add_string(out, "no findings");
}

static void add_function(struct tp_json *json, const struct tp_inventory *inventory, uint32_t index)
{
	const struct tp_inventory_function *function = &inventory->functions[index];
	tp_json_object(json, NULL);
	tp_json_text(json, "linkage", function->name);
	tp_json_text(json, "name", function->demangled);
	tp_json_text(json, "file", function->file);
	tp_json_uint(json, "line", function->line);
	tp_json_text(json, "presence", tp_presence_name(function->presence));
	tp_json_array(json, "into");
	for (uint32_t i = 0; i < function->into_count; i++) {
		const struct tp_inventory_edge *edge = &function->into[i];
		tp_json_object(json, NULL);
		tp_json_text(json, "linkage", inventory->functions[edge->function].name);
		tp_json_uint(json, "copies", edge->sites);
		tp_json_bool(json, "guessed", edge->guessed);
		tp_json_end(json);
	}
	tp_json_end(json);
	tp_json_end(json);
}

void tp_list_line_add_json(
    struct tp_json *json, const struct tp_allowlist *list, uint32_t index, bool with_column)
{
	if (index == TP_LINE_NONE) {
		tp_json_null(json, "file");
		tp_json_null(json, "line");
		if (with_column)
			tp_json_null(json, "column");
		tp_json_null(json, "text");
		return;
	}
	const struct tp_allowlist_line line = tp_allowlist_line(list, index);
	tp_json_text(json, "file", line.file);
	tp_json_uint(json, "line", line.line);
	if (with_column)
		tp_json_uint(json, "column", line.column);
	tp_json_text(json, "text", line.text);
}

void tp_findings_add_json(struct tp_json *json, const char *key, const struct tp_list_check *check,
    const struct tp_list_use *use)
{
	tp_json_array(json, key);
	tp_json_lines(json);
	for (uint32_t i = 0; i < check->count; i++) {
		const struct tp_finding *finding = &check->findings[i];
		tp_json_object(json, NULL);
		tp_json_text(json, "kind", tp_finding_kind_name(finding->kind));
		tp_json_text(json, "severity", tp_severity_name(finding->severity));
		tp_list_line_add_json(json, use->list, finding->line, true);
		tp_json_line(json, 5);
		tp_json_text(json, "message", finding->what);
		tp_json_line(json, 5);
		tp_json_text(json, "remedy", finding->remedy);
		tp_json_line(json, 5);
		tp_json_uint(json, "function_count", finding->all);
		tp_json_array(json, "functions");
		for (uint32_t f = 0; f < finding->function_count; f++) {
			tp_json_line(json, 6);
			add_function(json, use->inventory, finding->functions[f]);
		}
		tp_json_end(json);
		tp_json_end(json);
	}
	tp_json_end(json);
}
