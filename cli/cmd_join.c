// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// teeperf join: the traces of a host program and of its TEE become one.
#include "cli/command/command.h"
#include "cli/analyze/open_trace.h"

#include <stddef.h>

static const char *output = "joined.trace";
static bool quiet;

static const struct tp_option options[] = {
    TP_OPT_STRING('o', "output", &output, "FILE",
	"write the joined trace to FILE, which can be HOST (default: joined.trace)"),
    TP_OPT_BOOL('q', "quiet", &quiet, "print no summary"),
    TP_OPT_END,
};

static int run(int argc, char **argv)
{
	int status = TP_EXIT_DONE;
	bool damaged;
	if (argc != 2)
		return tp_options_usage(
		    argc > 2 ? "only two traces: that of the HOST, and that of the TEE"
			     : "which traces? name that of the HOST, and that of the TEE");
	status = tp_join_files(argv[0], argv[1], output, false, quiet, &damaged);
	return status ? status : damaged ? TP_EXIT_FAILED : TP_EXIT_DONE;
}

const struct tp_command tp_cmd_join = {
    .name = "join",
    .summary = "join the traces of a host program and its TEE",
    .usage = "[options] HOST TEE",
    .operands = TP_OPERANDS_TRACES,
    .description =
	"Insert what the threads of a host program did in its TEE, as recorded in the trace TEE,\n"
	"into the trace HOST, at the calls into the TEE. 'teeperf record --tee' does this when it\n"
	"ends. Use this command for traces that it left separate, "
	"for example because it was killed\n"
	"(run 'teeperf recover' first). Both traces must come from the same recording.\n",
    .examples = "teeperf join -o app.trace app.trace app.trace.tee\n",
    .options = options,
    .run = run,
};
