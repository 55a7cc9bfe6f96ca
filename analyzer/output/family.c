// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The functions of several processes together.
#include "family.h"

#include "common/units.h"
#include "common/array.h"

#include <stdlib.h>
#include <string.h>

// A function of one member.
struct entry {
	const struct tp_function *function;
	const struct teeperf_module *module; // NULL: none
	uint32_t member;
};

static int compare_modules(const struct entry *a, const struct entry *b)
{
	const struct teeperf_module *x = a->module;
	const struct teeperf_module *y = b->module;
	int order = TP_COMPARE(x->build_id_size, y->build_id_size);
	if (order)
		return order;
	if (!x->build_id_size || x->build_id_size > sizeof(x->build_id))
		return strcmp(x->path, y->path);
	order = memcmp(x->build_id, y->build_id, x->build_id_size);
	return order ? order : strcmp(a->function->symbol.module, b->function->symbol.module);
}

// 0: they are one function.
static int compare_functions(const struct entry *a, const struct entry *b)
{
	const struct tp_symbol *x = &a->function->symbol;
	const struct tp_symbol *y = &b->function->symbol;
	int order = TP_COMPARE(!a->module, !b->module);
	if (!order && !a->module) {
		order = TP_COMPARE(a->member, b->member);
		return order ? order
			     : TP_COMPARE(a->function->key.address, b->function->key.address);
	}
	order = order ? order : compare_modules(a, b);
	order = order ? order : TP_COMPARE(x->address, y->address);
	return order ? order : strcmp(x->linkage, y->linkage);
}

static int compare(const void *a, const void *b)
{
	const struct entry *x = a;
	const struct entry *y = b;
	const int order = compare_functions(x, y);
	return order ? order : TP_COMPARE(x->member, y->member);
}

static void add_parts(
    struct tp_node_parts *sum, const struct tp_node_parts *parts, const struct tp_timebase *time)
{
	tp_node_parts_add(sum,
	    &(struct tp_node_parts){
		.self_off.blocked = tp_timebase_ns(time, parts->self_off.blocked),
		.self_off.preempted = tp_timebase_ns(time, parts->self_off.preempted),
		.inclusive_off.blocked = tp_timebase_ns(time, parts->inclusive_off.blocked),
		.inclusive_off.preempted = tp_timebase_ns(time, parts->inclusive_off.preempted),
		.self_cpu = tp_timebase_ns(time, parts->self_cpu),
		.inclusive_cpu = tp_timebase_ns(time, parts->inclusive_cpu),
	    });
}

static void add_entry(
    struct tp_function *sum, const struct tp_analysis *analysis, const struct tp_function *function)
{
	const struct tp_timebase *time = &analysis->time;
	const struct {
		uint64_t *sum;
		uint64_t ticks;
	} times[] = {
	    {&sum->self, function->self},
	    {&sum->inclusive, function->inclusive},
	    {&sum->total, function->total},
	    {&sum->scaled_self, function->scaled_self},
	    {&sum->scaled_inclusive, function->scaled_inclusive},
	    {&sum->uncertainty, function->uncertainty},
	};
	sum->calls = tp_add_capped(sum->calls, function->calls);
	sum->counted = tp_add_capped(sum->counted, function->counted);
	if (!tp_function_timed(function) || analysis->timeless)
		return;
	const uint64_t min = tp_timebase_ns(time, function->min);
	const uint64_t max = tp_timebase_ns(time, function->max);
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
		*times[i].sum = tp_add_capped(*times[i].sum,
		    times[i].ticks == UINT64_MAX ? UINT64_MAX
						 : tp_timebase_ns(time, times[i].ticks));
	add_parts(&sum->parts, &function->parts, time);
	sum->has_no_parts |= function->has_no_parts;
	sum->min = min < sum->min ? min : sum->min;
	sum->max = max > sum->max ? max : sum->max;
	sum->sampled |= function->sampled;
}

