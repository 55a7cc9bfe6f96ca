/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What the thread of a live budget does: it reckons (rates.c), has functions switched (change.c),
 * and looks in short windows at those that are off (windows.c). budget.c says when.
 */
#ifndef TP_BUDGET_STEPS_H
#define TP_BUDGET_STEPS_H

#include "budget.h"

#define TP_BUDGET_MS UINT64_C(1000000)
#define TP_BUDGET_SECOND UINT64_C(1000000000)

enum {
	/* What comes so soon behind a choice may be of the time before it. */
	TP_BUDGET_SETTLE_MS = 30,
	TP_BUDGET_EARLY_MS = 100, /* between two reckonings, in the first seconds */
	/* Whether functions come back is decided so often at first. */
	TP_BUDGET_DECIDE_GAP_MS = 1000,
	/* Each selection is kept in the trace. From here on nothing is probed. */
	TP_BUDGET_SELECTIONS_MOST = 20000,
};

/* Facts about a function besides those that decide the choice. */
struct tp_budget_member {
	double all_calls;
	double calls; /* since the last reckoning */
	double ticks;
	double window_calls; /* in its windows since it was decided whether it comes back */
	double window_ticks;
	double window_ns;                   /* of these, the program's own time */
	uint32_t windows;                   /* how many */
	bool is_in_window;                  /* in the next one, or this */
	const struct tp_elf_symbol *symbol; /* NULL: none */
	const struct tp_elf_symbol *aliases;
	uint32_t alias_count;
	bool known;       /* its rate is */
	bool switched;    /* off, at least once */
	double dearest;   /* share of running time that it cost then */
	uint64_t back_ns; /* when it came back last */
	uint64_t hold_ns;
	uint64_t held_until_ns;
};

/* rates.c */
bool tp_budget_is_ended(const struct tp_budget *budget);
bool tp_budget_is_recording(const struct tp_budget *budget);
const struct teeperf_log_header *tp_budget_header(const struct tp_budget *budget);
const struct tp_session_options *tp_budget_options(const struct tp_budget *budget);
/* Its PID as this machine counts, which may not be what the log says. */
uint64_t tp_budget_process(const struct tp_budget *budget);
/*
 * The program's processor time so far; of one that has ended, when it was last looked at. 0: it
 * cannot be seen.
 */
uint64_t tp_budget_cpu_now(struct tp_budget *budget);
/* Take over what the drain has seen. */
void tp_budget_take(struct tp_budget *budget);
/*
 * The overhead of the time since the last reckoning; below 0: too little time has passed to tell.
 */
double tp_budget_reckon(struct tp_budget *budget);
/* Processor time without what recording cost. */
double tp_budget_running_ns(double cpu_ns, double cost_ns);
/* ns, by the chunks that were drawn since TAIL: the program's word, which may be a lie. */
double tp_budget_cost_since(const struct tp_budget *budget, uint64_t tail);

/* change.c */
/*
 * The share of running time that may be spent now: less for a while if too much was spent before.
 */
double tp_budget_allowed(const struct tp_budget *budget);
/* Choose anew, and have it obeyed if something changes. WIDEN: functions may come back. */
void tp_budget_change(struct tp_budget *budget, bool widen);
/*
 * Have the program obey, by itself if it looks within PATIENCE ms. False: it is over, or nothing
 * can be chosen any more. In a window its functions are on, too.
 */
bool tp_budget_apply(struct tp_budget *budget, uint64_t patience);
/* Wait a little while; in a window, in which a millisecond is many events, a shorter one. */
void tp_budget_nap(struct tp_budget *budget);

/* windows.c */
/* When the next window begins that comes GAP ns behind this one, more or less. */
void tp_budget_plan_window(struct tp_budget *budget, double gap_ns);
/*
 * Choose the functions of the next window: those that are cheap, and of the others the next ones in
 * turn, as many as may be together. False: none is off. *overhead: what their events would cost by
 * our data, in parts of the running time.
 */
bool tp_budget_pick(struct tp_budget *budget, double *overhead);
/* A window, now. */
void tp_budget_probe(struct tp_budget *budget);
/* What its windows so far have shown counts no more. */
void tp_budget_forget_windows(struct tp_budget_member *member);
/* Functions come back whose rates in the windows so far allow it. */
void tp_budget_decide(struct tp_budget *budget);

#endif
