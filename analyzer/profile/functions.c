// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The functions of all threads together, from records and from counts.
#include "analysis_steps.h"
#include "measured_costs.h"

#include "common/hash.h"
#include "common/units.h"
#include "common/array.h"

#include <stdlib.h>
#include <string.h>

// Functions of records come first, whose low halves are known; then those that were only counted.
static int compare_keys(const void *a, const void *b)
{
	const struct tp_symbol_key *x = a;
	const struct tp_symbol_key *y = b;
	const int order = TP_COMPARE(y->low_half, x->low_half);
	return order ? order : TP_COMPARE(x->address, y->address);
}

static int compare_functions(const void *a, const void *b)
{
	const struct tp_function *x = a;
	const struct tp_function *y = b;
	return compare_keys(&x->key, &y->key);
}

static struct tp_function *find_function(
    const struct tp_analysis *analysis, uint64_t address, bool low_half)
{
	const struct tp_function wanted = {.key = {address, low_half}};
	return bsearch(&wanted, analysis->functions, analysis->function_count, sizeof(wanted),
	    compare_functions);
}

/*
 * The key of a function whose calls were counted at ADDRESS. If records name a function there, it
 * is that one, unless they may mean another module's; TIMED: the functions of records alone.
 */
static struct tp_symbol_key counted_key(const struct tp_analysis *analysis, uint64_t address)
{
	const uint32_t low = (uint32_t)address;
	const struct tp_symbol_key full = {.address = address};
	if (!find_function(analysis, low, true))
		return full;
	const uint64_t meant = tp_symbols_address(analysis->trace, low);
	const bool same = meant ? meant == address : !analysis->trace->module_count;
	return same ? (struct tp_symbol_key){.address = low, .low_half = true} : full;
}

bool tp_functions_begin(struct tp_analysis *analysis, struct tp_symbol_key *keys, uint64_t count)
{
	qsort(keys, count, sizeof(*keys), compare_keys);
	uint64_t kept = 0;
	for (uint64_t i = 0; i < count; i++)
		if (!i || compare_keys(&keys[kept - 1], &keys[i]) != 0)
			keys[kept++] = keys[i];
	const uint64_t before = analysis->function_count;
	struct tp_function *functions =
	    realloc(analysis->functions, (before + kept + 1) * sizeof(*functions));
	if (!functions)
		return false;
	for (uint64_t i = 0; i < kept; i++)
		functions[before + i] = (struct tp_function){.key = keys[i], .min = UINT64_MAX};
	analysis->functions = functions;
	analysis->function_count = (uint32_t)(before + kept);
	return true;
}

// Make the sorted list of all functions.
static bool list_functions(struct tp_analysis *analysis)
{
	uint64_t most = 0;
	for (uint32_t i = 0; i < analysis->thread_count; i++)
		most += analysis->threads[i].profile.function_count +
			(uint64_t)analysis->threads[i].calls.count;
	struct tp_symbol_key *keys = malloc((most ? most : 1) * sizeof(*keys));
	if (!keys)
		return false;
	uint64_t count = 0;
	for (uint32_t i = 0; i < analysis->thread_count; i++) {
		const struct tp_profile *profile = &analysis->threads[i].profile;
		for (uint32_t j = 1; j < profile->function_count; j++)
			keys[count++] = (struct tp_symbol_key){profile->functions[j].name, true};
	}
	bool ok = tp_functions_begin(analysis, keys, count);
	count = 0;
	for (uint32_t i = 0; ok && i < analysis->thread_count; i++) {
		const struct tp_call_counts *calls = &analysis->threads[i].calls;
		for (uint32_t j = 0; j < calls->count; j++) {
			const struct tp_symbol_key key = counted_key(
			    analysis, calls->items[j].address & ~TEEPERF_COUNTS_SAMPLED);
			if (!key.low_half)
				keys[count++] = key;
		}
	}
	ok = ok && tp_functions_begin(analysis, keys, count);
	free(keys);
	return ok;
}

// The thread's way into the list of functions.
static bool map_functions(const struct tp_analysis *analysis, struct tp_thread_result *thread)
{
	const uint32_t locals = thread->profile.function_count;
	thread->functions = calloc(locals ? locals : 1, sizeof(*thread->functions));
	if (!thread->functions)
		return false;
	for (uint32_t i = 1; i < locals; i++)
		thread->functions[i] =
		    (uint32_t)(find_function(analysis, thread->profile.functions[i].name, true) -
			       analysis->functions);
	return true;
}

