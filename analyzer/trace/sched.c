// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// When the threads of a trace had no processor.
#include "sched.h"

#include "common/array.h"

#include <stdlib.h>
#include <string.h>

int tp_sched_read_add(struct tp_sched_read *sched, const void *payload, uint64_t size)
{
	struct teeperf_trace_sched section;
	const uint64_t item = sizeof(*sched->switches);
	if (size < sizeof(section) || (size - sizeof(section)) % item)
		return TP_ERR_FORMAT;
	memcpy(&section, payload, sizeof(section));
	const uint64_t count = (size - sizeof(section)) / item;
	if (count && !TP_GROW(sched->switches, sched->capacity, sched->count + count))
		return TP_ERR_MEMORY;
	if (count)
		memcpy(sched->switches + sched->count, (const char *)payload + sizeof(section),
		    count * item);
	sched->count += count;
	sched->any = true;
	sched->lost =
	    sched->lost + section.lost < sched->lost ? UINT64_MAX : sched->lost + section.lost;
	if (section.from_ns > sched->from_ns)
		sched->from_ns = section.from_ns;
	return 0;
}

void tp_sched_read_release(struct tp_sched_read *sched)
{
	free(sched->switches);
	sched->switches = NULL;
	sched->count = sched->capacity = 0;
}

// By thread, then by time; a processor that is lost and got at one time was lost first.
static int compare(const void *a, const void *b)
{
	const struct teeperf_trace_sched_switch *x = a;
	const struct teeperf_trace_sched_switch *y = b;
	if (x->os_tid != y->os_tid)
		return x->os_tid < y->os_tid ? -1 : 1;
	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return (x->kind == TEEPERF_SCHED_ON) - (y->kind == TEEPERF_SCHED_ON);
}

// The trace's clock.
struct clock {
	struct tp_timebase base;
	const struct teeperf_trace_point *points;
	uint32_t count;
	/* ticks of a soft clock come at the pace of its thread, not along one line */
	bool by_points;
};

static uint64_t along(
    uint64_t ns, const struct teeperf_trace_point *from, uint64_t ns_of, uint64_t ticks_of)
{
	const bool before = ns < from->monotonic_ns;
	const uint64_t off = before ? from->monotonic_ns - ns : ns - from->monotonic_ns;
	const unsigned __int128 exact = ((unsigned __int128)off * ticks_of + ns_of / 2) / ns_of;
	const uint64_t ticks = exact > UINT64_MAX ? UINT64_MAX : (uint64_t)exact;
	if (before)
		return ticks < from->ticks ? from->ticks - ticks : 0;
	return ticks < UINT64_MAX - from->ticks ? from->ticks + ticks : UINT64_MAX;
}

// The last point that is not behind NS, the first one at least.
static uint32_t find_point(const struct clock *clock, uint64_t ns)
{
	uint32_t low = 0;
	uint32_t high = clock->count - 1;
	while (low < high) {
		const uint32_t middle = low + (high - low + 1) / 2;
		if (clock->points[middle].monotonic_ns <= ns)
			low = middle;
		else
			high = middle - 1;
	}
	return low;
}

static uint64_t to_ticks(const struct clock *clock, uint64_t ns)
{
	const struct teeperf_trace_point *first = clock->points;
	if (!clock->by_points || ns < first->monotonic_ns)
		return along(ns, first, clock->base.ns, clock->base.ticks);
	const uint32_t i = find_point(clock, ns);
	const struct teeperf_trace_point *at = &clock->points[i];
	if (i + 1 == clock->count || at[1].monotonic_ns <= at->monotonic_ns ||
	    at[1].ticks < at->ticks)
		return along(ns, at, clock->base.ns, clock->base.ticks);
	return along(ns, at, at[1].monotonic_ns - at->monotonic_ns, at[1].ticks - at->ticks);
}

