// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What teeperf autotune found: for people, for scripts, and the profile for other tools.
#include "autotune.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

char *tp_autotune_time_text(double ns, char *text)
{
	if (ns >= 1e9)
		snprintf(text, 32, "%.3f s", ns / 1e9);
	else if (ns >= 1e6)
		snprintf(text, 32, "%.2f ms", ns / 1e6);
	else if (ns >= 1e3)
		snprintf(text, 32, "%.2f us", ns / 1e3);
	else
		snprintf(text, 32, "%.1f ns", ns);
	return text;
}

static char *count_text(uint64_t count, char *text)
{
	if (count >= 10000000)
		snprintf(text, 32, "%.1f M", (double)count / 1e6);
	else
		snprintf(text, 32, "%" PRIu64, count);
	return text;
}

static const struct tp_autotune_round *best_round(const struct tp_autotune *tune)
{
	return &tune->rounds[tune->best];
}

static bool fits(const struct tp_autotune *tune)
{
	return tp_autotune_has_best(tune) &&
	       best_round(tune)->tried.measured.median <= tune->options.budget;
}

static void print_counts(const struct tp_autotune *tune)
{
	const struct tp_autotune_series *series = &tune->count_series;
	char time[32];
	char calls[32];
	if (!series->count) {
		printf("%-22s%s calls, from '%s': not built\n", "calls counted",
		    count_text(tune->calls, calls), tune->options.from);
		return;
	}
	const double count_ns = tp_autotune_median(series->other, series->count);
	const struct tp_autotune_overhead count =
	    tp_autotune_overhead(series->native, series->other, series->count);
	printf("%-22s%12s%+11.1f %%%+12.1f to %+.1f %%   %s calls\n", "calls counted",
	    tp_autotune_time_text(count_ns, time), 100 * count.median, 100 * count.low,
	    100 * count.high, count_text(tune->calls, calls));
}

static void print_builds(const struct tp_autotune *tune)
{
	char time[32];
	char cost[32];
	printf("%-22s%12s%12s%22s\n", "build", "time", "overhead", "range over rounds");
	printf("%-22s%12s\n", "not instrumented", tp_autotune_time_text(tune->native_ns, time));
	const struct tp_autotune_series *alone = &tune->alone_series;
	const struct tp_autotune_overhead fixed =
	    tp_autotune_overhead(alone->native, alone->other, alone->count);
	printf("%-22s%12s%+11.1f %%%+12.1f to %+.1f %%\n", "... beside a recorder",
	    tp_autotune_time_text(tp_autotune_median(alone->other, alone->count), time),
	    100 * fixed.median, 100 * fixed.low, 100 * fixed.high);
	print_counts(tune);
	if (tune->event_time_ns > 0) {
		printf("%-22s%12s%+11.1f %%%22s", "events for all",
		    tp_autotune_time_text(tune->event_time_ns, time),
		    100 * (tune->event_time_ns / tune->native_ns - 1),
		    tune->event_runs > 1 ? "the fastest run" : "one run");
		if (tune->event_cost_ns > 0)
			printf("   %s a call", tp_autotune_time_text(tune->event_cost_ns, cost));
		putchar('\n');
	}
	for (uint32_t i = 0; i < tune->round_count; i++) {
		const struct tp_autotune_try *tried = &tune->rounds[i].tried;
		char name[32];
		const bool kept = i == tune->best && !tried->untold;
		snprintf(name, sizeof(name), "list %u%s", i + 1,
		    kept            ? " (kept)"
		    : tried->untold ? " (?)"
				    : "");
		printf(
		    "%-22s%12s%+11.1f %%%+12.1f to %+.1f %%   predicted %+.1f %%, names %.1f %%\n",
		    name, tp_autotune_time_text(tune->rounds[i].time_ns, time),
		    100 * tried->measured.median, 100 * tried->measured.low,
		    100 * tried->measured.high, 100 * tried->predicted, 100 * tried->named);
	}
}

