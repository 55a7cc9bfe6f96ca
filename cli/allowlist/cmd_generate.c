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
	"calls and times, from a trace with events; the best source"),
    TP_OPT_STRING('c', "counts", &wanted.counts, "TRACE",
	"exact calls, from a trace of a program built with --level=count"),
    TP_OPT_STRING('s', "samples", &wanted.samples, "FILE",
	"times, from perf.data, folded stacks, or lines NAME<TAB>SAMPLES"),
    TP_OPT_LIST('i', "inventory", &inventory_list, "PATH",
	"what the compiler saw: a program, library, object file or folder; may be repeated"),
    TP_OPT_STRING(0, "from-source", &wanted.from_source, "DIR",
	"a seed before anything is compiled: DIR has the compile_commands.json of the sources, "
	"which libclang reads"),
    TP_OPT_STRING(
	'b', "budget", &budget, "SHARE", "how much longer the program may run; the default is 5%"),
    TP_OPT_SIZE(0, "log-budget", &wanted.log_budget, "SIZE",
	"how large the log of a run like this may become"),
    TP_OPT_STRING(0, "event-cost", &event_cost, "TIME",
	"of a call with its return, such as 15.5ns; the default, auto, is by the trace's clock"),
    TP_OPT_STRING(0, "event-cost-split", &event_inside, "TIME",
	"the part of it that is inside of the call's own time; the default is estimated"),
    TP_OPT_STRING(0, "count-cost", &count_cost, "TIME", "of a counted call; the default is 1ns"),
    TP_OPT_STRING(0, "time", &program_time, "TIME",
	"how long the program runs without instrumentation; the default is what the profile says"),
    TP_OPT_STRING(0, "refine", &refine, "RUN",
	"correct the event cost: RUN is a trace recorded with the last list (give --native too), "
	"or measured overhead divided by predicted overhead"),
    TP_OPT_STRING(0, "native", &native_time, "TIME",
	"how long the program ran without instrumentation, for --refine"),
    TP_OPT_LIST(0, "keep", &keep_list, "PATTERN",
	"record these functions whatever they cost; a pattern as in a list, or of names; may be "
	"repeated"),
    TP_OPT_LIST(0, "never", &never_list, "PATTERN", "leave these functions out; may be repeated"),
    TP_OPT_BOOL(0, "paths", &wanted.paths,
	"also value functions for what they call and is left out, half as much for each call"),
    TP_OPT_BOOL(0, "no-sample", &wanted.no_sample, "do not sample functions: events or nothing"),
    TP_OPT_BOOL(0, "count-rest", &wanted.count_rest,
	"count the calls of what is left out, as far as the budget goes"),
    TP_OPT_BOOL(0, "curve", &wanted.curve, "show what budgets of 1% to 50% would name"),
    TP_OPT_STRING('o', "output", &output, "FILE", TP_WRITE_CHOSEN_OUTPUT),
    TP_OPT_CHOICE(0, "format", &format, formats, NULL, "what the tables are written as"),
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
		    "'%s' is no option: inputs are named by --profile, --counts, --samples or "
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
		    "choose from what? give --profile, --counts or --inventory");
	if (wanted.from_source && (wanted.profile || wanted.counts || inventory_list.count))
		return tp_options_usage(
		    "--from-source is for what is not compiled yet: leave it out here");
	if (wanted.samples && !wanted.profile && !wanted.counts)
		return tp_options_usage(
		    "samples do not say how often functions are called: give --counts too");
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
		tp_command_warn("without a profile no budget can be held: --budget is not used");
	status = code ? tp_command_fail(&err) : tp_write_chosen(&generated, output, format != 0);
	if (!status && generated.damage.count)
		status = TP_EXIT_FAILED;
	tp_generated_release(&generated);
	return status;
}

const struct tp_command tp_allowlist_generate = {
    .name = "allowlist generate",
    .summary = "choose functions to instrument, for a budget",
    .usage = "[options] [-o FILE]",
    .operands = TP_OPERANDS_NONE,
    .description =
	"Write an allowlist whose events name as much of the program's time as a budget allows, and\n"
	"say what was chosen, what was left out and what it would cost. Functions that are too dear\n"
	"for events are sampled. The better the inputs, the better the choice: a profile with events;\n"
	"exact counts with samples; counts with sizes; sizes alone, which promise nothing.\n",
    .examples =
	"teeperf allowlist generate --profile teeperf.trace --budget 5% -o hot.allow\n"
	"teeperf allowlist generate --counts counts.trace --samples perf.data -o hot.allow\n"
	"teeperf allowlist generate --inventory ./program -o seed.allow\n"
	"teeperf allowlist generate -p teeperf.trace --refine run.trace --native 2.5s -o hot.allow\n",
    .options = options,
    .run = run,
};
