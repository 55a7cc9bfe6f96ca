// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How often calls were how long: the histograms of all nodes of the threads' profiles, added up.
//
// Rejected: to replay the trace once more with a sink for the calls: 'fleet add' took 1.7 times the
// instructions. The histograms that other analyses have, 16 buckets a doubling in ticks: up to 1/32
// off, and once more as much when ticks become nanoseconds.
#include "durations.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 32 }; // buckets that are made at a time

// Have BUCKET among the counts. False: no memory.
static bool reach(struct tp_duration_counts *to, uint32_t bucket)
{
	const uint32_t from = bucket / ROOM * ROOM;
	const uint32_t end = from + ROOM;
	const uint32_t first = to->size && to->first < from ? to->first : from;
	const uint32_t last = to->size && to->first + to->size > end ? to->first + to->size : end;
	uint64_t *counts = calloc(last - first, sizeof(*counts));
	if (!counts)
		return false;
	if (to->size)
		memcpy(counts + (to->first - first), to->counts, to->size * sizeof(*counts));
	free(to->counts);
	*to = (struct tp_duration_counts){counts, first, last - first};
	return true;
}

static bool count(struct tp_duration_counts *to, uint32_t bucket, uint64_t calls)
{
	if (bucket - to->first >= to->size && !reach(to, bucket))
		return false;
	to->counts[bucket - to->first] += calls;
	return true;
}

// A count that is full stands still: what its node has more calls than counts is its. Of several
// that are full the first one has it.
static uint64_t missing(const struct tp_node *node)
{
	const uint64_t counted = tp_histogram_total(&node->times);
	return node->calls > counted ? node->calls - counted : 0;
}

static bool add_node(struct tp_duration_counts *to, const struct tp_node *node)
{
	const struct tp_histogram *from = &node->times;
	bool full = false;
	for (uint32_t i = 0; i < tp_histogram_size(from); i++) {
		uint64_t calls = tp_histogram_at(from, i);
		if (!calls)
			continue;
		if (calls == UINT32_MAX && !full) {
			calls += missing(node);
			full = true;
		}
		if (!count(to, tp_histogram_first(from) + i, calls))
			return false;
	}
	return !tp_histogram_failed(from);
}

static bool add_thread(struct tp_durations *durations, const struct tp_analysis *analysis,
    const struct tp_paths *paths, const uint32_t *function_slots, const uint32_t *path_slots,
    uint32_t t)
{
	const struct tp_thread_result *thread = &analysis->threads[t];
	for (uint32_t i = 0; i < thread->profile.node_count; i++) {
		const struct tp_node *node = &thread->profile.nodes[i];
		if (!node->function)
			continue;
		const uint32_t function = function_slots[thread->functions[node->function]];
		const uint32_t path = path_slots[paths->of_node[t][i]];
		if (function != TP_FLEET_NO_SLOT && !add_node(&durations->slots[function], node))
			return false;
		if (path != TP_FLEET_NO_SLOT && !add_node(&durations->slots[path], node))
			return false;
	}
	return true;
}

int tp_durations_init(struct tp_durations *durations, const struct tp_analysis *analysis,
    const struct tp_paths *paths, const uint32_t *function_slots, const uint32_t *path_slots,
    uint32_t slot_count, struct tp_err *err)
{
	assert(analysis->options.fine_histograms);
	*durations = (struct tp_durations){
	    .slots = calloc((size_t)slot_count + 1, sizeof(*durations->slots)),
	    .slot_count = slot_count,
	};
	bool ok = durations->slots != NULL;
	for (uint32_t t = 0; ok && t < analysis->thread_count; t++)
		ok = add_thread(durations, analysis, paths, function_slots, path_slots, t);
	return ok ? 0 : tp_err_memory(err, analysis->trace->source.name);
}

void tp_durations_release(struct tp_durations *durations)
{
	for (uint32_t i = 0; durations->slots && i < durations->slot_count; i++)
		free(durations->slots[i].counts);
	free(durations->slots);
	*durations = (struct tp_durations){0};
}
