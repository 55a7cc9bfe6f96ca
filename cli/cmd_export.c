// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// teeperf export: write the profile in a form that other programs read.
#include "analyzer/view.h"
#include "cli/command.h"
#include "cli/open_trace.h"

#include <stdio.h>

static const char *format;
static const char *output;
static struct tp_open_options open_options;

static const struct tp_option options[] = {
    {TP_OPTION_STRING, 0, "format", "FORMAT", "what to write: folded or flamegraph", &format, NULL},
    {TP_OPTION_STRING, 'o', "output", "OUT",
	"write to OUT, - for standard output; the default is standard output for folded and "
	"FILE.svg for flamegraph",
	&output, NULL},
    {TP_OPTION_STRING, 0, "thread", "N", "only the thread with this number", &open_options.thread,
	NULL},
    {TP_OPTION_LIST, 0, "debug-dir", "DIR",
	"look for debug files in DIR/.build-id first; may be repeated", &open_options.debug_dirs,
	NULL},
    {.type = TP_OPTION_END},
};

extern const struct tp_command tp_cmd_export;

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
	status = tp_open_trace(&open, &tp_cmd_export, argv[0], &open_options);
	if (status)
		goto out;
	if (output)
		tp_buf_add_string(&path, output);
	else if (export->suffix)
		tp_buf_addf(&path, "%s%s", argv[0], export->suffix);
	struct tp_err err;
	if (export->render(&open.analysis, &out, &err))
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
