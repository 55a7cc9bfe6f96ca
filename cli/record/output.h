/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Where 'teeperf record' writes to, looked at before anything is started: nobody else may write there. */
#ifndef TP_RECORD_OUTPUT_H
#define TP_RECORD_OUTPUT_H

#include "cli/command/command.h"

#include <stdbool.h>

/*
 * Refuse an OUTPUT that cannot hold a trace because our messages go there, too. *AWAY: it is our standard output, and a
 * program that is started (`starts`) is to have standard error instead, which is told unless `quiet`. Returns an exit code.
 */
int tp_record_output_check(const char *output, bool starts, bool quiet, bool *away);

#endif
