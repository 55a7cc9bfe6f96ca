// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Exact percentiles of how long the calls of each function were.
//
// Rejected: all (function, duration) pairs in an array, sorted by function with a counting sort,
// and selection in each run: 8 bytes for each call, three passes over them, and twice the time for
// five million.
#include "percentiles.h"

#include "analyzer/profile/calls.h"
#include "analyzer/profile/workers.h"
#include "common/array.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SELECT_BITS 11 // of a value that selection looks at in one pass
#define NO_SLOT UINT32_MAX

static const double percentile_parts[TP_PERCENTILE_COUNT] = {0.5, 0.9, 0.99, 0.999};

// The values in one bucket of one function.
struct slot {
	uint64_t start; // in values
	uint64_t count; // that there are, by the histogram
	uint64_t taken; // of them, those that threads have been given a place for
	uint32_t bucket;
};

// Where a percentile of a function is.
struct place {
	uint64_t rank; // in its bucket, from 0 on
	uint32_t slot; // NO_SLOT: the value is known
};

// The values that are looked for in a function.
struct plan {
	struct slot slots[TP_PERCENTILE_COUNT];
	struct place places[TP_PERCENTILE_COUNT];
};

// Of a thread, function and slot: where its values go.
struct cursor {
	uint64_t at;
	uint64_t end;
	uint32_t bucket; // UINT32_MAX: not used
};

struct collection {
	const struct tp_analysis *analysis;
	const atomic_bool *give_up;
	struct plan *plans; // of each function
	uint64_t *values;   // less the lowest of its bucket
	uint64_t value_count;
	struct cursor **cursors; // of each thread, TP_PERCENTILE_COUNT for each of its functions
};

struct thread_sink {
	const struct collection *collection;
	const struct tp_profile *profile;
	struct cursor *cursors;
	uint64_t *values;
	struct tp_call_sink sink;
};

// The bucket of the value with this rank (from 1 on); *inside is its rank there, from 0 on.
static uint32_t bucket_of(const struct tp_histogram *histogram, uint64_t rank, uint64_t *inside)
{
	uint64_t below = 0;
	uint32_t at = 0;
	while (below + tp_histogram_at(histogram, at) < rank)
		below += tp_histogram_at(histogram, at++);
	*inside = rank - below - 1;
	return tp_histogram_first(histogram) + at;
}

// Plan what to look for in function number F.
static void plan_function(
    struct collection *collection, uint32_t f, struct tp_function_percentiles *to)
{
	const struct tp_function *function = &collection->analysis->functions[f];
	struct slot *slots = collection->plans[f].slots;
	struct place *places = collection->plans[f].places;
	uint32_t used = 0;
	to->calls = tp_histogram_total(&function->times);
	to->exact = !tp_histogram_failed(&function->times);
	for (int i = 0; i < TP_PERCENTILE_COUNT; i++) {
		slots[i].bucket = UINT32_MAX;
		places[i].slot = NO_SLOT;
	}
	for (int i = 0; to->calls && i < TP_PERCENTILE_COUNT; i++) {
		uint64_t rank = (uint64_t)ceil(percentile_parts[i] * (double)to->calls);
		rank = rank < 1 ? 1 : rank > to->calls ? to->calls : rank;
		const uint32_t bucket = bucket_of(&function->times, rank, &places[i].rank);
		const uint32_t count = tp_histogram_in(&function->times, bucket);
		to->values[i] = tp_histogram_percentile(
		    &function->times, percentile_parts[i], function->min, function->max);
		to->exact = to->exact && count != UINT32_MAX;
		if (tp_histogram_width(bucket) == 1 || count == UINT32_MAX)
			continue;
		uint32_t s = 0;
		while (s < used && slots[s].bucket != bucket)
			s++;
		if (s == used) {
			slots[used++] = (struct slot){
			    .start = collection->value_count, .count = count, .bucket = bucket};
			collection->value_count += count;
		}
		places[i].slot = s;
	}
}

