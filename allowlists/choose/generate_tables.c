// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A generated choice as tables: inputs, what was chosen, what was left out and its price, totals.
#include "analyzer/output/text.h"
#include "generate_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

// Rows of each table; the JSON object has all.
#define ROWS_MAX 20
#define LEFT_OUT_MAX 10

// FILE, and how long ago it was written.
static void add_file(const char *title, const char *file, struct tp_buf *out)
{
	char text[TP_TEXT_NUMBER];
	struct stat status;
	struct timespec now;
	if (!file)
		return;
	tp_buf_addf(out, "%-10s %s", title, file);
	if (stat(file, &status) == 0 && clock_gettime(CLOCK_REALTIME, &now) == 0 &&
	    now.tv_sec >= status.st_mtim.tv_sec) {
		const uint64_t seconds = (uint64_t)(now.tv_sec - status.st_mtim.tv_sec);
		if (seconds < 120)
			tp_buf_addf(out, " (%" PRIu64 " s ago)", seconds);
		else if (seconds < 7200)
			tp_buf_addf(out, " (%" PRIu64 " min ago)", seconds / 60);
		else
			tp_buf_addf(out, " (%s h ago)", tp_text_count(text, seconds / 3600));
	}
	tp_buf_add_char(out, '\n');
}

static void add_times(const struct tp_generated *generated, struct tp_buf *out)
{
	char text[3][32];
	switch (generated->quality) {
	case TP_QUALITY_EVENTS:
		if (generated->options.sums) {
			tp_buf_addf(out,
			    "%-10s from events, less the cost of recording in each run\n", "times");
			break;
		}
		tp_buf_addf(out,
		    "%-10s from events, less %s inside of each call and %s around it\n", "times",
		    tp_text_ns_real(text[0], generated->spent.event_in_ns),
		    tp_text_ns_real(
			text[1], generated->spent.event_ns > generated->spent.event_in_ns
				     ? generated->spent.event_ns - generated->spent.event_in_ns
				     : 0));
		break;
	case TP_QUALITY_SAMPLED:
		tp_buf_addf(out, "%-10s from samples; %s of them outside the profile's functions\n",
		    "times", tp_text_share(text[0], generated->elsewhere));
		break;
	case TP_QUALITY_STATIC:
		tp_buf_addf(out, "%-10s guessed: calls times instructions\n", "times");
		break;
	case TP_QUALITY_NONE:
		return;
	}
	const struct tp_workload *workload = &generated->workload;
	tp_buf_addf(out, "%-10s %s without events (%s", "program",
	    tp_text_ns_real(text[0], generated->time_ns), generated->time_source);
	if (workload->measured_ns > 0)
		tp_buf_addf(out, "; recorded: %s", tp_text_ns_real(text[1], workload->measured_ns));
	if (workload->measured_ns > 0 && workload->cpu_ns > 0 && !generated->options.sums)
		tp_buf_addf(
		    out, ", %s of it on processors", tp_text_ns_real(text[1], workload->cpu_ns));
	tp_buf_add_string(out, ")\n");
	if (generated->quality == TP_QUALITY_EVENTS && workload->waited_ns > 0)
		tp_buf_addf(out,
		    "%-10s %s in %u thread%s without a processor, which is no function's self "
		    "time\n",
		    "waiting", tp_text_ns_real(text[0], workload->waited_ns), workload->waiting,
		    tp_plural(workload->waiting));
}

