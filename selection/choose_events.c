// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Events or nothing: a 0-1 knapsack, as a pair of records costs the same whatever is called. Branch and
// bound after Horowitz and Sahni (J. ACM 21, 1974), cut off if it takes too long; it starts with greedy.
#include "selection/choose_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Items looked at until the best choice so far has to do: some tens of milliseconds.
#define WORK_MAX UINT64_C(20000000)

// Open items by value for each call, best first; sums are of all that precede.
struct knapsack {
	uint32_t count;
	double room; // calls
	double *call_sums;
	double *value_sums;
	bool *taken;
	bool *best;
};

static int compare_density(const void *a, const void *b)
{
	const struct tp_choice *x = *(struct tp_choice *const *)a;
	const struct tp_choice *y = *(struct tp_choice *const *)b;
	const double left = x->value * y->calls;
	const double right = y->value * x->calls;
	if (left != right)
		return left > right ? -1 : 1;
	if (x->calls != y->calls)
		return x->calls < y->calls ? -1 : 1;
	return (x > y) - (x < y);
}

static uint32_t order_by_density(struct tp_choosing *choosing)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < choosing->count; i++)
		if (tp_choice_open(&choosing->items[i]) && choosing->items[i].value > 0)
			choosing->order[count++] = &choosing->items[i];
	qsort(choosing->order, count, sizeof(*choosing->order), compare_density);
	return count;
}

// Calls with events that fit what is left.
static double room(const struct tp_choosing *choosing)
{
	const struct tp_cost *cost = &choosing->options->cost;
	const double by_time = choosing->left_ns / tp_cost_call_ns(cost, TP_CATEGORY_ALLOW, 1);
	const double by_log = choosing->left_bytes / tp_cost_call_bytes(TP_CATEGORY_ALLOW, 1);
	return by_time < by_log ? by_time : by_log;
}

double tp_choosing_bound(struct tp_choosing *choosing)
{
	const uint32_t count = order_by_density(choosing);
	double left = room(choosing);
	double value = 0;
	for (uint32_t i = 0; i < count && left > 0; i++) {
		const struct tp_choice *item = choosing->order[i];
		const double part = item->calls <= left ? 1 : left / item->calls;
		value += part * item->value;
		left -= item->calls;
	}
	return value;
}

// The first item from FROM on whose calls and those between do not fit.
static uint32_t find_break(const struct knapsack *knapsack, uint32_t from, double left)
{
	uint32_t low = from;
	uint32_t high = knapsack->count;
	while (low < high) {
		const uint32_t middle = low + (high - low) / 2;
		if (knapsack->call_sums[middle + 1] - knapsack->call_sums[from] <= left)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static double call_count(const struct knapsack *knapsack, uint32_t i)
{
	return knapsack->call_sums[i + 1] - knapsack->call_sums[i];
}

static double value_of(const struct knapsack *knapsack, uint32_t i)
{
	return knapsack->value_sums[i + 1] - knapsack->value_sums[i];
}

// Items from FROM on may add at most this.
static double rest_bound(const struct knapsack *knapsack, uint32_t from, double left)
{
	const uint32_t at = find_break(knapsack, from, left);
	double value = knapsack->value_sums[at] - knapsack->value_sums[from];
	if (at < knapsack->count) {
		left -= knapsack->call_sums[at] - knapsack->call_sums[from];
		value += value_of(knapsack, at) * left / call_count(knapsack, at);
	}
	return value;
}

static void search(struct knapsack *knapsack)
{
	double left = knapsack->room;
	double value = 0;
	double best = -1;
	uint32_t at = 0;
	for (uint64_t work = 0; work < WORK_MAX; work++) {
		if (value + rest_bound(knapsack, at, left) > best * (1 + 1e-12)) {
			// Forward: all that fits, in order; the first move of all is greedy.
			work += knapsack->count - at;
			for (; at < knapsack->count; at++) {
				const double calls = call_count(knapsack, at);
				knapsack->taken[at] = calls <= left;
				if (knapsack->taken[at]) {
					left -= calls;
					value += value_of(knapsack, at);
				}
			}
			if (value > best) {
				best = value;
				memcpy(knapsack->best, knapsack->taken,
				    knapsack->count * sizeof(*knapsack->best));
			}
		}
		// Back to the last item that was taken, and on without it.
		while (at > 0 && !knapsack->taken[at - 1])
			at--;
		if (!at)
			return;
		at--;
		knapsack->taken[at] = false;
		left += call_count(knapsack, at);
		value -= value_of(knapsack, at);
		at++;
	}
}

int tp_choosing_take_events(struct tp_choosing *choosing)
{
	const uint32_t count = order_by_density(choosing);
	struct knapsack knapsack = {.count = count, .room = room(choosing)};
	double *sums = calloc(2 * ((size_t)count + 1), sizeof(*sums));
	bool *taken = calloc(2 * ((size_t)count + 1), sizeof(*taken));
	int code = TP_ERR_MEMORY;
	if (!sums || !taken)
		goto out;
	knapsack.call_sums = sums;
	knapsack.value_sums = sums + count + 1;
	knapsack.taken = taken;
	knapsack.best = taken + count + 1;
	for (uint32_t i = 0; i < count; i++) {
		knapsack.call_sums[i + 1] = knapsack.call_sums[i] + choosing->order[i]->calls;
		knapsack.value_sums[i + 1] = knapsack.value_sums[i] + choosing->order[i]->value;
	}
	search(&knapsack);
	for (uint32_t i = 0; i < count; i++)
		if (knapsack.best[i] &&
		    tp_choosing_fits(choosing, choosing->order[i], TP_CATEGORY_ALLOW))
			tp_choosing_set(
			    choosing, choosing->order[i], TP_CATEGORY_ALLOW, TP_REASON_BUDGET);
	code = 0;
out:
	free(sums);
	free(taken);
	return code;
}
