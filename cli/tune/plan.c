// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The arithmetic of teeperf autotune: medians, overheads, and what to try next.
#include "plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Noise of a normal distribution: standard deviation over median absolute deviation, and standard
// error of a median over that of a mean.
#define DEVIATION_OF_MAD 1.4826
#define MEDIAN_OF_MEAN 1.2533

// This number of standard errors away from the budget is clear enough.
#define SURE_ERRORS 2.0

// A round so far off the median says nothing of the list; more of them than this part, and none
// does.
#define WILD 0.5
#define WILD_PART 0.25
// No list makes a program so much faster (code that lies elsewhere: up to 5 %).
#define FASTER 0.15

// After a list over the budget the next one keeps this much away from it, and is at least so much
// smaller: a part of what a list costs, such as larger code, does not shrink with its calls. (With
// 1.05 and 1.15 three lists for SQLite and Lua ended a tenth to a third above their budgets.)
#define MARGIN 1.25
#define LEAST_CUT 1.4
#define LARGEST_CUT 5.0
// The same with two lists that are so far apart that they show a line.
#define APART 0.05
#define LINE_MARGIN 1.08
#define LEAST_LINE_CUT 1.1
// Hardly less than the factor of a list that was within the budget: that one again.
#define NEARLY 0.95
// Room that is worth another build, and the largest step into it.
#define ROOM 0.75
#define LARGEST_GROWTH 4.0
// A budget that events use by less than this is not what they exceed.
#define NEXT_TO_NOTHING 0.02
// Nothing to gain above this share of the time.
#define ALL_NAMED 0.995

// Costs of a call that no measurement of ours ever came near to: noise.
#define COST_LEAST_NS 0.05
#define COST_MOST_NS 300.0

static int compare(const void *a, const void *b)
{
	const double x = *(const double *)a;
	const double y = *(const double *)b;
	return (x > y) - (x < y);
}

double tp_autotune_median(const double *values, uint32_t count)
{
	double sorted[TP_AUTOTUNE_RUNS_MAX];
	if (count > TP_AUTOTUNE_RUNS_MAX)
		count = TP_AUTOTUNE_RUNS_MAX;
	if (!count)
		return 0;
	memcpy(sorted, values, count * sizeof(*values));
	qsort(sorted, count, sizeof(*sorted), compare);
	return (sorted[(count - 1) / 2] + sorted[count / 2]) / 2;
}

struct tp_autotune_overhead tp_autotune_overhead(
    const double *native, const double *other, uint32_t count)
{
	struct tp_autotune_overhead overhead = {0};
	double values[TP_AUTOTUNE_RUNS_MAX];
	if (count > TP_AUTOTUNE_RUNS_MAX)
		count = TP_AUTOTUNE_RUNS_MAX;
	if (!count)
		return overhead;
	for (uint32_t i = 0; i < count; i++)
		values[i] = other[i] / native[i] - 1;
	overhead.median = tp_autotune_median(values, count);
	overhead.low = overhead.high = values[0];
	double deviations[TP_AUTOTUNE_RUNS_MAX];
	for (uint32_t i = 0; i < count; i++) {
		const double off = values[i] - overhead.median;
		deviations[i] = off < 0 ? -off : off;
		overhead.low = values[i] < overhead.low ? values[i] : overhead.low;
		overhead.high = values[i] > overhead.high ? values[i] : overhead.high;
		const double far = WILD * (1 + overhead.median);
		overhead.wild += deviations[i] > far ? 1.0 / count : 0;
	}
	overhead.error =
	    DEVIATION_OF_MAD * MEDIAN_OF_MEAN * tp_autotune_median(deviations, count) / sqrt(count);
	return overhead;
}

bool tp_autotune_unclear(const struct tp_autotune_overhead *measured, double budget)
{
	const double off = measured->median - budget;
	return (off < 0 ? -off : off) < SURE_ERRORS * measured->error;
}

bool tp_autotune_told(const struct tp_autotune_overhead *measured, double budget)
{
	const double error = SURE_ERRORS * measured->error;
	const double least = budget > FASTER ? -budget : -FASTER;
	if (measured->wild > WILD_PART || measured->median < least)
		return false;
	return error < budget || !tp_autotune_unclear(measured, budget);
}

