// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A generated choice as an allowlist that people read and change.
#include "allowlists/convert/text.h"
#include "analyzer/output/text.h"
#include "common/clean.h"
#include "generate_internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <teeperf/version.h>

static const char *last_component(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash && slash[1] ? slash + 1 : path;
}

static void add_inputs(const struct tp_generated *generated, struct tp_buf *out)
{
	const struct tp_generate_options *options = &generated->options;
	char text[TP_TEXT_NUMBER];
	const struct {
		const char *title;
		const char *file;
	} inputs[] = {{"profile", options->profile}, {"counts", options->counts},
	    {"samples", options->samples}, {"source", options->from_source}};
	for (size_t i = 0; i < sizeof(inputs) / sizeof(inputs[0]); i++)
		if (inputs[i].file)
			tp_buf_addf(
			    out, "# %-10s %s\n", inputs[i].title, last_component(inputs[i].file));
	if (options->sums)
		tp_buf_addf(out, "# %-10s %s\n", "fleet", options->sums->list_name);
	if (!generated->seed)
		tp_buf_addf(out, "# %-10s %016" PRIx64 "\n", "calls",
		    tp_workload_hash(&generated->workload));
	if (generated->has_inventory)
		tp_buf_addf(out, "# %-10s %016" PRIx64 ", %s functions\n", "inventory",
		    generated->inventory.hash,
		    tp_text_count(text, generated->inventory.function_count));
}

static void add_promise(const struct tp_generated *generated, struct tp_buf *out)
{
	const struct tp_shares shares = tp_generated_shares(generated, &generated->chosen);
	char text[4][32];
	tp_buf_addf(out, "# %-10s %s of %s", "budget",
	    tp_text_share_exact(text[0], generated->options.budget),
	    tp_text_ns_real(text[1], generated->time_ns));
	if (generated->options.log_budget)
		tp_buf_addf(out, ", %s of log",
		    tp_text_bytes(text[0], (double)generated->options.log_budget));
	tp_buf_addf(out, "\n# %-10s %s a call, %s\n", "event",
	    tp_text_ns_real(text[0], generated->cost.event_ns),
	    tp_cost_source_name(generated->cost.source));
	tp_buf_addf(out, "# %-10s %s (%s to %s), %s of log%s\n", "predicted",
	    tp_text_share(text[0], shares.overhead), tp_text_share(text[1], shares.low),
	    tp_text_share(text[2], shares.high),
	    tp_text_bytes(text[3], generated->chosen.cost_bytes),
	    generated->options.sums ? " in all runs" : "");
	tp_buf_addf(out,
	    "# %-10s %s of self time by events (%s at most), %s by samples (%s at most)\n", "named",
	    tp_text_share(text[0], shares.events), tp_text_share(text[1], shares.bound),
	    tp_text_share(text[2], shares.samples), tp_text_share(text[3], shares.sample_bound));
}

static void add_heading(const struct tp_generated *generated, struct tp_buf *out)
{
	tp_buf_addf(out, "# Written by 'teeperf %s', TeePerf %s.\n",
	    generated->options.sums ? "fleet allowlist" : "allowlist generate", TEEPERF_VERSION);
	add_inputs(generated, out);
	if (generated->seed)
		tp_buf_add_string(out,
		    "# A seed, chosen by size and loops alone: its cost is unknown, and may be "
		    "high.\n# Count calls with it, or record, and generate again.\n");
	else
		add_promise(generated, out);
	tp_buf_add_string(out, "default:skip\n");
}