// How many calls of the thread's functions have records, before any is left out; and which calls
// have none.
static bool add_recorded(struct tp_analysis *analysis, struct tp_thread_result *thread)
{
	const struct tp_profile *profile = &thread->profile;
	uint64_t *recorded = calloc((size_t)profile->function_count + 1, sizeof(*recorded));
	if (!recorded)
		return false;
	for (uint32_t i = 1; i < profile->node_count; i++)
		recorded[profile->nodes[i].function] +=
		    profile->nodes[i].calls + (profile->dropped ? profile->dropped[i] : 0);
	for (uint32_t i = 1; i < profile->function_count; i++) {
		struct tp_function *function = &analysis->functions[thread->functions[i]];
		function->recorded = tp_add_capped(function->recorded, recorded[i]);
		function->more += profile->functions[i].more;
	}
	for (uint32_t i = 0; i < thread->calls.count; i++) {
		const struct tp_call_count *item = &thread->calls.items[i];
		const struct tp_symbol_key key =
		    counted_key(analysis, item->address & ~TEEPERF_COUNTS_SAMPLED);
		struct tp_function *function = find_function(analysis, key.address, key.low_half);
		uint64_t calls = item->calls;
		if (item->address & TEEPERF_COUNTS_SAMPLED) {
			// The count has the calls with records, too; but some of it may have been
			// lost.
			const uint32_t local =
			    key.low_half && profile->names.slots
				? tp_profile_function(profile, (uint32_t)key.address)
				: 0;
			const uint64_t both = calls < recorded[local] ? calls : recorded[local];
			function->sampled = tp_add_capped(function->sampled, calls);
			recorded[local] -= both;
			calls -= both;
			function->not_sampled = tp_add_capped(function->not_sampled, calls);
		} else {
			function->counted = tp_add_capped(function->counted, calls);
		}
		thread->call_count = tp_add_capped(thread->call_count, calls);
	}
	free(recorded);
	return true;
}

// In whose self time the recording of the node's calls lies.
static void add_costs(
    struct tp_analysis *analysis, const struct tp_thread_result *thread, const struct tp_node *node)
{
	const struct tp_profile *profile = &thread->profile;
	struct tp_function *function = &analysis->functions[thread->functions[node->function]];
	const uint32_t caller = profile->nodes[node->parent].function;
	const struct tp_compensation *constant = &analysis->compensation;
	// Without a time at its exits a function has a cost that no other can be measured by
	// (compensation.c).
	const bool untimed = profile->functions[node->function].untimed;
	const struct tp_measured_cost *cost = untimed ? NULL : function->cost;
	const double calls = (double)node->calls;
	const double out_off = calls * (cost ? cost->out_off_ps : (double)constant->out_off_ps);
	function->costs_off += calls * (cost ? cost->in_off_ps : (double)constant->in_off_ps);
	function->looks += node->calls;
	if (profile->waited)
		function->waited += profile->waited[node - profile->nodes];
	if (untimed) {
		function->costs_off += out_off;
	} else if (node->parent && caller) {
		analysis->functions[thread->functions[caller]].costs_off += out_off;
		analysis->functions[thread->functions[caller]].looks += node->calls;
	}
}

static void add_parts(
    struct tp_node_parts *to, const struct tp_profile *profile, uint32_t node, bool outermost)
{
	struct tp_node_parts counts = tp_profile_parts(profile, node);
	if (!outermost) {
		counts.inclusive_off = (struct tp_off){0};
		counts.inclusive_cpu = 0;
	}
	tp_node_parts_add(to, &counts);
}

// Add the thread's nodes to the functions. Inclusive time counts where no caller is the same one.
static void add_timed(struct tp_analysis *analysis, struct tp_thread_result *thread)
{
	struct tp_profile *profile = &thread->profile;
	uint32_t at = profile->node_count ? profile->first_child[0] : 0;
	if (profile->parts_of) {
		add_parts(&analysis->parts, profile, 0, true);
		analysis->with_parts++;
	}
	while (at) {
		const struct tp_node *node = &profile->nodes[at];
		struct tp_local_function *local = &profile->functions[node->function];
		struct tp_function *function =
		    &analysis->functions[thread->functions[node->function]];
		function->calls += node->calls;
		function->self += node->self;
		function->total += node->inclusive;
		if (local->active == 0)
			function->inclusive += node->inclusive;
		if (profile->parts_of)
			add_parts(&function->parts, profile, at, local->active == 0);
		function->has_no_parts |= !profile->parts_of;
		local->active++;
		if (node->min < function->min)
			function->min = node->min;
		if (node->max > function->max)
			function->max = node->max;
		if (profile->fine_ns == 0)
			tp_histogram_merge(&function->times, &node->times);
		analysis->self += node->self;
		add_costs(analysis, thread, node);

		// Down, else to the side, else up. No recursion: paths may be millions deep.
		if (profile->first_child[at]) {
			at = profile->first_child[at];
			continue;
		}
		while (at) {
			profile->functions[profile->nodes[at].function].active--;
			if (profile->next_sibling[at]) {
				at = profile->next_sibling[at];
				break;
			}
			at = profile->nodes[at].parent;
		}
	}
}

