// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// teeperf export: write the profile in a form that other programs read.
#include "analyzer/view.h"
#include "cli/command.h"
#include "cli/open_trace.h"

#include <stdio.h>

static const char *const weights[] = {"self", "calls", NULL};

static const char *format;
static const char *output;
static int weight = -1; // not said
static bool raw;
static struct tp_open_options open_options;

static const struct tp_option options[] = {
    {TP_OPTION_STRING, 0, "format", "FORMAT", "what to write: folded or flamegraph", &format, NULL},
    {TP_OPTION_STRING, 'o', "output", "OUT",
	"write to OUT, - for standard output; the default is standard output for folded and "
	"FILE.svg for flamegraph",
	&output, NULL},
    {TP_OPTION_CHOICE, 0, "weight", "WEIGHT",
	"what a call path weighs: self (the time in its last function; default) or calls", &weight,
	weights},
    {TP_OPTION_STRING, 0, "thread", "N", "only the thread with this number", &open_options.thread,
	NULL},
    {TP_OPTION_BOOL, 0, "raw", NULL,
	"show times as they were recorded, with what recording the calls has cost", &raw, NULL},
    {TP_OPTION_LIST, 0, "debug-dir", "DIR",
	"look for debug files in DIR/.build-id first; may be repeated", &open_options.debug_dirs,
	NULL},
    {.type = TP_OPTION_END},
};

extern const struct tp_command tp_cmd_export;

// The weight that was asked for; without a clock calls are all there is.
static int choose_weight(
    const struct tp_open_trace *open, const char *file, struct tp_export_options *chosen)
{
	struct tp_err err;
	if (weight >= 0)
		chosen->weight = (enum tp_weight)weight;
	if (!open->analysis.timeless)
		return TP_EXIT_DONE;
	if (weight == TP_WEIGHT_SELF) {
		tp_err_set(&err, TP_ERR_NOT_FOUND, file, TP_ERR_NO_OFFSET,
		    "recorded without a clock, so that there are no times: use --weight calls");
		return tp_command_fail(&tp_cmd_export, &err);
	}
	if (weight < 0)
		tp_command_warn(&tp_cmd_export,
		    "recorded without a clock: call paths weigh their calls, as with --weight calls");
	chosen->weight = TP_WEIGHT_CALLS;
	return TP_EXIT_DONE;
}

static int run(int argc, char **argv)
{
	int status = TP_EXIT_DONE;
	open_options.debug_dirs.items = open_options.dirs;
	open_options.debug_dirs.capacity = TP_DEBUG_DIRS_MAX;
	if (!tp_options_parse(&tp_cmd_export, &argc, &argv, true, &status))
		return status;
	if (argc != 1)
		return tp_options_usage(&tp_cmd_export,
		    argc ? "only one trace at a time" : "which trace? name its FILE");
	if (!format)
		return tp_options_usage(
		    &tp_cmd_export, "which format? give --format folded or --format flamegraph");
	const struct tp_export *export = tp_export_find(format);
	if (!export)
		return tp_options_usage(
		    &tp_cmd_export, "there is no format '%s': folded, flamegraph", format);

	struct tp_open_trace open;
	struct tp_buf out;
	struct tp_buf path;
	tp_buf_init(&out);
	tp_buf_init(&path);
	open_options.compensate = !raw;
	status = tp_open_trace(&open, &tp_cmd_export, argv[0], &open_options);
	if (status)
		goto out;
	tp_open_trace_warn(&open, &tp_cmd_export);
	struct tp_export_options chosen = {0};
	status = choose_weight(&open, argv[0], &chosen);
	if (status)
		goto out;
	if (output)
		tp_buf_add_string(&path, output);
	else if (export->suffix)
		tp_buf_addf(&path, "%s%s", argv[0], export->suffix);
	struct tp_err err;
	// Without the path it would go to standard output.
	if (path.failed)
		status = tp_command_fail(&tp_cmd_export,
		    (tp_err_set(&err, TP_ERR_MEMORY, NULL, TP_ERR_NO_OFFSET, "out of memory"),
			&err));
	else if (export->render(&open.analysis, &chosen, &out, &err))
		status = tp_command_fail(&tp_cmd_export, &err);
	else
		status = tp_write_out(&tp_cmd_export, &out, path.size ? path.data : NULL);
	if (!status && !output && path.size)
		fprintf(stderr, "teeperf export: wrote '%s'\n", path.data);
	if (!status && open.damaged)
		status = TP_EXIT_FAILED;
out:
	tp_buf_release(&out);
	tp_buf_release(&path);
	tp_open_trace_release(&open);
	return status;
}

const struct tp_command tp_cmd_export = {
    .name = "export",
    .summary = "write a recorded profile for other programs",
    .usage = "--format FORMAT [options] FILE",
    .description =
	"Write the profile in the trace FILE as folded stacks, or as a flame graph: one SVG file\n"
	"that any browser shows, with search and zoom, and without any network access.\n",
    .examples = "teeperf export --format flamegraph teeperf.trace\n"
		"teeperf export --format folded teeperf.trace > teeperf.folded\n",
    .options = options,
    .run = run,
};