// Give a thread its places: as many in each slot as its own histograms have there.
static bool plan_thread(struct collection *collection, uint32_t t)
{
	const struct tp_thread_result *thread = &collection->analysis->threads[t];
	const struct tp_profile *profile = &thread->profile;
	struct cursor *cursors =
	    calloc((size_t)profile->function_count * TP_PERCENTILE_COUNT + 1, sizeof(*cursors));
	collection->cursors[t] = cursors;
	if (!cursors)
		return false;
	for (uint32_t i = 1; i < profile->node_count; i++) {
		const struct tp_node *node = &profile->nodes[i];
		if (!node->function)
			continue;
		const struct plan *plan = &collection->plans[thread->functions[node->function]];
		struct cursor *own = &cursors[(size_t)node->function * TP_PERCENTILE_COUNT];
		for (int s = 0; s < TP_PERCENTILE_COUNT; s++)
			own[s].end += tp_histogram_in(&node->times, plan->slots[s].bucket);
	}
	for (uint32_t f = 1; f < profile->function_count; f++)
		for (int s = 0; s < TP_PERCENTILE_COUNT; s++) {
			struct cursor *cursor =
			    &cursors[(size_t)f * TP_PERCENTILE_COUNT + (size_t)s];
			cursor->bucket = UINT32_MAX;
			// A function that a filter has left without calls is none.
			if (!cursor->end)
				continue;
			struct slot *slot = &collection->plans[thread->functions[f]].slots[s];
			cursor->bucket = slot->bucket;
			cursor->at = slot->start + slot->taken;
			slot->taken += cursor->end;
			cursor->end += cursor->at;
			if (slot->taken > slot->count)
				cursor->end = cursor->at;
		}
	return true;
}

static void take_call(void *context, const struct tp_call *call)
{
	struct thread_sink *thread = context;
	const uint64_t time = call->chosen;
	const uint32_t bucket = tp_histogram_bucket(time);
	if (call->node >= thread->profile->node_count)
		return;
	struct cursor *cursor =
	    &thread->cursors[(size_t)thread->profile->nodes[call->node].function *
			     TP_PERCENTILE_COUNT];
	for (int i = 0; i < TP_PERCENTILE_COUNT; i++, cursor++)
		if (cursor->bucket == bucket && cursor->at < cursor->end) {
			thread->values[cursor->at++] = time - tp_histogram_low(bucket);
			break;
		}
	const atomic_bool *give_up = thread->collection->give_up;
	thread->sink.stop = give_up && atomic_load_explicit(give_up, memory_order_relaxed);
}

// A value of a part, before it is known whether the part fits its thread.
struct kept {
	uint64_t value;  // less the lowest of its bucket
	uint64_t cursor; // of the thread, where it goes
};

struct part_sink {
	const struct collection *collection;
	const struct tp_profile *profile; // of the thread
	const struct cursor *cursors;
	struct tp_calls_part *part;
	// Of each function of the part: its cursors in the thread, and what buckets they want. (A
	// copy: the cursors themselves move meanwhile.)
	struct wanted {
		uint64_t first;
		uint32_t buckets[TP_PERCENTILE_COUNT];
	} * wanted;
	uint32_t wanted_count;
	uint32_t wanted_capacity;
	struct kept *kept;
	uint64_t kept_count;
	uint64_t kept_capacity;
};

// Look at the functions that the part has called for the first time. False: no memory.
static bool add_wanted(struct part_sink *sink)
{
	const struct tp_profile *own = &sink->part->part.profile;
	if (!TP_GROW(sink->wanted, sink->wanted_capacity, own->function_count))
		return false;
	for (uint32_t i = sink->wanted_count; i < own->function_count; i++) {
		// 0, which is none, has no cursors in use.
		const uint32_t function =
		    tp_profile_function(sink->profile, own->functions[i].name);
		struct wanted *wanted = &sink->wanted[i];
		wanted->first = (uint64_t)function * TP_PERCENTILE_COUNT;
		for (int j = 0; j < TP_PERCENTILE_COUNT; j++)
			wanted->buckets[j] = function
						 ? sink->cursors[wanted->first + (uint64_t)j].bucket
						 : UINT32_MAX;
	}
	sink->wanted_count = own->function_count;
	return true;
}

