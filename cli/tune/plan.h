/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The arithmetic of teeperf autotune: medians of runs, and what to try next after a list has been
 * measured. docs/selection.md explains it.
 */
#ifndef TP_AUTOTUNE_PLAN_H
#define TP_AUTOTUNE_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#define TP_AUTOTUNE_RUNS_MAX 101
#define TP_AUTOTUNE_ROUNDS_MAX 10

/* Runs in turn with native ones: the times over those of the native program, less 1. */
struct tp_autotune_overhead {
	double median;
	double low; /* of the single rounds */
	double high;
	double error; /* standard error of the median, from the median absolute deviation */
	double wild;  /* part of the rounds that is far off the median */
};

double tp_autotune_median(const double *values, uint32_t count);

/* Of COUNT pairs of times, above 0, each of the two next to one another in time. */
struct tp_autotune_overhead tp_autotune_overhead(
    const double *native, const double *other, uint32_t count);

/* Whether more runs are needed to say on which side of the budget it is. */
bool tp_autotune_unclear(const struct tp_autotune_overhead *measured, double budget);

/*
 * Whether the measurement can be trusted to say on which side of the budget it is: not if more than
 * a quarter of the rounds are wild, if the error is as large as the budget and the budget within
 * it, or if the program seems to be faster than any list can make it.
 */
bool tp_autotune_told(const struct tp_autotune_overhead *measured, double budget);

/* One list that was tried. */
struct tp_autotune_try {
	double factor;    /* by which costs were multiplied to choose it */
	double predicted; /* overhead, with that factor, and with what recording costs by itself */
	struct tp_autotune_overhead measured;
	double worth; /* share of the time that has a name; that of sampled functions counts less */
	double named; /* share of the time that has a name, by events or samples */
	bool untold;  /* `measured` is not to be trusted */
};

enum tp_autotune_step {
	TP_AUTOTUNE_DONE = 0, /* within the budget, and not much is left of it */
	TP_AUTOTUNE_AGAIN,    /* choose with the factor */
	/* over the budget, but hardly by events: nothing left to take away */
	TP_AUTOTUNE_NO_EVENTS,
	TP_AUTOTUNE_TIRED,  /* no more rounds */
	TP_AUTOTUNE_UNTOLD, /* the cost of the last one is not known, nor so that of another */
};

/*
 * What to do after COUNT tries, at least one; *factor is for AGAIN. `fixed` is the overhead of
 * recording without any event.
 */
enum tp_autotune_step tp_autotune_next(const struct tp_autotune_try *tries, uint32_t count,
    double budget, double fixed, uint32_t max_rounds, double *factor);

/*
 * The one to keep: within the budget and of most worth, or else the one that cost least. One that
 * is untold only if all are.
 */
uint32_t tp_autotune_best(const struct tp_autotune_try *tries, uint32_t count, double budget);

/*
 * Cost of a call, in ns, from the times of runs with and without; 0 if it is not known: fewer calls
 * than would make 1 % of the run at `expected_ns` each, or none at all.
 */
double tp_autotune_cost(double native_ns, double with_ns, double calls, double expected_ns);

#endif
