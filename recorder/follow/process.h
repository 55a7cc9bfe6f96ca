/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Who answers the processes of a recording that ask for a log of their own, and one of these. */
#ifndef TP_FOLLOW_PROCESS_H
#define TP_FOLLOW_PROCESS_H

#include "follow.h"

int tp_follow_server_start(struct tp_follow *follow, struct tp_err *err);
void tp_follow_server_stop(struct tp_follow *follow);

/* What a process asks for, made safe. */
struct tp_follow_request {
	pid_t parent; /* its own word; 0: another program began, or it is no process id */
	uint32_t
	    owned; /* number + 1 of the chunk that it goes on in, 0: none; at most chunk_count */
	uint32_t padding; /* words of that chunk, at most all that it has; 0 without one */
};

/*
 * Read what came over the socket: SIZE is the whole message's, of which no more than that of struct
 * teeperf_fork_request is at `bytes`. TP_ERR_FORMAT: it is no request of this recording.
 */
int tp_follow_request_read(struct tp_follow_request *request, const void *bytes, uint64_t size,
    uint64_t token, uint32_t chunk_count);

/*
 * A name for the trace of process `pid`, to be freed; NULL: none, and *err says why. OUTPUT.PID;
 * OUTPUT.PID-2 and so on when it has become another program, has a second runtime, or its number
 * came again. pre: follow->lock is held.
 */
char *tp_follow_choose_path(const struct tp_follow *follow, pid_t pid, struct tp_err *err);

/*
 * Make what process `pid` needs, in *process; `request` is what it asked for. Nobody else sees
 * *process yet. 0, or all is undone.
 */
int tp_followed_start(struct tp_followed *process, const struct tp_follow *follow, pid_t pid,
    const struct tp_follow_request *request, const char *path, struct tp_err *err);

/* It has ended just now: note when, and how if that can be seen. pre: follow->lock is held. */
void tp_followed_end(struct tp_followed *process);

/* End its recording and free it. `running`: it lives on, without a recorder. */
void tp_followed_finish(struct tp_followed *process, bool running, struct tp_follow_result *result);

#endif
