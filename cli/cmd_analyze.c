// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// teeperf analyze: show the profile in a trace.
#include "analyzer/output/relation/show.h"
#include "cli/command/command.h"
#include "cli/analyze/open_family.h"
#include "cli/analyze/open_trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const sorts[] = {
    "self", "inclusive", "calls", "mean", "min", "max", "p50", "p90", "p99", "name", NULL};
static const char *const sinces[] = {"start", "last", NULL};
static const char *const formats[] = {"table", "csv", "json", NULL};

static struct tp_view_options wanted;
static const char *view_name = "top";
static int sort = -1;
static int format;
static const char *around_slowest_text;
static struct tp_option_list borders;
static bool watch;
static int since = -1;
static int asked_time = -1; // enum tp_time; -1: it was not asked for
static bool family;
static const char *interval_text;
static const char *limit_text;
static const char *min_share_text;
static struct tp_open_options open_options = {.symbol_cache = true};

static const struct tp_option options[] = {
    TP_OPT_STRING(0, "view", &view_name, "VIEW",
	"show this view: top (default), tree, inverted, threads, function, histogram, timeline, "
	"contention, transitions, counters, energy, system, waits or stacks; with --family, top, "
	"threads or processes"),
    TP_OPT_STRING(0, "function", &wanted.function, "PATTERN",
	"show the view for the functions that match a glob or /REGEX/"),
    TP_OPT_BOOL(0, "family", &family,
	"show all processes of a recording with --follow-fork together: FILE and every FILE.PID"),
    TP_OPT_BOOL(0, "watch", &watch,
	"refresh the view while recording; FILE can be the process ID of a recording"),
    TP_OPT_CHOICE(
	0, "format", &format, formats, "FORMAT", "output format: table (default), csv or json"),
    TP_OPT_STRING(0, "limit", &limit_text, "N",
	"show at most N rows, or all if N is 0 (default: 40 in tables, 200 in timelines)"),
    TP_OPEN_OPTIONS_TIME(open_options,
	TP_OPEN_TIME(&asked_time, "wall; with --around-slowest cpu where known, else wall")),
    TP_OPEN_FAIL_IF(open_options),
    TP_OPT_BOOL('v', "verbose", &wanted.verbose,
	"print the full heading on a terminal, not just three lines"),
    TP_OPT_FULL_NAMES(wanted.full_names),
    TP_OPT_COLOR,
    TP_OPT_PAGER,
    TP_OPT_GROUP("Of single views", "--format table"),
    TP_OPT_STRING(0, "columns", &wanted.columns, "LIST",
	"show these columns, by title, such as calls,p99,function"),
    TP_OPT_NEEDS("--view top|--view function|--view histogram"),
    TP_OPT_CHOICE(0, "sort", &sort, sorts, "KEY",
	"sort functions in top, function and histogram by self (default), inclusive, calls, "
	"mean, min, max, p50, p90, p99 or name"),
    TP_OPT_NEEDS("--view tree|--view inverted"),
    TP_OPT_STRING(0, "min-share", &min_share_text, "PERCENT",
	"in tree and inverted, hide branches with a smaller share of the recorded time (default: "
	"0.5 in tables)"),
    TP_OPT_NEEDS("--view histogram"),
    TP_OPT_BOOL(0, "by-caller", &wanted.by_caller, "show one histogram per caller"),
    TP_OPT_NEEDS("--view timeline"),
    TP_OPT_STRING(0, "around-slowest", &around_slowest_text, "N",
	"in a timeline, show only the N slowest calls of --function, their callees, and what "
	"other threads did meanwhile"),
    TP_OPT_NEEDS("--view transitions"),
    TP_OPT_LIST(0, "border", &borders, "PATTERN",
	"in transitions, treat these functions as the border of a TEE, instead of ecall_*, "
	"ocall_*, TEEC_InvokeCommand and others; can be repeated"),
    TP_OPT_BOOL(0, "module-border", &wanted.by_module,
	"in transitions, show all calls from one module into another"),
    TP_OPT_GROUP("Of a program that is being recorded", "--watch"),
    TP_OPT_STRING(0, "interval", &interval_text, "TIME",
	"refresh --watch at this interval, such as 500ms or 2s (default: 1s)"),
    TP_OPT_CHOICE(0, "since", &since, sinces, "start|last",
	"with --watch, show everything since the start, or the last interval (default on a "
	"terminal); s switches"),
    TP_OPT_END,
};

