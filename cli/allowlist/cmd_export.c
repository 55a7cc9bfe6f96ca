// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// teeperf allowlist export: an allowlist for another tool.
#include "cli/driver/list_file.h"

static const char *format;
static const char *output;

static const struct tp_option options[] = {
    TP_OPT_STRING(0, "format", &format, "NAME",
	"write this list of Clang: profile-list, sancov, sancov-ignore or xray"),
    TP_OPT_STRING('o', "output", &output, "FILE", "write to FILE instead of standard output"),
    TP_OPT_END,
};

static int run(int argc, char **argv)
{
	return tp_list_convert(true, format, output, argc, argv);
}

const struct tp_command tp_allowlist_export = {
    .name = "allowlist export",
    .summary = "convert an allowlist to another tool's list",
    .usage = "--format NAME [-o FILE] LIST",
    .operands = TP_OPERANDS_LISTS,
    .description = "Write LIST as a list for another tool. LIST is a file, '-' for standard input, "
		   "or shipped:NAME\n"
		   "for one that comes with TeePerf. Rules that the tool cannot express, "
		   "such as the levels count\n"
		   "and sample, become comments or are left out, with a warning. "
		   "Lines that the tool's precedence\n"
		   "decides differently also cause a warning.\n",
    .examples = "  teeperf allowlist export --format xray app.allow -o app.xray\n"
		"  clang -fxray-instrument -fxray-attr-list=app.xray -c app.c\n",
    .options = options,
    .run = run,
};
