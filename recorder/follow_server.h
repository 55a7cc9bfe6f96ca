/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Answers the processes of a recording that ask for a log of their own. */
#ifndef TP_FOLLOW_SERVER_H
#define TP_FOLLOW_SERVER_H

#include "follow.h"

int tp_follow_server_start(struct tp_follow *follow, struct tp_err *err);
/* pre: follow->stop is set. */
void tp_follow_server_stop(struct tp_follow *follow);

#endif
