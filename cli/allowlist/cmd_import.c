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
    .summary = "convert another tool's list to an allowlist",
    .usage = "--format NAME [-o LIST] FILE",
    .description =
	"Read FILE, another tool's list ('-': standard input), "
	"and write an allowlist that decides as\n"
	"that tool does, as far as its rules can be expressed. Lines are reordered, with their\n"
	"comments, if the other tool's precedence requires it. "
	"Rules that cannot be expressed become\n"
	"comments, with a warning.\n",
    .examples =
	"  teeperf allowlist import --format scorep app.filt -o app.allow\n"
	"  grep finstrument-functions-exclude Makefile | teeperf allowlist import --format gcc -\n",
    .options = options,
    .run = run,
};
