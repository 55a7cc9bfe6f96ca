// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A generated choice as a JSON object; docs/selection.md lists its members.
#include "analyzer/text.h"
#include "selection/generate_text.h"

#include <inttypes.h>
#include <stdlib.h>

static void add_input(struct tp_buf *out, const char *key, const char *file)
{
	tp_buf_addf(out, "\"%s\":", key);
	if (file)
		tp_text_add_json(out, file);
	else
		tp_buf_add_string(out, "null");
	tp_buf_add_char(out, ',');
}

static void add_chosen(
    const struct tp_generated *generated, const struct tp_chosen *chosen, struct tp_buf *out)
{
	const double time = generated->time_ns;
	const double all = chosen->all_value > 0 ? chosen->all_value : 1;
	const double overhead = time > 0 ? chosen->cost_ns / time : 0;
	tp_buf_addf(out,
	    "\"overhead\":%.6f,\"overhead_low\":%.6f,\"overhead_high\":%.6f,\"cost_ns\":%.0f,"
	    "\"log_bytes\":%.0f,\"named_by_events\":%.6f,\"named_by_samples\":%.6f,"
	    "\"bound\":%.6f,\"sample_bound\":%.6f,\"untold\":%.6f,\"code_ns\":%.0f,"
	    "\"events\":%u,\"sampled\":%u,\"counted\":%u",
	    overhead, overhead * tp_cost_low(&generated->cost),
	    overhead * tp_cost_high(&generated->cost), chosen->cost_ns, chosen->cost_bytes,
	    chosen->event_sure / all, chosen->sample_sure / all, chosen->bound / all,
	    chosen->sample_bound / all, (chosen->all_value - chosen->all_sure) / all,
	    chosen->code_ns, chosen->event_count, chosen->sample_count, chosen->count_count);
}

static void add_function(const struct tp_generated *generated, uint32_t index, struct tp_buf *out)
{
	const struct tp_workload_function *function = &generated->workload.functions[index];
	const struct tp_choice *choice = &generated->choices[index];
	char level[TP_LEVEL_TEXT];
	tp_buf_add_string(out, "{\"function\":");
	tp_text_add_json(out, function->name);
	tp_buf_add_string(out, ",\"name\":");
	tp_text_add_json(out, function->demangled);
	tp_buf_add_string(out, ",\"file\":");
	tp_text_add_json(out, function->file);
	tp_buf_addf(out,
	    ",\"line\":%" PRIu64 ",\"calls\":%" PRIu64
	    ",\"self_ns\":%.1f,\"sure_ns\":%.1f,\"raw_self_ns\":%.1f,"
	    "\"level\":\"%s\",\"reason\":\"%s\",\"cost_ns\":%.1f,\"event_ns\":%.1f",
	    function->line, function->calls, function->self_ns, function->sure_ns,
	    function->raw_self_ns, tp_level_text(level, choice), tp_reason_text(choice->reason),
	    (double)function->calls *
		tp_cost_call_ns(&generated->cost, choice->level, choice->sample),
	    (double)function->calls * generated->cost.event_ns);
	if (function->inventory)
		tp_buf_addf(out,
		    ",\"instrs\":%" PRIu64 ",\"instrs_start\":%" PRIu64 ",\"loops\":%" PRIu64,
		    function->inventory->facts.instrs, function->inventory->instrs_start,
		    function->inventory->facts.loops);
	tp_buf_add_char(out, '}');
}

static void add_invisible(const struct tp_generated *generated, struct tp_buf *out)
{
	uint32_t count;
	struct tp_invisible *list = tp_generated_invisible(generated, &count);
	for (uint32_t i = 0; i < count; i++) {
		const struct tp_inventory_function *function = list[i].function;
		tp_buf_add_string(out, i ? ",\n{\"function\":" : "\n{\"function\":");
		tp_text_add_json(out, function->name);
		tp_buf_addf(out,
		    ",\"presence\":\"%s\",\"instrs_start\":%" PRIu64 ",\"host_ns\":%.1f,\"into\":[",
		    tp_presence_name(function->presence), function->instrs_start, list[i].host_ns);
		for (uint32_t k = 0; k < function->into_count; k++) {
			if (k)
				tp_buf_add_char(out, ',');
			tp_text_add_json(
			    out, generated->inventory.functions[function->into[k].function].name);
		}
		tp_buf_add_string(out, "]}");
	}
	free(list);
}

void tp_generated_add_json(const struct tp_generated *generated, struct tp_buf *out)
{
	const struct tp_generate_options *options = &generated->options;
	tp_buf_add_char(out, '{');
	add_input(out, "profile", options->profile);
	add_input(out, "counts", options->counts);
	add_input(out, "samples", options->samples);
	tp_buf_addf(out,
	    "\"seed\":%s,\"times\":\"%s\",\"time_ns\":%.0f,\"event_ns\":%.3f,\"profile_event_ns\":%.3f,\"event_in_ns\":%.3f,"
	    "\"count_ns\":%.3f,\"event_source\":\"%s\",\"budget\":%.6f,\"log_budget\":%" PRIu64 ",",
	    generated->seed ? "true" : "false", tp_quality_text(generated->quality),
	    generated->time_ns, generated->cost.event_ns, generated->spent.event_ns,
	    generated->spent.event_in_ns, generated->cost.count_ns,
	    tp_cost_source_name(generated->cost.source), options->budget, options->log_budget);
	const struct tp_workload *workload = &generated->workload;
	if (workload->cpu_ns > 0)
		tp_buf_addf(out,
		    "\"cpu_ns\":%.0f,\"waited_ns\":%.0f,\"delayed_ns\":%.0f,\"waiting_threads\":%u,",
		    workload->cpu_ns, workload->waited_ns, workload->delayed_ns, workload->waiting);
	tp_buf_addf(out, "\"closed_ns\":%.0f,", generated->closed_ns);
	if (generated->refined.done)
		tp_buf_addf(out, "\"refined_from_ns\":%.3f,", generated->refined.old_event_ns);
	add_chosen(generated, &generated->chosen, out);
	tp_buf_add_string(out, ",\"curve\":[");
	for (uint32_t i = 0; i < generated->point_count; i++) {
		tp_buf_addf(
		    out, "%s\n{\"budget\":%.6f,", i ? "," : "", generated->points[i].budget);
		add_chosen(generated, &generated->points[i].chosen, out);
		tp_buf_add_char(out, '}');
	}
	tp_buf_add_string(out, "],\"functions\":[");
	uint32_t *order = tp_generated_by_time(generated);
	if (!order)
		out->failed = true;
	for (uint32_t i = 0; order && i < generated->workload.function_count; i++) {
		tp_buf_add_string(out, i ? ",\n" : "\n");
		add_function(generated, order[i], out);
	}
	free(order);
	tp_buf_add_string(out, "],\"invisible\":[");
	add_invisible(generated, out);
	tp_buf_add_string(out, "]}\n");
}
