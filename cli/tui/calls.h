/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Single calls, for which threads are replayed once more: the slowest of a function, or what one
 * call did.
 */
#ifndef TP_TUI_CALLS_H
#define TP_TUI_CALLS_H

#include "analyzer/profile/around/kept_calls.h"

#include <stdatomic.h>

#define TP_TUI_SLOWEST 1000  /* calls of a function */
#define TP_TUI_INSIDE 100000 /* calls in one; shorter ones are left out */

struct tp_tui_call {
	struct tp_kept_call kept;
	uint32_t function; /* index in analysis->functions; UINT32_MAX: not known any more */
	uint32_t parent;   /* of a call's calls: in items, below its own number */
	uint32_t last;     /* ... and the greatest number of those in it */
};

/* Starts as zeroes. */
struct tp_tui_calls {
	struct tp_tui_call *items; /* the slowest first; or a call and those in it, as they began */
	uint32_t count;
	uint64_t seen;     /* calls of which these were chosen */
	enum tp_time time; /* by which they are the slowest */
};

/* While it is read. */
struct tp_tui_reading {
	atomic_bool stop;     /* set by another thread: it is not wanted any more */
	_Atomic uint64_t at;  /* calls, or chunks, so far */
	_Atomic uint64_t all; /* 0: not known */
};

/* 0, TP_ERR_LIMIT after a stop, or what went wrong. Release CALLS in any case. */
int tp_tui_calls_slowest(struct tp_tui_calls *calls, const struct tp_analysis *analysis,
    uint32_t function, struct tp_tui_reading *reading, struct tp_err *err);
int tp_tui_calls_inside(struct tp_tui_calls *calls, const struct tp_analysis *analysis,
    const struct tp_kept_call *outer, struct tp_tui_reading *reading, struct tp_err *err);
void tp_tui_calls_release(struct tp_tui_calls *calls);

#endif
