/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The frames of an inverted flame graph: functions, their callers, the callers of these. */
#ifndef TP_FLAME_INVERT_H
#define TP_FLAME_INVERT_H

#include "analyzer/output/format/flame_layout.h"

/*
 * Add the frames, with their weights, that have at least PART of all; the others are counted. PUSH puts a
 * frame at the end, and gives its number or 0 (no memory). False: no memory.
 */
bool tp_flame_invert(struct tp_flame *flame, double part,
    uint32_t (*push)(struct tp_flame *flame, struct tp_flame_frame frame));

#endif
