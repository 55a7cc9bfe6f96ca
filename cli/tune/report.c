// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What teeperf autotune found: for people, for scripts, and the profile for other tools.
#include "autotune.h"

#include "common/json.h"
#include "common/units.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const struct tp_autotune_round *best_round(const struct tp_autotune *tune)
{
	return &tune->rounds[tune->best];
}

static bool fits(const struct tp_autotune *tune)
{
	return tp_autotune_has_best(tune) &&
	       best_round(tune)->tried.measured.median <= tune->options.budget;
}

// The line of a build that has run in turn with the native one; it goes on.
static void print_row(const char *name, double time_ns, const struct tp_autotune_overhead *overhead)
{
	char time[TP_TEXT_NUMBER];
	printf("%-22s%12s%+11.1f %%%+12.1f to %+.1f %%", name, tp_text_ns_fixed(time, time_ns),
	    100 * overhead->median, 100 * overhead->low, 100 * overhead->high);
}

static void print_series(const char *name, const struct tp_autotune_series *series)
{
	const struct tp_autotune_overhead overhead =
	    tp_autotune_overhead(series->native, series->other, series->count);
	print_row(name, tp_autotune_median(series->other, series->count), &overhead);
}

static void print_builds(const struct tp_autotune *tune)
{
	char time[TP_TEXT_NUMBER];
	char calls[TP_TEXT_NUMBER];
	printf("%-22s%12s%12s%22s\n", "build", "time", "overhead", "range over rounds");
	printf("%-22s%12s\n", "not instrumented", tp_text_ns_fixed(time, tune->native_ns));
	print_series("... with a recorder", &tune->alone_series);
	putchar('\n');
	tp_text_count_short(calls, tune->calls);
	if (tune->count_series.count) {
		print_series("calls counted", &tune->count_series);
		printf("   %s calls\n", calls);
	} else {
		printf("%-22s%s calls, from '%s': not built\n", "calls counted", calls,
		    tune->options.from);
	}
	if (tune->event_time_ns > 0) {
		printf("%-22s%12s%+11.1f %%%22s", "events for all",
		    tp_text_ns_fixed(time, tune->event_time_ns),
		    100 * (tune->event_time_ns / tune->native_ns - 1),
		    tune->event_runs > 1 ? "the fastest run" : "one run");
		if (tune->event_cost_ns > 0)
			printf("   %s a call", tp_text_ns_fixed(time, tune->event_cost_ns));
		putchar('\n');
	}
	for (uint32_t i = 0; i < tune->round_count; i++) {
		const struct tp_autotune_try *tried = &tune->rounds[i].tried;
		char name[32];
		snprintf(name, sizeof(name), "list %u%s", i + 1,
		    tried->untold     ? " (?)"
		    : i == tune->best ? " (kept)"
				      : "");
		print_row(name, tune->rounds[i].time_ns, &tried->measured);
		printf("   predicted %+.1f %%, names %.1f %%\n", 100 * tried->predicted,
		    100 * tried->named);
	}
}

static void print_untold(const struct tp_autotune *tune)
{
	const struct tp_autotune_overhead *measured = &best_round(tune)->tried.measured;
	printf(
	    "\nBudget %.4g %%: cannot be measured. The overheads of single runs are %+.1f to %+.1f "
	    "%%, median %+.1f %%,\nerror of the median %.1f: the machine is busy, or the program "
	    "too short.\nNo list was written, and '%s' is built without instrumentation.\n",
	    100 * tune->options.budget, 100 * measured->low, 100 * measured->high,
	    100 * measured->median, 100 * measured->error, tune->options.program[0]);
}

static void print_verdict(const struct tp_autotune *tune, const char *output)
{
	const struct tp_autotune_round *best = best_round(tune);
	char records[32];
	if (!tp_autotune_has_best(tune)) {
		print_untold(tune);
		return;
	}
	printf(
	    "\nBudget %.4g %%: measured %+.1f %% (error of the median %.1f), predicted %+.1f %%.\n",
	    100 * tune->options.budget, 100 * best->tried.measured.median,
	    100 * best->tried.measured.error, 100 * best->tried.predicted);
	printf(
	    "Named: %.1f %% of the time, %.1f %% by events and %.1f %% by samples. Within the "
	    "budget\n"
	    "events alone could name at most %.1f %%, and samples at most %.1f %% of the rest.\n",
	    100 * best->tried.named, 100 * best->shares.events, 100 * best->shares.samples,
	    100 * best->shares.bound, 100 * best->shares.sample_bound);
	printf("Functions: %u with events, %u sampled, %u counted; %s records a run.\n",
	    best->events, best->samples, best->counts, tp_text_count_short(records, best->records));
	printf("The list is '%s', and '%s' is built with it.\n", output, tune->options.program[0]);
}

