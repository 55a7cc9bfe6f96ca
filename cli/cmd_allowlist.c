// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// teeperf allowlist: make, check and explain lists of functions to instrument;
// cli/allowlist/cmd_*.c.
#include "cli/command/command.h"

#define TP_COMMAND(symbol) extern const struct tp_command symbol;
#include "allowlist_commands.inc"
#undef TP_COMMAND

static const struct tp_command *const commands[] = {
#define TP_COMMAND(symbol) &symbol,
#include "allowlist_commands.inc"
#undef TP_COMMAND
    NULL,
};

const struct tp_command tp_cmd_allowlist = {
    .name = "allowlist",
    .summary = "choose which functions to instrument",
    .usage = "COMMAND [options] [arguments]",
    .order = TP_OPTIONS_OWN,
    .commands = commands,
    .run = tp_command_group,
};
