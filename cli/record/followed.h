/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What 'teeperf record --follow-fork' says about the other processes. */
#ifndef TP_RECORD_FOLLOWED_H
#define TP_RECORD_FOLLOWED_H

#include <stdbool.h>

#include "cli/command/command.h"
#include "recorder/session.h"

/* Add what is warned of for the whole recording: their children without a log, memory that ran out. */
void tp_record_add_followed(const struct tp_follow *follow, struct tp_session_counts *counts);

/* Warnings in any case, a line for each process unless it is to be quiet. False: a trace lacks chunks. */
bool tp_record_tell_followed(const struct tp_follow *follow, bool quiet);

#endif