static void print_untold(const struct tp_autotune *tune)
{
	const struct tp_autotune_overhead *measured = &best_round(tune)->tried.measured;
	printf(
	    "\nBudget %.4g %%: cannot be told. The overheads of single runs are %+.1f to %+.1f %%, median %+.1f %%,\n"
	    "error of the median %.1f: the machine is busy, or the program too short.\n"
	    "No list was written, and '%s' is built without instrumentation.\n",
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
	    "Named: %.1f %% of the time, %.1f %% by events and %.1f %% by samples. Within the budget\n"
	    "events alone could name at most %.1f %%, and samples at most %.1f %% of what these events leave.\n",
	    100 * best->tried.named, 100 * best->event_share, 100 * best->sample_share,
	    100 * best->bound_share, 100 * best->sample_bound_share);
	printf("Functions: %u with events, %u sampled, %u counted; %s records a run.\n",
	    best->events, best->samples, best->counts, count_text(best->records, records));
	printf("The list is '%s', and '%s' is built with it.\n", output, tune->options.program[0]);
}

void tp_autotune_report_text(const struct tp_autotune *tune, const char *output)
{
	const char *how = tune->by_perf       ? "samples by perf"
			  : tune->given_times ? "the trace that was given"
					      : "a trace of all calls";
	printf(
	    "%s time of '%s', medians of %u or more runs in turn with ones that are not instrumented;\n"
	    "own times of functions are from %s.\n\n",
	    tune->options.by_cpu ? "CPU" : "Wall", tune->options.program[0], tune->options.runs,
	    how);
	print_builds(tune);
	print_verdict(tune, output);
}

static void print_string(const char *name, const char *text)
{
	printf("  \"%s\": \"", name);
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			printf("\\%c", *text);
		else if ((unsigned char)*text < ' ')
			printf("\\u%04x", (unsigned)(unsigned char)*text);
		else
			putchar(*text);
	}
	printf("\",\n");
}

static void print_round(const struct tp_autotune_round *round, bool last)
{
	const struct tp_autotune_try *tried = &round->tried;
	printf(
	    "    {\"runs\": %u, \"predicted\": %.6f, \"measured\": %.6f, \"measured_low\": %.6f, "
	    "\"measured_high\": %.6f, \"measured_error\": %.6f, \"native_ns\": %.0f, "
	    "\"time_ns\": %.0f, \"event_cost_ns\": %.3f, \"named_by_events\": %.6f, "
	    "\"named_by_samples\": %.6f, \"bound\": %.6f, \"sample_bound\": %.6f, \"told\": %s, "
	    "\"events\": %u, \"samples\": %u, "
	    "\"counts\": %u, \"records\": %" PRIu64 ", \"lost\": %" PRIu64 "}%s\n",
	    round->runs, tried->predicted, tried->measured.median, tried->measured.low,
	    tried->measured.high, tried->measured.error, round->native_ns, round->time_ns,
	    round->event_ns, round->event_share, round->sample_share, round->bound_share,
	    round->sample_bound_share, tried->untold ? "false" : "true", round->events,
	    round->samples, round->counts, round->records, round->lost, last ? "" : ",");
}

void tp_autotune_report_json(const struct tp_autotune *tune, const char *output)
{
	const struct tp_autotune_series *series = &tune->count_series;
	printf("{\n");
	print_string("program", tune->options.program[0]);
	if (tp_autotune_has_best(tune))
		print_string("list", output);
	else
		printf("  \"list\": null,\n");
	print_string("time", tune->options.by_cpu ? "cpu" : "wall");
	print_string("profile", tune->by_perf ? "perf" : tune->given_times ? "given" : "trace");
	printf("  \"budget\": %.6f,\n", tune->options.budget);
	printf("  \"told\": %s,\n", tp_autotune_has_best(tune) ? "true" : "false");
	printf("  \"within_budget\": %s,\n", fits(tune) ? "true" : "false");
	printf("  \"runs\": %u,\n", tune->options.runs);
	printf("  \"native_ns\": %.0f,\n", tune->native_ns);
	printf("  \"fixed_ns\": %.0f,\n", tune->fixed_ns);
	printf("  \"calls\": %" PRIu64 ",\n", tune->calls);
	if (series->count)
		printf("  \"count_ns\": %.0f,\n", tp_autotune_median(series->other, series->count));
	else
		printf("  \"count_ns\": null,\n");
	printf("  \"event_ns\": %.0f,\n", tune->event_time_ns);
	printf("  \"event_cost_ns\": %.3f,\n", tune->event_cost_ns);
	printf("  \"best\": %u,\n", tune->best);
	printf("  \"rounds\": [\n");
	for (uint32_t i = 0; i < tune->round_count; i++)
		print_round(&tune->rounds[i], i + 1 == tune->round_count);
	printf("  ]\n}\n");
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
