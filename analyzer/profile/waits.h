/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Who ended whose waits: of a lock, who held it. The waits of a trace's system events, summed up by
 * the function that waited and by function and thread that ended them.
 */
#ifndef TP_WAITS_H
#define TP_WAITS_H

#include "analyzer/profile/system.h"

struct tp_wait_row {
	const struct teeperf_system_event *event; /* one of them: all are of the same call */
	uint32_t function; /* index in analysis->functions; TP_SYSTEM_NOBODY: see outside */
	bool outside;      /* of a thread that the trace does not have */
	bool woken;        /* a thread ended them; else a timer, a signal, or they did not wait */
	uint32_t waker;    /* the function that did; TP_SYSTEM_NOBODY: none that was recorded */
	uint32_t waker_thread; /* index in analysis->threads; TP_SYSTEM_NOBODY: none of the trace */
	bool at_end;           /* that thread ended them by ending itself */
	uint64_t count;
	uint64_t total_ns; /* these sums stop at UINT64_MAX */
	uint64_t max_ns;
	uint64_t late_ns; /* from the moments at which they were ended until the thread went on */
};

struct tp_waits {
	struct tp_wait_row *rows; /* those with most time first */
	uint64_t count;
	uint64_t total_ns;
};

/* 0 or TP_ERR_MEMORY. Release it in any case; ITEMS must outlive it. */
int tp_waits_init(struct tp_waits *waits, const struct tp_system_items *items,
    const struct tp_analysis *analysis, const struct tp_paths *paths, struct tp_err *err);
void tp_waits_release(struct tp_waits *waits);

#endif
