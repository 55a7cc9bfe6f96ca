// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// teeperf allowlist generate: choose which functions to instrument, for a budget.
#include "cli/command/command.h"
#include "cli/analyze/open_trace.h"
#include "cli/analyze/write_chosen.h"
#include "common/units.h"
#include "allowlists/choose/generate.h"

#include <string.h>

#define LIST_MAX 256

static const char *const formats[] = {"table", "json", NULL};

static struct tp_generate_options wanted;
static struct tp_option_list inventory_list = {.most = LIST_MAX};
static struct tp_option_list keep_list = {.most = LIST_MAX};
static struct tp_option_list never_list = {.most = LIST_MAX};
static struct tp_option_list dir_list;
static struct tp_option_list program_list;
static const char *budget;
static const char *event_cost;
static const char *event_inside;
static const char *count_cost;
static const char *program_time;
static const char *native_time;
static const char *refine;
static const char *output;
static int format;

static const struct tp_option options[] = {
    TP_OPT_STRING('p', "profile", &wanted.profile, "TRACE",
	"take calls and times from a trace with events, the best source"),
    TP_OPT_STRING('c', "counts", &wanted.counts, "TRACE",
	"take exact calls from a trace of a program built with --level=count"),
    TP_OPT_STRING('s', "samples", &wanted.samples, "FILE",
	"take times from perf.data, folded stacks, or lines NAME<TAB>SAMPLES"),
    TP_OPT_LIST('i', "inventory", &inventory_list, "PATH",
	"take what the compiler saw from a program, library, object file or folder; can be "
	"repeated"),
    TP_OPT_STRING(0, "from-source", &wanted.from_source, "DIR",
	"make a first list before anything is compiled: libclang reads the sources in "
	"DIR/compile_commands.json"),
    TP_OPT_STRING('b', "budget", &budget, "SHARE",
	"let the program run at most this much longer (default: "
	"5%)"),
    TP_OPT_SIZE(
	0, "log-budget", &wanted.log_budget, "SIZE", "keep the log of a run like this below SIZE"),
    TP_OPT_STRING(0, "event-cost", &event_cost, "TIME",
	"the cost of a call with its return, such as 15.5ns (default: auto, derived from the "
	"trace's clock)"),
    TP_OPT_STRING(0, "event-cost-split", &event_inside, "TIME",
	"the part of the event cost that lies within the call's own time (default: estimated)"),
    TP_OPT_STRING(
	0, "count-cost", &count_cost, "TIME", "the cost of a counted call (default: 1ns)"),
    TP_OPT_STRING(0, "time", &program_time, "TIME",
	"the program's running time without instrumentation (default: taken from the profile)"),
    TP_OPT_STRING(0, "refine", &refine, "RUN",
	"correct the event cost by RUN, a trace recorded with the last list (needs --native), or "
	"measured overhead divided by predicted overhead"),
    TP_OPT_STRING(0, "native", &native_time, "TIME",
	"for --refine, the program's running time without instrumentation"),
    TP_OPT_LIST(0, "keep", &keep_list, "PATTERN",
	"record these functions at any cost; a pattern as in a list, or of names; can be "
	"repeated"),
    TP_OPT_LIST(0, "never", &never_list, "PATTERN", "leave these functions out; can be repeated"),
    TP_OPT_BOOL(0, "paths", &wanted.paths,
	"also credit functions with callees that are left out, half as much per level"),
    TP_OPT_BOOL(
	0, "no-sample", &wanted.no_sample, "do not sample functions: choose events or nothing"),
    TP_OPT_BOOL(0, "count-rest", &wanted.count_rest,
	"count the calls of functions that are left out, within the budget"),
    TP_OPT_BOOL(
	0, "curve", &wanted.curve, "show the share of time that budgets of 1% to 50% would name"),
    TP_OPT_STRING('o', "output", &output, "FILE", TP_WRITE_CHOSEN_OUTPUT),
    TP_OPT_CHOICE(0, "format", &format, formats, NULL, "format of the tables"),
    TP_OPEN_DEBUG_DIRS(dir_list),
    TP_OPEN_PROGRAMS(program_list),
    TP_OPT_END,
};

static int wrong(const char *option, const struct tp_err *err)
{
	return tp_options_usage("--%s: %s", option, err->what);
}

