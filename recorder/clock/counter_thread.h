/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The soft clock: a thread that stores a time into the log's counter word once in a period. Where the
 * host has a clock it is published: its unit is real time whatever else runs, and what suffers when
 * the thread does not get its core is the resolution. Where the host has none the thread counts its
 * own stores, which are as even as it is left alone. Either way the health of it is measured.
 */
#ifndef TP_COUNTER_THREAD_H
#define TP_COUNTER_THREAD_H

#include <pthread.h>
#include <stdint.h>

#include "gaps.h"
#include "common/err.h"

enum {
	/*
	 * A store takes the line from the reader's cache, which costs the program 65 to 250 ns the next time it
	 * loads: so much / period of its time. docs/decisions/0004-clock-period.md has the figures.
	 */
	TP_COUNTER_PERIOD_NS = 2000,
	TP_COUNTER_MAX_PERIOD_NS = 1000 * 1000,
};

struct tp_counter_options {
	uint64_t *word;     /* the counter word of the log; mapped until tp_counter_thread_stop */
	uint32_t clock;     /* TEEPERF_CLOCK_SOFT_* */
	uint64_t hz;        /* its ticks per second; unknown and not looked at for SOFT_COUNT */
	uint64_t period_ns; /* the aim: a store so often; 0: as fast as it goes */
};

/* One writer (the thread); others may read the measurements at any time. */
struct tp_counter_thread {
	struct tp_counter_options options;
	int cpu;         /* the core that it is pinned to, -1: none */
	uint64_t stop;   /* 1: end */
	uint64_t stores; /* how often the word was stored; for SOFT_COUNT that is the time */
	struct tp_clock_gaps gaps; /* to be begun and ended by who wants to know */
	pthread_t thread;
};

/*
 * Start it. Blocks until the word holds a time. If there is more than one core, the counter gets one,
 * and the calling thread and all that it starts later (the program too) are kept off that core.
 * pre: options->hz > 0, except for SOFT_COUNT. After tp_counter_thread_stop the measurements are final.
 */
int tp_counter_thread_start(struct tp_counter_thread *counter,
    const struct tp_counter_options *options, struct tp_err *err);
void tp_counter_thread_stop(struct tp_counter_thread *counter);

uint64_t tp_counter_thread_stores(const struct tp_counter_thread *counter);
uint64_t tp_counter_thread_max_gap_ns(const struct tp_counter_thread *counter);
uint64_t tp_counter_thread_starved_ns(const struct tp_counter_thread *counter);
uint64_t tp_counter_thread_starved_count(const struct tp_counter_thread *counter);

#endif