static bool keep_value(struct part_sink *sink, uint64_t cursor, uint64_t value)
{
	if (!TP_GROW(sink->kept, sink->kept_capacity, sink->kept_count + 1))
		return false;
	sink->kept[sink->kept_count++] = (struct kept){value, cursor};
	return true;
}

static void take_part_call(void *context, const struct tp_call *call)
{
	struct part_sink *sink = context;
	const uint64_t time = call->chosen;
	const uint32_t bucket = tp_histogram_bucket(time);
	const uint32_t function = sink->part->part.profile.nodes[call->node].function;
	const atomic_bool *give_up = sink->collection->give_up;
	bool ok = function < sink->wanted_count || add_wanted(sink);
	const struct wanted *wanted = ok ? &sink->wanted[function] : NULL;
	for (uint32_t i = 0; ok && i < TP_PERCENTILE_COUNT; i++)
		if (wanted->buckets[i] == bucket) {
			ok = keep_value(sink, wanted->first + i, time - tp_histogram_low(bucket));
			break;
		}
	if (!ok || (give_up && atomic_load_explicit(give_up, memory_order_relaxed)))
		sink->part->part.unusual = true; // which ends it
}

// Give the values of a part their places. What does not fit is seen when the threads are done.
static void take_kept(struct thread_sink *thread, const struct part_sink *sink)
{
	for (uint64_t i = 0; i < sink->kept_count; i++) {
		struct cursor *cursor = &thread->cursors[sink->kept[i].cursor];
		if (cursor->at < cursor->end)
			thread->values[cursor->at++] = sink->kept[i].value;
	}
}

// COUNT parts behind the first one. Without memory for them it is one replay.
static int collect_parts(struct thread_sink *thread, uint32_t t, uint32_t count, struct tp_err *err)
{
	const struct tp_analysis *analysis = thread->collection->analysis;
	struct tp_calls_part *parts = calloc((size_t)count + 1, sizeof(*parts));
	struct part_sink *sinks = calloc((size_t)count + 1, sizeof(*sinks));
	for (uint32_t i = 0; parts && sinks && i < count; i++) {
		sinks[i] = (struct part_sink){
		    .collection = thread->collection,
		    .profile = thread->profile,
		    .cursors = thread->cursors,
		    .part = &parts[i],
		};
		parts[i].sink =
		    (struct tp_call_sink){.context = &sinks[i], .leave = take_part_call};
	}
	const int code =
	    tp_calls_each_apart(analysis, t, &thread->sink, parts, parts && sinks ? count : 0, err);
	for (uint32_t i = 0; parts && sinks && i < count; i++) {
		if (parts[i].joined)
			take_kept(thread, &sinks[i]);
		free(sinks[i].wanted);
		free(sinks[i].kept);
	}
	free(parts);
	free(sinks);
	return code;
}

static int collect_thread(void *context, uint32_t t, struct tp_err *err)
{
	struct collection *collection = context;
	const struct tp_thread_result *thread = &collection->analysis->threads[t];
	struct thread_sink sink = {
	    .collection = collection,
	    .profile = &thread->profile,
	    .cursors = collection->cursors[t],
	    .values = collection->values,
	    .sink = {.context = &sink, .leave = take_call},
	};
	const uint32_t parts = tp_calls_parts(collection->analysis, t, tp_workers_count());
	const int code = collect_parts(&sink, t, parts - 1, err);
	// What was analysed of a damaged thread is here.
	return code == thread->code ? 0 : code;
}

// Digit by digit from above.
uint64_t tp_select_value(const uint64_t *values, uint64_t count, uint64_t rank, uint32_t bits)
{
	uint64_t prefix = 0;
	while (bits) {
		const uint32_t shift = bits > SELECT_BITS ? bits - SELECT_BITS : 0;
		uint64_t counts[1 << SELECT_BITS] = {0};
		for (uint64_t i = 0; i < count; i++)
			if (values[i] >> bits == prefix)
				counts[values[i] >> shift & ((1U << (bits - shift)) - 1)]++;
		uint32_t digit = 0;
		while (digit < (1U << (bits - shift)) - 1 && rank >= counts[digit])
			rank -= counts[digit++];
		prefix = prefix << (bits - shift) | digit;
		bits = shift;
	}
	return prefix;
}