static int parse_numbers(const struct tp_view *view)
{
	const uint64_t without = view->limit                        ? view->limit
				 : wanted.format == TP_FORMAT_TABLE ? 40
								    : 0;
	if (!tp_parse_limit(limit_text, without, &wanted.limit))
		return tp_options_usage("--limit: '%s' is not a whole number", limit_text);
	double percent = wanted.format == TP_FORMAT_TABLE ? 0.5 : 0;
	if (!tp_parse_real(min_share_text, 100, &percent))
		return tp_options_usage("--min-share: '%s' is not a percentage", min_share_text);
	wanted.min_share = percent / 100;
	return TP_EXIT_DONE;
}

static int unknown_view(void)
{
	struct tp_buf names;
	tp_buf_init(&names);
	for (size_t i = 0; tp_views()[i]; i++)
		tp_buf_addf(&names, "%s%s", i ? ", " : "", tp_views()[i]->name);
	const int status =
	    tp_options_usage("unknown view '%s'; expected one of: %s", view_name, names.data);
	tp_buf_release(&names);
	return status;
}

// What VIEW would not look at is refused.
static int check_options(const struct tp_view *view)
{
	// The slowest calls are shown with all their time, whichever decides.
	if (around_slowest_text) {
		wanted.around_usual = asked_time < 0;
		wanted.around_time = asked_time < 0 ? TP_TIME_WALL : (enum tp_time)asked_time;
	} else if (asked_time >= 0) {
		open_options.time = asked_time;
	}
	if (open_options.time && view->timeline)
		return tp_options_usage(
		    "--time: the view '%s' shows single calls, with all their time", view->name);
	return TP_EXIT_DONE;
}

// The view into standard output, a piece at a time. Returns an exit code.
static int show(const struct tp_analysis *analysis, const struct tp_view *view, bool damaged)
{
	struct tp_out_file out;
	struct tp_err err;
	const struct tp_analysis recorded = tp_view_as_recorded(analysis);
	if (view->timeline)
		analysis = &recorded;
	tp_pager_start(damaged ? TP_EXIT_FAILED : TP_EXIT_DONE);
	tp_stdout_open(&out);
	if (wanted.format == TP_FORMAT_TABLE)
		tp_view_add_heading(analysis, &wanted, &out.buf);
	const int code = tp_view_render(view, analysis, &wanted, &out.buf, &err);
	return tp_stdout_close(&out, code, &err);
}

// Of a family only; its rows are the family's own.
static const struct tp_view processes = {.name = "processes"};

static const struct tp_view *find_view(void)
{
	if (family && strcmp(view_name, processes.name) == 0)
		return &processes;
	return tp_view_find(view_name);
}

// Refuse what a family does not support.
static int check_family(const struct tp_view *view)
{
	const char *given = watch ? "--watch" : tp_open_family_refuses(&open_options);
	if (view != &processes && strcmp(view->name, "top") != 0 &&
	    strcmp(view->name, "threads") != 0)
		return tp_options_usage(
		    "the view '%s' shows a single trace: --family has top, threads and processes",
		    view->name);
	if (given)
		return tp_options_usage(
		    "%s is for a single trace: it cannot be combined with --family", given);
	if (sort >= TP_SORT_P50 && sort <= TP_SORT_P99)
		return tp_options_usage(
		    "--sort: a family has no percentiles, as they cannot be summed over processes");
	return TP_EXIT_DONE;
}

static int write_family(const struct tp_family *shown, enum tp_family_view view, bool damaged)
{
	struct tp_out_file out;
	struct tp_err err;
	tp_pager_start(damaged ? TP_EXIT_FAILED : TP_EXIT_DONE);
	tp_stdout_open(&out);
	if (wanted.format == TP_FORMAT_TABLE)
		tp_family_add_heading(shown, false, &out.buf);
	const int code = tp_family_show(shown, view, &wanted, &out.buf, &err);
	return tp_stdout_close(&out, code, &err);
}

