// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// teeperf tui: look through a trace on the terminal.
#include "cli/analyze/open_trace.h"
#include "cli/command/command.h"
#include "cli/tui/run.h"

static bool watch;
static bool mouse;
static const char *interval_text;
static struct tp_open_options open_options = {.symbol_cache = true};

static const struct tp_option options[] = {
    TP_OPT_BOOL(0, "watch", &watch,
	"follow a trace while it is recorded; FILE can be the process id of a recording"),
    TP_OPT_STRING(0, "interval", &interval_text, "TIME",
	"with --watch, read the trace at this interval, such as 500ms or 2s (default: 1s)"),
    TP_OPT_BOOL(
	0, "mouse", &mouse, "use the mouse; the terminal then no longer selects text with it"),
    TP_OPEN_OPTIONS(open_options),
    TP_OPT_END,
};

static int run(int argc, char **argv)
{
	uint64_t ns = 1000000000;
	const int status = tp_default_trace(&argc, &argv, "only one trace at a time");
	if (status)
		return status;
	if (interval_text && (!tp_open_parse_time(interval_text, &ns) || ns < 1000000 ||
				 ns > UINT64_C(86400000000000)))
		return tp_options_usage(
		    "--interval: '%s' is not a time from 1ms to 86400s", interval_text);
	const struct tp_tui_options wanted = {
	    .open = &open_options,
	    .follow = watch,
	    .interval_ms = ns / 1000000,
	    .mouse = mouse,
	};
	return tp_tui_run(argv[0], &wanted);
}

const struct tp_command tp_cmd_tui = {
    .name = "tui",
    .summary = "browse a recorded program on the terminal",
    .usage = "[options] [FILE]",
    .description =
	"Browse the trace FILE on the terminal: functions, the call tree, callers and callees, "
	"the\n"
	"slowest calls of a function and what happened in each, threads, and notes about the\n"
	"recording. The arrows choose a row, Enter opens it, Esc goes back; / searches, & "
	"filters,\n"
	"< and > sort; ? lists all keys. With --watch, the pages follow a trace while it is "
	"recorded.\n",
    .examples = "teeperf tui\n"
		"teeperf tui --time cpu app.trace\n"
		"teeperf tui --watch PID\n",
    .options = options,
    .run = run,
};
