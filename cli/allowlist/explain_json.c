// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One function, explained, as a JSON object.
#include "explain.h"

#include "cli/allowlist/findings.h"
#include "cli/allowlist/inventory_view.h"

static const struct tp_inventory_function *function_at(
    const struct tp_explained *explained, uint32_t index)
{
	return &explained->inventory->functions[index];
}

static void add_edges(struct tp_json *json, const struct tp_explained *explained, const char *name,
    const struct tp_inventory_edge *edges, uint32_t count)
{
	tp_json_line(json, 3);
	tp_json_array(json, name);
	for (uint32_t i = 0; i < count; i++) {
		tp_json_object(json, NULL);
		tp_json_text(json, "linkage", function_at(explained, edges[i].function)->name);
		tp_json_uint(json, "sites", edges[i].sites);
		tp_json_value(json, "frequency");
		tp_buf_addf(json->out, "%.6g", edges[i].frequency);
		tp_json_bool(json, "guessed", edges[i].guessed);
		tp_json_end(json);
	}
	tp_json_end(json);
}

static void add_callers(struct tp_json *json, const struct tp_explained *explained)
{
	tp_json_line(json, 3);
	tp_json_array(json, "called_by");
	for (uint32_t i = 0; i < explained->caller_count; i++)
		tp_json_text(json, NULL, function_at(explained, explained->callers[i])->name);
	tp_json_end(json);
}

static void add_decision(struct tp_json *json, const struct tp_explained *explained)
{
	const struct tp_verdict *verdict = &explained->verdict;
	tp_json_line(json, 3);
	tp_json_object(json, "decision");
	tp_list_add_category_json(json, "level", verdict->category, verdict->sample);
	tp_list_line_add_json(json, explained->list, explained->decider, false);
	tp_json_end(json);
	tp_json_line(json, 3);
	tp_json_array(json, "overrides");
	for (uint32_t i = 0; i < explained->override_count; i++) {
		tp_json_object(json, NULL);
		tp_list_line_add_json(json, explained->list, explained->overrides[i], false);
		tp_json_end(json);
	}
	tp_json_end(json);
}

static void add_profile(struct tp_json *json, const struct tp_workload_function *measured,
    const struct tp_open_profile *profile)
{
	tp_json_line(json, 3);
	tp_json_object(json, "profile");
	tp_json_uint(json, "calls", measured->calls);
	tp_json_uint(json, "timed", measured->timed);
	tp_json_real(json, "self_ns", 0, measured->self_ns);
	tp_json_end(json);
	tp_json_object(json, "costs_ns");
	for (int i = 0; i < TP_EXPLAINED_LEVELS; i++) {
		const struct tp_explained_level *level = &tp_explained_levels[i];
		tp_json_real(json, level->name, 0,
		    (double)measured->calls *
			tp_cost_call_ns(&profile->cost, level->category, level->sample));
	}
	tp_json_end(json);
	tp_json_real(json, "time_ns", 0, profile->workload.time_ns);
}

void tp_explain_add_json(struct tp_json *json, const struct tp_explained *explained,
    const struct tp_open_profile *profile)
{
	const struct tp_inventory_function *function = explained->function;
	tp_json_object(json, NULL);
	tp_json_text(json, "linkage", function->name);
	tp_json_text(json, "name", function->demangled);
	tp_json_text(json, "of", function->origin);
	tp_json_line(json, 3);
	tp_json_text(json, "linkage_type", function->linkage);
	tp_inventory_view_add_origin(json, function);
	tp_json_line(json, 3);
	tp_json_text(json, "presence", tp_presence_name(function->presence));
	tp_json_uint(json, "instrs_start", function->instrs_start);
	tp_json_uint(json, "instrs", function->facts.instrs);
	tp_json_uint(json, "blocks", function->facts.blocks);
	tp_json_uint(json, "loops", function->facts.loops);
	tp_json_uint(json, "depth", function->facts.depth);
	tp_json_uint(json, "indirect_calls", function->indirect_calls);
	add_edges(json, explained, "into", function->into, function->into_count);
	add_edges(json, explained, "calls", function->calls, function->call_count);
	add_callers(json, explained);
	tp_json_line(json, 3);
	tp_json_object(json, "compiled_as");
	tp_list_add_category_json(json, "level", function->decision, function->sample);
	tp_json_text(json, "file", function->by_file);
	tp_json_uint(json, "line", function->by_line);
	tp_json_end(json);
	if (explained->list)
		add_decision(json, explained);
	if (explained->measured)
		add_profile(json, explained->measured, profile);
	tp_json_end(json);
}
