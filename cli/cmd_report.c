// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// teeperf report: write an HTML page about a trace.
#include "analyzer/output/report/report.h"
#include "cli/command/command.h"
#include "cli/analyze/open_trace.h"
#include "common/process.h"

#include <stdio.h>
#include <sys/stat.h>

static const char *output;
static const char *baseline;
static const char *source;
static uint64_t paths = 100000;
static uint64_t calls = 50000;
static uint64_t heat_maps = 100;
static uint64_t slowest = 5;
static uint64_t slowest_calls = 100000;
static struct tp_open_options open_options = {.symbol_cache = true};

static const struct tp_option options[] = {
    TP_OPT_STRING('o', "output", &output, "OUT",
	"write to OUT, or to standard output if OUT is - (default: FILE.html)"),
    TP_OPT_STRING(0, "baseline", &baseline, "OTHER", "compare with the trace OTHER"),
    TP_OPT_COUNT(0, "paths", &paths, "N",
	"show the N heaviest call paths, and merge the others (default: 100000)"),
    TP_OPT_COUNT(0, "calls", &calls, "N",
	"draw the N longest calls individually in the timeline (default: 50000)"),
    TP_OPT_COUNT(0, "heat-maps", &heat_maps, "N",
	"show latency over time for the N functions with most inclusive time (default: 100)"),
    TP_OPT_COUNT(0, "slowest", &slowest, "N",
	"draw the N slowest calls of each function with all calls inside them (default: 5; 0: "
	"none)"),
    TP_OPT_COUNT(0, "slowest-calls", &slowest_calls, "N",
	"draw at most N calls inside the slowest ones, all functions together (default: 100000)"),
    TP_OPT_STRING(0, "source", &source, "DIR",
	"put lines of the functions' source files below DIR into the report: whoever gets it can "
	"read them"),
    TP_OPEN_OPTIONS(open_options),
    TP_OPEN_FAIL_IF(open_options),
    TP_OPT_END,
};

// The range of time is one of the trace itself, not of what it is compared with.
static int open_baseline(struct tp_open_trace *open)
{
	struct tp_open_options of_it = open_options;
	of_it.time_range = NULL;
	of_it.thread = NULL;
	const int status = tp_open_trace(open, baseline, &of_it);
	if (!status)
		tp_open_trace_warn(open);
	return status;
}

static int write_report(const struct tp_analysis *analysis, const struct tp_analysis *base,
    enum tp_time time, const char *file, struct tp_buf *out)
{
	struct tp_err err;
	char dot[PATH_MAX];
	const struct tp_report_options chosen = {
	    .paths = paths && paths < 10000000 ? (uint32_t)paths : 10000000,
	    .calls = calls < 10000000 ? (uint32_t)calls : 10000000,
	    .heat_maps = heat_maps < 10000 ? (uint32_t)heat_maps : 10000,
	    .slowest = slowest < 1000 ? (uint32_t)slowest : 1000,
	    .slowest_calls = slowest_calls < 10000000 ? slowest_calls : 10000000,
	    .base = base,
	    .dot = tp_find_program("dot", dot) ? dot : NULL,
	    .source_dir = source,
	    .time = time,
	};
	if (time && tp_analysis_check_parts(analysis, &err))
		return tp_command_fail(&err);
	if (base && base->timeless != analysis->timeless)
		return tp_command_refuse(TP_ERR_NOT_FOUND, base->timeless ? baseline : file,
		    "one was recorded without a clock and the other with one: they cannot be "
		    "compared");
	struct tp_buf path;
	tp_buf_init(&path);
	tp_buf_addf(&path, "%s%s", output ? output : file, output ? "" : ".html");
	int status = path.failed ? tp_command_refuse(TP_ERR_MEMORY, NULL, "out of memory")
				 : tp_keep_input(path.data, file, baseline);
	if (!status && tp_report_render(analysis, &chosen, out, &err))
		status = tp_command_fail(&err);
	if (!status)
		status = tp_write_out(out, path.data);
	if (!status && !output)
		tp_command_tell("wrote '%s'\n", path.data);
	tp_buf_release(&path);
	return status;
}

static int run(int argc, char **argv)
{
	int status = tp_default_trace(&argc, &argv,
	    "only one trace at a time; to compare, name the other one with --baseline");
	if (status)
		return status;
	// The page has all of them, and shows this one first.
	const enum tp_time time = (enum tp_time)open_options.time;
	open_options.time = TP_TIME_WALL;
	if (time && baseline)
		return tp_options_usage(
		    "--time with --baseline: a comparison in a report is of wall time; use "
		    "'teeperf diff --time %s'",
		    tp_time_words[time]);
	struct stat stat_of;
	if (source && (stat(source, &stat_of) || !S_ISDIR(stat_of.st_mode)))
		return tp_command_refuse(TP_ERR_NOT_FOUND, source,
		    "no such folder; --source takes the one with the source files, as / for files "
		    "in their recorded places");
	// The timeline decides by the recorded times which calls are short; the sums must agree
	// with it.
	if (open_options.min_time && !open_options.raw) {
		open_options.raw = true;
		tp_command_warn("with --min-time, times are as recorded, as with --raw");
	}
	struct tp_open_trace open = {.trace.source.fd = -1};
	struct tp_open_trace other = {.trace.source.fd = -1};
	struct tp_buf out;
	tp_buf_init(&out);
	status = tp_open_trace(&open, argv[0], &open_options);
	if (!status)
		tp_open_trace_warn(&open);
	if (!status && baseline)
		status = open_baseline(&other);
	if (!status)
		status = write_report(
		    &open.analysis, baseline ? &other.analysis : NULL, time, argv[0], &out);
	if (!status && (open.damaged || other.damaged))
		status = TP_EXIT_FAILED;
	tp_buf_release(&out);
	tp_open_trace_release(&other);
	tp_open_trace_release(&open);
	return status;
}

const struct tp_command tp_cmd_report = {
    .name = "report",
    .summary = "write an HTML page about a recorded program",
    .usage = "[options] [FILE]",
    .operands = TP_OPERANDS_TRACES,
    .description =
	"Write one HTML file about the trace FILE that opens in any current browser without "
	"network\n"
	"access: flame graph, timeline of the threads, functions with percentiles, callers and\n"
	"callees, call tree and, for two traces, the changes. In the page, ? lists the keys.\n",
    .examples = "teeperf report teeperf.trace\n"
		"teeperf report -o report.html app.trace\n"
		"teeperf report --baseline old.trace -o diff.html new.trace\n"
		"teeperf report --source ~/src/app app.trace\n",
    .options = options,
    .run = run,
};
