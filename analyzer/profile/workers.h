/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Pieces of work that several threads share. */
#ifndef TP_WORKERS_H
#define TP_WORKERS_H

#include "common/err.h"

#define TP_WORKERS_MAX 64

/* As many as there are processors. */
uint32_t tp_workers_count(void);
/*
 * Call WORK for each number below COUNT, from up to WORKERS threads, in the order in which they get
 * to it. After an error no more pieces are begun. 0, or the first error.
 */
int tp_workers_each(uint32_t count, uint32_t workers,
    int (*work)(void *context, uint32_t number, struct tp_err *err), void *context,
    struct tp_err *err);

#endif
