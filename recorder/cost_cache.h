/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What recording costs, kept from one recording to the next, so that a start need not wait until it
 * is measured: a file of the user's for each clock, which holds for one boot of one machine and one
 * build of teeperf, and for a day.
 */
#ifndef TP_COST_CACHE_H
#define TP_COST_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/chunks/event_cost.h"

/* What costs depend on, beside the machine. */
struct tp_cost_key {
	uint32_t clock;     /* enum teeperf_clock */
	uint64_t period_ns; /* of a soft clock */
	int cores;          /* that may be used */
	int counter_cpu;    /* the soft clock's core, -1: none */
};

struct tp_cost_kept {
	struct tp_event_cost cost;
	uint64_t age_ns;  /* since it was measured */
	uint64_t took_ns; /* how long that took */
};

/*
 * False: there are no kept costs that hold, which is not an error. A file that is not wholly ours
 * (folder and file must belong to this user, and nobody else may write there) or is damaged is
 * ignored; so are costs above TP_EVENT_COST_MOST_NS, which an older version may have kept.
 */
bool tp_cost_cache_read(const struct tp_cost_key *key, struct tp_cost_kept *kept);

/*
 * Keep it, if there is a place; the age does not count. A cost that is more than
 * TP_EVENT_COST_MOST_NS, or several times its own least or the last one that was kept, is not kept:
 * one bad measurement would decide the times of a day.
 */
void tp_cost_cache_write(const struct tp_cost_key *key, const struct tp_cost_kept *kept);

#endif
