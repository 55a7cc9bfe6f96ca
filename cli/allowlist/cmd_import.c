// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// teeperf allowlist import: another tool's list as an allowlist.
#include "cli/driver/list_file.h"

static const char *format;
static const char *output;

static const struct tp_option options[] = {
    TP_OPT_STRING(0, "format", &format, "NAME",
	"read FILE as this list of Clang: profile-list, sancov, sancov-ignore or xray"),
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
    .summary = "convert a list of Clang to an allowlist",
    .usage = "--format NAME [-o LIST] FILE",
    .description =
	"Read FILE, a list for another tool of Clang ('-': standard input), "
	"and write an allowlist that decides as\n"
	"that tool does, as far as its rules can be expressed. Lines are reordered, with their\n"
	"comments, if the other tool's precedence requires it. "
	"Rules that cannot be expressed become\n"
	"comments, with a warning.\n",
    .examples = "  teeperf allowlist import --format xray app.xray -o app.allow\n",
    .options = options,
    .run = run,
};
