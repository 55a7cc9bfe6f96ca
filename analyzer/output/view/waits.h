/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the views of waits have in common. */
#ifndef TP_VIEW_WAITS_H
#define TP_VIEW_WAITS_H

#include "analyzer/profile/waits.h"

/* Whether the trace has system events: 0, or TP_ERR_NOT_FOUND. */
int tp_view_check_events(const struct tp_analysis *analysis, struct tp_err *err);
/* The function that ended the waits, or what stands for it; empty: no thread did. */
const char *tp_view_waker(const struct tp_analysis *analysis, const struct tp_wait_row *row);
/* Name and number of its thread; empty: none of the trace. Returns TEXT. */
const char *tp_view_waker_thread(
    const struct tp_analysis *analysis, const struct tp_wait_row *row, char text[64]);

#endif
