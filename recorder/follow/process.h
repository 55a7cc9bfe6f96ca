/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* One of the other processes of a recording: its log and its trace. */
#ifndef TP_FOLLOW_PROCESS_H
#define TP_FOLLOW_PROCESS_H

#include "follow.h"
#include "server.h"

/*
 * Make what process `pid` needs, in *process; `request` is what it asked for. Nobody else sees *process yet.
 * 0, or all is undone.
 */
int tp_followed_start(struct tp_followed *process, const struct tp_follow *follow, pid_t pid,
    const struct tp_follow_request *request, const char *path, struct tp_err *err);

/* It has ended just now: note when, and how if that can be seen. pre: follow->lock is held. */
void tp_followed_end(struct tp_followed *process);

/* End its recording and free it. `running`: it lives on, without a recorder. */
void tp_followed_finish(struct tp_followed *process, bool running, struct tp_follow_result *result);

#endif