static double limit(double value, double least, double most)
{
	return value < least ? least : value > most ? most : value;
}

// What a list's events should cost before any correction, and what they did.
struct point {
	double asked;
	double measured;
};

static struct point point_of(const struct tp_autotune_try *tried, double fixed)
{
	return (struct point){
	    .asked = (tried->predicted - fixed) / tried->factor,
	    .measured = tried->measured.median - fixed,
	};
}

// By what the last factor is to be multiplied after a list over the budget, of which `left` is for
// events. With two lists, on the line through both: a part of the cost may not depend on the
// choice.
static double cut(const struct tp_autotune_try *tries, uint32_t count, double left, double fixed)
{
	const struct tp_autotune_try *last = &tries[count - 1];
	const struct point here = point_of(last, fixed);
	const double simple = MARGIN * here.measured / (here.asked * last->factor);
	if (count < 2)
		return limit(simple, LEAST_CUT, LARGEST_CUT);
	const struct point before = point_of(last - 1, fixed);
	const double run = before.asked - here.asked;
	const double rise = before.measured - here.measured;
	const bool apart = run > APART * here.asked || -run > APART * here.asked;
	if (!apart || rise / run <= 0)
		return limit(simple, LEAST_CUT, LARGEST_CUT);
	const double asked = here.asked + (left / LINE_MARGIN - here.measured) * run / rise;
	if (asked <= 0)
		return LARGEST_CUT;
	return limit(left / asked / last->factor, LEAST_LINE_CUT, LARGEST_CUT);
}

enum tp_autotune_step tp_autotune_next(const struct tp_autotune_try *tries, uint32_t count,
    double budget, double fixed, uint32_t max_rounds, double *factor)
{
	const struct tp_autotune_try *last = &tries[count - 1];
	if (last->untold)
		return TP_AUTOTUNE_UNTOLD;
	// Of events alone, which are all that a choice changes.
	const double predicted = last->predicted - fixed;
	const double measured = last->measured.median - fixed;
	const double left = budget - fixed;
	if (last->measured.median > budget) {
		if (left <= 0 || predicted < left * NEXT_TO_NOTHING)
			return TP_AUTOTUNE_NO_EVENTS;
		*factor = last->factor * cut(tries, count, left, fixed);
		// There is nothing between this list and one that is within the budget.
		for (uint32_t i = 0; i + 1 < count; i++)
			if (tries[i].measured.median <= budget &&
			    *factor > tries[i].factor * NEARLY)
				return TP_AUTOTUNE_DONE;
		return count < max_rounds ? TP_AUTOTUNE_AGAIN : TP_AUTOTUNE_TIRED;
	}
	// Only once: what follows on a list over the budget is not to go back there.
	if (count > 1 || last->named >= ALL_NAMED || predicted <= 0)
		return TP_AUTOTUNE_DONE;
	// It may have cost more than it seems.
	double cost = measured + 2 * last->measured.error;
	if (cost < (last->measured.high - fixed) / 2)
		cost = (last->measured.high - fixed) / 2;
	const double change = limit(cost / predicted, 1 / LARGEST_GROWTH, 1);
	if (cost >= left * ROOM || predicted * change >= left * ROOM)
		return TP_AUTOTUNE_DONE;
	*factor = last->factor * change;
	return count < max_rounds ? TP_AUTOTUNE_AGAIN : TP_AUTOTUNE_DONE;
}

uint32_t tp_autotune_best(const struct tp_autotune_try *tries, uint32_t count, double budget)
{
	uint32_t best = 0;
	for (uint32_t i = 1; i < count; i++) {
		if (tries[i].untold != tries[best].untold) {
			best = tries[i].untold ? best : i;
			continue;
		}
		const bool fits = tries[i].measured.median <= budget;
		const bool best_fits = tries[best].measured.median <= budget;
		if (fits != best_fits ? fits
		    : fits            ? tries[i].worth > tries[best].worth
				      : tries[i].measured.median < tries[best].measured.median)
			best = i;
	}
	return best;
}

double tp_autotune_cost(double native_ns, double with_ns, double calls, double expected_ns)
{
	if (calls <= 0 || calls * expected_ns < native_ns / 100 || with_ns <= native_ns)
		return 0;
	return limit((with_ns - native_ns) / calls, COST_LEAST_NS, COST_MOST_NS);
}
