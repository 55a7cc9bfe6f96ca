/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What is wrong with an input that is analysed all the same. A damaged file can have as many
 * problems as bytes, so only the first ones are kept; the rest is counted.
 */
#ifndef TP_PROBLEMS_H
#define TP_PROBLEMS_H

#include "common/err.h"

#include <stdint.h>

#define TP_PROBLEMS_KEPT 32

struct tp_problems {
	struct tp_err kept[TP_PROBLEMS_KEPT];
	uint64_t count; /* in all; the first TP_PROBLEMS_KEPT are kept */
};

/* As tp_err_set, without a result: note the problem and go on. */
void tp_problems_add(struct tp_problems *problems, int code, const char *file, uint64_t offset,
    const char *format, ...) __attribute__((format(printf, 5, 6)));
uint32_t tp_problems_kept(const struct tp_problems *problems);

#endif