static void add_inputs(const struct tp_generated *generated, struct tp_buf *out)
{
	const struct tp_generate_options *options = &generated->options;
	const struct tp_generate_refined *refined = &generated->refined;
	char text[4][32];
	if (options->sums)
		tp_buf_addf(out, "%-10s %s\n", "fleet", options->sums->name);
	add_file("profile", options->profile, out);
	add_file("counts", options->counts, out);
	add_file("samples", options->samples, out);
	for (uint32_t i = 0; i < options->inventory_count; i++)
		add_file("inventory", options->inventories[i], out);
	add_file("source", options->from_source, out);
	if (generated->seed)
		return;
	add_times(generated, out);
	tp_buf_addf(out, "%-10s %s a call, %s; counting %s\n", "event",
	    tp_text_ns_real(text[0], generated->cost.event_ns),
	    tp_cost_source_name(generated->cost.source),
	    tp_text_ns_real(text[1], generated->cost.count_ns));
	if (refined->done && refined->pairs)
		tp_buf_addf(out, "%-10s was %s; %s calls with events took %s, without %s\n",
		    "refined", tp_text_ns_real(text[0], refined->old_event_ns),
		    tp_text_count(text[1], refined->pairs),
		    tp_text_ns_real(text[2], refined->measured_ns),
		    tp_text_ns_real(text[3], refined->native_ns));
	else if (refined->done)
		tp_buf_addf(out, "%-10s was %s\n", "refined",
		    tp_text_ns_real(text[0], refined->old_event_ns));
	tp_buf_addf(out, "%-10s %s = %s", "budget",
	    tp_text_share_exact(text[0], generated->options.budget),
	    tp_text_ns_real(text[1], generated->options.budget * generated->time_ns));
	if (options->log_budget)
		tp_buf_addf(
		    out, ", %s of log", tp_text_bytes(text[0], (double)options->log_budget));
	tp_buf_add_char(out, '\n');
}

static double part(double value, double all)
{
	return all > 0 ? value / all : 0;
}

static double self_per_call(const struct tp_workload_function *function)
{
	return function->calls ? function->self_ns / (double)function->calls : 0;
}

// What the function costs at a level, as a part of the time.
static double price(const struct tp_generated *generated,
    const struct tp_workload_function *function, enum tp_category level, uint32_t sample)
{
	return part((double)function->calls * tp_cost_call_ns(&generated->cost, level, sample),
	    generated->time_ns);
}

static void add_measures(struct tp_table *table, const struct tp_generated *generated,
    const struct tp_workload_function *function)
{
	char text[32];
	tp_table_add(
	    table, tp_text_share(text, part(function->self_ns, generated->chosen.all_value)));
	tp_table_add(table, tp_text_ns_real(text, function->self_ns));
	tp_table_add(table, tp_text_count(text, function->calls));
	tp_table_add(table, tp_text_ns_real(text, self_per_call(function)));
}

static void end_table(struct tp_table *table, struct tp_buf *out)
{
	tp_table_render(table, out);
	tp_table_release(table);
}

// A function that is counted only because the budget is too small is left out as well.
static bool is_left_out(const struct tp_choice *choice)
{
	return choice->level == TP_CATEGORY_SKIP ||
	       (choice->level == TP_CATEGORY_COUNT && choice->reason != TP_REASON_KEPT);
}

// The obstacle in one word, and what other levels would cost.
static void add_prices(struct tp_table *table, const struct tp_generated *generated, uint32_t index)
{
	const struct tp_workload_function *function = &generated->workload.functions[index];
	const struct tp_choice *choice = &generated->choices[index];
	const uint32_t sample = tp_choose_sample((double)function->calls);
	char text[TP_LEVEL_TEXT];
	char prices[128];
	tp_table_add(table, tp_text_share(text, price(generated, function, TP_CATEGORY_ALLOW, 1)));
	snprintf(prices, sizeof(prices), "/%u: %s", sample,
	    tp_text_share(text, price(generated, function, TP_CATEGORY_SAMPLE, sample)));
	tp_table_add(table, prices);
	tp_table_add(table, tp_text_share(text, price(generated, function, TP_CATEGORY_COUNT, 1)));
	tp_table_add(table,
	    choice->level == TP_CATEGORY_COUNT ? "only counted" : tp_reason_text(choice->reason));
}

