/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Answers the processes of a recording that ask for a log of their own. */
#ifndef TP_FOLLOW_SERVER_H
#define TP_FOLLOW_SERVER_H

#include "follow.h"

int tp_follow_server_start(struct tp_follow *follow, struct tp_err *err);
/* pre: follow->stop is set. */
void tp_follow_server_stop(struct tp_follow *follow);

/*
 * A name for the trace of process `pid`, to be freed; NULL: no memory. OUTPUT.PID; OUTPUT.PID-2 and so on when it
 * has become another program, has a second runtime, or its number came again. pre: follow->lock is held.
 */
char *tp_follow_choose_path(const struct tp_follow *follow, pid_t pid);

#endif
