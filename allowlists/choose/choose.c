// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Choosing under a budget: a knapsack with several levels for each function.
#include "choose.h"

#include "common/array.h"

#include "allowlists/choose/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Functions that cost less than this part of the budget are in, all of them together up to ...
#define CHEAP_PART 1e-4
// ... this part of it.
#define CHEAP_ALL 0.05
// Settle the certain choices first: those of the user, and functions without calls.
static void settle(struct tp_choosing *choosing)
{
	const struct tp_choose_options *options = choosing->options;
	choosing->left_ns = options->budget_ns;
	choosing->left_bytes = options->budget_bytes > 0 ? options->budget_bytes : INFINITY;
	for (uint32_t i = 0; i < choosing->count; i++) {
		struct tp_choice *item = &choosing->items[i];
		const enum tp_category level = item->level;
		item->level = TP_CATEGORY_SKIP;
		choosing->left_ns -= tp_choosing_ns(choosing, item, TP_CATEGORY_SKIP, 1);
		if (item->pinned) {
			tp_choosing_set_to(choosing, item, level, item->sample, item->reason);
			continue;
		}
		item->sample = 1;
		item->reason = item->calls > 0 ? TP_REASON_BUDGET : TP_REASON_UNUSED;
	}
}

static int compare_calls(const void *a, const void *b)
{
	const struct tp_choice *x = *(struct tp_choice *const *)a;
	const struct tp_choice *y = *(struct tp_choice *const *)b;
	return x->calls != y->calls ? TP_COMPARE(x->calls, y->calls) : TP_COMPARE(x, y);
}

// The open items into `order`, those with few calls first.
static uint32_t order_by_calls(struct tp_choosing *choosing)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < choosing->count; i++)
		if (tp_choice_open(&choosing->items[i]))
			choosing->order[count++] = &choosing->items[i];
	qsort(choosing->order, count, sizeof(*choosing->order), compare_calls);
	return count;
}

// Events for what costs next to nothing: main, and all that is called now and then.
static void take_cheap(struct tp_choosing *choosing)
{
	const uint32_t count = order_by_calls(choosing);
	double all = 0;
	for (uint32_t i = 0; i < count; i++) {
		struct tp_choice *item = choosing->order[i];
		const double part = tp_choosing_weight(choosing, item, TP_CATEGORY_ALLOW);
		all += part;
		if (part >= CHEAP_PART || all > CHEAP_ALL)
			break;
		if (tp_choosing_fits(choosing, item, TP_CATEGORY_ALLOW))
			tp_choosing_set(choosing, item, TP_CATEGORY_ALLOW, TP_REASON_CHEAP);
	}
}

// A step up for one item: from nothing to samples or events, or from samples to events.
struct step {
	struct tp_choice *item;
	enum tp_category level;
	double density; // value for each part of the budget
};

static int compare_steps(const void *a, const void *b)
{
	const struct step *x = a;
	const struct step *y = b;
	return x->density != y->density ? TP_COMPARE(y->density, x->density)
					: TP_COMPARE(x->item, y->item);
}

// The steps of each item, best first. Samples that are worth their price come before events, which
// then add the rest (the convex hull of the levels); others come behind, for when events do not
// fit.
static uint32_t make_steps(const struct tp_choosing *choosing, struct step *steps)
{
	const double worth = choosing->options->sample_worth;
	uint32_t count = 0;
	for (uint32_t i = 0; i < choosing->count; i++) {
		struct tp_choice *item = &choosing->items[i];
		if (!tp_choice_open(item) || item->value <= 0)
			continue;
		const double event = tp_choosing_weight(choosing, item, TP_CATEGORY_ALLOW);
		const double sample = tp_choosing_weight(choosing, item, TP_CATEGORY_SAMPLE);
		double rest = item->value / event; // of the step to events
		if (worth > 0) {
			steps[count++] =
			    (struct step){item, TP_CATEGORY_SAMPLE, worth * item->value / sample};
			if (sample < worth * event)
				rest = (1 - worth) * item->value / (event - sample);
		}
		steps[count++] = (struct step){item, TP_CATEGORY_ALLOW, rest};
	}
	qsort(steps, count, sizeof(*steps), compare_steps);
	return count;
}

static int take_steps(struct tp_choosing *choosing)
{
	struct step *steps = malloc(2 * ((size_t)choosing->count + 1) * sizeof(*steps));
	if (!steps)
		return TP_ERR_MEMORY;
	const uint32_t count = make_steps(choosing, steps);
	for (uint32_t i = 0; i < count; i++)
		if (steps[i].item->level != TP_CATEGORY_ALLOW &&
		    tp_choosing_fits(choosing, steps[i].item, steps[i].level))
			tp_choosing_set(choosing, steps[i].item, steps[i].level, TP_REASON_BUDGET);
	free(steps);
	return 0;
}