// The functions that were chosen, or those that were LEFT out, with what they would cost.
static void add_rows(const struct tp_generated *generated, const uint32_t *order, uint32_t width,
    bool left, struct tp_buf *out)
{
	static const char *const titles[] = {
	    "share", "self", "calls", "self/call", "cost", "level", "function"};
	static const char *const left_titles[] = {"share", "self", "calls", "self/call", "events",
	    "sampled", "counted", "why", "function"};
	const uint32_t most = left ? LEFT_OUT_MAX : ROWS_MAX;
	struct tp_table table;
	char text[TP_LEVEL_TEXT];
	uint32_t shown = 0;
	uint32_t more = 0;
	double more_ns = 0;
	tp_table_init(&table, left ? "rrrrrrrll" : "rrrrrll", left ? 8 : 6);
	table.width = width;
	tp_table_add_titles(&table, left ? left_titles : titles);
	for (uint32_t i = 0; i < generated->workload.function_count; i++) {
		const struct tp_workload_function *function =
		    &generated->workload.functions[order[i]];
		const struct tp_choice *choice = &generated->choices[order[i]];
		if (is_left_out(choice) != left ||
		    (left && !function->calls && function->self_ns <= 0))
			continue;
		if (shown == most) {
			more++;
			more_ns += function->self_ns;
			continue;
		}
		shown++;
		add_measures(&table, generated, function);
		if (left) {
			add_prices(&table, generated, order[i]);
		} else {
			tp_table_add(
			    &table, tp_text_share(text,
					price(generated, function, choice->level, choice->sample)));
			tp_table_add(&table, tp_level_text(text, choice));
		}
		tp_table_add(&table, function->demangled);
	}
	if (shown && left)
		tp_buf_add_string(out, "\nleft out, with the cost of recording\n");
	if (shown)
		tp_table_render(&table, out);
	tp_table_release(&table);
	if (more && left)
		tp_buf_addf(out, "(%u more, %s of self time)\n", more,
		    tp_text_share(text, part(more_ns, generated->chosen.all_value)));
	else if (more)
		tp_buf_addf(out, "(%u more in the list)\n", more);
}

static void add_invisible(const struct tp_generated *generated, uint32_t width, struct tp_buf *out)
{
	uint32_t count;
	struct tp_invisible *list = tp_generated_invisible(generated, &count);
	char text[32];
	if (count) {
		struct tp_table table;
		struct tp_buf hosts;
		tp_buf_init(&hosts);
		tp_table_init(&table, "rlll", 2);
		table.width = width;
		static const char *const titles[] = {"instrs", "state", "function", "inlined into"};
		tp_table_add_titles(&table, titles);
		for (uint32_t i = 0; i < count && i < LEFT_OUT_MAX; i++) {
			const struct tp_inventory_function *function = list[i].function;
			tp_buf_reset(&hosts);
			tp_invisible_add_hosts(generated, function, &hosts);
			tp_table_add(&table, tp_text_count(text, function->instrs_start));
			tp_table_add(&table, tp_presence_name(function->presence));
			tp_table_add(&table, function->demangled);
			tp_table_add(&table, hosts.data);
		}
		tp_buf_addf(out,
		    "\ninvisible: %u inlined functions, whose time counts for their callers\n",
		    count);
		end_table(&table, out);
		if (count > LEFT_OUT_MAX)
			tp_buf_addf(
			    out, "(%u more: --format json shows all)\n", count - LEFT_OUT_MAX);
		tp_buf_release(&hosts);
	}
	free(list);
}

static void add_curve(const struct tp_generated *generated, struct tp_buf *out)
{
	static const char *const titles[] = {"budget", "cost", "events", "sampled",
	    "named by events", "bound", "by samples", "bound", "log"};
	struct tp_table table;
	char text[32];
	if (!generated->point_count)
		return;
	tp_buf_add_string(out, "\nother budgets\n");
	tp_table_init(&table, "rrrrrrrrr", 0);
	tp_table_add_titles(&table, titles);
	for (uint32_t i = 0; i < generated->point_count; i++) {
		const struct tp_chosen *chosen = &generated->points[i].chosen;
		const struct tp_shares shares = tp_generated_shares(generated, chosen);
		tp_table_add(&table, tp_text_share_exact(text, generated->points[i].budget));
		tp_table_add(&table, tp_text_share(text, shares.overhead));
		tp_table_add(&table, tp_text_count(text, chosen->event_count));
		tp_table_add(&table, tp_text_count(text, chosen->sample_count));
		tp_table_add(&table, tp_text_share(text, shares.events));
		tp_table_add(&table, tp_text_share(text, shares.bound));
		tp_table_add(&table, tp_text_share(text, shares.samples));
		tp_table_add(&table, tp_text_share(text, shares.sample_bound));
		tp_table_add(&table, tp_text_bytes(text, chosen->cost_bytes));
	}
	end_table(&table, out);
}

