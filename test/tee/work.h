/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A call of work(R), with R a multiple of 100, makes R calls of middle, 2 R of leaf and
 * R / 100 * (WORK_DEPTH + 1) of deep. It returns WORK_SUM(R).
 */
#ifndef TP_WORK_H
#define TP_WORK_H

#include <stdint.h>

#define WORK_DEPTH 19
#define WORK_SUM(rounds) ((rounds) / 100 * WORK_DEPTH)
/* Two records for each call. */
#define WORK_CALLS(rounds) (1 + 3 * (rounds) + (rounds) / 100 * (WORK_DEPTH + 1))

uint64_t work(uint64_t rounds);

#endif
