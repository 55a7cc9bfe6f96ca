// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// teeperf allowlist import: another tool's list as an allowlist.
#include "cli/driver/list_file.h"

static const char *format;
static const char *output;

static const struct tp_option options[] = {
    TP_OPT_STRING(0, "format", &format, "NAME",
	"read FILE as a list for this tool: afl, afl-deny, extrae, gcc, profile-list, sancov, "
	"sancov-ignore, scorep, tau or xray"),
    TP_OPT_STRING(
	'o', "output", &output, "LIST", "write the allowlist to LIST instead of standard output"),
    TP_OPT_END,
};

static int run(int argc, char **argv)
{
	return tp_list_convert(false, format, output, argc, argv);
}

const struct tp_command tp_allowlist_import = {
    .name = "allowlist import",
    .summary = "make an allowlist of another tool's list",
    .usage = "--format NAME [-o LIST] FILE",
    .description =
	"Read FILE, the list of another tool ('-': the standard input), and write an allowlist that\n"
	"decides about functions as that tool does, where its rules can be said. Lines are put in\n"
	"another order if the other tool's precedence asks for it; comments stay with them. What\n"
	"cannot be said is kept as a comment, and a warning says so.\n",
    .examples =
	"  teeperf allowlist import --format scorep app.filt -o app.allow\n"
	"  grep finstrument-functions-exclude Makefile | teeperf allowlist import --format gcc -\n",
    .options = options,
    .run = run,
};