static void add_totals(const struct tp_generated *generated, struct tp_buf *out)
{
	const struct tp_chosen *chosen = &generated->chosen;
	const struct tp_shares shares = tp_generated_shares(generated, chosen);
	const double rest = 1 - shares.events - shares.samples - shares.untold;
	char text[4][32];
	tp_buf_addf(out, "\n%-10s %s of the time (%s to %s), %s of log%s\n", "predicted",
	    tp_text_share(text[0], shares.overhead), tp_text_share(text[1], shares.low),
	    tp_text_share(text[2], shares.high), tp_text_bytes(text[3], chosen->cost_bytes),
	    generated->options.sums ? " in all runs" : "");
	tp_buf_addf(out, "%-10s %s of self time exactly by events, %s by samples, %s not", "named",
	    tp_text_share(text[0], shares.events), tp_text_share(text[1], shares.samples),
	    tp_text_share(text[2], rest > 0 ? rest : 0));
	if (shares.untold > 0)
		tp_buf_addf(
		    out, "; %s unknown, as threads waited", tp_text_share(text[3], shares.untold));
	tp_buf_addf(out,
	    "\n%-10s within this budget, events alone can name %s at most, and samples %s of the "
	    "rest\n",
	    "bound", tp_text_share(text[0], shares.bound),
	    tp_text_share(text[1], shares.sample_bound));
	if (chosen->path_value > 0)
		tp_buf_addf(out, "%-10s %s of self time, callers included at half for each call\n",
		    "paths", tp_text_share(text[0], part(chosen->path_value, chosen->all_value)));
	if (chosen->code_ns > 0)
		tp_buf_addf(out, "%-10s %s of the prediction is for the size of the code\n", "code",
		    tp_text_share(text[0], part(chosen->code_ns, generated->time_ns)));
	tp_buf_addf(out, "%-10s events for all would cost %s and name %s\n", "all",
	    tp_text_share(text[0], part(chosen->all_event_ns, generated->time_ns)),
	    tp_text_share(text[1], shares.untold < 1 ? 1 - shares.untold : 0));
	if (generated->closed_ns > 0)
		tp_buf_addf(out,
		    "%-10s %s more if all functions are compiled in and 'record --only' uses the "
		    "list: closed gates have a cost\n",
		    "closed",
		    tp_text_share(text[0], part(generated->closed_ns, generated->time_ns)));
}

static void add_seed(const struct tp_generated *generated, struct tp_buf *out)
{
	tp_buf_addf(out,
	    "\nchosen: %u of %u functions by size and loops alone. This is a seed: its cost "
	    "is\nunknown, and no rule of this kind can hold a budget. Build with it, or "
	    "with\n'teeperf cc --level=count', record, and generate again with --counts or "
	    "--profile.\n",
	    generated->chosen.event_count, generated->workload.function_count);
}

void tp_generated_add_tables(
    const struct tp_generated *generated, uint32_t width, struct tp_buf *out)
{
	add_inputs(generated, out);
	if (generated->seed) {
		add_seed(generated, out);
		return;
	}
	uint32_t *order = tp_generated_by_time(generated);
	if (!order) {
		out->failed = true;
		return;
	}
	tp_buf_addf(out, "\nchosen: %u with events, %u sampled, %u counted\n",
	    generated->chosen.event_count, generated->chosen.sample_count,
	    generated->chosen.count_count);
	add_rows(generated, order, width, false, out);
	add_rows(generated, order, width, true, out);
	add_invisible(generated, width, out);
	add_curve(generated, out);
	add_totals(generated, out);
	free(order);
}
