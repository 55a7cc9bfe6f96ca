/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The port "keystone" (teeperf cc --port keystone): symbols that the application defines for it.
 * They must not be instrumented: compile them without teeperf, or with --level=off.
 */
#ifndef TEEPERF_KEYSTONE_H
#define TEEPERF_KEYSTONE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Send both parts, one after the other, to the host, for example with ocall() of the Keystone SDK.
 * Return 0, or anything else if nothing was sent. The host writes them to the file or pipe that
 * 'teeperf record --stream' reads.
 */
int teeperf_keystone_send(
    const void *head, uint64_t head_size, const void *body, uint64_t body_size);

/*
 * Ticks of rdtime in a second, from the platform's device tree; 0: unknown, and times are in ticks.
 */
extern const uint64_t teeperf_keystone_clock_hz;

#ifdef __cplusplus
}
#endif

#endif