uint64_t tp_function_scaled(const struct tp_function *function, uint64_t ticks)
{
	const uint64_t timed = tp_function_timed(function);
	// A recorded call of a recursive function holds the calls of it that are not.
	if (!function->sampled || !timed || function->total != function->inclusive)
		return ticks;
	const double scaled = (double)ticks * ((double)function->calls / (double)timed);
	return scaled < 9e18 ? (uint64_t)scaled : UINT64_MAX / 2;
}

bool tp_analysis_tells_uncertainty(const struct tp_analysis *analysis)
{
	// Functions that are left out or merged into their callers have costs there, of which only
	// the sum is known.
	return analysis->compensation.applied && analysis->compensation.bounded &&
	       !analysis->least && !analysis->filtered &&
	       !tp_starvation_hides(&analysis->starvation);
}

static uint64_t uncertainty_of(
    const struct tp_analysis *analysis, const struct tp_function *function)
{
	if (!tp_function_timed(function) || !tp_analysis_tells_uncertainty(analysis) ||
	    analysis->options.time > TP_TIME_CPU)
		return UINT64_MAX;
	const uint64_t costs = tp_compensation_uncertainty(&analysis->compensation, &analysis->time,
	    function->costs_off, function->looks, function->waited);
	const double starved =
	    tp_starvation_uncertainty(&analysis->starvation, &analysis->time, function->self);
	return starved < 9e18 ? costs + (uint64_t)(starved + 0.5) : UINT64_MAX;
}

bool tp_functions_list(struct tp_analysis *analysis)
{
	bool ok = list_functions(analysis);
	for (uint32_t i = 0; ok && i < analysis->thread_count; i++)
		ok = map_functions(analysis, &analysis->threads[i]) &&
		     add_recorded(analysis, &analysis->threads[i]);
	return ok;
}

// Take functions without calls and paths off the list. No memory for that: they stay.
static void drop_unused(struct tp_analysis *analysis)
{
	uint32_t *moved = calloc((size_t)analysis->function_count + 1, sizeof(*moved));
	uint8_t *used = calloc((size_t)analysis->function_count + 1, sizeof(*used));
	if (!moved || !used)
		goto out;
	for (uint32_t i = 0; i < analysis->thread_count; i++) {
		const struct tp_thread_result *thread = &analysis->threads[i];
		for (uint32_t j = 1; j < thread->profile.node_count; j++)
			if (thread->profile.nodes[j].function)
				used[thread->functions[thread->profile.nodes[j].function]] = true;
	}
	uint32_t kept = 0;
	for (uint32_t i = 0; i < analysis->function_count; i++) {
		moved[i] = kept;
		if (analysis->functions[i].calls || used[i])
			analysis->functions[kept++] = analysis->functions[i];
		else
			tp_histogram_release(&analysis->functions[i].times);
	}
	analysis->function_count = kept;
	for (uint32_t i = 0; i < analysis->thread_count; i++) {
		struct tp_thread_result *thread = &analysis->threads[i];
		for (uint32_t j = 1; j < thread->profile.function_count; j++)
			thread->functions[j] = moved[thread->functions[j]];
	}
out:
	free(moved);
	free(used);
}

// The bytes at AT that a build adds to a name: ".llvm.123", ".__uniq.123", and
// "17h0123456789abcdef" before the "E" that ends a name in Rust's legacy mangling. 0: none.
static size_t added_by_build(const char *at)
{
	static const char *const marks[] = {".llvm.", ".__uniq."};
	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
		const size_t mark = strlen(marks[i]);
		const size_t digits =
		    strncmp(at, marks[i], mark) == 0 ? strspn(at + mark, "0123456789") : 0;
		if (digits)
			return mark + digits;
	}
	const bool rust = strncmp(at, "17h", 3) == 0 && strspn(at + 3, "0123456789abcdef") == 16 &&
			  strcmp(at + 19, "E") == 0;
	return rust ? 19 : 0;
}

int64_t tp_function_stable_key(const struct tp_function *function)
{
	const struct tp_symbol *symbol = &function->symbol;
	const bool named = symbol->linkage && *symbol->linkage;
	uint64_t hash = TEEPERF_HASH_START;
	const char *at = named ? symbol->linkage : symbol->name;
	while (*at) {
		const size_t added = added_by_build(at);
		at += added;
		if (!added)
			hash = tp_hash_bytes(hash, at++, 1);
	}
	hash = tp_hash_bytes(hash, "", 1);
	return (int64_t)tp_hash_string(hash, symbol->module ? symbol->module : "");
}

