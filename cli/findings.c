// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a check of an allowlist found, as a compiler would print it and as JSON.
#include "findings.h"

#include "allowlists/list_line.h"
#include "analyzer/text.h"
#include "common/clean.h"

#include <inttypes.h>
#include <string.h>

static const char bold[] = "\033[1m";
static const char plain[] = "\033[0m";

static const char *severity_color(enum tp_severity severity)
{
	switch (severity) {
	case TP_SEVERITY_ERROR:
		return "\033[1;31m";
	case TP_SEVERITY_WARNING:
		return "\033[1;35m";
	case TP_SEVERITY_NOTE:
		break;
	}
	return "\033[1;36m";
}

static void add_head(
    struct tp_buf *out, const struct tp_allowlist_line *line, enum tp_severity severity, bool color)
{
	if (line) {
		tp_buf_add_string(out, color ? bold : "");
		tp_buf_addf_clean(
		    out, "%s:%" PRIu32 ":%" PRIu32 ":", line->file, line->line, line->column);
		tp_buf_addf(out, "%s ", color ? plain : "");
	}
	tp_buf_addf(out, "%s%s:%s ", color ? severity_color(severity) : "",
	    tp_severity_name(severity), color ? plain : "");
}

/*
 * The line, and below it a mark under what is matched:
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
		const bool inside =
		    ((unsigned char)glob.text[i] & 0xc0) == 0x80; // of a UTF-8 letter
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
		    tp_severity_name((enum tp_severity)severity), count == 1 ? "" : "s");
		any = true;
	}
	if (!any)
		tp_buf_add_string(out, "no findings");
}

static void add_member(struct tp_buf *out, const char *name, const char *text)
{
	tp_buf_addf(out, "\"%s\": ", name);
	if (text)
		tp_text_add_json(out, text);
	else
		tp_buf_add_string(out, "null");
}

static void add_function(struct tp_buf *out, const struct tp_inventory *inventory, uint32_t index)
{
	const struct tp_inventory_function *function = &inventory->functions[index];
	tp_buf_add_char(out, '{');
	add_member(out, "linkage", function->name);
	tp_buf_add_string(out, ", ");
	add_member(out, "name", function->demangled);
	tp_buf_add_string(out, ", ");
	add_member(out, "file", function->file);
	tp_buf_addf(out, ", \"line\": %" PRIu64 ", ", function->line);
	add_member(out, "presence", tp_presence_name(function->presence));
	tp_buf_add_string(out, ", \"into\": [");
	for (uint32_t i = 0; i < function->into_count; i++) {
		const struct tp_inventory_edge *edge = &function->into[i];
		tp_buf_add_string(out, i ? ", {" : "{");
		add_member(out, "linkage", inventory->functions[edge->function].name);
		tp_buf_addf(out, ", \"copies\": %" PRIu32 ", \"guessed\": %s}", edge->sites,
		    edge->guessed ? "true" : "false");
	}
	tp_buf_add_string(out, "]}");
}

void tp_findings_add_json(
    struct tp_buf *out, const struct tp_list_check *check, const struct tp_list_use *use)
{
	tp_buf_add_char(out, '[');
	for (uint32_t i = 0; i < check->count; i++) {
		const struct tp_finding *finding = &check->findings[i];
		tp_buf_add_string(out, i ? ",\n    {" : "\n    {");
		add_member(out, "kind", tp_finding_kind_name(finding->kind));
		tp_buf_add_string(out, ", ");
		add_member(out, "severity", tp_severity_name(finding->severity));
		tp_buf_add_string(out, ", ");
		if (finding->line != TP_LINE_NONE) {
			const struct tp_allowlist_line line =
			    tp_allowlist_line(use->list, finding->line);
			add_member(out, "file", line.file);
			tp_buf_addf(out, ", \"line\": %" PRIu32 ", \"column\": %" PRIu32 ", ",
			    line.line, line.column);
			add_member(out, "text", line.text);
		} else {
			tp_buf_add_string(out,
			    "\"file\": null, \"line\": null, \"column\": null, \"text\": null");
		}
		tp_buf_add_string(out, ",\n     ");
		add_member(out, "message", finding->what);
		tp_buf_add_string(out, ",\n     ");
		add_member(out, "remedy", finding->remedy);
		tp_buf_addf(
		    out, ",\n     \"function_count\": %" PRIu32 ", \"functions\": [", finding->all);
		for (uint32_t f = 0; f < finding->function_count; f++) {
			tp_buf_add_string(out, f ? ",\n      " : "\n      ");
			add_function(out, use->inventory, finding->functions[f]);
		}
		tp_buf_add_string(out, "]}");
	}
	tp_buf_add_string(out, check->count ? "\n  ]" : "]");
}
