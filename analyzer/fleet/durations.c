// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How often calls were how long.
//
// Rejected: the histograms that an analysis has anyway, 16 buckets a doubling in ticks: up to 1/32 off, and once more as much when
// ticks become nanoseconds.
#include "durations.h"

#include "analyzer/profile/calls.h"
#include "analyzer/profile/workers.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 32 }; // buckets that are made at a time

struct collection {
	const struct tp_analysis *analysis;
	const struct tp_paths *paths;
	const uint32_t *function_slots;
	const uint32_t *path_slots;
	struct tp_durations *durations;
	pthread_mutex_t lock;
	double ns; // of a tick
};

// What a node of the thread's profile counts for.
struct place {
	uint32_t function;
	uint32_t path;
};

struct thread_sink {
	const struct collection *collection;
	struct place *places; // of each node
	uint32_t node_count;
	struct tp_duration_counts *slots;
	bool failed;
	struct tp_call_sink sink;
};

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

static void take_call(void *context, const struct tp_call *call)
{
	struct thread_sink *thread = context;
	if (call->node >= thread->node_count)
		return;
	const struct place *place = &thread->places[call->node];
	const double ns = (double)call->net * thread->collection->ns + 0.5;
	const uint32_t bucket = tp_fleet_bucket(ns < 9e18 ? (uint64_t)ns : UINT64_MAX / 2);
	bool ok = true;
	if (place->function != TP_FLEET_NO_SLOT)
		ok = count(&thread->slots[place->function], bucket, 1);
	if (place->path != TP_FLEET_NO_SLOT)
		ok = count(&thread->slots[place->path], bucket, 1) && ok;
	if (!ok)
		thread->failed = thread->sink.stop = true;
}

static bool find_places(struct thread_sink *sink, uint32_t t)
{
	const struct collection *all = sink->collection;
	const struct tp_thread_result *thread = &all->analysis->threads[t];
	sink->node_count = thread->profile.node_count;
	sink->places = calloc((size_t)sink->node_count + 1, sizeof(*sink->places));
	sink->slots = calloc((size_t)all->durations->slot_count + 1, sizeof(*sink->slots));
	if (!sink->places || !sink->slots)
		return false;
	for (uint32_t i = 0; i < sink->node_count; i++) {
		const uint32_t local = thread->profile.nodes[i].function;
		sink->places[i] = (struct place){TP_FLEET_NO_SLOT, TP_FLEET_NO_SLOT};
		if (local)
			sink->places[i] = (struct place){
			    all->function_slots[thread->functions[local]],
			    all->path_slots[all->paths->of_node[t][i]],
			};
	}
	return true;
}

static bool add_thread(struct collection *all, const struct thread_sink *sink)
{
	bool ok = true;
	pthread_mutex_lock(&all->lock);
	for (uint32_t i = 0; ok && i < all->durations->slot_count; i++) {
		const struct tp_duration_counts *from = &sink->slots[i];
		for (uint32_t b = 0; ok && b < from->size; b++)
			if (from->counts[b])
				ok = count(
				    &all->durations->slots[i], from->first + b, from->counts[b]);
	}
	pthread_mutex_unlock(&all->lock);
	return ok;
}

static int collect_thread(void *context, uint32_t t, struct tp_err *err)
{
	struct collection *all = context;
	const struct tp_thread_result *thread = &all->analysis->threads[t];
	struct thread_sink sink = {
	    .collection = all,
	    .sink = {.context = &sink, .leave = take_call},
	};
	int code = 0;
	if (!find_places(&sink, t))
		sink.failed = true;
	else
		code = tp_calls_each(all->analysis, t, &sink.sink, err);
	// What was analysed of a damaged thread is here.
	if (code == thread->code)
		code = 0;
	if (!code && (sink.failed || !add_thread(all, &sink)))
		code = tp_err_memory(err, all->analysis->trace->source.name);
	for (uint32_t i = 0; sink.slots && i < all->durations->slot_count; i++)
		free(sink.slots[i].counts);
	free(sink.slots);
	free(sink.places);
	return code;
}

int tp_durations_init(struct tp_durations *durations, const struct tp_analysis *analysis,
    const struct tp_paths *paths, const uint32_t *function_slots, const uint32_t *path_slots,
    uint32_t slot_count, struct tp_err *err)
{
	struct collection all = {
	    .analysis = analysis,
	    .paths = paths,
	    .function_slots = function_slots,
	    .path_slots = path_slots,
	    .durations = durations,
	    .lock = PTHREAD_MUTEX_INITIALIZER,
	    .ns = (double)analysis->time.ns / (double)analysis->time.ticks,
	};
	*durations = (struct tp_durations){
	    .slots = calloc((size_t)slot_count + 1, sizeof(*durations->slots)),
	    .slot_count = slot_count,
	};
	if (!durations->slots)
		return tp_err_memory(err, analysis->trace->source.name);
	return tp_workers_each(
	    analysis->thread_count, tp_workers_count(), collect_thread, &all, err);
}

void tp_durations_release(struct tp_durations *durations)
{
	for (uint32_t i = 0; durations->slots && i < durations->slot_count; i++)
		free(durations->slots[i].counts);
	free(durations->slots);
	*durations = (struct tp_durations){0};
}
