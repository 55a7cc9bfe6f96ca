// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The block "lanes": what the kernel did for the threads of the timeline.
#include "report.h"

#include "analyzer/profile/system.h"
#include "common/array.h"
#include "common/hash.h"
#include "common/index.h"
#include "common/varint.h"

#include <stdlib.h>
#include <string.h>

// Events that are drawn one by one, of all threads, the longest.
enum { EVENTS_MAX = 50000 };
// The viewer has their titles (viewer/lanes.js).
enum { LANE_CALLS, LANE_WAITS, LANE_BLOCKS, LANE_FAULTS, LANES };

struct work {
	struct tp_report *report;
	struct tp_system_items items;
	uint32_t *lane; // of each item: number of its thread here * LANES + LANE_..., or UINT32_MAX
	uint64_t *order; // numbers of items by lane, then by start
	uint64_t *begin; // of each lane in `order`, and one more
	uint64_t
	    before; // ns by which the first of those that are drawn begins ahead of the timeline
	const char **names;
	uint32_t name_count;
	uint32_t name_room;
	struct tp_index name_index;
	struct tp_arena arena;
	bool failed; // no memory for a name
};

static uint64_t cell_ticks(const struct tp_report_time *time)
{
	return time->width * (time->buckets / time->cells);
}

// Which of the report's threads; their count: none.
static uint32_t find_thread(const struct tp_report *report, uint32_t thread)
{
	const uint32_t at =
	    TP_LOWER_BOUND(0U, report->thread_count, i, report->threads[i] < thread);
	return at < report->thread_count && report->threads[at] == thread ? at
									  : report->thread_count;
}

static uint32_t find_lane(const struct tp_report *report, const struct tp_system_item *item)
{
	const struct tp_analysis *analysis = report->analysis;
	const uint64_t from = report->time.from;
	const uint64_t to = from + report->time.width * report->time.buckets;
	const uint32_t thread = find_thread(report, item->at.thread);
	if (thread == report->thread_count || item->start >= to ||
	    tp_timebase_ns(&analysis->time, item->start < from ? from - item->start : 0) >
		item->event->duration_ns)
		return UINT32_MAX;
	switch (item->event->kind) {
	case TEEPERF_SYSTEM_CALL:
		return thread * LANES +
		       (tp_system_event_waits(analysis, item->event) ? LANE_WAITS : LANE_CALLS);
	case TEEPERF_SYSTEM_BLOCK:
		return thread * LANES + LANE_BLOCKS;
	case TEEPERF_SYSTEM_FAULT:
		return thread * LANES + LANE_FAULTS;
	default:
		return UINT32_MAX;
	}
}

// Put the items into lanes, and find out which are long enough to be drawn.
static bool sort(struct work *work)
{
	struct tp_report *report = work->report;
	const struct tp_timebase *base = &report->analysis->time;
	const struct tp_system_item *items = work->items.items;
	const uint64_t count = work->items.count;
	const uint32_t lanes = report->thread_count * LANES;
	uint64_t *lengths = malloc((count + 1) * sizeof(*lengths));
	work->lane = malloc((count + 1) * sizeof(*work->lane));
	work->order = malloc((count + 1) * sizeof(*work->order));
	work->begin = calloc(lanes + UINT64_C(2), sizeof(*work->begin));
	const bool ok = lengths && work->lane && work->order && work->begin;
	uint64_t known = 0;
	for (uint64_t i = 0; ok && i < count; i++) {
		work->lane[i] = find_lane(report, &items[i]);
		if (work->lane[i] == UINT32_MAX) {
			report->events_elsewhere += items[i].event->kind <= TEEPERF_SYSTEM_BLOCK;
			continue;
		}
		work->begin[work->lane[i] + 2]++;
		lengths[known++] = items[i].event->duration_ns;
	}
	if (ok && known > EVENTS_MAX) {
		qsort(lengths, known, sizeof(*lengths), tp_compare_u64_descending);
		report->event_least = lengths[EVENTS_MAX] + 1;
	}
	for (uint32_t lane = 2; ok && lane < lanes + 2; lane++)
		work->begin[lane] += work->begin[lane - 1];
	for (uint64_t i = 0; ok && i < count; i++) {
		if (work->lane[i] == UINT32_MAX)
			continue;
		work->order[work->begin[work->lane[i] + 1]++] = i;
		if (items[i].event->duration_ns < report->event_least)
			continue;
		report->events_drawn++;
		const uint64_t from = report->time.from;
		const uint64_t before =
		    items[i].start < from ? tp_timebase_ns(base, from - items[i].start) : 0;
		work->before = before > work->before ? before : work->before;
	}
	free(lengths);
	return ok;
}

// The number of a name; those that were not there yet are added.
static uint32_t find_name(struct work *work, const char *text)
{
	uint32_t *slot = tp_index_first(&work->name_index, tp_hash_text(text));
	while (*slot && strcmp(work->names[*slot - 1], text) != 0)
		slot = tp_index_next(&work->name_index, slot);
	if (!*slot) {
		const char *copy = tp_arena_copy(&work->arena, text, strlen(text));
		if (!copy ||
		    !TP_GROW(work->names, work->name_room, work->name_count + UINT64_C(1))) {
			work->failed = true;
			return 0;
		}
		work->names[work->name_count++] = copy;
		*slot = work->name_count;
	}
	return *slot - 1;
}

