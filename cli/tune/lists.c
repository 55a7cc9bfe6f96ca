// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The lists that teeperf autotune tries: chosen, built with, measured, corrected.
#define _GNU_SOURCE
#include "autotune.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A list whose overhead is not clearly below or above the budget is run up to this many times as
// often.
#define MORE_RUNS 3
// Own times that exceed the CPU time by so much are not noise.
#define WAITING 1.25
// The chooser's worth of a sampled function's time, beside 1 with events.
#define SAMPLE_WORTH 0.5

// What the chooser noted, but for what it says of a product: source lines are of no use here.
static void add_notes(struct tp_autotune *tune, const struct tp_problems *from)
{
	for (uint32_t i = 0; i < tp_problems_kept(from); i++) {
		const struct tp_err *err = &from->kept[i];
		bool of_product = false;
		for (uint32_t j = 0; j < tune->builder.product_count; j++)
			of_product |= !strcmp(err->file, tune->builder.products[j].path);
		if (of_product)
			continue;
		tp_problems_add_at(
		    &tune->notes, err->code, err->file, err->offset, "%s", err->what);
	}
}

int tp_autotune_write_file(const char *path, const struct tp_buf *text, struct tp_err *err)
{
	if (text->failed)
		return tp_err_memory(err, NULL);
	FILE *file = fopen(path, "we");
	bool ok = file && fwrite(text->data, 1, text->size, file) == text->size;
	const int error = errno;
	if (file)
		ok = fclose(file) == 0 && ok;
	return ok ? 0 : tp_err_system(err, error, path, "cannot write");
}

static double fixed_share(const struct tp_autotune *tune)
{
	return tune->fixed_ns / tune->native_ns;
}

// What the recorder leaves of the budget for events; at least a tenth, as all is noise then.
static double event_budget(const struct tp_autotune *tune)
{
	const double budget = tune->options.budget;
	const double left = budget - fixed_share(tune);
	return left < budget / 10 ? budget / 10 : left;
}

// What a round's list is, from what the chooser says.
static int keep_choice(struct tp_autotune *tune, struct tp_autotune_round *round,
    const struct tp_generated *generated, struct tp_err *err)
{
	struct tp_autotune_try *tried = &round->tried;
	round->shares = tp_generated_shares(generated, &generated->chosen);
	tried->predicted = fixed_share(tune) + round->shares.overhead;
	tried->named = round->shares.events + round->shares.samples;
	tried->worth = round->shares.events + SAMPLE_WORTH * round->shares.samples;
	round->event_ns = generated->cost.event_ns;
	round->events = generated->chosen.event_count;
	round->samples = generated->chosen.sample_count;
	round->counts = generated->chosen.count_count;
	struct tp_buf list;
	tp_buf_init(&list);
	tp_generated_add_list(generated, &list);
	int code = tp_autotune_write_file(tune->list_path, &list, err);
	round->list = code ? NULL : strndup(list.data, list.size);
	round->list_size = list.size;
	tp_buf_release(&list);
	if (!code && !round->list)
		code = tp_err_memory(err, NULL);
	if (!code && tune->options.work) {
		struct tp_buf csv;
		tp_buf_init(&csv);
		tp_autotune_profile_csv(generated, &csv);
		const struct tp_autotune_path file = tp_autotune_file(tune, "profile.csv");
		code = tp_autotune_write_file(file.text, &csv, err);
		tp_buf_release(&csv);
	}
	return code;
}

// A trace takes waiting for work: say so if there is much of it.
static void note_waiting(struct tp_autotune *tune, const struct tp_generated *generated)
{
	double own_ns = 0;
	for (uint32_t i = 0; i < generated->workload.function_count; i++)
		own_ns += generated->workload.functions[i].self_ns;
	if (!tune->by_perf && own_ns > WAITING * tune->native_cpu_ns)
		tp_problems_add(&tune->notes, TP_ERR_LIMIT, NULL,
		    "functions have %.0f %% more self time than the program has processor time: "
		    "they wait, which counts as named; --samples perf leaves it out",
		    100 * (own_ns / tune->native_cpu_ns - 1));
}

// The build that the profile is of, or the counts beside samples.
static enum tp_autotune_variant profile_variant(const struct tp_autotune *tune)
{
	if (tune->given_times || (tune->options.from && tune->by_perf))
		return TP_AUTOTUNE_FROM;
	return tune->by_perf ? TP_AUTOTUNE_COUNT : TP_AUTOTUNE_EVENT;
}

