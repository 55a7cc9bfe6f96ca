// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One function, explained: as text for people and as a JSON object.
#include "lists.h"

#include "allowlists/language/reading.h"
#include "analyzer/output/text.h"
#include "common/clean.h"

#include <inttypes.h>
#include <string.h>

enum { NAMES_SHOWN = 6 };

static const struct tp_inventory_function *function_at(
    const struct tp_explained *explained, uint32_t index)
{
	return &explained->inventory->functions[index];
}

// A row begins with its title; the text behind it follows.
static void add_title(struct tp_buf *out, const char *title)
{
	tp_buf_addf(out, "  %-12s", title);
}

static void add_separator(struct tp_buf *out, uint32_t index)
{
	tp_buf_add_string(out, index ? ", " : "");
}

static void add_definition(struct tp_buf *out, const struct tp_inventory_function *function)
{
	add_title(out, "defined");
	if (*function->file)
		tp_buf_addf_clean(out, "%s:%" PRIu64 ", ", function->file, function->line);
	tp_buf_addf_clean(out, "%s, in ", function->linkage);
	if (function->definitions > 1)
		tp_buf_addf(out, "%" PRIu32 " object files, of ", function->definitions);
	tp_buf_add_clean(out, *function->main_file ? function->main_file : "an unknown file");
	if (function->module && *function->module)
		tp_buf_addf_clean(out, " (%s)", function->module);
	tp_buf_add_string(out, function->system ? ", from a system header\n" : "\n");
	if (function->ambiguous) {
		add_title(out, "");
		tp_buf_add_string(out, "other functions have the same name\n");
	}
}

static void add_origin(struct tp_buf *out, const struct tp_inventory_function *function)
{
	if (!function->origin)
		return;
	add_title(out, tp_name_is_renamed(function->name, function->origin) ? "was" : "copy of");
	tp_buf_addf_clean(out, "'%s'\n", function->origin_demangled);
}

static uint32_t count_copies(
    const struct tp_explained *explained, const struct tp_inventory_function *function)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < explained->inventory->function_count; i++)
		count += tp_inventory_is_copy_of(function_at(explained, i), function);
	return count;
}

// The functions that the compiler made of it.
static void add_made(struct tp_buf *out, const struct tp_explained *explained,
    const struct tp_inventory_function *function)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < explained->inventory->function_count; i++) {
		const struct tp_inventory_function *made = function_at(explained, i);
		if (!tp_inventory_is_copy_of(made, function))
			continue;
		if (!count)
			add_title(out, "copies");
		if (count < NAMES_SHOWN) {
			add_separator(out, count);
			tp_buf_addf_clean(out, "'%s' (", made->name);
			tp_category_add(out, made->decision, made->sample);
			tp_buf_add_char(out, ')');
		}
		count++;
	}
	if (count > NAMES_SHOWN)
		tp_buf_addf(out, " and %" PRIu32 " more", count - NAMES_SHOWN);
	if (count)
		tp_buf_add_char(out, '\n');
}

static void add_presence(struct tp_buf *out, const struct tp_explained *explained,
    const struct tp_inventory_function *function)
{
	static const char *const texts[] = {
	    [TP_PRESENCE_EMITTED] = "a function of its own",
	    [TP_PRESENCE_PARTLY] = "a function of its own, and also inlined into ",
	    [TP_PRESENCE_INLINED] = "inlined into ",
	    [TP_PRESENCE_REMOVED] = "removed by the compiler",
	    [TP_PRESENCE_SOURCE] = "seen in the source only",
	};
	add_title(out, "presence");
	if (function->presence == TP_PRESENCE_REMOVED && count_copies(explained, function))
		tp_buf_add_string(out, "replaced by copies");
	else
		tp_buf_add_string(out, texts[function->presence]);
	if (function->presence == TP_PRESENCE_PARTLY || function->presence == TP_PRESENCE_INLINED) {
		if (function->into_count)
			tp_list_add_into(out, explained->inventory, function, NAMES_SHOWN);
		else
			tp_buf_add_string(out, "others");
	}
	tp_buf_add_char(out, '\n');
}