void tp_autotune_report_text(const struct tp_autotune *tune, const char *output)
{
	const char *how = tune->by_perf       ? "samples by perf"
			  : tune->given_times ? "the given trace"
					      : "a trace of all calls";
	printf("%s time of '%s', medians of %u or more runs in turn with uninstrumented ones;\n"
	       "self times of functions are from %s.\n\n",
	    tune->options.by_cpu ? "CPU" : "Wall", tune->options.program[0], tune->options.runs,
	    how);
	print_builds(tune);
	print_verdict(tune, output);
}

static void add_round(struct tp_json *json, const struct tp_autotune_round *round)
{
	const struct tp_autotune_try *tried = &round->tried;
	tp_json_object(json, NULL);
	tp_json_uint(json, "runs", round->runs);
	tp_json_real(json, "predicted", 6, tried->predicted);
	tp_json_real(json, "measured", 6, tried->measured.median);
	tp_json_real(json, "measured_low", 6, tried->measured.low);
	tp_json_real(json, "measured_high", 6, tried->measured.high);
	tp_json_real(json, "measured_error", 6, tried->measured.error);
	tp_json_real(json, "native_ns", 0, round->native_ns);
	tp_json_real(json, "time_ns", 0, round->time_ns);
	tp_json_real(json, "event_cost_ns", 3, round->event_ns);
	tp_json_real(json, "named_by_events", 6, round->shares.events);
	tp_json_real(json, "named_by_samples", 6, round->shares.samples);
	tp_json_real(json, "bound", 6, round->shares.bound);
	tp_json_real(json, "sample_bound", 6, round->shares.sample_bound);
	tp_json_bool(json, "told", !tried->untold);
	tp_json_uint(json, "events", round->events);
	tp_json_uint(json, "samples", round->samples);
	tp_json_uint(json, "counts", round->counts);
	tp_json_uint(json, "records", round->records);
	tp_json_uint(json, "lost", round->lost);
	tp_json_end(json);
}

void tp_autotune_report_json(const struct tp_autotune *tune, const char *output, struct tp_buf *out)
{
	const struct tp_autotune_series *series = &tune->count_series;
	const bool told = tp_autotune_has_best(tune);
	struct tp_json json;
	tp_json_init(&json, out, TP_JSON_SPACED);
	tp_json_object(&json, NULL);
	tp_json_lines(&json);
	tp_json_text(&json, "program", tune->options.program[0]);
	tp_json_text(&json, "list", told ? output : NULL);
	tp_json_text(&json, "time", tune->options.by_cpu ? "cpu" : "wall");
	tp_json_text(&json, "profile",
	    tune->by_perf       ? "perf"
	    : tune->given_times ? "given"
				: "trace");
	tp_json_real(&json, "budget", 6, tune->options.budget);
	tp_json_bool(&json, "told", told);
	tp_json_bool(&json, "within_budget", fits(tune));
	tp_json_uint(&json, "runs", tune->options.runs);
	tp_json_real(&json, "native_ns", 0, tune->native_ns);
	tp_json_real(&json, "fixed_ns", 0, tune->fixed_ns);
	tp_json_uint(&json, "calls", tune->calls);
	if (series->count)
		tp_json_real(
		    &json, "count_ns", 0, tp_autotune_median(series->other, series->count));
	else
		tp_json_null(&json, "count_ns");
	tp_json_real(&json, "event_ns", 0, tune->event_time_ns);
	tp_json_real(&json, "event_cost_ns", 3, tune->event_cost_ns);
	tp_json_uint(&json, "best", tune->best);
	tp_json_array(&json, "rounds");
	tp_json_lines(&json);
	for (uint32_t i = 0; i < tune->round_count; i++)
		add_round(&json, &tune->rounds[i]);
	tp_json_end(&json);
	tp_json_end(&json);
	tp_buf_add_char(out, '\n');
}

void tp_autotune_profile_csv(const struct tp_generated *generated, struct tp_buf *out)
{
	tp_buf_add_string(out, "function,calls,self_ns,instrs_start,instrs,loops,level,sample\n");
	for (uint32_t i = 0; i < generated->workload.function_count; i++) {
		const struct tp_workload_function *function = &generated->workload.functions[i];
		const struct tp_inventory_function *seen = function->inventory;
		const struct tp_choice *choice = &generated->choices[i];
		if (!function->calls || function->nameless)
			continue;
		tp_buf_addf(out, "%s,%" PRIu64 ",%.0f,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%s,%u\n",
		    function->name, function->calls, function->self_ns,
		    seen ? seen->instrs_start : 0, seen ? seen->facts.instrs : 0,
		    seen ? seen->facts.loops : 0, tp_category_name(choice->level),
		    choice->level == TP_CATEGORY_SAMPLE ? choice->sample : 1);
	}
}
