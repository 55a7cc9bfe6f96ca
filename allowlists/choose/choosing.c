// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The choice so far: how much of the budget a function takes at a level, how much is left, and the
// limits that no choice exceeds.
#include "allowlists/choose/internal.h"
#include "common/array.h"

#include <math.h>
#include <stdlib.h>

// sample/N should leave this number of recorded calls: their mean is then accurate to a few
// percent.
#define SAMPLES_WANTED 1000

static const uint32_t sample_steps[] = {1024, 256, 64, 16};

uint32_t tp_choose_sample(double calls)
{
	const uint32_t last = sizeof(sample_steps) / sizeof(sample_steps[0]) - 1;
	uint32_t i = 0;
	while (i < last && calls / sample_steps[i] < SAMPLES_WANTED)
		i++;
	return sample_steps[i];
}

static uint32_t sample_of(const struct tp_choice *item, enum tp_category level)
{
	return level == TP_CATEGORY_SAMPLE ? tp_choose_sample(item->calls) : 1;
}

double tp_choosing_ns(const struct tp_choosing *choosing, const struct tp_choice *item,
    enum tp_category level, uint32_t sample)
{
	const double code_ns = tp_choice_has_code(level) ? item->code_ns : 0;
	return item->calls * tp_cost_call_ns(&choosing->options->cost, level, sample) + code_ns;
}

double tp_choosing_bytes(const struct tp_choice *item, enum tp_category level, uint32_t sample)
{
	return item->calls * tp_cost_call_bytes(level, sample);
}

bool tp_choosing_fits(
    const struct tp_choosing *choosing, const struct tp_choice *item, enum tp_category level)
{
	const uint32_t sample = sample_of(item, level);
	const double ns = tp_choosing_ns(choosing, item, level, sample) -
			  tp_choosing_ns(choosing, item, item->level, item->sample);
	const double bytes = tp_choosing_bytes(item, level, sample) -
			     tp_choosing_bytes(item, item->level, item->sample);
	return ns <= choosing->left_ns && bytes <= choosing->left_bytes;
}

void tp_choosing_set_to(struct tp_choosing *choosing, struct tp_choice *item,
    enum tp_category level, uint32_t sample, enum tp_reason reason)
{
	choosing->left_ns += tp_choosing_ns(choosing, item, item->level, item->sample) -
			     tp_choosing_ns(choosing, item, level, sample);
	choosing->left_bytes += tp_choosing_bytes(item, item->level, item->sample) -
				tp_choosing_bytes(item, level, sample);
	item->level = level;
	item->sample = sample;
	item->reason = reason;
}

void tp_choosing_set(struct tp_choosing *choosing, struct tp_choice *item, enum tp_category level,
    enum tp_reason reason)
{
	tp_choosing_set_to(choosing, item, level, sample_of(item, level), reason);
}

double tp_choosing_size(const struct tp_choosing *choosing, const struct tp_choice *item,
    enum tp_category level, enum tp_limit limit)
{
	const uint32_t sample = sample_of(item, level);
	if (limit == TP_LIMIT_LOG)
		return tp_choosing_bytes(item, level, sample);
	return tp_choosing_ns(choosing, item, level, sample) -
	       tp_choosing_ns(choosing, item, TP_CATEGORY_SKIP, 1);
}

double tp_choosing_weight(
    const struct tp_choosing *choosing, const struct tp_choice *item, enum tp_category level)
{
	const struct tp_choose_options *options = choosing->options;
	const double ns =
	    tp_choosing_size(choosing, item, level, TP_LIMIT_TIME) / options->budget_ns;
	if (options->budget_bytes <= 0)
		return ns;
	const double log =
	    tp_choosing_size(choosing, item, level, TP_LIMIT_LOG) / options->budget_bytes;
	return ns > log ? ns : log;
}

/* ---- bounds: functions taken in the order of their worth, the last one in part ---- */

static int compare_density(const void *a, const void *b)
{
	const struct tp_choice *x = *(struct tp_choice *const *)a;
	const struct tp_choice *y = *(struct tp_choice *const *)b;
	const double left = x->value * y->size;
	const double right = y->value * x->size;
	if (left != right)
		return TP_COMPARE(right, left);
	return x->size != y->size ? TP_COMPARE(x->size, y->size) : TP_COMPARE(x, y);
}

void tp_choosing_sort(struct tp_choosing *choosing, uint32_t count)
{
	qsort(choosing->order, count, sizeof(*choosing->order), compare_density);
}

// The most value of the COUNT items in `order` at a level, within LEFT of one limit.
static double most(struct tp_choosing *choosing, uint32_t count, enum tp_category level,
    enum tp_limit limit, double left)
{
	double value = 0;
	if (left == INFINITY) {
		for (uint32_t i = 0; i < count; i++)
			value += choosing->order[i]->value;
		return value;
	}
	for (uint32_t i = 0; i < count; i++)
		choosing->order[i]->size =
		    tp_choosing_size(choosing, choosing->order[i], level, limit);
	tp_choosing_sort(choosing, count);
	for (uint32_t i = 0; i < count && left > 0; i++) {
		const struct tp_choice *item = choosing->order[i];
		value += item->size <= left ? item->value : item->value * left / item->size;
		left -= item->size;
	}
	return value;
}

// The same within both limits: no more than either allows.
static double most_of_both(struct tp_choosing *choosing, uint32_t count, enum tp_category level,
    double left_ns, double left_bytes)
{
	const double by_time = most(choosing, count, level, TP_LIMIT_TIME, left_ns);
	const double by_log = most(choosing, count, level, TP_LIMIT_LOG, left_bytes);
	return by_time < by_log ? by_time : by_log;
}

double tp_choosing_bound(struct tp_choosing *choosing)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < choosing->count; i++)
		if (tp_choice_open(&choosing->items[i]) && choosing->items[i].value > 0)
			choosing->order[count++] = &choosing->items[i];
	return most_of_both(
	    choosing, count, TP_CATEGORY_ALLOW, choosing->left_ns, choosing->left_bytes);
}

double tp_choosing_sample_bound(struct tp_choosing *choosing)
{
	double left_ns = choosing->left_ns;
	double left_bytes = choosing->left_bytes;
	double value = 0;
	uint32_t count = 0;
	for (uint32_t i = 0; i < choosing->count; i++) {
		struct tp_choice *item = &choosing->items[i];
		if (item->calls <= 0 || tp_choice_has_events(item))
			continue;
		if (item->pinned) {
			value += item->level == TP_CATEGORY_SAMPLE ? item->value : 0;
			continue;
		}
		// What samples and counts of others take could be spent on other samples.
		if (item->level != TP_CATEGORY_SKIP) {
			left_ns += tp_choosing_size(choosing, item, item->level, TP_LIMIT_TIME);
			left_bytes += tp_choosing_size(choosing, item, item->level, TP_LIMIT_LOG);
		}
		if (item->value > 0)
			choosing->order[count++] = item;
	}
	if (choosing->options->sample_worth <= 0)
		return value;
	return value + most_of_both(choosing, count, TP_CATEGORY_SAMPLE, left_ns, left_bytes);
}
