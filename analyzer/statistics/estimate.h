/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What a function did while it was off, by what it did in windows of a budget, in which it was on.
 * Pure arithmetic; docs/decisions/0041-estimated-totals.md says why so.
 *
 * All times are the program's own: wall ticks less what the events in them cost. A window stands
 * for the time off that is nearest to it. With amounts v, own times d and times off w, the estimate
 * is sum(w v / d), and its variance, as the windows are a systematic sample, is by successive
 * differences (Wolter, Introduction to Variance Estimation, 2nd edition, 8.2, estimator 2).
 */
#ifndef TP_ESTIMATE_H
#define TP_ESTIMATE_H

#include <stdbool.h>
#include <stdint.h>

/* Of fewer windows nothing is estimated. */
#define TP_ESTIMATE_WINDOWS 3
/* From this number on, events take at most four fifths of the time. */
#define TP_ESTIMATE_EVENTS_TELL 1000

/* A window of a function. */
struct tp_estimate_sample {
	double off;        /* own time off that it stands for */
	double time;       /* its own time; more than 0 */
	double amount;     /* of the estimated quantity, in it */
	double events;     /* calls of all functions that were recorded in it */
	double own_events; /* whose costs were taken off the amount; 0 of one that is no time */
};

/*
 * What an event costs, in ticks of wall time by which the program comes later, as far as that is
 * known.
 */
struct tp_estimate_cost {
	double ticks;
	double variance;
};

struct tp_estimate {
	double value;
	double margin; /* with 95 % confidence, it is not off by more */
};

/*
 * The amount while the function was off. PEAK: the most of it in a tick that was ever seen; one
 * window more could have met that.
 * pre: count >= TP_ESTIMATE_WINDOWS.
 */
struct tp_estimate tp_estimate_off(const struct tp_estimate_sample *samples, uint32_t count,
    const struct tp_estimate_cost *cost, double peak);

/*
 * Whether windows tell anything of the function: by what an event may cost at most, events take no
 * more than TP_ESTIMATE_EVENTS_MOST of those windows in which it was called. The own time is the
 * rest of a window; the less that is, the more an error of the cost moves it, and upwards more than
 * downwards: totals come out too low, and intervals do not say so.
 */
#define TP_ESTIMATE_EVENTS_MOST 0.7
bool tp_estimate_tells(
    const struct tp_estimate_sample *samples, uint32_t count, const struct tp_estimate_cost *cost);

/* A window, for what events cost. */
struct tp_estimate_pace {
	double time;      /* wall ticks */
	double events;    /* calls that were recorded in it */
	double steady;    /* of these, calls of functions that were always on */
	double near_time; /* the same of the stretches on both sides of it */
	double near_events;
	double near_steady;
};

/*
 * What an event costs, by how much slower functions that are always on are called in windows than
 * beside them; *GUESS is other knowledge, variance 0: none. False: nothing is known.
 */
bool tp_estimate_cost(const struct tp_estimate_pace *paces, uint32_t count,
    const struct tp_estimate_cost *guess, struct tp_estimate_cost *cost);

/*
 * The bound that Student's t exceeds with a chance of 2.5 %. DF: degrees of freedom, not less than
 * 1.
 */
double tp_estimate_student(double df);

/* WALL ticks with EVENTS in them are so much of the program's own. */
static inline double tp_estimate_own(double wall, double events, double event_ticks)
{
	/* The program itself takes some of the time, whatever events are believed to cost. */
	const double least = wall * (events < TP_ESTIMATE_EVENTS_TELL ? 0.05 : 0.2);
	const double own = wall - events * event_ticks;
	return own > least ? own : least;
}

#endif
