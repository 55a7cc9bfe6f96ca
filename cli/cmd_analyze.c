// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// teeperf analyze: show the profile in a trace.
#include "analyzer/view.h"
#include "cli/command.h"
#include "cli/open_trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static const char *const sorts[] = {
    "self", "inclusive", "calls", "mean", "min", "max", "name", NULL};
static const char *const formats[] = {"table", "csv", "json", NULL};

static const char *view_name;
static int sort;
static int format;
static const char *limit_text;
static const char *min_share_text;
static uint64_t depth;
static bool raw;
static struct tp_open_options open_options;

static const struct tp_option options[] = {
    {TP_OPTION_STRING, 0, "view", "VIEW", "what to show: top (default), tree or threads",
	&view_name, NULL},
    {TP_OPTION_CHOICE, 0, "sort", "KEY", "order of the functions in top", &sort, sorts},
    {TP_OPTION_CHOICE, 0, "format", "FORMAT", "how to show it", &format, formats},
    {TP_OPTION_STRING, 0, "limit", "N",
	"show at most N rows, 0 for all; tables show 40 unless told otherwise", &limit_text, NULL},
    {TP_OPTION_STRING, 0, "thread", "N", "only the thread with this number", &open_options.thread,
	NULL},
    {TP_OPTION_BOOL, 0, "raw", NULL,
	"show times as they were recorded, with what recording the calls has cost", &raw, NULL},
    {TP_OPTION_LIST, 0, "debug-dir", "DIR",
	"look for debug files in DIR/.build-id first; may be repeated", &open_options.debug_dirs,
	NULL},
    {TP_OPTION_STRING, 0, "min-share", "PERCENT",
	"leave branches of the tree out that took less of the thread's recorded time; 0.5 in "
	"tables",
	&min_share_text, NULL},
    {TP_OPTION_COUNT, 0, "depth", "N", "show at most N levels of the tree", &depth, NULL},
    {.type = TP_OPTION_END},
};

extern const struct tp_command tp_cmd_analyze;

// Columns of the terminal, 0 if standard output is none.
static uint32_t terminal_width(void)
{
	struct winsize size;
	if (!isatty(STDOUT_FILENO))
		return 0;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col)
		return size.ws_col;
	return 80;
}

static int parse_numbers(struct tp_view_options *view)
{
	char *end;
	view->limit = view->format == TP_FORMAT_TABLE ? 40 : 0;
	if (limit_text) {
		view->limit = strtoull(limit_text, &end, 10);
		if (limit_text[0] < '0' || limit_text[0] > '9' || *end)
			return tp_options_usage(
			    &tp_cmd_analyze, "--limit: '%s' is not a whole number", limit_text);
	}
	double percent = view->format == TP_FORMAT_TABLE ? 0.5 : 0;
	if (min_share_text) {
		percent = strtod(min_share_text, &end);
		if (end == min_share_text || *end || !(percent >= 0 && percent <= 100))
			return tp_options_usage(&tp_cmd_analyze,
			    "--min-share: '%s' is not a percentage", min_share_text);
	}
	view->min_share = percent / 100;
	return TP_EXIT_DONE;
}

static int run(int argc, char **argv)
{
	int status = TP_EXIT_DONE;
	open_options.debug_dirs.items = open_options.dirs;
	open_options.debug_dirs.capacity = TP_DEBUG_DIRS_MAX;
	if (!tp_options_parse(&tp_cmd_analyze, &argc, &argv, true, &status))
		return status;
	if (argc != 1)
		return tp_options_usage(&tp_cmd_analyze,
		    argc ? "only one trace at a time" : "which trace? name its FILE");
	const struct tp_view *view = tp_view_find(view_name ? view_name : "top");
	if (!view)
		return tp_options_usage(
		    &tp_cmd_analyze, "there is no view '%s': top, tree, threads", view_name);
	struct tp_view_options view_options = {
	    .sort = (enum tp_sort)sort,
	    .format = (enum tp_format)format,
	    .depth = depth,
	    .width = terminal_width(),
	    .color = isatty(STDOUT_FILENO) && !getenv("NO_COLOR"),
	};
	status = parse_numbers(&view_options);
	if (status)
		return status;

	struct tp_open_trace open;
	struct tp_buf out;
	tp_buf_init(&out);
	open_options.compensate = !raw;
	status = tp_open_trace(&open, &tp_cmd_analyze, argv[0], &open_options);
	if (status)
		goto out;
	if (view_options.format == TP_FORMAT_TABLE)
		tp_view_add_header(&open.analysis, false, &out);
	else
		tp_open_trace_warn(&open, &tp_cmd_analyze);
	struct tp_err err;
	if (view->render(&open.analysis, &view_options, &out, &err))
		status = tp_command_fail(&tp_cmd_analyze, &err);
	else
		status = tp_write_out(&tp_cmd_analyze, &out, NULL);
	if (!status && open.damaged)
		status = TP_EXIT_FAILED;
out:
	tp_buf_release(&out);
	tp_open_trace_release(&open);
	return status;
}

const struct tp_command tp_cmd_analyze = {
    .name = "analyze",
    .summary = "show where the time of a recorded program went",
    .usage = "[options] FILE",
    .description =
	"Show the profile in the trace FILE: calls, self time, inclusive time of each function;\n"
	"the call tree; or the threads. Results go to standard output, all else to standard error.\n"
	"What can be read of a damaged trace is shown; the exit code is then 1.\n",
    .examples = "teeperf analyze teeperf.trace\n"
		"teeperf analyze --view tree --min-share 2 teeperf.trace\n"
		"teeperf analyze --format csv --sort calls teeperf.trace > profile.csv\n",
    .options = options,
    .run = run,
};