static void add_size(struct tp_buf *out, const struct tp_inventory_function *function)
{
	const struct tp_facts *facts = &function->facts;
	add_title(out, "size");
	if (!facts->instrs) {
		tp_buf_addf(
		    out, "%" PRIu64 " instructions before optimisation\n", function->instrs_start);
		return;
	}
	tp_buf_addf(out, "%" PRIu64 " instructions in %" PRIu64 " block%s", facts->instrs,
	    facts->blocks, tp_plural(facts->blocks));
	if (facts->loops) {
		tp_buf_addf(out, ", %" PRIu64 " loop%s", facts->loops, tp_plural(facts->loops));
		if (facts->depth > 1)
			tp_buf_addf(out, " %" PRIu64 " deep", facts->depth);
		if (function->constant_trips)
			tp_buf_addf(out, ", %" PRIu64 " with a constant number of iterations",
			    function->constant_trips);
	}
	if (function->instrs_start)
		tp_buf_addf(out, "; %" PRIu64 " before optimisation", function->instrs_start);
	tp_buf_add_char(out, '\n');
}

// The edge of CALLS that comes behind LAST (NULL: the first), those that are taken most often
// first.
static const struct tp_inventory_edge *next_callee(
    const struct tp_inventory_function *function, const struct tp_inventory_edge *last)
{
	const struct tp_inventory_edge *next = NULL;
	for (uint32_t i = 0; i < function->call_count; i++) {
		const struct tp_inventory_edge *edge = &function->calls[i];
		const bool behind = !last || edge->frequency < last->frequency ||
				    (edge->frequency == last->frequency && edge > last);
		if (behind && (!next || edge->frequency > next->frequency))
			next = edge;
	}
	return next;
}

static void add_callees(struct tp_buf *out, const struct tp_explained *explained,
    const struct tp_inventory_function *function)
{
	if (!function->call_count && !function->indirect_calls)
		return;
	add_title(out, "calls");
	uint32_t shown = 0;
	for (const struct tp_inventory_edge *edge = next_callee(function, NULL);
	     edge && shown < NAMES_SHOWN; edge = next_callee(function, edge)) {
		add_separator(out, shown++);
		tp_buf_addf_clean(out, "'%s'", function_at(explained, edge->function)->demangled);
		if (edge->frequency > 0)
			tp_buf_addf(out, " (about %.3g for each call)", edge->frequency);
	}
	if (shown < function->call_count)
		tp_buf_addf(out, " and %" PRIu32 " more", function->call_count - shown);
	if (function->indirect_calls)
		tp_buf_addf(
		    out, "%s%" PRIu64 " indirect", shown ? "; " : "", function->indirect_calls);
	tp_buf_add_char(out, '\n');
}

static void add_callers(struct tp_buf *out, const struct tp_explained *explained)
{
	const uint32_t count = explained->caller_count;
	if (!count)
		return;
	add_title(out, "called by");
	for (uint32_t i = 0; i < count && i < NAMES_SHOWN; i++) {
		add_separator(out, i);
		tp_buf_addf_clean(
		    out, "'%s'", function_at(explained, explained->callers[i])->demangled);
	}
	if (count > NAMES_SHOWN)
		tp_buf_addf(out, " and %" PRIu32 " more", count - NAMES_SHOWN);
	tp_buf_add_char(out, '\n');
}

static void add_line(struct tp_buf *out, const struct tp_allowlist *list, uint32_t index)
{
	const struct tp_allowlist_line line = tp_allowlist_line(list, index);
	tp_buf_addf_clean(out, "%s:%" PRIu32 ": %s\n", line.file, line.line, line.text);
}

static void add_decision(struct tp_buf *out, const struct tp_explained *explained)
{
	const struct tp_verdict *verdict = &explained->verdict;
	add_title(out, "list says");
	tp_category_add(out, verdict->category, verdict->sample);
	tp_buf_add_string(out, ", by ");
	if (explained->decider != TP_LINE_NONE) {
		add_line(out, explained->list, explained->decider);
	} else {
		tp_list_add_place(out, verdict);
		tp_buf_add_char(out, '\n');
	}
	for (uint32_t i = 0; i < explained->override_count; i++) {
		add_title(out, i ? "" : "overrides");
		add_line(out, explained->list, explained->overrides[i]);
	}
}

