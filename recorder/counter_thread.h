/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The soft clock: a thread that stores a real clock into the log's counter word all the time. Its
 * unit is real time whatever else runs; what suffers when the thread does not get its core is the
 * resolution, and that is measured.
 */
#ifndef TP_COUNTER_THREAD_H
#define TP_COUNTER_THREAD_H

#include <pthread.h>
#include <stdint.h>

#include "common/err.h"

/* One writer (the thread); others may read the measurements at any time. */
struct tp_counter_thread {
	uint64_t *word;  /* the counter word of the log */
	uint32_t clock;  /* TEEPERF_CLOCK_SOFT_* */
	int cpu;         /* the core that it is pinned to, -1: none */
	uint64_t hz;     /* ticks per second, to judge gaps by */
	uint64_t stop;   /* 1: end */
	uint64_t stores; /* how often the word was stored */
	uint64_t max_gap_ticks;
	uint64_t starved_ticks; /* sum of the gaps of more than 10 us */
	pthread_t thread;
};

/*
 * Start it. Blocks until the word holds a time. If there is more than one core, the counter gets one,
 * and the calling thread and all that it starts later (the program too) are kept off that core. pre: hz > 0. *word must stay mapped until
 * tp_counter_thread_stop, after which the measurements are final.
 */
int tp_counter_thread_start(struct tp_counter_thread *counter, uint64_t *word, uint32_t clock,
    uint64_t hz, struct tp_err *err);
void tp_counter_thread_stop(struct tp_counter_thread *counter);

uint64_t tp_counter_thread_stores(const struct tp_counter_thread *counter);
uint64_t tp_counter_thread_max_gap_ns(const struct tp_counter_thread *counter);
uint64_t tp_counter_thread_starved_ns(const struct tp_counter_thread *counter);

#endif