static int show_family(const char *file, const struct tp_view *view)
{
	const enum tp_family_view which = view == &processes                   ? TP_FAMILY_PROCESSES
					  : strcmp(view->name, "threads") == 0 ? TP_FAMILY_THREADS
									       : TP_FAMILY_TOP;
	struct tp_open_family open;
	struct tp_family shown = {0};
	struct tp_err err;
	int status = tp_open_family(&open, file, &open_options);
	if (!status && tp_family_init(&shown, open.members, open.count, &err))
		status = tp_command_fail(&err);
	shown.left_out = open.left_out;
	if (!status && wanted.format != TP_FORMAT_TABLE)
		tp_open_family_warn(&shown);
	if (!status)
		status = write_family(&shown, which, open.damaged);
	if (!status && open.damaged)
		status = TP_EXIT_FAILED;
	tp_family_release(&shown);
	tp_open_family_release(&open);
	return status;
}

static int run(int argc, char **argv)
{
	int status = tp_default_trace(&argc, &argv, "only one trace at a time");
	if (status)
		return status;
	const struct tp_view *view = find_view();
	if (!view && strcmp(view_name, processes.name) == 0)
		return tp_options_usage("the view 'processes' shows several traces: give --family");
	if (!view)
		return unknown_view();
	if (view->of == TP_VIEW_OF_SOME && !wanted.function)
		return tp_options_usage("of which function? give --function PATTERN");
	if (around_slowest_text && !wanted.function)
		return tp_options_usage(
		    "--around-slowest, of the view timeline, needs a function: give --function "
		    "PATTERN");
	if (around_slowest_text &&
	    (!tp_parse_limit(around_slowest_text, 0, &wanted.around_slowest) ||
		wanted.around_slowest < 1 || wanted.around_slowest > 1000))
		return tp_options_usage(
		    "--around-slowest: '%s' is not a number of calls from 1 to 1000",
		    around_slowest_text);
	if (view->of == TP_VIEW_OF_ALL && wanted.function)
		return tp_options_usage(
		    "the view '%s' shows all functions: to narrow it, use --focus instead of "
		    "--function",
		    view->name);
	status = check_options(view);
	if (!status && family)
		status = check_family(view);
	if (status)
		return status;
	wanted.sort = sort < 0 ? TP_SORT_SELF : (enum tp_sort)sort;
	wanted.format = (enum tp_format)format;
	wanted.width = tp_terminal_width();
	tp_text_use_ascii(!tp_terminal_utf8());
	wanted.color = tp_terminal_color();
	wanted.borders = borders.items;
	wanted.border_count = borders.count;
	status = parse_numbers(view);
	if (status)
		return status;

	if (family)
		return show_family(argv[0], view);
	if (watch) {
		uint64_t ns = 1000000000;
		if (interval_text && (!tp_open_parse_time(interval_text, &ns) || ns < 1000000 ||
					 ns > UINT64_C(86400000000000)))
			return tp_options_usage(
			    "--interval: '%s' is not a time from 1ms to 86400s", interval_text);
		const bool last =
		    since < 0 ? isatty(STDOUT_FILENO) && wanted.format == TP_FORMAT_TABLE : since;
		return tp_analyze_watch(argv[0], view, &wanted, &open_options, ns / 1000000, last);
	}
	struct tp_open_trace open;
	struct tp_err err;
	status = tp_open_trace(&open, argv[0], &open_options);
	if (!status && tp_view_check_clock(view, &open.analysis, argv[0], &err))
		status = tp_command_fail(&err);
	if (!status && wanted.format != TP_FORMAT_TABLE)
		tp_open_trace_warn(&open);
	if (!status)
		status = show(&open.analysis, view, open.damaged);
	if (!status && open.damaged)
		status = TP_EXIT_FAILED;
	tp_open_trace_release(&open);
	return status;
}

const struct tp_command tp_cmd_analyze = {
    .name = "analyze",
    .summary = "show where a recorded program spent its time",
    .usage = "[options] [FILE]",
    .operands = TP_OPERANDS_TRACES,
    .description =
	"Show the profile in the trace FILE: calls, self time and inclusive time of each "
	"function,\n"
	"the call tree, or another --view. Results go to standard output, everything else to\n"
	"standard error. If the trace is damaged, the readable part is shown and the exit code is "
	"1.\n",
    .examples = "teeperf analyze teeperf.trace\n"
		"teeperf analyze --view tree --min-share 2 teeperf.trace\n"
		"teeperf analyze --view function --function 'parse_*' teeperf.trace\n"
		"teeperf analyze --view histogram --function main --by-caller teeperf.trace\n"
		"teeperf analyze --format csv --sort calls teeperf.trace > profile.csv\n"
		"teeperf analyze --family --view processes teeperf.trace\n",
    .options = options,
    .run = run,
};
