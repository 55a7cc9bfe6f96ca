/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A thread that has nothing to do waits for a time, or until another one rings. */
#ifndef TP_DOORBELL_H
#define TP_DOORBELL_H

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

#endif
