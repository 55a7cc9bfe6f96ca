/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the parts of the chooser share: the choice so far, and the rest of the budget. */
#ifndef TP_CHOOSE_INTERNAL_H
#define TP_CHOOSE_INTERNAL_H

#include "allowlists/choose/choose.h"

struct tp_choosing {
	const struct tp_choose_options *options;
	struct tp_choice *items;
	uint32_t count;
	struct tp_choice **order; /* scratch: room for all items */
	double left_ns;
	double left_bytes;
};

/* Whether the item can still be raised: it runs, and nothing has been decided. */
static inline bool tp_choice_open(const struct tp_choice *item)
{
	return !item->pinned && item->level == TP_CATEGORY_SKIP && item->calls > 0;
}

static inline bool tp_choice_has_events(const struct tp_choice *item)
{
	return item->level == TP_CATEGORY_ALLOW || item->level == TP_CATEGORY_FORCE;
}

/* Whether a function of this level has code that records it. */
static inline bool tp_choice_has_code(enum tp_category level)
{
	return level != TP_CATEGORY_SKIP && level != TP_CATEGORY_FORBID;
}

/* Nanoseconds and bytes that the item takes at a level. */
double tp_choosing_ns(const struct tp_choosing *choosing, const struct tp_choice *item,
    enum tp_category level, uint32_t sample);
double tp_choosing_bytes(const struct tp_choice *item, enum tp_category level, uint32_t sample);

/* Whether raising the item to this level stays within the rest of the budget. */
bool tp_choosing_fits(
    const struct tp_choosing *choosing, const struct tp_choice *item, enum tp_category level);
void tp_choosing_set_to(struct tp_choosing *choosing, struct tp_choice *item,
    enum tp_category level, uint32_t sample, enum tp_reason reason);
void tp_choosing_set(struct tp_choosing *choosing, struct tp_choice *item, enum tp_category level,
    enum tp_reason reason);
/* What the level costs, as a part of the budget, time or log, of which it takes more. */
double tp_choosing_weight(
    const struct tp_choosing *choosing, const struct tp_choice *item, enum tp_category level);

/*
 * Events for the items that are open, such that their value is as large as can be; exactly, unless
 * that takes too long. 0 or TP_ERR_MEMORY.
 */
int tp_choosing_take_events(struct tp_choosing *choosing);
/* The value that no choice of events within the rest of the budget exceeds. */
double tp_choosing_bound(struct tp_choosing *choosing);
/* The value that no samples within the rest of the budget exceed when events have been chosen. */
double tp_choosing_sample_bound(struct tp_choosing *choosing);

enum tp_limit { TP_LIMIT_TIME, TP_LIMIT_LOG };

/* What the level takes of a budget above what leaving the item out does, in ns or bytes. */
double tp_choosing_size(const struct tp_choosing *choosing, const struct tp_choice *item,
    enum tp_category level, enum tp_limit limit);
/* `order` by value for each part of `size`, the COUNT first of it. */
void tp_choosing_sort(struct tp_choosing *choosing, uint32_t count);

/* The same as take_events with the path term; *covered is the value with it. */
int tp_choosing_take_paths(struct tp_choosing *choosing, double *covered);

#endif
