// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// teeperf fleet allowlist: choose which functions to instrument, for a budget over all runs.
#include "allowlists/choose/generate.h"
#include "fleet/questions/sums.h"
#include "cli/analyze/open_trace.h"
#include "cli/analyze/write_chosen.h"
#include "cli/command/command.h"
#include "cli/fleet/filters.h"
#include "common/units.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <teeperf/log.h>

#define LIST_MAX 256
// More own time than this for each time that the runs had, and it is not all of it work.
#define WAITED_RATIO 1.1

static const char *const formats[] = {"table", "json", NULL};

static struct tp_generate_options wanted;
static struct tp_fleet_filters filters;
static struct tp_option_list inventory_list = {.most = LIST_MAX};
static struct tp_option_list keep_list = {.most = LIST_MAX};
static struct tp_option_list never_list = {.most = LIST_MAX};
static const char *budget;
static const char *event_cost;
static const char *count_cost;
static const char *output;
static int format;

static const struct tp_option options[] = {
    TP_OPT_STRING('b', "budget", &budget, "SHARE",
	"let all runs together take at most this much longer (default: 5%)"),
    TP_FLEET_FILTERS(filters),
    TP_OPT_LIST('i', "inventory", &inventory_list, "PATH",
	"take what the compiler saw from a program, library, object file or folder; can be "
	"repeated"),
    TP_OPT_STRING(0, "event-cost", &event_cost, "TIME",
	"the cost of a call with its return, such as 15.5ns (default: auto, derived from the "
	"runs' clock)"),
    TP_OPT_STRING(
	0, "count-cost", &count_cost, "TIME", "the cost of a counted call (default: 1ns)"),
    TP_OPT_LIST(0, "keep", &keep_list, "PATTERN",
	"record these functions at any cost; a pattern as in a list, or of names; can be "
	"repeated"),
    TP_OPT_LIST(0, "never", &never_list, "PATTERN", "leave these functions out; can be repeated"),
    TP_OPT_BOOL(
	0, "no-sample", &wanted.no_sample, "do not sample functions: choose events or nothing"),
    TP_OPT_BOOL(0, "count-rest", &wanted.count_rest,
	"count the calls of functions that are left out, within the budget"),
    TP_OPT_BOOL(
	0, "curve", &wanted.curve, "show the share of time that budgets of 1% to 50% would name"),
    TP_OPT_STRING('o', "output", &output, "FILE", TP_WRITE_CHOSEN_OUTPUT),
    TP_OPT_CHOICE(0, "format", &format, formats, NULL, "format of the tables"),
    TP_OPT_END,
};

static int parse_options(int argc)
{
	struct tp_err err;
	if (argc != 1)
		return tp_options_usage("name the fleet's folder");
	if (event_cost && strcmp(event_cost, "auto") == 0)
		event_cost = NULL;
	if (budget && tp_units_share(budget, &wanted.budget, &err))
		return tp_options_usage("--budget: %s", err.what);
	if (event_cost && tp_units_ns(event_cost, &wanted.event_cost_ns, &err))
		return tp_options_usage("--event-cost: %s", err.what);
	if (count_cost && tp_units_ns(count_cost, &wanted.count_cost_ns, &err))
		return tp_options_usage("--count-cost: %s", err.what);
	wanted.inventories = inventory_list.items;
	wanted.inventory_count = inventory_list.count;
	wanted.keep = keep_list.items;
	wanted.keep_count = keep_list.count;
	wanted.never = never_list.items;
	wanted.never_count = never_list.count;
	return TP_EXIT_DONE;
}

// What limits the list.
static void warn(const struct tp_fleet_sums *sums)
{
	double own_ns = 0;
	for (uint32_t i = 0; i < sums->function_count; i++)
		own_ns += sums->functions[i].self_ns;
	if (sums->timeless)
		tp_command_warn("%" PRIu64
				" run%s without times in nanoseconds left out: record with a clock",
		    sums->timeless, tp_plural(sums->timeless));
	if (sums->incomplete)
		tp_command_warn("%" PRIu64 " run%s of %" PRIu64
				" lack%s events, so calls and times are too low",
		    sums->incomplete, tp_plural(sums->incomplete), sums->runs,
		    tp_by_count(sums->incomplete, "s", ""));
	if (sums->selective)
		tp_command_warn(
		    "%" PRIu64 " run%s of %" PRIu64
		    " did not record each function all the time: sums have the recorded part only",
		    sums->selective, tp_plural(sums->selective), sums->runs);
	if (sums->raw)
		tp_command_warn(
		    "the times of %" PRIu64 " run%s of %" PRIu64
		    " include the unknown cost of recording: functions with many calls seem more "
		    "expensive than they are",
		    sums->raw, tp_plural(sums->raw), sums->runs);
	if (sums->in_cpu_time < sums->runs)
		tp_command_warn("how long %" PRIu64 " run%s of %" PRIu64
				" had processors is unknown: the recording time is used",
		    sums->runs - sums->in_cpu_time, tp_plural(sums->runs - sums->in_cpu_time),
		    sums->runs);
	else if (own_ns > WAITED_RATIO * sums->time_ns)
		tp_command_warn(
		    "the functions have %.1f times the processor time of the runs: their threads "
		    "waited, and only runs with 'record --events sched' show which functions did",
		    own_ns / sums->time_ns);
}

