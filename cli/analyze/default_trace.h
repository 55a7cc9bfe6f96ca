/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The trace that is meant when none is named: the one that 'teeperf record' writes when it is told no name. */
#ifndef TP_DEFAULT_TRACE_H
#define TP_DEFAULT_TRACE_H

#include "cli/command/command.h"

#define TP_DEFAULT_TRACE "teeperf.trace"

/*
 * If there is no argument and TP_DEFAULT_TRACE is in this folder, let *argv be that one. Returns an exit code: on anything but
 * TP_EXIT_DONE, which is also returned if there are arguments, an error has been printed.
 */
int tp_default_trace(const struct tp_command *command, int *argc, char ***argv);

#endif
