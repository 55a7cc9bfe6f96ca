// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// teeperf fleet: many recordings in one folder of Parquet files; cli/fleet/cmd_*.c.
#include "cli/command/command.h"

#include <string.h>

#define TP_COMMAND(symbol) extern const struct tp_command symbol;
#include "fleet_commands.inc"
#undef TP_COMMAND

static const struct tp_command *const commands[] = {
#define TP_COMMAND(symbol) &symbol,
#include "fleet_commands.inc"
#undef TP_COMMAND
    NULL,
};

static int run(int argc, char **argv)
{
	const bool helps = argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"));
	if (argc < 2 || helps) {
		FILE *to = helps ? stdout : stderr;
		fprintf(to, "usage: teeperf fleet %s\n\nteeperf-fleet - %s\n\nCommands:\n",
		    tp_command_running->usage, tp_command_running->summary);
		tp_command_list(commands, to);
		fprintf(to, "\nOptions:\n  -h, --help   show the list of commands and exit\n");
		fprintf(to, "\n'teeperf fleet COMMAND --help' explains each.\n");
		return helps ? TP_EXIT_DONE : TP_EXIT_USAGE;
	}
	const struct tp_command *command = tp_command_find("teeperf fleet", commands, argv[1]);
	return command ? tp_command_run(command, argc - 1, argv + 1) : TP_EXIT_USAGE;
}

const struct tp_command tp_cmd_fleet = {
    .name = "fleet",
    .summary = "add up many recordings, of many machines",
    .usage = "COMMAND [options] [arguments]",
    .order = TP_OPTIONS_OWN,
    .run = run,
};
