/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The port "keystone" (teeperf cc --port keystone): what the application defines for it. Not instrumented:
 * compile it without teeperf, or with --level=off.
 */
#ifndef TEEPERF_KEYSTONE_H
#define TEEPERF_KEYSTONE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Send both parts, one behind the other, to the host, as by ocall() of the Keystone SDK: 0, or anything else if
 * nothing of them has been sent. The host writes what comes into the file or pipe that 'teeperf record
 * --stream' reads.
 */
int teeperf_keystone_send(
    const void *head, uint64_t head_size, const void *body, uint64_t body_size);

/* Ticks of rdtime in a second, by the platform's device tree; 0: not known, and times are in ticks. */
extern const uint64_t teeperf_keystone_clock_hz;

#ifdef __cplusplus
}
#endif

#endif