static void add_function(
    const struct tp_generated *generated, uint32_t index, bool seed, struct tp_buf *out)
{
	const struct tp_workload_function *function = &generated->workload.functions[index];
	const struct tp_choice *choice = &generated->choices[index];
	char text[2][32];
	char level[TP_LEVEL_TEXT];
	tp_buf_add_string(out, "# ");
	tp_buf_add_clean(out, function->demangled);
	if (seed && function->inventory && function->inventory->presence == TP_PRESENCE_SOURCE)
		tp_buf_addf(out, ": %s statements and expressions\n",
		    tp_text_count(text[0], function->inventory->instrs_start));
	else if (seed && function->inventory)
		tp_buf_addf(out, ": %s instructions, %s loops\n",
		    tp_text_count(text[0], function->inventory->facts.instrs),
		    tp_text_count(text[1], function->inventory->facts.loops));
	else
		tp_buf_addf(out, ": %s calls, %s\n", tp_text_count(text[0], function->calls),
		    tp_text_ns_real(text[1], function->self_ns));
	if (function->definitions > 1)
		tp_buf_addf(
		    out, "# %u different functions have this name\n", function->definitions);
	tp_buf_add_string(out, "fun:");
	tp_glob_add_literal(out, tp_span_of(function->name));
	if (choice->level != TP_CATEGORY_ALLOW)
		tp_buf_addf(out, "=%s", tp_level_text(level, choice));
	tp_buf_add_char(out, '\n');
}

struct group {
	enum tp_category level;
	bool cheap;
	const char *title;
};

static bool is_in(const struct group *group, const struct tp_choice *choice)
{
	return choice->level == group->level && (choice->reason == TP_REASON_CHEAP) == group->cheap;
}

// Whether the lines so far, LIST, do to the function what was chosen for it.
static bool is_listed(const struct tp_allowlist *list, const struct tp_workload_function *function,
    const struct tp_choice *choice)
{
	const struct tp_subject subject = tp_workload_subject(function);
	const struct tp_verdict verdict = tp_allowlist_match(list, &subject);
	return verdict.category == choice->level &&
	       (verdict.category != TP_CATEGORY_SAMPLE || verdict.sample == choice->sample);
}

/*
 * Copies that the compiler made of functions, such as the parts of a coroutine: the line of a
 * function means them, too, if it comes last.
 */
static void add_copies(
    const struct tp_generated *generated, const uint32_t *order, struct tp_buf *out)
{
	struct tp_allowlist *list = NULL;
	// The parser shows errors to everyone who reads the list; none are reported here.
	if (out->failed || tp_allowlist_parse(&list, out->data, out->size, "generated", NULL))
		return;
	bool any = false;
	for (uint32_t i = 0; i < generated->workload.function_count; i++) {
		const struct tp_workload_function *function =
		    &generated->workload.functions[order[i]];
		if (function->nameless || is_listed(list, function, &generated->choices[order[i]]))
			continue;
		if (!any)
			tp_buf_add_string(
			    out, "\n## copies, which the lines above would select, too\n");
		any = true;
		add_function(generated, order[i], generated->seed, out);
	}
	tp_allowlist_free(list);
}

void tp_generated_add_list(const struct tp_generated *generated, struct tp_buf *out)
{
	static const struct group groups[] = {
	    {TP_CATEGORY_FORCE, false, "events, kept from being inlined"},
	    {TP_CATEGORY_ALLOW, false, "events"},
	    {TP_CATEGORY_SAMPLE, false, "samples: calls counted, one of N recorded"},
	    {TP_CATEGORY_COUNT, false, "counts: calls only"},
	    {TP_CATEGORY_ALLOW, true, "events that cost next to nothing"},
	};
	add_heading(generated, out);
	uint32_t *order = tp_generated_by_time(generated);
	if (!order) {
		out->failed = true;
		return;
	}
	for (size_t g = 0; g < sizeof(groups) / sizeof(groups[0]); g++) {
		uint32_t count = 0;
		for (uint32_t i = 0; i < generated->workload.function_count; i++)
			count += is_in(&groups[g], &generated->choices[i]);
		if (!count)
			continue;
		tp_buf_addf(out, "\n## %s (%u)\n", groups[g].title, count);
		for (uint32_t i = 0; i < generated->workload.function_count; i++)
			if (is_in(&groups[g], &generated->choices[order[i]]))
				add_function(generated, order[i], generated->seed, out);
	}
	add_copies(generated, order, out);
	free(order);
}
