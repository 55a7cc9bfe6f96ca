/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * 'record --budget': while a recording runs, functions are switched off and on so that their events
 * cost at most a share of the program's own running time. A thread of its own reckons;
 * docs/decisions/0039-live-budget.md says how.
 */
#ifndef TP_BUDGET_H
#define TP_BUDGET_H

#include "choice.h"
#include "learn.h"
#include "names.h"
#include "recorder/session.h"

enum { TP_BUDGET_DEAREST = 3 };

/* What became of it. */
struct tp_budget_result {
	struct tp_err
	    refused; /* why the choice of functions could not be changed; code 0: it could */
	struct tp_err stopped; /* why it was changed no further from some time on; code 0: it was */
	uint32_t functions;    /* that had calls */
	uint32_t switched;     /* of these, switched off at least once */
	uint32_t nameless;     /* of these, without a name to switch them by */
	double nameless_share; /* of the running time, that they cost */
	double
	    others_share; /* of the running time, that records cost which are of no call: jumps */
	uint64_t selections;
	/* Those that cost most when they were switched off, as far as their names fit. */
	struct {
		char name[160];
		double share; /* of the running time */
	} dearest[TP_BUDGET_DEAREST];
};

struct tp_budget_member;

struct tp_budget {
	double share; /* the caller's */
	struct tp_session_guide guide;
	struct tp_budget_result result; /* known when the session has finished */
	/* All else is the thread's. */
	struct tp_session *session;
	struct tp_worker worker;
	struct tp_learn learn;
	struct tp_names names;
	struct tp_learn_function *taken;
	struct tp_budget_function *functions;
	struct tp_budget_member *members; /* of each of them */
	uint32_t count;
	uint64_t *list; /* hashes of the last choice, and room for them */
	uint64_t list_room;
	double call_ns;
	uint64_t start_ns;
	uint64_t now_ns;
	uint64_t begin_cpu_ns; /* of the program when it came */
	uint64_t seen_cpu_ns;  /* at the last look */
	uint64_t reckoned_ns;
	uint64_t next_ns;  /* when to reckon next */
	uint64_t probe_ns; /* when to decide next who comes back */
	uint64_t probe_gap_ns;
	uint64_t window_ns;   /* when the next window begins */
	double window_gap_ns; /* before it, if nothing is in the way */
	uint32_t window_next; /* of the functions, where the next window goes on */
	double window_groups; /* windows that all functions that are off need, one after another */
	bool had_windows;     /* since it was decided last who comes back */
	uint64_t random;
	uint64_t
	    cpu_ns; /* of the program at the last reckoning, and its chunks drawn, events lost */
	uint64_t tail;
	uint64_t lost;
	double period_calls; /* since then, and not reckoned with yet */
	/* of these, records that are of no call that is known: jumps, above all */
	double period_others;
	double others;         /* of them in a second of running time */
	double all_running_ns; /* from the second second on */
	double all_cost_ns;
	double all_others_ns;  /* of these, of records that are of no call that is known */
	double window_cost_ns; /* of a window, as those so far tell */
	bool in_window;        /* from before it begins until it has ended */
	bool has_window;       /* functions are on that are off */
	bool settling;         /* what comes now may be of the time before the last choice */
};

/* Get ready for a session whose options then have &budget->guide. SHARE: 0.05 for 5 %. */
void tp_budget_init(struct tp_budget *budget, double share);

#endif
