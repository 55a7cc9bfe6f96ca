// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One function, explained, as a JSON object.
#include "explain.h"

#include "analyzer/text.h"

#include <inttypes.h>

static const struct tp_inventory_function *function_at(
    const struct tp_explained *explained, uint32_t index)
{
	return &explained->inventory->functions[index];
}

static void add_json_text(struct tp_buf *out, const char *name, const char *text)
{
	tp_buf_addf(out, "\"%s\": ", name);
	if (text)
		tp_text_add_json(out, text);
	else
		tp_buf_add_string(out, "null");
}

static void add_json_edges(struct tp_buf *out, const struct tp_explained *explained,
    const char *name, const struct tp_inventory_edge *edges, uint32_t count)
{
	tp_buf_addf(out, ",\n   \"%s\": [", name);
	for (uint32_t i = 0; i < count; i++) {
		tp_buf_add_string(out, i ? ", {" : "{");
		add_json_text(out, "linkage", function_at(explained, edges[i].function)->name);
		tp_buf_addf(out, ", \"sites\": %" PRIu32 ", \"frequency\": %.6g, \"guessed\": %s}",
		    edges[i].sites, edges[i].frequency, edges[i].guessed ? "true" : "false");
	}
	tp_buf_add_char(out, ']');
}

static void add_json_callers(struct tp_buf *out, const struct tp_explained *explained)
{
	tp_buf_add_string(out, ",\n   \"called_by\": [");
	for (uint32_t i = 0; i < explained->caller_count; i++) {
		tp_buf_add_string(out, i ? ", " : "");
		tp_text_add_json(out, function_at(explained, explained->callers[i])->name);
	}
	tp_buf_add_char(out, ']');
}

static void add_json_level(
    struct tp_buf *out, const char *name, enum tp_category category, uint32_t sample)
{
	tp_buf_addf(out, "\"%s\": \"", name);
	tp_list_add_category(out, category, sample);
	tp_buf_add_char(out, '"');
}

// A line's place and text; nulls for TP_LINE_NONE.
static void add_json_line(struct tp_buf *out, const struct tp_explained *explained, uint32_t index)
{
	if (index == TP_LINE_NONE) {
		tp_buf_add_string(out, "\"file\": null, \"line\": null, \"text\": null}");
		return;
	}
	const struct tp_allowlist_line line = tp_allowlist_line(explained->list, index);
	add_json_text(out, "file", line.file);
	tp_buf_addf(out, ", \"line\": %" PRIu32 ", ", line.line);
	add_json_text(out, "text", line.text);
	tp_buf_add_char(out, '}');
}

static void add_json_decision(struct tp_buf *out, const struct tp_explained *explained)
{
	const struct tp_verdict *verdict = &explained->verdict;
	tp_buf_add_string(out, ",\n   \"decision\": {");
	add_json_level(out, "level", verdict->category, verdict->sample);
	tp_buf_add_string(out, ", ");
	add_json_line(out, explained, explained->decider);
	tp_buf_add_string(out, ",\n   \"overrides\": [");
	for (uint32_t i = 0; i < explained->override_count; i++) {
		tp_buf_add_string(out, i ? ", {" : "{");
		add_json_line(out, explained, explained->overrides[i]);
	}
	tp_buf_add_char(out, ']');
}

static void add_json_profile(struct tp_buf *out, const struct tp_workload_function *measured,
    const struct tp_open_profile *profile)
{
	tp_buf_addf(out,
	    ",\n   \"profile\": {\"calls\": %" PRIu64 ", \"timed\": %" PRIu64
	    ", \"self_ns\": %.0f}, \"costs_ns\": {",
	    measured->calls, measured->timed, measured->self_ns);
	for (int i = 0; i < TP_EXPLAINED_LEVELS; i++) {
		const struct tp_explained_level *level = &tp_explained_levels[i];
		tp_buf_addf(out, "%s\"%s\": %.0f", i ? ", " : "", level->name,
		    (double)measured->calls *
			tp_cost_call_ns(&profile->cost, level->category, level->sample));
	}
	tp_buf_addf(out, "}, \"time_ns\": %.0f", profile->workload.time_ns);
}

void tp_explain_add_json(
    struct tp_buf *out, const struct tp_explained *explained, const struct tp_open_profile *profile)
{
	const struct tp_inventory_function *function = explained->function;
	tp_buf_add_char(out, '{');
	add_json_text(out, "linkage", function->name);
	tp_buf_add_string(out, ", ");
	add_json_text(out, "name", function->demangled);
	tp_buf_add_string(out, ", ");
	add_json_text(out, "of", function->origin);
	tp_buf_add_string(out, ",\n   ");
	add_json_text(out, "linkage_type", function->linkage);
	tp_buf_add_string(out, ", ");
	add_json_text(out, "file", function->file);
	tp_buf_addf(out, ", \"line\": %" PRIu64 ", ", function->line);
	add_json_text(out, "main_file", function->main_file);
	tp_buf_add_string(out, ", ");
	add_json_text(out, "module", function->module);
	tp_buf_addf(out, ", \"definitions\": %" PRIu32 ", \"ambiguous\": %s, \"system\": %s",
	    function->definitions, function->ambiguous ? "true" : "false",
	    function->system ? "true" : "false");
	tp_buf_add_string(out, ",\n   ");
	add_json_text(out, "presence", tp_presence_name(function->presence));
	tp_buf_addf(out,
	    ", \"instrs_start\": %" PRIu64 ", \"instrs\": %" PRIu64 ", \"blocks\": %" PRIu64
	    ", \"loops\": %" PRIu64 ", \"depth\": %" PRIu64 ", \"indirect_calls\": %" PRIu64,
	    function->instrs_start, function->facts.instrs, function->facts.blocks,
	    function->facts.loops, function->facts.depth, function->indirect_calls);
	add_json_edges(out, explained, "into", function->into, function->into_count);
	add_json_edges(out, explained, "calls", function->calls, function->call_count);
	add_json_callers(out, explained);
	tp_buf_add_string(out, ",\n   \"compiled_as\": {");
	add_json_level(out, "level", function->decision, function->sample);
	tp_buf_add_string(out, ", ");
	add_json_text(out, "file", function->by_file);
	tp_buf_addf(out, ", \"line\": %" PRIu32 "}", function->by_line);
	if (explained->list)
		add_json_decision(out, explained);
	if (explained->measured)
		add_json_profile(out, explained->measured, profile);
	tp_buf_add_char(out, '}');
}