// A histogram that had no memory for some times has wrong percentiles: say so.
static void note_missing_times(struct tp_analysis *analysis)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < analysis->function_count; i++)
		count += tp_histogram_failed(&analysis->functions[i].times);
	if (count)
		tp_problems_add(&analysis->notes, TP_ERR_MEMORY, analysis->trace->source.name,
		    "out of memory for some times of %u functions; their percentiles leave "
		    "these out",
		    count);
}

/*
 * The number of chosen calls that CALLS calls with records stand for. Nothing shows which of the
 * calls without records would have been chosen: they are assumed to be distributed like those with
 * records.
 */
static uint64_t stands_for(
    const struct tp_analysis *analysis, const struct tp_function *function, uint64_t calls)
{
	// What has records outside of a range of times was not looked at.
	if (!function->not_sampled || !function->recorded || analysis->ranged)
		return calls;
	const double scaled =
	    (double)calls * (1 + (double)function->not_sampled / (double)function->recorded);
	const uint64_t rounded = scaled < 9e18 ? (uint64_t)(scaled + 0.5) : UINT64_MAX / 2;
	return rounded > calls ? rounded : calls;
}

// The calls of the thread, of those that were chosen. Differences, so that all threads make up the
// whole.
static void add_chosen(struct tp_analysis *analysis, struct tp_thread_result *thread)
{
	const struct tp_profile *profile = &thread->profile;
	thread->call_count = 0;
	for (uint32_t i = 1; i < profile->node_count; i++) {
		const struct tp_node *node = &profile->nodes[i];
		if (!node->function)
			continue;
		struct tp_function *function =
		    &analysis->functions[thread->functions[node->function]];
		const uint64_t before = stands_for(analysis, function, function->chosen);
		function->chosen += node->calls;
		thread->call_count += stands_for(analysis, function, function->chosen) - before;
	}
}

// What has no records cannot be chosen.
static void choose_calls(struct tp_analysis *analysis)
{
	for (uint32_t i = 0; i < analysis->thread_count; i++)
		add_chosen(analysis, &analysis->threads[i]);
	for (uint32_t i = 0; i < analysis->function_count; i++) {
		struct tp_function *function = &analysis->functions[i];
		const uint64_t all = stands_for(analysis, function, function->calls);
		if (analysis->ranged)
			analysis->unscaled_count += function->sampled != 0;
		else if (function->sampled && !function->recorded)
			function->counted += function->sampled;
		analysis->left_out_count += function->counted != 0;
		function->counted = all - function->calls;
		function->calls = all;
		function->sampled = function->sampled && !analysis->ranged ? all : 0;
	}
}

// All calls: those that were only counted, and those of sampled functions that have no records.
static void add_counted(struct tp_analysis *analysis)
{
	for (uint32_t i = 0; i < analysis->thread_count; i++) {
		struct tp_thread_result *thread = &analysis->threads[i];
		for (uint32_t j = 1; j < thread->profile.node_count; j++)
			thread->call_count =
			    tp_add_capped(thread->call_count, thread->profile.nodes[j].calls);
	}
	for (uint32_t i = 0; i < analysis->function_count; i++) {
		struct tp_function *function = &analysis->functions[i];
		const uint64_t timed = function->calls;
		function->calls = tp_add_capped(function->calls, function->counted);
		function->calls = tp_add_capped(function->calls, function->not_sampled);
		function->counted = function->calls - timed;
	}
}

void tp_functions_add(struct tp_analysis *analysis)
{
	static const double parts[] = {0.5, 0.9, 0.99};
	for (uint32_t i = 0; i < analysis->thread_count; i++)
		add_timed(analysis, &analysis->threads[i]);
	const bool chosen = analysis->filtered || analysis->ranged || analysis->least;
	if (chosen)
		choose_calls(analysis);
	else
		add_counted(analysis);
	for (uint32_t i = 0; i < analysis->function_count; i++) {
		struct tp_function *function = &analysis->functions[i];
		analysis->sampled_count += function->sampled != 0;
		function->scaled_self = tp_function_scaled(function, function->self);
		function->scaled_inclusive = tp_function_scaled(function, function->inclusive);
		function->uncertainty = uncertainty_of(analysis, function);
		analysis->scaled_self += function->scaled_self;
		analysis->counted_count += function->calls && tp_function_timed(function) == 0;
		for (uint32_t j = 0; j < sizeof(parts) / sizeof(parts[0]); j++)
			function->percentiles[j] = tp_histogram_percentile(
			    &function->times, parts[j], function->min, function->max);
	}
	note_missing_times(analysis);
	if (chosen)
		drop_unused(analysis);
}
