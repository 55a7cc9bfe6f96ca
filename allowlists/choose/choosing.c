// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The choice so far: what a level of a function takes of the budget, and what is left of it.
#include "allowlists/choose/internal.h"

// N of sample/N leaves so many recorded calls: their mean is then good to a few percent.
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
