/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * For ports whose programs share no memory with the host: a log in private memory, whose host is the
 * runtime itself, and which goes out as frames (stream.h) through the port's hook.
 */
#ifndef TP_PRIVATE_LOG_H
#define TP_PRIVATE_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/runtime.h"

/*
 * Lay out the log, for tp_port_map_log to return. CLOCK is the processor's or TEEPERF_CLOCK_NONE; HZ its rate,
 * 0 if it is not known. pre: once.
 */
TP_HIDDEN void tp_private_log_make(uint32_t clock, uint64_t hz, void **base, uint64_t *size);

/*
 * Send one frame: both parts, one behind the other, or nothing of it, and false. Called by one thread at a time,
 * at any instruction of the program, with vector registers saved. What is not sent is lost, and counted.
 */
TP_HIDDEN bool tp_port_flush(
    const void *head, uint64_t head_size, const void *body, uint64_t body_size);

/*
 * Around the sending of a chunk, called as the above. Between them nothing may take the thread away for good, as a
 * handler that does not return would: then nobody could send any more. What the first returns is given to the other.
 */
TP_HIDDEN uint64_t tp_port_flush_begin(void);
TP_HIDDEN void tp_port_flush_end(uint64_t mask);

/* Wait some 10 ms for another thread that sends. False: there is nothing to wait for. */
TP_HIDDEN bool tp_port_flush_nap(void);

/* Nanoseconds of a clock that never goes back, 0 if there is none. Called as the above. */
TP_HIDDEN uint64_t tp_port_flush_time_ns(void);

#endif
