// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// teeperf allowlist export: an allowlist for another tool.
#include "cli/driver/list_file.h"

static const char *format;
static const char *output;

static const struct tp_option options[] = {
    TP_OPT_STRING(0, "format", &format, "NAME",
	"write a list for this tool: afl, profile-list, sancov, sancov-ignore, scorep or xray"),
    TP_OPT_STRING('o', "output", &output, "FILE", "write to FILE instead of standard output"),
    TP_OPT_END,
};

static int run(int argc, char **argv)
{
	return tp_list_convert(true, format, output, argc, argv);
}

const struct tp_command tp_allowlist_export = {
    .name = "allowlist export",
    .summary = "make another tool's list of an allowlist",
    .usage = "--format NAME [-o FILE] LIST",
    .operands = TP_OPERANDS_LISTS,
    .description =
	"Write LIST ('-': the standard input; shipped:NAME: one that comes with TeePerf) as a list for\n"
	"another tool. What that tool cannot say, such as the levels count and sample, is kept as a\n"
	"comment or left out, and a warning says so; so it is of lines that the other tool's\n"
	"precedence decides differently.\n",
    .examples = "  teeperf allowlist export --format xray app.allow -o app.xray\n"
		"  clang -fxray-instrument -fxray-attr-list=app.xray -c app.c\n",
    .options = options,
    .run = run,
};
