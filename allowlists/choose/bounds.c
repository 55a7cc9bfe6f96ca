// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What no choice exceeds: functions taken in the order of their worth, the last one in part.
#include "allowlists/choose/internal.h"

#include <math.h>
#include <stdlib.h>

static int compare_density(const void *a, const void *b)
{
	const struct tp_choice *x = *(struct tp_choice *const *)a;
	const struct tp_choice *y = *(struct tp_choice *const *)b;
	const double left = x->value * y->size;
	const double right = y->value * x->size;
	if (left != right)
		return left > right ? -1 : 1;
	if (x->size != y->size)
		return x->size < y->size ? -1 : 1;
	return (x > y) - (x < y);
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
