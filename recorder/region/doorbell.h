/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A thread that has nothing to do waits for a time, or until another one rings: to tell it of work,
 * or to end it.
 */
#ifndef TP_DOORBELL_H
#define TP_DOORBELL_H

#include <pthread.h>
#include <stdint.h>

#include <teeperf/atomic.h>

#include "common/err.h"

struct tp_doorbell {
	int fd; /* an eventfd, for poll() along with others */
};

/* On success free it with tp_doorbell_release. */
int tp_doorbell_init(struct tp_doorbell *bell, struct tp_err *err);
void tp_doorbell_release(struct tp_doorbell *bell);

/* Wake the waiter; one who is not waiting does not wait the next time. */
void tp_doorbell_ring(struct tp_doorbell *bell);

/* Return after timeout_ms, or soon after a ring. One thread at a time. */
void tp_doorbell_wait(struct tp_doorbell *bell, int timeout_ms);

/* A thread and the bell that it waits at. It looks at `stop` as often as it wakes up. */
struct tp_worker {
	struct tp_doorbell bell;
	uint64_t stop; /* 1: end */
	pthread_t thread;
};

/* Start it; `what` names it in errors. On success end it with tp_worker_stop. */
int tp_worker_start(struct tp_worker *worker, void *(*run)(void *), void *argument,
    const char *what, struct tp_err *err);

/* Tell it to end. tp_worker_stop follows. */
void tp_worker_ask_stop(struct tp_worker *worker);

/* Tell it to end, wait for that, and free its bell. */
void tp_worker_stop(struct tp_worker *worker);

#endif
