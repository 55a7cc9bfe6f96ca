/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A run as what its threads did and waited for: each thread is a row of pieces, and a piece that
 * waits names the piece of another thread at whose end that one woke it. Made from the switches of
 * threads (SCHED sections) and from who woke whom (SYSTEM sections), without a look at calls.
 */
#ifndef TP_RUN_H
#define TP_RUN_H

#include "analyzer/profile/analysis.h"

enum tp_piece_kind {
	TP_PIECE_RUN, /* it computed */
	/* it waited for time, a device, or somebody who is not recorded: that long in any case */
	TP_PIECE_STAND,
	TP_PIECE_WAIT, /* it waited for another thread of the run */
};

struct tp_piece {
	uint64_t from; /* ticks, as they were recorded */
	uint64_t to;
	/*
	 * Ticks. RUN: of a processor, and its part of what others took of the processors while it
	 * was preempted behind it. STAND: all. WAIT: that part of the time from the wake until it
	 * ran.
	 */
	double length;
	uint64_t piece;  /* WAIT: of the other thread, counted as in struct tp_run_thread */
	uint32_t thread; /* that one, of the run's threads */
	double cost;     /* RUN: of its ticks, those that recording took: tp_run_shares */
	enum tp_piece_kind kind;
};

struct tp_run_thread {
	uint64_t os_tid;
	uint64_t first;          /* of all pieces, its first one */
	struct tp_piece *pieces; /* in order; the last one runs; preempted in between */
	uint64_t count;
	uint64_t room;
};

struct tp_run {
	const struct tp_analysis *analysis;
	uint64_t from; /* ticks: the first recorded call and the end of the last one */
	uint64_t to;
	struct tp_run_thread *threads; /* by os_tid; those that did something in that time */
	uint32_t thread_count;
	uint32_t processors; /* that the program could have */
	uint64_t piece_count;
	uint64_t ran;    /* ticks of all threads together */
	uint64_t idle;   /* ticks at the end in which none ran, as in a deadlock: they stay */
	uint64_t waited; /* for other threads of the run, since they were made */
	uint64_t stood;  /* blocked otherwise */
};

/*
 * pre: of an analysis without a range and filters. PROCESSORS: 0 for as many as the trace tells. 0;
 * TP_ERR_NOT_FOUND: the trace lacks the data; TP_ERR_MEMORY. Release it in any case.
 */
int tp_run_init(struct tp_run *run, const struct tp_analysis *analysis, uint32_t processors,
    struct tp_err *err);
void tp_run_release(struct tp_run *run);

/*
 * For each of COUNT functions (indices in the analysis), the ticks that it ran in each piece: to
 * IN[i * piece_count + piece], all zeroes beforehand. Its own code, or with `callees` what it
 * calls, too. If the analysis takes off what recording has cost, that is not in them, and becomes
 * the `cost` of the pieces: the sums are those of the analysis. 0 or TP_ERR_MEMORY.
 */
int tp_run_shares(struct tp_run *run, const uint32_t *functions, uint32_t count, bool callees,
    double *in, struct tp_err *err);

/*
 * How many ticks the run takes if of each piece that runs, its cost and PART * IN[piece] of its
 * ticks go away (IN may be NULL). Runnable threads share the processors evenly. 0 or TP_ERR_MEMORY.
 */
int tp_run_simulate(const struct tp_run *run, const double *in, double part, double *ticks);

#endif
