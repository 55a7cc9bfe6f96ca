// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Events or nothing: a 0-1 knapsack of the scarce resource, time or log. Branch and bound after
// Horowitz and Sahni (J. ACM 21, 1974), cut off if it takes too long; it starts with the greedy
// choice.
#include "common/array.h"
#include "allowlists/choose/internal.h"

#include <stdlib.h>
#include <string.h>

// Items looked at until the best choice so far has to do, if nobody says: some tens of
// milliseconds.
#define WORK_MAX UINT64_C(20000000)

// Open items by value for their size, best first; sums are of all that precede.
struct knapsack {
	uint32_t count;
	double room; // in sizes
	double *size_sums;
	double *value_sums;
	bool *taken;
	bool *best;
};

static uint32_t order_by_density(struct tp_choosing *choosing, enum tp_limit limit)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < choosing->count; i++) {
		struct tp_choice *item = &choosing->items[i];
		if (!tp_choice_open(item) || item->value <= 0)
			continue;
		item->size = tp_choosing_size(choosing, item, TP_CATEGORY_ALLOW, limit);
		choosing->order[count++] = item;
	}
	tp_choosing_sort(choosing, count);
	return count;
}

// The resource that is scarcer for events alone. Apart from code size, all events take the same
// amount of both.
static enum tp_limit tighter(const struct tp_choosing *choosing)
{
	const struct tp_choice one = {.calls = 1};
	const double time = tp_choosing_size(choosing, &one, TP_CATEGORY_ALLOW, TP_LIMIT_TIME);
	const double log = tp_choosing_size(choosing, &one, TP_CATEGORY_ALLOW, TP_LIMIT_LOG);
	return choosing->left_ns / time <= choosing->left_bytes / log ? TP_LIMIT_TIME
								      : TP_LIMIT_LOG;
}

// The first item from FROM on that does not fit with those between.
static uint32_t find_break(const struct knapsack *knapsack, uint32_t from, double left)
{
	return TP_LOWER_BOUND(from, knapsack->count, middle,
	    knapsack->size_sums[middle + 1] - knapsack->size_sums[from] <= left);
}

static double size_of(const struct knapsack *knapsack, uint32_t i)
{
	return knapsack->size_sums[i + 1] - knapsack->size_sums[i];
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
		left -= knapsack->size_sums[at] - knapsack->size_sums[from];
		value += value_of(knapsack, at) * left / size_of(knapsack, at);
	}
	return value;
}

static void search(struct knapsack *knapsack, uint64_t most)
{
	double left = knapsack->room;
	double value = 0;
	double best = -1;
	uint32_t at = 0;
	for (uint64_t work = 0; work < most; work++) {
		if (value + rest_bound(knapsack, at, left) > best * (1 + 1e-12)) {
			// Forward: all that fits, in order; the first move of all is greedy.
			work += knapsack->count - at;
			for (; at < knapsack->count; at++) {
				const double size = size_of(knapsack, at);
				knapsack->taken[at] = size <= left;
				if (knapsack->taken[at]) {
					left -= size;
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
		left += size_of(knapsack, at);
		value -= value_of(knapsack, at);
		at++;
	}
}

int tp_choosing_take_events(struct tp_choosing *choosing)
{
	const enum tp_limit limit = tighter(choosing);
	const uint32_t count = order_by_density(choosing, limit);
	struct knapsack knapsack = {
	    .count = count,
	    .room = limit == TP_LIMIT_TIME ? choosing->left_ns : choosing->left_bytes,
	};
	double *sums = calloc(2 * ((size_t)count + 1), sizeof(*sums));
	bool *taken = calloc(2 * ((size_t)count + 1), sizeof(*taken));
	int code = TP_ERR_MEMORY;
	if (!sums || !taken)
		goto out;
	knapsack.size_sums = sums;
	knapsack.value_sums = sums + count + 1;
	knapsack.taken = taken;
	knapsack.best = taken + count + 1;
	for (uint32_t i = 0; i < count; i++) {
		knapsack.size_sums[i + 1] = knapsack.size_sums[i] + choosing->order[i]->size;
		knapsack.value_sums[i + 1] = knapsack.value_sums[i] + choosing->order[i]->value;
	}
	search(&knapsack, choosing->options->work ? choosing->options->work : WORK_MAX);
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
