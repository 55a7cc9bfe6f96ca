/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Keeps the recorder alive when memory of the log goes away under it. The program may cut the log's
 * file short, or punch holes into it for which there is no memory later: the kernel then answers
 * our next access with SIGBUS. Empty memory of our own then replaces the missing pages, which are
 * counted.
 *
 * (A sealed memfd cannot be cut short, but has no path that programs in a container, a chroot or a
 * library OS could open.)
 */
#ifndef TP_LOG_GUARD_H
#define TP_LOG_GUARD_H

#include <stdint.h>

#include "common/err.h"

/* Maximum number of logs that are guarded at once. */
enum { TP_LOG_GUARDS = 256 };

/*
 * Guard [base, base + size), which is mapped, until tp_log_guard_stop(base); its count begins at 0.
 * Threads that the caller starts later are guarded with it. Any thread may call it; the handler is
 * the process's, and what was there before comes back with the last log.
 * pre: base is aligned to a page; nothing of it is guarded already.
 */
int tp_log_guard_start(void *base, uint64_t size, struct tp_err *err);
void tp_log_guard_stop(const void *base);

/* Bytes of the log at base that were replaced since its start; 0 if it is not guarded. */
uint64_t tp_log_guard_lost_bytes(const void *base);

#endif