static int choose(struct tp_autotune *tune, struct tp_autotune_round *round, struct tp_err *err)
{
	const struct tp_autotune_options *options = &tune->options;
	const enum tp_autotune_variant variant = profile_variant(tune);
	const struct tp_autotune_path trace = tp_autotune_file(tune, "profile.trace");
	const struct tp_autotune_path counts = tp_autotune_file(tune, "count.trace");
	const char *profile = tune->given_times ? options->from : trace.text;
	const char *calls = options->from ? options->from : counts.text;
	const struct tp_autotune_path samples = tp_autotune_file(tune, "samples");
	const char *inventories[TP_AUTOTUNE_PRODUCTS_MAX];
	for (uint32_t i = 0; i < tune->builder.product_count; i++)
		inventories[i] = tune->builder.products[i].path;
	const struct tp_generate_options wanted = {
	    .profile = tune->by_perf ? NULL : profile,
	    .counts = tune->by_perf ? calls : NULL,
	    .samples = tune->by_perf ? samples.text : NULL,
	    .inventories = inventories,
	    .inventory_count = tune->builder.product_count,
	    .budget = event_budget(tune),
	    .log_budget = options->log_budget,
	    .event_cost_ns = tune->event_cost_ns,
	    .profile_cost_ns = tune->profile_cost_ns,
	    .count_cost_ns = tune->count_cost_ns,
	    .cost_in_situ = tune->event_cost_ns > 0,
	    .cost_factor = round->tried.factor,
	    .time_ns = tune->native_ns,
	    .keep = options->keep,
	    .keep_count = options->keep_count,
	    .never = options->never,
	    .never_count = options->never_count,
	    .no_sample = options->no_sample,
	    .count_rest = options->count_rest,
	};
	// The names in a trace come from the program that made it, which is looked for in its
	// place.
	int code = tp_autotune_builder_place(&tune->builder, variant, err);
	if (code)
		return code;
	static struct tp_generated generated;
	code = tp_generate(&generated, &wanted, err);
	if (!code && tune->round_count == 0) {
		add_notes(tune, &generated.damage);
		add_notes(tune, &generated.notes);
		note_waiting(tune, &generated);
	}
	if (!code)
		code = keep_choice(tune, round, &generated, err);
	tp_generated_release(&generated);
	return code;
}

// The next line of a list that is no comment, or NULL.
static const char *next_rule(const char *at)
{
	while (at && (*at == '#' || *at == '\n')) {
		at = strchr(at, '\n');
		at = at ? at + 1 : NULL;
	}
	return at && *at ? at : NULL;
}

// Whether only comments differ.
static bool same_rules(const char *one, const char *other)
{
	for (;;) {
		one = next_rule(one);
		other = next_rule(other);
		if (!one || !other)
			return one == other;
		const size_t length = strcspn(one, "\n");
		if (strcspn(other, "\n") != length || memcmp(one, other, length) != 0)
			return false;
		one += length;
		other += length;
	}
}

// A list that has been tried: another build would be the same.
static bool is_old(const struct tp_autotune *tune, const struct tp_autotune_round *round)
{
	for (uint32_t i = 0; i < tune->round_count; i++)
		if (same_rules(tune->rounds[i].list, round->list))
			return true;
	return false;
}

static int measure_list(
    struct tp_autotune *tune, struct tp_autotune_round *round, struct tp_err *err)
{
	int code = tp_autotune_make(tune, TP_AUTOTUNE_LIST, tune->list_path, err);
	if (code)
		return code;
	tp_autotune_say(
	    tune, "running it with the list and without, %u times each", tune->options.runs);
	struct tp_autotune_series series = {0};
	struct tp_autotune_ran last;
	struct tp_autotune_overhead *measured = &round->tried.measured;
	const uint32_t runs = tune->options.runs;
	do {
		code = tp_autotune_run_series(
		    tune, TP_AUTOTUNE_LIST, "list.trace", series.count + runs, &series, &last, err);
		if (!code && round->events + round->samples + round->counts)
			code = tp_autotune_attached(tune, &last, err);
		if (code)
			return code;
		*measured = tp_autotune_overhead(series.native, series.other, series.count);
	} while ((tp_autotune_unclear(measured, tune->options.budget) ||
		     !tp_autotune_told(measured, tune->options.budget)) &&
		 series.count + runs <= MORE_RUNS * runs &&
		 series.count + runs <= TP_AUTOTUNE_RUNS_MAX);
	round->tried.untold = !tp_autotune_told(measured, tune->options.budget);
	round->runs = series.count;
	round->native_ns = tp_autotune_median(series.native, series.count);
	round->time_ns = tp_autotune_median(series.other, series.count);
	round->records = last.records;
	round->lost = last.lost;
	return 0;
}

static bool fits(const struct tp_autotune *tune)
{
	return tune->rounds[tune->best].tried.measured.median <= tune->options.budget;
}

// By what a list is cut again that is the same as before, and how often.
#define CUT 1.4
enum { CUTS_MOST = 20 };

int tp_autotune_try_lists(struct tp_autotune *tune, struct tp_err *err)
{
	double factor = 1;
	do {
		struct tp_autotune_round *round = &tune->rounds[tune->round_count];
		round->tried.factor = factor;
		int code = choose(tune, round, err);
		// A list that was too expensive is not measured again: what fits is smaller.
		for (int i = 0; i < CUTS_MOST && !code && is_old(tune, round) && !fits(tune); i++) {
			free(round->list);
			round->list = NULL;
			factor *= CUT;
			round->tried.factor = factor;
			code = choose(tune, round, err);
		}
		if (code)
			return code;
		if (is_old(tune, round)) {
			free(round->list);
			round->list = NULL;
			tune->ended = fits(tune) ? TP_AUTOTUNE_DONE : TP_AUTOTUNE_TIRED;
			break;
		}
		code = measure_list(tune, round, err);
		if (code)
			return code;
		tune->round_count++;
		struct tp_autotune_try tries[TP_AUTOTUNE_ROUNDS_MAX];
		for (uint32_t i = 0; i < tune->round_count; i++)
			tries[i] = tune->rounds[i].tried;
		tune->best = tp_autotune_best(tries, tune->round_count, tune->options.budget);
		if (tune->best == tune->round_count - 1 && !tries[tune->best].untold)
			code = tp_autotune_builder_accept(&tune->builder, err);
		if (code)
			return code;
		tune->ended = tp_autotune_next(tries, tune->round_count, tune->options.budget,
		    fixed_share(tune), tune->options.rounds, &factor);
	} while (tune->ended == TP_AUTOTUNE_AGAIN);
	return 0;
}