// Count the calls of functions that are left out, for as many of these as fit.
static void count_rest(struct tp_choosing *choosing)
{
	const uint32_t count = order_by_calls(choosing);
	for (uint32_t i = 0; i < count; i++)
		if (tp_choosing_fits(choosing, choosing->order[i], TP_CATEGORY_COUNT))
			tp_choosing_set(
			    choosing, choosing->order[i], TP_CATEGORY_COUNT, TP_REASON_BUDGET);
}

static double objective(const struct tp_choosing *choosing)
{
	double sum = 0;
	for (uint32_t i = 0; i < choosing->count; i++) {
		const struct tp_choice *item = &choosing->items[i];
		if (tp_choice_has_events(item))
			sum += item->value;
		else if (item->level == TP_CATEGORY_SAMPLE)
			sum += item->value * choosing->options->sample_worth;
	}
	return sum;
}

static void sum_up(const struct tp_choosing *choosing, struct tp_chosen *chosen)
{
	for (uint32_t i = 0; i < choosing->count; i++) {
		const struct tp_choice *item = &choosing->items[i];
		chosen->all_value += item->value;
		chosen->all_sure += item->sure;
		chosen->all_event_ns += tp_choosing_ns(choosing, item, TP_CATEGORY_ALLOW, 1);
		if (tp_choice_has_code(item->level))
			chosen->code_ns += item->code_ns;
		const double ns = tp_choosing_ns(choosing, item, item->level, item->sample);
		chosen->cost_ns += ns;
		chosen->cost_bytes += tp_choosing_bytes(item, item->level, item->sample);
		if (tp_choice_has_events(item)) {
			chosen->event_value += item->value;
			chosen->event_sure += item->sure;
			chosen->event_count++;
		} else if (item->level == TP_CATEGORY_SAMPLE) {
			chosen->sample_value += item->value;
			chosen->sample_sure += item->sure;
			chosen->sample_count++;
		} else if (item->level == TP_CATEGORY_COUNT) {
			chosen->count_count++;
		}
	}
}

// Two ways, and the better one: events alone as well as can be, then samples for the rest of the
// budget; or steps of either kind as they are worth it.
static int take_best(struct tp_choosing *choosing)
{
	const size_t size = choosing->count * sizeof(*choosing->items);
	struct tp_choice *before = malloc(2 * size + 1);
	if (!before)
		return TP_ERR_MEMORY;
	struct tp_choice *first = before + choosing->count;
	const double left_ns = choosing->left_ns;
	const double left_bytes = choosing->left_bytes;
	memcpy(before, choosing->items, size);
	int code = tp_choosing_take_events(choosing);
	if (!code && choosing->options->sample_worth > 0) {
		code = take_steps(choosing);
		const double value = objective(choosing);
		const double first_ns = choosing->left_ns;
		const double first_bytes = choosing->left_bytes;
		memcpy(first, choosing->items, size);
		memcpy(choosing->items, before, size);
		choosing->left_ns = left_ns;
		choosing->left_bytes = left_bytes;
		if (!code)
			code = take_steps(choosing);
		if (objective(choosing) <= value) {
			memcpy(choosing->items, first, size);
			choosing->left_ns = first_ns;
			choosing->left_bytes = first_bytes;
		}
	}
	free(before);
	return code;
}

int tp_choose(struct tp_choice *items, uint32_t count, const struct tp_choose_options *options,
    struct tp_chosen *chosen)
{
	struct tp_choosing choosing = {.options = options, .items = items, .count = count};
	memset(chosen, 0, sizeof(*chosen));
	choosing.order = malloc(((size_t)count + 1) * sizeof(*choosing.order));
	if (!choosing.order)
		return TP_ERR_MEMORY;
	settle(&choosing);
	chosen->over_budget = choosing.left_ns < 0 || choosing.left_bytes < 0;
	for (uint32_t i = 0; i < count; i++)
		chosen->bound += tp_choice_has_events(&items[i]) ? items[i].value : 0;
	chosen->bound += tp_choosing_bound(&choosing);
	int code = 0;
	if (!chosen->over_budget) {
		take_cheap(&choosing);
		if (options->node_count) {
			code = tp_choosing_take_paths(&choosing, &chosen->path_value);
			if (!code && options->sample_worth > 0)
				code = take_steps(&choosing);
		} else {
			code = take_best(&choosing);
		}
		if (!code && options->count_rest)
			count_rest(&choosing);
	}
	for (uint32_t i = 0; i < count; i++)
		if (tp_choice_open(&items[i]) && items[i].value <= 0)
			items[i].reason = TP_REASON_NO_TIME;
	sum_up(&choosing, chosen);
	chosen->sample_bound = tp_choosing_sample_bound(&choosing);
	free(choosing.order);
	return code;
}
