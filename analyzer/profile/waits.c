// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "waits.h"

#include "common/array.h"
#include "common/units.h"

#include <stdlib.h>

static int compare_causes(const void *a, const void *b)
{
	const struct tp_wait_row *x = a;
	const struct tp_wait_row *y = b;
	int order = TP_COMPARE(x->function, y->function);
	order = order ? order : TP_COMPARE(x->outside, y->outside);
	order = order ? order : TP_COMPARE(x->event->number, y->event->number);
	order = order ? order : TP_COMPARE(y->woken, x->woken);
	order = order ? order : TP_COMPARE(x->waker, y->waker);
	order = order ? order : TP_COMPARE(x->at_end, y->at_end);
	return order ? order : TP_COMPARE(x->waker_thread, y->waker_thread);
}

static int compare_times(const void *a, const void *b)
{
	const struct tp_wait_row *x = a;
	const struct tp_wait_row *y = b;
	int order = TP_COMPARE(y->total_ns, x->total_ns);
	order = order ? order : TP_COMPARE(y->count, x->count);
	return order ? order : compare_causes(x, y);
}

static uint32_t function_at(const struct tp_paths *paths, struct tp_system_place place)
{
	return place.path ? paths->items[place.path].function : TP_SYSTEM_NOBODY;
}

// Whether the thread that ended the wait had left its last call for good: whoever joins it waits
// for its end.
static bool is_at_end(const struct tp_system_item *item, const struct tp_analysis *analysis)
{
	const struct tp_tracefile *trace = analysis->trace;
	if (item->waker.thread == TP_SYSTEM_NOBODY || item->waker.path ||
	    !analysis->time.has_origin)
		return false;
	const uint64_t woken =
	    tp_timebase_find(&analysis->time, &trace->clock, trace->points, item->event->woken_ns);
	return analysis->threads[item->waker.thread].thread->ended &&
	       woken >= analysis->threads[item->waker.thread].last;
}

static struct tp_wait_row row_of(const struct tp_system_item *item,
    const struct tp_analysis *analysis, const struct tp_paths *paths)
{
	const struct teeperf_system_event *event = item->event;
	const bool woken = tp_system_event_woken(analysis, event);
	const uint64_t end = tp_add_capped(event->start_ns, event->duration_ns);
	return (struct tp_wait_row){
	    .event = event,
	    .function = function_at(paths, item->at),
	    .outside = item->at.thread == TP_SYSTEM_NOBODY,
	    .woken = woken,
	    .waker = function_at(paths, item->waker),
	    .waker_thread = item->waker.thread,
	    .at_end = woken && is_at_end(item, analysis),
	    .count = 1,
	    .total_ns = event->duration_ns,
	    .max_ns = event->duration_ns,
	    .late_ns = woken && event->woken_ns >= event->start_ns && event->woken_ns <= end
			   ? end - event->woken_ns
			   : 0,
	};
}

int tp_waits_init(struct tp_waits *waits, const struct tp_system_items *items,
    const struct tp_analysis *analysis, const struct tp_paths *paths, struct tp_err *err)
{
	const struct tp_system_list *list = &items->lists[TP_SYSTEM_WAITS];
	*waits = (struct tp_waits){.rows = malloc((list->count + 1) * sizeof(*waits->rows))};
	if (!waits->rows)
		return tp_err_memory(err, analysis->trace->source.name);
	for (uint64_t i = 0; i < list->count; i++) {
		waits->rows[i] = row_of(&items->items[list->numbers[i]], analysis, paths);
		waits->total_ns = tp_add_capped(waits->total_ns, waits->rows[i].total_ns);
	}
	qsort(waits->rows, list->count, sizeof(*waits->rows), compare_causes);
	for (uint64_t i = 0; i < list->count; i++) {
		const struct tp_wait_row *row = &waits->rows[i];
		struct tp_wait_row *sum = waits->count ? &waits->rows[waits->count - 1] : NULL;
		if (!sum || compare_causes(sum, row)) {
			waits->rows[waits->count++] = *row;
			continue;
		}
		sum->count++;
		sum->total_ns = tp_add_capped(sum->total_ns, row->total_ns);
		sum->late_ns = tp_add_capped(sum->late_ns, row->late_ns);
		sum->max_ns = row->max_ns > sum->max_ns ? row->max_ns : sum->max_ns;
	}
	qsort(waits->rows, waits->count, sizeof(*waits->rows), compare_times);
	return 0;
}

void tp_waits_release(struct tp_waits *waits)
{
	free(waits->rows);
	*waits = (struct tp_waits){0};
}
