// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// teeperf fleet: many recordings in one folder of Parquet files; cli/fleet/cmd_*.c.
#include "cli/command/command.h"

#define TP_COMMAND(symbol) extern const struct tp_command symbol;
#include "fleet_commands.inc"
#undef TP_COMMAND

static const struct tp_command *const commands[] = {
#define TP_COMMAND(symbol) &symbol,
#include "fleet_commands.inc"
#undef TP_COMMAND
    NULL,
};

const struct tp_command tp_cmd_fleet = {
    .name = "fleet",
    .summary = "combine recordings from many runs and machines",
    .usage = "COMMAND [options] [arguments]",
    .order = TP_OPTIONS_OWN,
    .commands = commands,
    .run = tp_command_group,
};
