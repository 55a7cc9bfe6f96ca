// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// teeperf cc: compile and link C so that its functions can be recorded.
#include "cli/driver/driver.h"

static int run(int argc, char **argv)
{
	return tp_driver_run("clang", argc, argv);
}

const struct tp_command tp_cmd_cc = {
    .name = "cc",
    .summary = "compile and link C with instrumentation",
    .usage = "[options] ARGS...",
    .description =
	"Runs clang with ARGS, and adds the TeePerf plugin when it compiles and the TeePerf\n"
	"runtime when it links. Use it like any C compiler, as in CC=\"teeperf cc\".\n"
	"\n"
	"The options below must precede all ARGS; written as --NAME=VALUE they can stand\n"
	"anywhere. All other arguments are passed to clang unchanged.\n",
    .examples = "  teeperf cc -O2 -g -o app app.c\n"
		"  CC=\"teeperf cc --allowlist hot.allow\" ./configure && make\n",
    .options = tp_driver_options,
    .order = TP_OPTIONS_OWN,
    .run = run,
};
