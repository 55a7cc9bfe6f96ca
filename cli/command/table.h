/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Finding a command in a table: teeperf's, and that of a command with subcommands, which are files
 * cli/COMMAND_NAME.c with `const struct tp_command tp_COMMAND_NAME` whose name is "COMMAND NAME".
 */
#ifndef TP_COMMAND_TABLE_H
#define TP_COMMAND_TABLE_H

#include "command.h"

#include <stdio.h>

/* The command that WORD calls, or NULL. */
const struct tp_command *tp_command_find(
    const struct tp_command *const *table, unsigned count, const char *word);

/* "PARENT: unknown command 'WORD'; did you mean ..." on stderr; returns TP_EXIT_USAGE. */
int tp_command_unknown(
    const char *parent, const struct tp_command *const *table, unsigned count, const char *word);

/* A line for each command: its word and its summary. */
void tp_command_list(const struct tp_command *const *table, unsigned count, FILE *to);

#endif