// The module that a function is known by, NULL: in none, or in one of which nothing is known.
static const struct teeperf_module *module_of(
    const struct tp_analysis *analysis, const struct tp_function *function)
{
	const struct tp_module_map *map = &analysis->trace->map;
	const uint32_t place = function->symbol.place;
	const struct teeperf_module *module = place < map->count ? &map->modules[place] : NULL;
	return module && (module->build_id_size || module->path[0]) ? module : NULL;
}

static struct entry *list_entries(const struct tp_family *family, uint64_t *count)
{
	uint64_t all = 0;
	for (uint32_t i = 0; i < family->count; i++)
		all += family->members[i].analysis->function_count;
	struct entry *entries = calloc(all + 1, sizeof(*entries));
	*count = 0;
	for (uint32_t i = 0; entries && i < family->count; i++) {
		const struct tp_analysis *analysis = family->members[i].analysis;
		for (uint32_t j = 0; j < analysis->function_count; j++) {
			const struct tp_function *function = &analysis->functions[j];
			entries[(*count)++] =
			    (struct entry){function, module_of(analysis, function), i};
		}
	}
	return entries;
}

int tp_family_init(struct tp_family *family, const struct tp_family_member *members, uint32_t count,
    struct tp_err *err)
{
	const struct tp_analysis *first = members[0].analysis;
	*family = (struct tp_family){
	    .members = members,
	    .count = count,
	    .sums =
		{
		    .trace = first->trace,
		    .timeless = first->timeless,
		    .time = {.ns = 1, .ticks = 1, .known = first->time.known},
		},
	};
	struct tp_analysis *sums = &family->sums;
	uint64_t entry_count;
	struct entry *entries = list_entries(family, &entry_count);
	sums->functions = calloc(entry_count + 1, sizeof(*sums->functions));
	family->processes = calloc(entry_count + 1, sizeof(*family->processes));
	if (!entries || !sums->functions || !family->processes || entry_count > UINT32_MAX) {
		free(entries);
		return tp_err_set(err, TP_ERR_MEMORY, NULL,
		    "out of memory while summing the functions of %u processes", (unsigned)count);
	}
	qsort(entries, entry_count, sizeof(*entries), compare);
	for (uint64_t i = 0; i < entry_count; i++) {
		const bool same = i && !compare_functions(&entries[i - 1], &entries[i]);
		const struct tp_symbol *symbol = &entries[i].function->symbol;
		if (!same)
			sums->functions[sums->function_count++] =
			    (struct tp_function){.symbol = *symbol,
				.key = {.address = symbol->address},
				.min = UINT64_MAX};
		const uint32_t at = sums->function_count - 1;
		// A library may be in one process twice.
		family->processes[at] += !same || entries[i - 1].member != entries[i].member;
		add_entry(
		    &sums->functions[at], members[entries[i].member].analysis, entries[i].function);
	}
	free(entries);
	for (uint32_t i = 0; i < count; i++) {
		const struct tp_analysis *analysis = members[i].analysis;
		sums->self =
		    tp_add_capped(sums->self, tp_timebase_ns(&analysis->time, analysis->self));
		sums->scaled_self = tp_add_capped(
		    sums->scaled_self, tp_timebase_ns(&analysis->time, analysis->scaled_self));
	}
	return 0;
}

void tp_family_release(struct tp_family *family)
{
	free(family->sums.functions);
	free(family->processes);
	*family = (struct tp_family){0};
}

const char *tp_family_state(const struct tp_family_member *member)
{
	char text[4];
	const struct tp_tracefile *trace = member->analysis->trace;
	const bool recovered = tp_tracefile_host(trace, "recovered", text, sizeof(text));
	// That the end is missing is damage as well.
	if (!trace->has_end && !recovered)
		return "unfinished";
	return member->damaged ? "damaged" : recovered ? "recovered" : "complete";
}
