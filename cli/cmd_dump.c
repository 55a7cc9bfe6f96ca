// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// teeperf dump: a trace as text, and text as a trace.
#include "analyzer/trace/text/dump_text.h"
#include "analyzer/import/open.h"
#include "cli/command/command.h"
#include "cli/analyze/open_trace.h"

#include <stdlib.h>
#include <string.h>

static bool assemble;
static const char *output;
static struct tp_option_list program_list;

static const struct tp_option options[] = {
    TP_OPT_BOOL(0, "assemble", &assemble, "make a trace from the text in FILE"),
    TP_OPT_OUTPUT(&output),
    TP_OPEN_PROGRAMS(program_list),
    TP_OPT_END,
};

static int to_text(struct tp_source *source, struct tp_buf *out, bool *damaged, struct tp_err *err)
{
	static struct tp_problems problems;
	static struct tp_problems notes;
	const struct tp_original_options original = {
	    .programs = program_list.items, .program_count = program_list.count};
	int code = tp_original_open(source, &original, &problems, &notes, err);
	if (!code)
		code = tp_dump_text(source, out, &problems, err);
	tp_open_warn_all(&problems);
	tp_open_warn_all(&notes);
	*damaged = problems.count != 0;
	return code;
}

static int from_text(const struct tp_source *source, struct tp_buf *out, struct tp_err *err)
{
	char *text = malloc(source->size + 1);
	if (!text)
		return tp_err_memory(err, source->name);
	int code = tp_source_read(source, 0, text, source->size, err);
	if (!code)
		code = tp_dump_assemble(text, source->size, source->name, out, err);
	free(text);
	return code;
}

static int run(int argc, char **argv)
{
	int status = TP_EXIT_DONE;
	if (!argc && assemble)
		return tp_options_usage("which text? name its FILE");
	status = tp_default_trace(&argc, &argv, "only one file at a time");
	if (!status)
		status = tp_keep_input(output, argv[0], NULL);
	if (status)
		return status;
	struct tp_source source;
	struct tp_err err;
	struct tp_buf out;
	bool damaged = false;
	tp_buf_init(&out);
	int code = tp_source_open(&source, argv[0], &err);
	if (!code && assemble)
		code = from_text(&source, &out, &err);
	else if (!code)
		code = to_text(&source, &out, &damaged, &err);
	if (code)
		status = tp_command_fail(&err);
	else
		status = tp_write_out(&out, output);
	if (!status && damaged)
		status = TP_EXIT_FAILED;
	tp_source_close(&source);
	tp_buf_release(&out);
	return status;
}

const struct tp_command tp_cmd_dump = {
    .name = "dump",
    .summary = "convert a trace to text, or text to a trace",
    .usage = "[options] [FILE]",
    .operands = TP_OPERANDS_TRACES,
    .description = "Write the whole trace FILE as text, record by record. "
		   "--assemble turns the text back into\n"
		   "exactly the same bytes. Tests of the analyzer are written in this form.\n",
    .examples = "teeperf dump teeperf.trace | less\n"
		"teeperf dump --assemble test.txt -o test.trace\n",
    .options = options,
    .run = run,
};
