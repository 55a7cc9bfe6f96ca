// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From windows to totals, with intervals.
#include "estimate.h"

#include "significance.h"

#include <math.h>

double tp_estimate_student(double df)
{
	double low = 0;
	double high = 13; // with one degree of freedom it is 12.7
	for (int i = 0; i < 40; i++) {
		const double t = (low + high) / 2;
		const bool exceeded = tp_significance_beta(df / (df + t * t), df / 2, 0.5) > 0.05;
		*(exceeded ? &low : &high) = t;
	}
	return high;
}

struct tp_estimate tp_estimate_off(const struct tp_estimate_sample *samples, uint32_t count,
    const struct tp_estimate_cost *cost, double peak)
{
	double value = 0;
	double off = 0;
	double squares = 0;     // of what windows stand for
	double differences = 0; // squares of them, of rates
	double slope = 0;       // of the value, with what an event costs
	for (uint32_t i = 0; i < count; i++) {
		const struct tp_estimate_sample *at = &samples[i];
		const double rate = at->amount / at->time;
		value += at->off * rate;
		off += at->off;
		squares += at->off * at->off;
		slope += at->off * (rate * at->events - at->own_events) / at->time;
		if (i) {
			const double step = rate - samples[i - 1].amount / samples[i - 1].time;
			differences += step * step;
		}
	}
	// Bursts that no window met leave no trace in the windows, or little. So add one more
	// window that met the strongest burst: for something never met in n windows, this bound is
	// the rule of three.
	const double one = off / (count + 1.0) * peak;
	const double variance = differences / (2 * (count - 1.0)) * squares + one * one +
				slope * slope * cost->variance;
	// Differences of neighbours are not independent: as good as two thirds of as many that are
	// (von Neumann 1941).
	const double n = count - 1.0;
	const double df = 2 * n * n / (3 * n - 1);
	// Where an event is believed to cost more than it does, more is taken off times than there
	// is.
	return (struct tp_estimate){
	    value > 0 ? value : 0, tp_estimate_student(df) * sqrt(variance)};
}

bool tp_estimate_tells(
    const struct tp_estimate_sample *samples, uint32_t count, const struct tp_estimate_cost *cost)
{
	const double most = cost->ticks + 2 * sqrt(cost->variance);
	double taken = 0;
	double wall = 0;
	for (uint32_t i = 0; i < count; i++) {
		if (!(samples[i].amount > 0))
			continue;
		taken += samples[i].events * most;
		wall += samples[i].time + samples[i].events * cost->ticks;
	}
	return taken <= TP_ESTIMATE_EVENTS_MOST * wall;
}

// How often functions that are always on are called beside the window, for each tick of the
// program's own.
static double pace_of(const struct tp_estimate_pace *pace, double ticks)
{
	const double own = tp_estimate_own(pace->near_time, pace->near_events, ticks);
	return own > 0 ? pace->near_steady / own : 0;
}

// Returns false if windows do not tell.
static bool measure(const struct tp_estimate_pace *paces, uint32_t count, double guess,
    struct tp_estimate_cost *cost)
{
	double ticks = guess;
	double lever = 0;
	// What happens beside windows costs little, so that this is soon settled.
	for (int round = 0; round < 4; round++) {
		double late = 0;
		lever = 0;
		for (uint32_t i = 0; i < count; i++) {
			const double pace = pace_of(&paces[i], ticks);
			late += pace * paces[i].time - paces[i].steady;
			lever += pace * paces[i].events;
		}
		if (!(lever > 0))
			return false;
		ticks = late > 0 ? late / lever : 0;
	}
	// Each window left out in turn: one alone may have nearly all calls, and then tells little.
	double late = 0;
	for (uint32_t i = 0; i < count; i++)
		late += pace_of(&paces[i], ticks) * paces[i].time - paces[i].steady;
	double squares = 0;
	double steady = 1;
	for (uint32_t i = 0; i < count; i++) {
		const double pace = pace_of(&paces[i], ticks);
		const double rest = lever - pace * paces[i].events;
		if (!(rest > 0))
			return false;
		const double without = (late - pace * paces[i].time + paces[i].steady) / rest;
		squares += (without - late / lever) * (without - late / lever);
		steady += paces[i].steady;
	}
	*cost = (struct tp_estimate_cost){
	    ticks, squares * (count - 1.0) / count + steady / (lever * lever)};
	return true;
}

// Both estimates combined, each weighted by its accuracy.
static struct tp_estimate_cost both(
    const struct tp_estimate_cost *one, const struct tp_estimate_cost *other)
{
	const double weight = 1 / one->variance + 1 / other->variance;
	return (struct tp_estimate_cost){
	    (one->ticks / one->variance + other->ticks / other->variance) / weight, 1 / weight};
}

bool tp_estimate_cost(const struct tp_estimate_pace *paces, uint32_t count,
    const struct tp_estimate_cost *guess, struct tp_estimate_cost *cost)
{
	const bool guessed = guess->variance > 0;
	struct tp_estimate_cost measured;
	const bool known = count >= TP_ESTIMATE_WINDOWS &&
			   measure(paces, count, guessed ? guess->ticks : 0, &measured);
	if (!known && !guessed)
		return false;
	*cost = known && guessed ? both(&measured, guess) : known ? measured : *guess;
	return true;
}
