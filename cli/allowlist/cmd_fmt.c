// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// teeperf allowlist fmt: allowlists in their canonical form.
#include "cli/driver/list_file.h"
#include "common/out_file.h"

#include <stdio.h>
#include <string.h>

static bool in_place;
static bool check;

static const struct tp_option options[] = {
    TP_OPT_BOOL('w', "write", &in_place, "rewrite the files in place instead of printing them"),
    TP_OPT_BOOL(0, "check", &check,
	"only print the names of files that would change, and exit with 1 if there are any"),
    {0},
};

static int run(int argc, char **argv);

const struct tp_command tp_allowlist_fmt = {
    .name = "allowlist fmt",
    .summary = "write allowlists in canonical form",
    .usage = "[-w | --check] LIST...",
    .operands = TP_OPERANDS_LISTS,
    .description =
	"Print each LIST ('-': standard input) in canonical form: "
	"one blank line between groups, no\n"
	"blanks around the parts of a line, short names of kinds (fun, src), "
	"and categories as words.\n"
	"Comments, the order of lines and the meaning of the list do not change.\n"
	"\n"
	"A line without a category gets '=allow' if any line of its section is "
	"one that only TeePerf\n"
	"understands. Otherwise lines stay bare, because other tools read only bare lines.\n",
    .examples = "  teeperf allowlist fmt app.allow\n"
		"  teeperf allowlist fmt -w *.allow\n",
    .options = options,
    .run = run,
};

// The old file is there until the new one is whole (but see tp_out_file_replace), and its
// permissions stay.
static int rewrite(const char *file, const struct tp_buf *text, struct tp_err *err)
{
	struct tp_out_file out;
	const int status = tp_out_file_replace(&out, file, err);
	if (status)
		return status;
	tp_buf_add(&out.buf, text->data, text->size);
	return tp_out_file_close(&out, err);
}

static int fmt_one(const char *file, bool *changed, struct tp_err *err)
{
	struct tp_buf text;
	struct tp_buf result;
	tp_buf_init(&text);
	tp_buf_init(&result);
	int status = tp_list_file_read(file, &text, err);
	if (!status) {
		const struct tp_list_input input = {
		    text.data, text.size, strcmp(file, "-") ? file : "standard input", NULL};
		status = tp_list_fmt(&input, &result, err);
	}
	*changed =
	    !status && (text.size != result.size || memcmp(text.data, result.data, text.size) != 0);
	if (!status && check) {
		if (*changed)
			puts(file);
	} else if (!status && !in_place) {
		status = tp_list_file_write(NULL, &result, err);
	} else if (*changed) {
		status = rewrite(file, &result, err);
	}
	tp_buf_release(&text);
	tp_buf_release(&result);
	return status;
}

static int run(int argc, char **argv)
{
	int status = TP_EXIT_DONE;
	if (!argc)
		return tp_options_usage("expected a LIST");
	if (in_place && check)
		return tp_options_usage("'-w' and '--check' cannot be combined");
	bool any = false;
	for (int i = 0; i < argc; i++) {
		if (in_place && (!strcmp(argv[i], "-") || !strncmp(argv[i], "shipped:", 8)))
			return tp_options_usage("'-w' needs files, not '%s'", argv[i]);
		struct tp_err err;
		bool changed;
		if (fmt_one(argv[i], &changed, &err))
			status = tp_command_fail(&err);
		any |= changed;
	}
	return check && any ? TP_EXIT_FAILED : status;
}
