// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// teeperf allowlist: make, check and explain lists of functions to instrument; cli/allowlist/cmd_*.c.
#include "cli/command/table.h"

#include <string.h>

#define TP_COMMAND(symbol) extern const struct tp_command symbol;
#include "allowlist_commands.inc"
#undef TP_COMMAND

static const struct tp_command *const commands[] = {
#define TP_COMMAND(symbol) &symbol,
#include "allowlist_commands.inc"
#undef TP_COMMAND
};
enum { COMMAND_COUNT = sizeof(commands) / sizeof(commands[0]) };

static int run(int argc, char **argv);

const struct tp_command tp_cmd_allowlist = {
    .name = "allowlist",
    .summary = "choose which functions to instrument",
    .usage = "COMMAND [options] [arguments]",
    .run = run,
};

static void print_overview(FILE *to)
{
	fprintf(to, "usage: teeperf allowlist %s\n\nteeperf-allowlist - %s\n\nCommands:\n",
	    tp_cmd_allowlist.usage, tp_cmd_allowlist.summary);
	tp_command_list(commands, COMMAND_COUNT, to);
	fprintf(to, "\nOptions:\n  -h, --help   show the list of commands and exit\n");
	fprintf(to, "\n'teeperf allowlist COMMAND --help' explains each.\n");
}

static int run(int argc, char **argv)
{
	if (argc < 2) {
		print_overview(stderr);
		return TP_EXIT_USAGE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
		print_overview(stdout);
		return TP_EXIT_DONE;
	}
	if (argv[1][0] == '-') {
		fprintf(stderr,
		    "teeperf allowlist: unknown option '%s': a command comes first\n"
		    "Try 'teeperf allowlist --help'.\n",
		    argv[1]);
		return TP_EXIT_USAGE;
	}
	const struct tp_command *command = tp_command_find(commands, COMMAND_COUNT, argv[1]);
	if (!command)
		return tp_command_unknown("teeperf allowlist", commands, COMMAND_COUNT, argv[1]);
	return command->run(argc - 1, argv + 1);
}
