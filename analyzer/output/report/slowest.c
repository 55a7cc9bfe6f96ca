// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The slowest calls of each function, and what was inside of them.
#define _GNU_SOURCE
#include "slowest.h"

#include "analyzer/output/report/report.h"
#include "analyzer/profile/around/kept_calls.h"
#include "analyzer/profile/calls.h"
#include "common/array.h"
#include "common/varint.h"

#include <stdlib.h>
#include <string.h>

bool tp_report_slowest_init(
    struct tp_report_slowest *slowest, const struct tp_analysis *analysis, uint32_t most)
{
	const uint32_t all = analysis->function_count;
	struct tp_err why;
	*slowest = (struct tp_report_slowest){
	    .analysis = analysis,
	    .most = most,
	    .time = tp_analysis_check_parts(analysis, &why) ? TP_TIME_WALL : TP_TIME_CPU,
	    .slot_of = malloc(((size_t)all + 1) * sizeof(*slowest->slot_of)),
	};
	uint32_t known;
	slowest->functions = tp_report_heaviest(analysis, &known);
	if (!slowest->functions || !slowest->slot_of)
		return false;
	for (uint32_t i = 0; i < all; i++)
		slowest->slot_of[i] = UINT32_MAX;
	slowest->count = known < TP_REPORT_SLOWEST_FUNCTIONS ? known : TP_REPORT_SLOWEST_FUNCTIONS;
	slowest->count = most ? slowest->count : 0;
	slowest->left = known - slowest->count;
	for (uint32_t i = 0; i < slowest->count; i++)
		slowest->slot_of[slowest->functions[i]] = i;
	slowest->calls = calloc((size_t)slowest->count * most + 1, sizeof(*slowest->calls));
	slowest->call_counts = calloc((size_t)slowest->count + 1, sizeof(*slowest->call_counts));
	return slowest->calls && slowest->call_counts;
}

void tp_report_slowest_release(struct tp_report_slowest *slowest)
{
	free(slowest->functions);
	free(slowest->slot_of);
	free(slowest->calls);
	free(slowest->call_counts);
	free(slowest->below);
	*slowest = (struct tp_report_slowest){0};
}

void tp_report_slowest_start(struct tp_report_slowest *slowest)
{
	if (slowest->below)
		memset(slowest->below, 0, slowest->depths * sizeof(*slowest->below));
}

// A call ends behind all that it has made: those below it since its caller's last one.
static uint64_t count_inside(struct tp_report_slowest *slowest, uint32_t depth)
{
	const uint64_t before = slowest->depths;
	if (!TP_GROW(slowest->below, slowest->depths, depth + UINT64_C(2))) {
		slowest->failed = true;
		return 0;
	}
	if (slowest->depths > before)
		memset(slowest->below + before, 0,
		    (slowest->depths - before) * sizeof(*slowest->below));
	const uint64_t inside = slowest->below[depth + 1];
	slowest->below[depth + 1] = 0;
	slowest->below[depth] += inside + 1;
	return inside;
}

// Longer ones come first, and of equals that which began first.
static bool is_slower(
    const struct tp_report_slow_call *a, const struct tp_report_slow_call *b, enum tp_time time)
{
	const uint64_t of_a = tp_call_part(&a->call, time);
	const uint64_t of_b = tp_call_part(&b->call, time);
	if (of_a != of_b)
		return of_a > of_b;
	if (a->call.start != b->call.start)
		return a->call.start < b->call.start;
	return a->thread < b->thread || (a->thread == b->thread && a->call.id < b->call.id);
}

void tp_report_slowest_add(struct tp_report_slowest *slowest, uint32_t function, uint32_t thread,
    const struct tp_call *call)
{
	if (!slowest->count)
		return;
	const uint64_t inside = count_inside(slowest, call->depth);
	const uint32_t slot = slowest->slot_of[function];
	if (slot == UINT32_MAX)
		return;
	struct tp_report_slow_call *calls = &slowest->calls[(size_t)slot * slowest->most];
	uint32_t *count = &slowest->call_counts[slot];
	if (*count == slowest->most && tp_call_part(call, slowest->time) <
					   tp_call_part(&calls[*count - 1].call, slowest->time))
		return;
	const struct tp_report_slow_call it = {
	    .call = *call, .inside = inside, .thread = thread, .track = UINT32_MAX};
	uint32_t at = *count;
	while (at && is_slower(&it, &calls[at - 1], slowest->time))
		at--;
	if (at == slowest->most)
		return;
	*count += *count < slowest->most;
	memmove(&calls[at + 1], &calls[at], (*count - at - 1) * sizeof(*calls));
	calls[at] = it;
}

// ---- windows

// Those of a thread that are in no other one, in order of time.
struct windows {
	struct tp_report_slow_call **items;
	uint64_t count;
	uint64_t capacity;
};

struct ranked {
	struct tp_report_slow_call *call;
	uint32_t rank;
};

static int compare_ranked(const void *a, const void *b)
{
	const struct ranked *x = a;
	const struct ranked *y = b;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	if (x->call->inside != y->call->inside)
		return x->call->inside < y->call->inside ? -1 : 1;
	return x->call < y->call ? -1 : x->call > y->call;
}