static void find_clock(struct tp_generate_sums *to, const char *clock)
{
	for (uint32_t kind = 0; strcmp(teeperf_clock_name(kind), "unknown") != 0; kind++)
		if (strcmp(teeperf_clock_name(kind), clock) == 0) {
			to->clock_kind = kind;
			to->clock_known = true;
		}
}

static int choose(const struct tp_fleet_sums *sums, const char *directory)
{
	struct tp_generated generated;
	struct tp_err err;
	char shown[PATH_MAX];
	char name[PATH_MAX + 100];
	char list_name[100];
	struct tp_workload_sum *functions = calloc(sums->function_count, sizeof(*functions));
	if (!functions)
		return tp_command_refuse(TP_ERR_MEMORY, directory, "out of memory");
	for (uint32_t i = 0; i < sums->function_count; i++) {
		const struct tp_fleet_sum *from = &sums->functions[i];
		functions[i] = (struct tp_workload_sum){
		    .name = from->linkage,
		    .demangled = from->function,
		    .file = from->file,
		    .line = from->line,
		    .calls = from->calls,
		    .timed = from->timed_calls,
		    .self_ns = from->self_ns,
		    .definitions = from->same_key,
		};
	}
	snprintf(list_name, sizeof(list_name), "%" PRIu64 " run%s of %" PRIu64 " program%s",
	    sums->runs, tp_plural(sums->runs), sums->programs, tp_plural(sums->programs));
	snprintf(name, sizeof(name), "%s, %s", tp_shown_name(shown, directory), list_name);
	const bool in_cpu_time = sums->in_cpu_time == sums->runs;
	struct tp_generate_sums given = {
	    .name = name,
	    .list_name = list_name,
	    .functions = functions,
	    .function_count = sums->function_count,
	    .threads = (uint32_t)sums->threads,
	    .time_ns = sums->time_ns,
	    .in_cpu_time = in_cpu_time,
	    .measured_ns = sums->recorded_ns,
	    .time_source = in_cpu_time ? "processor time of the runs, less the cost of recording"
				       : "the runs, less the cost of recording",
	};
	find_clock(&given, sums->clock);
	wanted.sums = &given;
	const int code = tp_generate(&generated, &wanted, &err);
	tp_open_warn_all(&generated.notes);
	const int status =
	    code ? tp_command_fail(&err) : tp_write_chosen(&generated, output, format != 0);
	tp_generated_release(&generated);
	free(functions);
	return status;
}

static int run(int argc, char **argv)
{
	struct tp_fleet_chosen chosen;
	struct tp_fleet_sums sums;
	struct tp_err err;
	int status = parse_options(argc);
	if (!status)
		status = tp_fleet_filters_choose(&filters, &chosen);
	if (status)
		return status;
	if (tp_fleet_sums_read(&sums, argv[0], &chosen, &err)) {
		status = tp_command_fail(&err);
	} else {
		warn(&sums);
		status = choose(&sums, argv[0]);
	}
	tp_fleet_sums_release(&sums);
	return status;
}

const struct tp_command tp_fleet_allowlist = {
    .name = "fleet allowlist",
    .summary = "choose functions to instrument within a budget over all runs",
    .usage = "[options] [-o FILE] DIR",
    .description =
	"Write one allowlist for all programs and runs of the fleet in DIR, whose events name as "
	"much\n"
	"of their time as the budget allows, and print the chosen functions, the others, and the\n"
	"predicted cost. The choice works as in 'teeperf allowlist generate'; calls and times of\n"
	"functions with the same key are summed over the runs.\n"
	"\n"
	"The fleet knows only functions that a run has recorded, so add runs that recorded "
	"everything.\n",
    .examples = "teeperf fleet allowlist --budget 2% -o fleet.allow /srv/profiles\n"
		"teeperf fleet allowlist --program redis-server --day 2026-11-26 /srv/profiles\n",
    .options = options,
    .run = run,
};