// 0: in no call of the recording.
static uint64_t function_at(const struct tp_report *report, struct tp_system_place place)
{
	return place.path ? report->paths.items[place.path].function + UINT64_C(1) : 0;
}

static uint64_t start_of(const struct work *work, const struct tp_system_item *item)
{
	const struct tp_timebase *base = &work->report->analysis->time;
	const uint64_t from = work->report->time.from;
	return item->start < from ? work->before - tp_timebase_ns(base, from - item->start)
				  : work->before + tp_timebase_ns(base, item->start - from);
}

enum { START, DURATION, NAME, FUNCTION, BYTES, WOKEN, WAKER, WAKER_THREAD, COLUMNS };

static uint64_t value(struct work *work, const struct tp_system_item *item, int column)
{
	const struct tp_report *report = work->report;
	const struct teeperf_system_event *event = item->event;
	uint64_t bytes;
	char text[64];
	switch (column) {
	case START:
		return start_of(work, item);
	case DURATION:
		return event->duration_ns;
	case NAME:
		return find_name(
		    work, tp_system_item_name(report->analysis, event, item->sequential, text));
	case FUNCTION:
		return function_at(report, item->at);
	case BYTES:
		return tp_system_event_bytes(report->analysis, event, &bytes) ? bytes + 1 : 0;
	case WOKEN:
		return tp_system_event_woken(report->analysis, event) &&
			       event->woken_ns >= event->start_ns
			   ? event->woken_ns - event->start_ns + 1
			   : 0;
	case WAKER:
		return function_at(report, item->waker);
	default:
		return (find_thread(report, item->waker.thread) + UINT64_C(1)) %
		       (report->thread_count + UINT64_C(1));
	}
}

// How many were too short in each cell, and how long they took.
static bool add_short(const struct work *work, uint32_t lane, struct tp_buf *out)
{
	const struct tp_report_time *time = &work->report->time;
	uint64_t *sums = calloc(2 * (size_t)time->cells, sizeof(*sums));
	for (uint64_t i = work->begin[lane]; sums && i < work->begin[lane + 1]; i++) {
		const struct tp_system_item *item = &work->items.items[work->order[i]];
		if (item->event->duration_ns >= work->report->event_least)
			continue;
		const uint64_t after = item->start < time->from ? 0 : item->start - time->from;
		uint64_t *sum = &sums[2 * (after / cell_ticks(time))];
		sum[0]++;
		sum[1] += item->event->duration_ns;
	}
	for (uint32_t i = 0; sums && i < time->cells; i++) {
		tp_varint_add(out, sums[2 * i]);
		if (sums[2 * i])
			tp_varint_add(out, sums[2 * i + 1]);
	}
	free(sums);
	return sums != NULL;
}

static bool add_lane(struct work *work, uint32_t lane, struct tp_buf *out)
{
	const struct tp_system_item *items = work->items.items;
	const uint64_t least = work->report->event_least;
	const uint64_t begin = work->begin[lane];
	const uint64_t end = work->begin[lane + 1];
	uint64_t count = 0;
	for (uint64_t i = begin; i < end; i++)
		count += items[work->order[i]].event->duration_ns >= least;
	tp_varint_add(out, count);
	const int columns = lane % LANES == LANE_WAITS ? COLUMNS : WOKEN;
	for (int column = 0; column < columns && count; column++)
		for (uint64_t i = begin, last = 0; i < end; i++) {
			const struct tp_system_item *item = &items[work->order[i]];
			if (item->event->duration_ns < least)
				continue;
			const uint64_t it = value(work, item, column);
			tp_varint_add(out, it - last);
			last = column == START ? it : 0;
		}
	tp_varint_add(out, end - begin - count);
	return end - begin == count || add_short(work, lane, out);
}

bool tp_report_add_lanes(struct tp_report *report, struct tp_buf *out)
{
	struct work work = {.report = report};
	struct tp_buf lanes;
	struct tp_err err;
	tp_buf_init(&lanes);
	tp_arena_init(&work.arena);
	bool ok = !tp_system_items_init(&work.items, report->analysis, &report->paths, &err) &&
		  sort(&work) && tp_index_init(&work.name_index, EVENTS_MAX);
	for (uint32_t lane = 0; ok && lane < report->thread_count * LANES; lane++)
		ok = add_lane(&work, lane, &lanes);
	tp_varint_add(out, work.name_count);
	for (uint32_t i = 0; ok && i < work.name_count; i++) {
		tp_varint_add(out, strlen(work.names[i]));
		tp_buf_add_string(out, work.names[i]);
	}
	tp_varint_add(out, work.before);
	tp_buf_add(out, lanes.data, lanes.size);
	out->failed |= lanes.failed;
	tp_buf_release(&lanes);
	tp_arena_release(&work.arena);
	tp_index_release(&work.name_index);
	tp_system_items_release(&work.items);
	free(work.names);
	free(work.begin);
	free(work.order);
	free(work.lane);
	return ok && !work.failed;
}