// Have CALL among the windows, if all inside of it fits into the *ROOM. False: no memory.
static bool choose(struct windows *windows, struct tp_report_slow_call *call, uint64_t *room)
{
	const struct tp_call *it = &call->call;
	uint64_t first =
	    TP_LOWER_BOUND(UINT64_C(0), windows->count, i, windows->items[i]->call.end < it->start);
	for (uint64_t i = first; i < windows->count && windows->items[i]->call.start <= it->end;
	     i++)
		if (tp_call_is_inside(it, &windows->items[i]->call)) {
			call->full = true;
			return true;
		}
	while (first < windows->count && !tp_call_is_inside(&windows->items[first]->call, it) &&
	       windows->items[first]->call.start < it->start)
		first++;
	uint64_t end = first;
	uint64_t there = 0;
	for (; end < windows->count && tp_call_is_inside(&windows->items[end]->call, it); end++)
		there += windows->items[end]->inside + 1;
	const uint64_t needed = call->inside + 1 > there ? call->inside + 1 - there : 0;
	if (needed > *room)
		return true;
	if (!TP_GROW(windows->items, windows->capacity, windows->count + 1))
		return false;
	memmove(&windows->items[first + 1], &windows->items[end],
	    (windows->count - end) * sizeof(struct tp_report_slow_call *));
	windows->items[first] = call;
	windows->count -= end - first;
	windows->count++;
	*room -= needed;
	call->full = true;
	return true;
}

// Collects the calls inside of the windows of one thread.
struct collector {
	const struct windows *windows;
	uint64_t at; // the first that has not ended
	const struct tp_report_tree *tree;
	const struct tp_report_time *time;
	const uint32_t *of_node; // path of each node
	uint32_t node_count;
	uint32_t track;
	struct tp_report_call *calls;
	uint64_t count;
	uint64_t capacity;
	uint64_t hidden;
	bool failed;
	struct tp_call_sink sink;
};

static bool is_in_window(struct collector *collector, const struct tp_call *call)
{
	const struct windows *windows = collector->windows;
	while (
	    collector->at < windows->count && windows->items[collector->at]->call.end < call->end)
		collector->at++;
	collector->sink.stop = collector->at == windows->count;
	for (uint64_t i = collector->at;
	     i < windows->count && windows->items[i]->call.start <= call->end; i++)
		if (tp_call_is_inside(call, &windows->items[i]->call))
			return true;
	return false;
}

static void collect(void *context, const struct tp_call *call)
{
	struct collector *collector = context;
	if (!is_in_window(collector, call))
		return;
	const struct tp_report_item *items = collector->tree->items;
	const uint32_t item = call->node < collector->node_count
				  ? collector->tree->of_path[collector->of_node[call->node]]
				  : 0;
	if (!item || items[item].function == TP_REPORT_SMALLER ||
	    items[item].depth > TP_REPORT_ROWS) {
		collector->hidden++;
		return;
	}
	if (!TP_GROW(collector->calls, collector->capacity, collector->count + 1)) {
		collector->failed = collector->sink.stop = true;
		return;
	}
	const uint64_t from = collector->time->from;
	const uint64_t start = call->start > from ? call->start - from : 0;
	collector->calls[collector->count++] = (struct tp_report_call){
	    .start = start,
	    .duration = (call->end > from ? call->end - from : 0) - start,
	    .item = item,
	    .thread = collector->track,
	};
}

// Whether one of the longest calls is in a window, and so was collected as well. CALLS of no time
// are not among the longest.
static bool is_there(const struct windows *windows, const struct tp_report_time *time,
    const struct tp_report_tree *tree, const uint32_t *of_path_of,
    const struct tp_report_call *call)
{
	const uint64_t start = call->start + time->from;
	const uint64_t end = start + call->duration;
	const uint64_t at =
	    TP_LOWER_BOUND(UINT64_C(0), windows->count, i, windows->items[i]->call.end <= start);
	if (at == windows->count)
		return false;
	const struct tp_report_slow_call *window = windows->items[at];
	const uint32_t own = tree->of_path[of_path_of[window->call.node]];
	if (window->call.start > start || window->call.end < end)
		return false;
	// A caller of the window's call may take as long as that.
	return tree->items[call->item].depth > tree->items[own].depth || call->item == own;
}