static int parse_times(void)
{
	const struct {
		const char *option;
		const char *text;
		double *ns;
	} times[] = {
	    {"event-cost", event_cost, &wanted.event_cost_ns},
	    {"event-cost-split", event_inside, &wanted.event_in_ns},
	    {"count-cost", count_cost, &wanted.count_cost_ns},
	    {"time", program_time, &wanted.time_ns},
	    {"native", native_time, &wanted.native_ns},
	};
	struct tp_err err;
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
		if (times[i].text && tp_units_ns(times[i].text, times[i].ns, &err))
			return wrong(times[i].option, &err);
	return TP_EXIT_DONE;
}

static int parse_options(int argc, char **argv)
{
	struct tp_err err;
	if (argc)
		return tp_options_usage(
		    "'%s' is not an option: name inputs with --profile, --counts, --samples or "
		    "--inventory",
		    argv[0]);
	if (event_cost && strcmp(event_cost, "auto") == 0)
		event_cost = NULL;
	if (budget && tp_units_share(budget, &wanted.budget, &err))
		return wrong("budget", &err);
	const int status = parse_times();
	if (status)
		return status;
	if (event_cost && event_inside && wanted.event_in_ns > wanted.event_cost_ns)
		return tp_options_usage(
		    "--event-cost-split: '%s' is more than --event-cost", event_inside);
	// A number is a ratio, all else the name of a trace.
	if (refine && tp_units_number(refine, &wanted.refine_ratio, &err)) {
		wanted.refine_ratio = 0;
		wanted.refine = refine;
	}
	if (!wanted.profile && !wanted.counts && !inventory_list.count && !wanted.from_source)
		return tp_options_usage(
		    "nothing to choose from: give --profile, --counts or --inventory");
	if (wanted.from_source && (wanted.profile || wanted.counts || inventory_list.count))
		return tp_options_usage(
		    "--from-source is for code that is not compiled yet: leave it out here");
	if (wanted.samples && !wanted.profile && !wanted.counts)
		return tp_options_usage(
		    "samples do not show how often functions are called: give --counts as well");
	if (wanted.refine && !native_time)
		return tp_options_usage(
		    "--refine with a trace needs --native, the time of a run without "
		    "instrumentation");
	wanted.inventories = inventory_list.items;
	wanted.inventory_count = inventory_list.count;
	wanted.keep = keep_list.items;
	wanted.keep_count = keep_list.count;
	wanted.never = never_list.items;
	wanted.never_count = never_list.count;
	wanted.debug_dirs = dir_list.items;
	wanted.debug_dir_count = dir_list.count;
	wanted.programs = program_list.items;
	wanted.program_count = program_list.count;
	return TP_EXIT_DONE;
}

static int run(int argc, char **argv)
{
	int status = parse_options(argc, argv);
	if (status)
		return status;
	struct tp_generated generated;
	struct tp_err err;
	const int code = tp_generate(&generated, &wanted, &err);
	tp_open_warn_all(&generated.damage);
	tp_open_warn_all(&generated.notes);
	if (generated.seed && budget && !code)
		tp_command_warn("without a profile no budget can be held: --budget is ignored");
	status = code ? tp_command_fail(&err) : tp_write_chosen(&generated, output, format != 0);
	if (!status && generated.damage.count)
		status = TP_EXIT_FAILED;
	tp_generated_release(&generated);
	return status;
}

const struct tp_command tp_allowlist_generate = {
    .name = "allowlist generate",
    .summary = "choose functions to instrument within a budget",
    .usage = "[options] [-o FILE]",
    .operands = TP_OPERANDS_NONE,
    .description =
	"Write an allowlist whose events name as much of the program's time as the budget allows, "
	"and\n"
	"print the chosen functions, the others, and the predicted cost. Functions that are too\n"
	"expensive for events are sampled. Better inputs give better choices. From best to worst:\n"
	"a profile with events; exact counts with samples; counts with sizes; sizes alone, which\n"
	"promise nothing.\n",
    .examples =
	"teeperf allowlist generate --profile teeperf.trace --budget 5% -o hot.allow\n"
	"teeperf allowlist generate --counts counts.trace --samples perf.data -o hot.allow\n"
	"teeperf allowlist generate --inventory ./program -o seed.allow\n"
	"teeperf allowlist generate -p teeperf.trace --refine run.trace --native 2.5s -o "
	"hot.allow\n",
    .options = options,
    .run = run,
};