// The stretches of the thread whose COUNT switches begin at SWITCHES. Returns how many they are.
static uint32_t make_stretches(const struct teeperf_trace_sched_switch *switches, uint64_t count,
    const struct tp_sched_read *sched, const struct clock *clock, uint64_t lived,
    struct tp_off_stretch *stretches, uint64_t *end)
{
	uint32_t made = 0;
	uint64_t last = 0;
	// Where the first word is that it got a processor, it waited for that.
	uint64_t off_ns = sched->from_ns;
	bool is_off = true;
	bool preempted = false;
	for (uint64_t i = 0; i < count; i++) {
		const struct teeperf_trace_sched_switch *at = &switches[i];
		const bool early = at->time_ns < sched->from_ns;
		if (early || at->kind != TEEPERF_SCHED_ON) {
			// Twice in a row: that it came back between was lost, so only the latter
			// counts.
			is_off = at->kind != TEEPERF_SCHED_ON;
			off_ns = early ? sched->from_ns : at->time_ns;
			preempted = at->kind == TEEPERF_SCHED_PREEMPTED;
			continue;
		}
		if (!is_off)
			continue;
		is_off = false;
		uint64_t from = to_ticks(clock, off_ns);
		from = from > last ? from : last;
		const uint64_t to = to_ticks(clock, at->time_ns);
		if (to > from)
			stretches[made++] = (struct tp_off_stretch){from, to, preempted};
		last = to > last ? to : last;
	}
	// Where it last lost the processor nothing follows; or its coming back was lost, and it is
	// not known how long that took.
	*end = is_off ? to_ticks(clock, off_ns) : UINT64_MAX;
	const uint64_t from = *end > last ? *end : last;
	if (is_off && from < lived && !sched->lost)
		stretches[made++] = (struct tp_off_stretch){from, lived, preempted};
	return made;
}

// Where threads with this number ended, among COUNT switches. Returns how often that was.
static uint32_t make_ends(const struct teeperf_trace_sched_switch *switches, uint64_t count,
    const struct clock *clock, uint64_t *ends)
{
	uint32_t made = 0;
	for (uint64_t i = 0; i < count; i++)
		if (switches[i].kind == TEEPERF_SCHED_ENDED)
			ends[made++] = to_ticks(clock, switches[i].time_ns);
	return made;
}

int tp_sched_read_finish(struct tp_sched_read *sched, const struct teeperf_trace_clock *trace_clock,
    const struct teeperf_trace_point *points, uint64_t lived, struct tp_arena *arena)
{
	struct clock clock = {.points = points,
	    .count = trace_clock->point_count,
	    .by_points = TEEPERF_CLOCK_IS_SOFT(trace_clock->kind)};
	tp_timebase_init(&clock.base, trace_clock, points);
	// Without a common point of time they are of no use.
	if (!clock.base.has_origin || !sched->count)
		return 0;
	sched->from = to_ticks(&clock, sched->from_ns);
	qsort(sched->switches, sched->count, sizeof(*sched->switches), compare);
	uint32_t threads = 0;
	uint64_t end_count = 0;
	for (uint64_t i = 0; i < sched->count; i++) {
		end_count += sched->switches[i].kind == TEEPERF_SCHED_ENDED;
		threads += !i || sched->switches[i].os_tid != sched->switches[i - 1].os_tid;
	}
	sched->threads = tp_arena_alloc(arena, threads * sizeof(*sched->threads));
	struct tp_off_stretch *stretches =
	    tp_arena_alloc(arena, (sched->count + threads) * sizeof(*stretches));
	uint64_t *ends = tp_arena_alloc(arena, (end_count + 1) * sizeof(*ends));
	if (!sched->threads || !stretches || !ends)
		return TP_ERR_MEMORY;
	for (uint64_t i = 0; i < sched->count;) {
		uint64_t end = i;
		while (
		    end < sched->count && sched->switches[end].os_tid == sched->switches[i].os_tid)
			end++;
		struct tp_sched_thread *thread = &sched->threads[sched->thread_count++];
		const uint32_t made = make_stretches(
		    &sched->switches[i], end - i, sched, &clock, lived, stretches, &thread->end);
		thread->os_tid = sched->switches[i].os_tid;
		thread->off = (struct tp_off_list){stretches, made};
		stretches += made;
		thread->ends = ends;
		thread->end_count = make_ends(&sched->switches[i], end - i, &clock, ends);
		ends += thread->end_count;
		i = end;
	}
	return 0;
}

const struct tp_sched_thread *tp_sched_find(const struct tp_sched_read *sched, uint64_t os_tid)
{
	uint32_t low = 0;
	uint32_t high = sched->thread_count;
	while (low < high) {
		const uint32_t middle = low + (high - low) / 2;
		if (sched->threads[middle].os_tid < os_tid)
			low = middle + 1;
		else
			high = middle;
	}
	return low < sched->thread_count && sched->threads[low].os_tid == os_tid
		   ? &sched->threads[low]
		   : NULL;
}

struct tp_off tp_off_between(
    const struct tp_off_list *list, uint32_t *at, uint64_t from, uint64_t to)
{
	struct tp_off off = {0};
	while (*at < list->count && list->items[*at].to <= from)
		++*at;
	for (uint32_t i = *at; i < list->count && list->items[i].from < to; i++) {
		const struct tp_off_stretch *item = &list->items[i];
		const uint64_t begin = item->from > from ? item->from : from;
		const uint64_t end = item->to < to ? item->to : to;
		*(item->preempted ? &off.preempted : &off.blocked) += end - begin;
	}
	return off;
}