static void select_all(struct collection *collection, struct tp_percentiles *percentiles)
{
	for (uint32_t f = 0; f < percentiles->function_count; f++)
		for (int i = 0; i < TP_PERCENTILE_COUNT; i++) {
			const struct place *place = &collection->plans[f].places[i];
			if (place->slot == NO_SLOT)
				continue;
			const struct slot *slot = &collection->plans[f].slots[place->slot];
			const uint32_t bits =
			    (uint32_t)__builtin_ctzll(tp_histogram_width(slot->bucket));
			percentiles->functions[f].values[i] =
			    tp_histogram_low(slot->bucket) +
			    tp_select_value(
				collection->values + slot->start, slot->count, place->rank, bits);
		}
}

// Whether every value that was planned for has come: the file may have changed since it was
// analysed.
static bool is_complete(const struct collection *collection)
{
	for (uint32_t t = 0; t < collection->analysis->thread_count; t++) {
		const uint32_t locals = collection->analysis->threads[t].profile.function_count;
		for (size_t i = 0; i < (size_t)locals * TP_PERCENTILE_COUNT; i++)
			if (collection->cursors[t][i].at != collection->cursors[t][i].end)
				return false;
	}
	for (uint32_t f = 0; f < collection->analysis->function_count; f++)
		for (int i = 0; i < TP_PERCENTILE_COUNT; i++)
			if (collection->plans[f].slots[i].taken !=
			    collection->plans[f].slots[i].count)
				return false;
	return true;
}

int tp_percentiles_init(struct tp_percentiles *percentiles, const struct tp_analysis *analysis,
    const atomic_bool *give_up, struct tp_err *err)
{
	const size_t count = (size_t)analysis->function_count + 1;
	struct collection collection = {
	    .analysis = analysis,
	    .give_up = give_up,
	    .plans = calloc(count, sizeof(*collection.plans)),
	    .cursors = calloc((size_t)analysis->thread_count + 1, sizeof(*collection.cursors)),
	};
	const char *name = analysis->trace->source.name;
	*percentiles = (struct tp_percentiles){
	    .functions = calloc(count, sizeof(*percentiles->functions)),
	    .function_count = analysis->function_count,
	};
	bool ok = collection.plans && collection.cursors && percentiles->functions;
	for (uint32_t i = 0; ok && i < analysis->function_count; i++)
		plan_function(&collection, i, &percentiles->functions[i]);
	for (uint32_t i = 0; ok && i < analysis->thread_count; i++)
		ok = plan_thread(&collection, i);
	if (ok) {
		collection.values = calloc(collection.value_count + 1, sizeof(*collection.values));
		ok = collection.values != NULL;
	}
	int code = 0;
	if (!ok)
		code = tp_err_memory(err, name);
	else if (collection.value_count)
		code = tp_workers_each(
		    analysis->thread_count, tp_workers_count(), collect_thread, &collection, err);
	if (!code && give_up && atomic_load_explicit(give_up, memory_order_relaxed))
		code = tp_err_set(err, TP_ERR_LIMIT, name, "interrupted");
	else if (!code && !is_complete(&collection))
		code = tp_err_set(err, TP_ERR_FORMAT, name, "it changed while it was read");
	if (!code)
		select_all(&collection, percentiles);
	for (uint32_t i = 0; collection.cursors && i < analysis->thread_count; i++)
		free(collection.cursors[i]);
	free(collection.cursors);
	free(collection.plans);
	free(collection.values);
	return code;
}

void tp_percentiles_release(struct tp_percentiles *percentiles)
{
	free(percentiles->functions);
	*percentiles = (struct tp_percentiles){0};
}
