// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The table of views, and what they share.
#define _GNU_SOURCE
#include "view.h"

#include "analyzer/profile/pattern.h"
#include "common/array.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TP_VIEW(view) extern const struct tp_view view;
#include "views.inc"
#undef TP_VIEW
static const struct tp_view *const views[] = {
#define TP_VIEW(view) &view,
#include "views.inc"
#undef TP_VIEW
    NULL,
};

const struct tp_view *const *tp_views(void)
{
	return views;
}

const struct tp_view *tp_view_find(const char *name)
{
	for (size_t i = 0; views[i]; i++)
		if (strcmp(views[i]->name, name) == 0)
			return views[i];
	return NULL;
}

struct tp_analysis tp_view_as_recorded(const struct tp_analysis *analysis)
{
	struct tp_analysis recorded = *analysis;
	// The calls of the sums, whose times are without that, and no others.
	recorded.compensation.chooses = analysis->compensation.applied;
	recorded.compensation.applied = false;
	recorded.compensation.taken = recorded.compensation.missing = 0;
	return recorded;
}

const char *tp_view_unit(const struct tp_analysis *analysis)
{
	return analysis->timeless ? "none" : analysis->time.known ? "ns" : "ticks";
}

char *tp_view_time(const struct tp_analysis *analysis, char *text, uint64_t ticks)
{
	if (analysis->time.known)
		return tp_text_ns(text, tp_timebase_ns(&analysis->time, ticks));
	return tp_text_count(text, ticks);
}

const char *tp_view_thread_name(const struct tp_thread *thread)
{
	return thread->name[0] ? thread->name : "thread";
}

enum tp_sort tp_view_sort(const struct tp_analysis *analysis, enum tp_sort sort)
{
	return analysis->timeless && sort != TP_SORT_NAME ? TP_SORT_CALLS : sort;
}

static uint64_t rank_of(enum tp_sort sort, const struct tp_function *function)
{
	switch (sort) {
	case TP_SORT_SELF:
		return function->scaled_self;
	case TP_SORT_INCLUSIVE:
		return function->scaled_inclusive;
	case TP_SORT_CALLS:
		return function->calls;
	case TP_SORT_MIN:
		return function->min;
	case TP_SORT_MAX:
		return function->max;
	case TP_SORT_P50:
	case TP_SORT_P90:
	case TP_SORT_P99:
		return function->percentiles[sort - TP_SORT_P50];
	default:
		return 0;
	}
}

int tp_view_compare(enum tp_sort sort, const struct tp_function *a, const struct tp_function *b)
{
	const uint64_t p = tp_function_timed(a);
	const uint64_t q = tp_function_timed(b);
	// What has no times comes last, and then by calls.
	if (sort != TP_SORT_CALLS && sort != TP_SORT_NAME) {
		if (!p != !q)
			return p ? -1 : 1;
		sort = p ? sort : TP_SORT_CALLS;
	}
	int order = sort == TP_SORT_MEAN
			? TP_COMPARE((double)b->total / (double)q, (double)a->total / (double)p)
			: TP_COMPARE(rank_of(sort, b), rank_of(sort, a));
	order = order ? order : strcmp(a->symbol.name, b->symbol.name);
	order = order ? order : strcmp(a->symbol.module, b->symbol.module);
	return order ? order : TP_COMPARE(a->key.address, b->key.address);
}

static int mark(const struct tp_analysis *analysis, const struct tp_view_options *options,
    bool **marks, struct tp_err *err)
{
	const uint32_t count = analysis->function_count;
	const char *file = analysis->trace->source.name;
	struct tp_pattern pattern = {0};
	bool found = !options->function;
	*marks = calloc((size_t)count + 1, sizeof(**marks));
	if (!*marks)
		return tp_err_set(err, TP_ERR_MEMORY, file,
		    "out of memory while choosing among %" PRIu32 " functions", count);
	int code = options->function ? tp_pattern_init(&pattern, options->function, err) : 0;
	for (uint32_t i = 0; !code && i < count; i++) {
		(*marks)[i] = !options->function ||
			      tp_pattern_matches(&pattern, &analysis->functions[i].symbol);
		found |= (*marks)[i];
	}
	tp_pattern_release(&pattern);
	if (!code && !found)
		code = tp_pattern_fail(options->function, analysis, err);
	return code;
}

int tp_view_render(const struct tp_view *view, const struct tp_analysis *analysis,
    const struct tp_view_options *options, struct tp_buf *out, struct tp_err *err)
{
	bool *marks = NULL;
	int code = view->of == TP_VIEW_OF_ALL ? 0 : mark(analysis, options, &marks, err);
	if (!code)
		code = view->render(analysis, options, marks, out, err);
	free(marks);
	return code;
}

struct order {
	const struct tp_function *functions;
	enum tp_sort key;
};

static int compare_order(const void *a, const void *b, void *context)
{
	const struct order *order = context;
	return tp_view_compare(order->key, &order->functions[*(const uint32_t *)a],
	    &order->functions[*(const uint32_t *)b]);
}

uint32_t *tp_view_order(const struct tp_analysis *analysis, const struct tp_view_options *options,
    const bool *marks, uint32_t *count, struct tp_err *err)
{
	uint32_t *order = calloc((size_t)analysis->function_count + 1, sizeof(*order));
	*count = 0;
	for (uint32_t i = 0; order && i < analysis->function_count; i++)
		if (!marks || marks[i])
			order[(*count)++] = i;
	struct order by = {analysis->functions, tp_view_sort(analysis, options->sort)};
	if (*count)
		qsort_r(order, *count, sizeof(*order), compare_order, &by);
	if (!order)
		tp_err_set(err, TP_ERR_MEMORY, analysis->trace->source.name,
		    "out of memory while sorting %" PRIu32 " functions", analysis->function_count);
	return order;
}

char *tp_view_share(char text[TP_TEXT_NUMBER], uint64_t part, uint64_t all)
{
	snprintf(text, TP_TEXT_NUMBER, "%.1f%%", all ? (double)part * 100 / (double)all : 0.0);
	return text;
}
