/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Totals of functions that 'record --budget' switched off for a part of the time: what the replay
 * sees in the windows of the trace, and the estimates that are made of it (statistics/estimate.h).
 */
#ifndef TP_ESTIMATES_H
#define TP_ESTIMATES_H

#include "analyzer/profile/analysis.h"

#include <pthread.h>

/* In place of a window: tp_local_estimate.peak. */
#define TP_WINDOW_PEAK UINT32_MAX

/* A function's calls that began in a window, of one thread or of all. */
struct tp_window_calls {
	uint32_t name; /* what records call it */
	uint32_t window;
	uint64_t calls;
	uint64_t ticks; /* of the calls that have ended, in the time that counts */
	uint64_t cost; /* what was taken off that for recording them and the calls inside of them */
	uint64_t cut;  /* of these, of calls that ended with the window */
};

/*
 * Made before the replay that knows when functions were recorded, used by all that replay threads.
 */
struct tp_estimates {
	const struct tp_analysis *analysis;
	uint32_t piece_shift; /* time is cut into pieces of 2^this ticks, to find peaks */
	double event_ticks; /* what an event costs, as far as that is known before; 0: it is not */
	pthread_mutex_t lock; /* all below are under it */
	/* Of each stretch between two times: those of selections, and some beside windows. */
	struct tp_stretch {
		uint64_t ends;   /* the first tick behind it */
		uint64_t calls;  /* that began in it */
		uint64_t steady; /* of these, of functions that are on beside and in windows here */
		uint32_t window; /* that it is; UINT32_MAX: none */
		bool lost;       /* events of it were */
	} * stretches;
	uint32_t count;
	uint32_t *at;                  /* of each window, its stretch */
	struct tp_window_calls *calls; /* in no order */
	uint64_t call_count;
	uint64_t call_room;
	bool no_memory;
};

/* Of one thread. */
struct tp_estimates_thread {
	struct tp_call_sink sink;
	struct tp_estimates *all;
	const struct tp_profile *profile;
	uint32_t at;   /* the stretch */
	uint64_t ends; /* when it does */
	uint64_t calls;
	uint64_t steady;
	bool lost;
	struct tp_local_estimate {
		uint8_t kind;
		uint64_t last;  /* its newest entry, + 1 */
		uint64_t calls; /* that began in the piece of time */
		uint64_t peak; /* most of these, had all of the piece been the program's own time */
		uint32_t steady_in; /* the stretch that is_steady is of, + 1 */
		bool is_steady;
	} * functions; /* of the profile */
	uint32_t function_room;
	uint64_t piece; /* of time, and calls that began in it */
	uint64_t piece_calls;
	uint32_t *touched; /* functions that had any */
	uint32_t touched_count;
	uint32_t touched_room;
	struct tp_window_calls *entries;
	uint64_t entry_count;
	uint64_t entry_room;
	struct tp_window_calls nothing;
	bool no_memory;
};

/*
 * NULL: the trace has no windows, or this analysis is of a part of it; or *failed, no memory.
 * Release it in any case.
 */
struct tp_estimates *tp_estimates_new(const struct tp_analysis *analysis, bool *failed);
void tp_estimates_release(struct tp_estimates *estimates);

/* A thread's sink; PROFILE is what it is replayed into. Finish it when the thread is replayed. */
struct tp_call_sink *tp_estimates_begin(struct tp_estimates_thread *thread,
    struct tp_estimates *estimates, const struct tp_profile *profile);
void tp_estimates_finish(struct tp_estimates_thread *thread);

/*
 * All threads are replayed, and the functions have their sums: make the functions' estimates.
 * False: no memory.
 */
bool tp_estimates_make(struct tp_analysis *analysis);

#endif