// Mark what can be drawn at all, and choose.
static bool choose_all(struct tp_report_slowest *slowest, struct windows *of_threads,
    const struct tp_report_time *time, const uint32_t *threads, uint64_t room)
{
	struct ranked *order =
	    malloc(((size_t)slowest->count * slowest->most + 1) * sizeof(*order));
	uint64_t count = 0;
	for (uint32_t i = 0; order && i < slowest->count; i++)
		for (uint32_t j = 0; j < slowest->call_counts[i]; j++) {
			struct tp_report_slow_call *it =
			    &slowest->calls[(size_t)i * slowest->most + j];
			const uint32_t track =
			    TP_LOWER_BOUND(0U, time->track_count, k, threads[k] < it->thread);
			if (track < time->track_count && threads[track] == it->thread)
				it->track = track;
			// A call that was paused is no rectangle; where stacks move, what ends
			// inside may be of another one.
			if (it->track != UINT32_MAX && !it->call.away &&
			    it->call.end - it->call.start == it->call.duration &&
			    !slowest->analysis->threads[it->thread].moves)
				order[count++] = (struct ranked){it, j};
		}
	bool ok = order != NULL;
	if (ok)
		qsort(order, count, sizeof(*order), compare_ranked);
	for (uint64_t i = 0; ok && i < count; i++)
		ok = choose(&of_threads[order[i].call->track], order[i].call, &room);
	free(order);
	return ok;
}

// The longest that are in no window, and those inside of windows, as one list.
static bool join(struct collector *collector, struct tp_report_time *time,
    const struct tp_paths *paths, const uint32_t *threads, const struct windows *of_threads)
{
	uint32_t kept = 0;
	for (uint32_t i = 0; i < time->call_count; i++) {
		const struct tp_report_call *call = &time->calls[i];
		if (!is_there(&of_threads[call->thread], time, collector->tree,
			paths->of_node[threads[call->thread]], call))
			time->calls[kept++] = *call;
	}
	const size_t all = (size_t)kept + collector->count;
	struct tp_report_call *calls = realloc(time->calls, (all + 1) * sizeof(*calls));
	if (!calls)
		return false;
	if (collector->count)
		memcpy(&calls[kept], collector->calls, collector->count * sizeof(*calls));
	tp_report_calls_sort(calls, all);
	time->calls = calls;
	time->call_count = (uint32_t)all;
	return true;
}

bool tp_report_slowest_finish(struct tp_report_slowest *slowest, const struct tp_paths *paths,
    const struct tp_report_tree *tree, struct tp_report_time *time, const uint32_t *threads,
    uint64_t room)
{
	const uint64_t most = UINT32_MAX / 2;
	struct windows *of_threads = calloc((size_t)time->track_count + 1, sizeof(*of_threads));
	struct collector collector = {.tree = tree, .time = time};
	bool ok = of_threads && !slowest->failed &&
		  choose_all(slowest, of_threads, time, threads, room < most ? room : most);
	for (uint32_t i = 0; ok && i < time->track_count; i++) {
		if (!of_threads[i].count)
			continue;
		struct tp_err damage;
		collector.windows = &of_threads[i];
		collector.at = 0;
		collector.track = i;
		collector.of_node = paths->of_node[threads[i]];
		collector.node_count = slowest->analysis->threads[threads[i]].profile.node_count;
		collector.sink = (struct tp_call_sink){.context = &collector, .leave = collect};
		ok = tp_calls_each(slowest->analysis, threads[i], &collector.sink, &damage) !=
			 TP_ERR_MEMORY &&
		     !collector.failed;
	}
	ok = ok && join(&collector, time, paths, threads, of_threads);
	slowest->hidden = collector.hidden;
	for (uint32_t i = 0; i < slowest->count; i++)
		for (uint32_t j = 0; j < slowest->call_counts[i]; j++)
			slowest->part += !slowest->calls[(size_t)i * slowest->most + j].full;
	for (uint32_t i = 0; of_threads && i < time->track_count; i++)
		free(of_threads[i].items);
	free(of_threads);
	free(collector.calls);
	return ok;
}

void tp_report_slowest_write(
    const struct tp_report_slowest *slowest, const struct tp_report_time *time, struct tp_buf *out)
{
	const struct tp_timebase *base = &slowest->analysis->time;
	tp_varint_add(out, slowest->most);
	tp_varint_add(out, slowest->left);
	tp_varint_add(out, slowest->time == TP_TIME_CPU);
	tp_varint_add(out, slowest->count);
	for (uint32_t i = 0; i < slowest->count; i++) {
		const struct tp_report_slow_call *calls =
		    &slowest->calls[(size_t)i * slowest->most];
		const uint32_t count = slowest->call_counts[i];
		tp_varint_add(out, slowest->functions[i]);
		tp_varint_add(out, count);
		for (uint32_t j = 0; j < count; j++)
			tp_varint_add(out, (calls[j].track + UINT64_C(1)) & UINT32_MAX);
		for (uint32_t j = 0; j < count; j++)
			tp_varint_add(
			    out, calls[j].call.start > time->from
				     ? tp_timebase_ns(base, calls[j].call.start - time->from)
				     : 0);
		for (uint32_t j = 0; j < count; j++)
			tp_varint_add(out, tp_timebase_ns(base, calls[j].call.duration));
		for (uint32_t j = 0; j < count; j++)
			tp_varint_add(out, calls[j].inside);
		for (uint32_t j = 0; j < count; j++)
			tp_varint_add(out, calls[j].full);
		for (uint32_t j = 0; j < count; j++)
			tp_varint_add(
			    out, tp_timebase_ns(base, tp_call_part(&calls[j].call, TP_TIME_CPU)));
	}
}