static void add_compiled(struct tp_buf *out, const struct tp_inventory_function *function)
{
	if (tp_fate_of(function) > TP_FATE_PARTLY || function->presence == TP_PRESENCE_SOURCE)
		return;
	add_title(out, "compiled as");
	tp_category_add(out, function->decision, function->sample);
	if (function->by_file)
		tp_buf_addf_clean(out, ", by %s:%" PRIu32, function->by_file, function->by_line);
	tp_buf_add_char(out, '\n');
}

static void add_profile(struct tp_buf *out, const struct tp_workload_function *measured,
    const struct tp_open_profile *profile)
{
	char text[TP_TEXT_NUMBER];
	add_title(out, "profile");
	tp_buf_addf(
	    out, "%s call%s", tp_text_count(text, measured->calls), tp_plural(measured->calls));
	if (measured->timed && measured->calls) {
		tp_buf_addf(out, ", %s itself", tp_text_ns(text, (uint64_t)measured->self_ns));
		tp_buf_addf(out, ", %s for each call",
		    tp_text_ns(text, (uint64_t)(measured->self_ns / (double)measured->calls)));
	}
	tp_buf_add_char(out, '\n');
	for (int i = 0; i < TP_EXPLAINED_LEVELS; i++) {
		const struct tp_explained_level *level = &tp_explained_levels[i];
		const double ns = tp_cost_call_ns(&profile->cost, level->category, level->sample);
		add_title(out, level->name);
		tp_open_add_overhead(out, (double)measured->calls * ns, profile->workload.time_ns);
		tp_buf_addf(out, ": %s\n", level->what);
	}
}

static void add_force(struct tp_buf *out, const struct tp_inventory_function *function)
{
	if (function->presence != TP_PRESENCE_PARTLY && function->presence != TP_PRESENCE_INLINED)
		return;
	uint64_t copies = 0;
	for (uint32_t i = 0; i < function->into_count; i++)
		copies += function->into[i].guessed ? 0 : function->into[i].sites;
	add_title(out, "force");
	if (copies)
		tp_buf_addf_clean(out,
		    "'fun:%s=force' turns each inlined copy into a recorded call (%" PRIu64 ")\n",
		    function->name, copies);
	else
		tp_buf_addf_clean(
		    out, "'fun:%s=force' keeps it from being inlined\n", function->name);
}

void tp_explain_add_text(
    struct tp_buf *out, const struct tp_explained *explained, const struct tp_open_profile *profile)
{
	const struct tp_inventory_function *function = explained->function;
	tp_buf_addf_clean(out, "%s\n", function->demangled);
	if (strcmp(function->name, function->demangled) != 0) {
		add_title(out, "linkage");
		tp_buf_addf_clean(out, "%s\n", function->name);
	}
	add_definition(out, function);
	add_origin(out, function);
	add_presence(out, explained, function);
	add_made(out, explained, function);
	add_size(out, function);
	add_callees(out, explained, function);
	add_callers(out, explained);
	if (explained->list)
		add_decision(out, explained);
	add_compiled(out, function);
	if (explained->measured)
		add_profile(out, explained->measured, profile);
	add_force(out, function);
}

/* ---- JSON ---- */

static void add_json_edges(struct tp_json *json, const struct tp_explained *explained,
    const char *name, const struct tp_inventory_edge *edges, uint32_t count)
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

static void add_json_callers(struct tp_json *json, const struct tp_explained *explained)
{
	tp_json_line(json, 3);
	tp_json_array(json, "called_by");
	for (uint32_t i = 0; i < explained->caller_count; i++)
		tp_json_text(json, NULL, function_at(explained, explained->callers[i])->name);
	tp_json_end(json);
}

static void add_json_decision(struct tp_json *json, const struct tp_explained *explained)
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

static void add_json_profile(struct tp_json *json, const struct tp_workload_function *measured,
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
	add_json_edges(json, explained, "into", function->into, function->into_count);
	add_json_edges(json, explained, "calls", function->calls, function->call_count);
	add_json_callers(json, explained);
	tp_json_line(json, 3);
	tp_json_object(json, "compiled_as");
	tp_list_add_category_json(json, "level", function->decision, function->sample);
	tp_json_text(json, "file", function->by_file);
	tp_json_uint(json, "line", function->by_line);
	tp_json_end(json);
	if (explained->list)
		add_json_decision(json, explained);
	if (explained->measured)
		add_json_profile(json, explained->measured, profile);
	tp_json_end(json);
}
