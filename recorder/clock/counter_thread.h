/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The soft clock: a thread that stores a time into the log's counter word once in a period. Where
 * the host has a clock it is published: its unit is real time whatever else runs, and what suffers
 * when the thread does not get its core is the resolution. Where the host has none the thread
 * counts its own stores, which are as even as it is left alone. Either way the health of it is
 * measured.
 */
#ifndef TP_COUNTER_THREAD_H
#define TP_COUNTER_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "slices.h"

enum {
	/*
	 * A store takes the line from the reader's cache, which costs the program 65 to 250 ns the
	 * next time it loads: so much / period of its time. docs/decisions/0004-clock-period.md has
	 * the figures.
	 */
	TP_COUNTER_PERIOD_NS = 2000,
	TP_COUNTER_MAX_PERIOD_NS = 1000 * 1000,
};

/*
 * The times during a measurement in which a soft clock stood still: the longest, and sum and number
 * of the long ones. No part of them lies outside the measurement, and no moment counts twice.
 */

enum {
	TP_CLOCK_STARVED_NS = 10 * 1000, /* a gap that is longer is one in which it stood still */
};

/*
 * One thread notes, another begins and ends the measurement; any may read the results at any time.
 */
struct tp_clock_gaps {
	uint64_t from_ns; /* CLOCK_MONOTONIC_RAW, of the measurement; UINT64_MAX: not begun */
	uint64_t to_ns;   /* UINT64_MAX: not ended */
	uint64_t told_ns; /* the noting thread's: up to here gaps are noted */
	uint64_t max_ns;
	uint64_t starved_ns;    /* sum of the gaps of more than TP_CLOCK_STARVED_NS */
	uint64_t starved_count; /* ... and their number */
};

/* No measurement yet: nothing is noted. */
void tp_clock_gaps_init(struct tp_clock_gaps *gaps);
/* Each is to be called once; a gap that is under way counts from, or up to, here. */
void tp_clock_gaps_begin(struct tp_clock_gaps *gaps, uint64_t now_ns);
void tp_clock_gaps_end(struct tp_clock_gaps *gaps, uint64_t now_ns);

/* A gap of `gap_ns` ends now. False: all of it lies outside the measurement. */
bool tp_clock_gaps_note(struct tp_clock_gaps *gaps, uint64_t now_ns, uint64_t gap_ns);

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
	struct tp_slices slices;   /* done between two stores; nobody need submit any */
	pthread_t thread;
};

/*
 * Start it. Blocks until the word holds a time. If there is more than one core, the counter gets
 * one, and the calling thread and all that it starts later (the program too) are kept off that
 * core.
 * pre: options->hz > 0, except for SOFT_COUNT. After tp_counter_thread_stop the measurements are
 * final.
 */
int tp_counter_thread_start(struct tp_counter_thread *counter,
    const struct tp_counter_options *options, struct tp_err *err);

/* Whether it has a core, and time for slices between two stores. */
bool tp_counter_thread_has_time(const struct tp_counter_thread *counter);
void tp_counter_thread_stop(struct tp_counter_thread *counter);

#endif
