// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A generated choice as a JSON object; docs/selection.md lists its members. Of a seed calls, times
// and costs are not known, and are left out.
#include "common/json.h"
#include "generate_internal.h"

#include <stdlib.h>

static void add_chosen(
    struct tp_json *json, const struct tp_generated *generated, const struct tp_chosen *chosen)
{
	const struct tp_shares shares = tp_generated_shares(generated, chosen);
	tp_json_real(json, "overhead", 6, shares.overhead);
	tp_json_real(json, "overhead_low", 6, shares.low);
	tp_json_real(json, "overhead_high", 6, shares.high);
	tp_json_real(json, "cost_ns", 0, chosen->cost_ns);
	tp_json_real(json, "log_bytes", 0, chosen->cost_bytes);
	tp_json_real(json, "named_by_events", 6, shares.events);
	tp_json_real(json, "named_by_samples", 6, shares.samples);
	tp_json_real(json, "bound", 6, shares.bound);
	tp_json_real(json, "sample_bound", 6, shares.sample_bound);
	tp_json_real(json, "untold", 6, shares.untold);
	tp_json_real(json, "code_ns", 0, chosen->code_ns);
	tp_json_uint(json, "events", chosen->event_count);
	tp_json_uint(json, "sampled", chosen->sample_count);
	tp_json_uint(json, "counted", chosen->count_count);
}

static void add_function(struct tp_json *json, const struct tp_generated *generated, uint32_t index)
{
	const struct tp_workload_function *function = &generated->workload.functions[index];
	const struct tp_choice *choice = &generated->choices[index];
	const double calls = (double)function->calls;
	char level[TP_LEVEL_TEXT];
	tp_json_line(json, 0);
	tp_json_object(json, NULL);
	tp_json_text(json, "function", function->name);
	tp_json_text(json, "name", function->demangled);
	tp_json_text(json, "file", function->file);
	tp_json_uint(json, "line", function->line);
	if (!generated->seed) {
		tp_json_uint(json, "calls", function->calls);
		tp_json_real(json, "self_ns", 1, function->self_ns);
		tp_json_real(json, "sure_ns", 1, function->sure_ns);
		tp_json_real(json, "raw_self_ns", 1, function->raw_self_ns);
	}
	tp_json_text(json, "level", tp_level_text(level, choice));
	tp_json_text(json, "reason", tp_reason_text(choice->reason));
	if (!generated->seed) {
		tp_json_real(json, "cost_ns", 1,
		    calls * tp_cost_call_ns(&generated->cost, choice->level, choice->sample));
		tp_json_real(json, "event_ns", 1, calls * generated->cost.event_ns);
	}
	if (function->inventory) {
		tp_json_uint(json, "instrs", function->inventory->facts.instrs);
		tp_json_uint(json, "instrs_start", function->inventory->instrs_start);
		tp_json_uint(json, "loops", function->inventory->facts.loops);
	}
	tp_json_end(json);
}

static void add_invisible(struct tp_json *json, const struct tp_generated *generated)
{
	uint32_t count;
	struct tp_invisible *list = tp_generated_invisible(generated, &count);
	tp_json_array(json, "invisible");
	for (uint32_t i = 0; i < count; i++) {
		const struct tp_inventory_function *function = list[i].function;
		tp_json_line(json, 0);
		tp_json_object(json, NULL);
		tp_json_text(json, "function", function->name);
		tp_json_text(json, "presence", tp_presence_name(function->presence));
		tp_json_uint(json, "instrs_start", function->instrs_start);
		if (!generated->seed)
			tp_json_real(json, "host_ns", 1, list[i].host_ns);
		tp_json_array(json, "into");
		for (uint32_t k = 0; k < function->into_count; k++)
			tp_json_text(json, NULL,
			    generated->inventory.functions[function->into[k].function].name);
		tp_json_end(json);
		tp_json_end(json);
	}
	tp_json_end(json);
	free(list);
}

// What was given, and what was found out about the machine and the program.
static void add_facts(struct tp_json *json, const struct tp_generated *generated)
{
	const struct tp_generate_options *options = &generated->options;
	const struct tp_workload *workload = &generated->workload;
	if (options->sums)
		tp_json_text(json, "fleet", options->sums->name);
	tp_json_text(json, "profile", options->profile);
	tp_json_text(json, "counts", options->counts);
	tp_json_text(json, "samples", options->samples);
	tp_json_bool(json, "seed", generated->seed);
	if (generated->seed)
		return;
	tp_json_text(json, "times", tp_quality_text(generated->quality));
	tp_json_real(json, "time_ns", 0, generated->time_ns);
	tp_json_real(json, "event_ns", 3, generated->cost.event_ns);
	tp_json_real(json, "profile_event_ns", 3, generated->spent.event_ns);
	tp_json_real(json, "event_in_ns", 3, generated->spent.event_in_ns);
	tp_json_real(json, "count_ns", 3, generated->cost.count_ns);
	tp_json_text(json, "event_source", tp_cost_source_name(generated->cost.source));
	tp_json_real(json, "budget", 6, options->budget);
	tp_json_uint(json, "log_budget", options->log_budget);
	if (workload->cpu_ns > 0) {
		tp_json_real(json, "cpu_ns", 0, workload->cpu_ns);
		tp_json_real(json, "waited_ns", 0, workload->waited_ns);
		tp_json_real(json, "delayed_ns", 0, workload->delayed_ns);
		tp_json_uint(json, "waiting_threads", workload->waiting);
	}
	tp_json_real(json, "closed_ns", 0, generated->closed_ns);
	if (generated->refined.done)
		tp_json_real(json, "refined_from_ns", 3, generated->refined.old_event_ns);
}

void tp_generated_add_json(const struct tp_generated *generated, struct tp_buf *out)
{
	struct tp_json json;
	tp_json_init(&json, out, TP_JSON_COMPACT);
	tp_json_object(&json, NULL);
	add_facts(&json, generated);
	if (generated->seed)
		tp_json_uint(&json, "events", generated->chosen.event_count);
	else
		add_chosen(&json, generated, &generated->chosen);
	tp_json_array(&json, "curve");
	for (uint32_t i = 0; i < generated->point_count; i++) {
		tp_json_line(&json, 0);
		tp_json_object(&json, NULL);
		tp_json_real(&json, "budget", 6, generated->points[i].budget);
		add_chosen(&json, generated, &generated->points[i].chosen);
		tp_json_end(&json);
	}
	tp_json_end(&json);
	tp_json_array(&json, "functions");
	uint32_t *order = tp_generated_by_time(generated);
	if (!order)
		out->failed = true;
	for (uint32_t i = 0; order && i < generated->workload.function_count; i++)
		add_function(&json, generated, order[i]);
	free(order);
	tp_json_end(&json);
	add_invisible(&json, generated);
	tp_json_end(&json);
	tp_buf_add_char(out, '\n');
}
