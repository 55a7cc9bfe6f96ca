// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The functions of several processes together.
#include "family.h"

#include <stdlib.h>
#include <string.h>

// A function of one member.
struct entry {
	const struct tp_function *function;
	const struct teeperf_module *module; // NULL: none
	uint32_t member;
};

static uint64_t add(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static int compare_modules(const struct entry *a, const struct entry *b)
{
	const struct teeperf_module *x = a->module;
	const struct teeperf_module *y = b->module;
	if (x->build_id_size != y->build_id_size)
		return x->build_id_size < y->build_id_size ? -1 : 1;
	if (!x->build_id_size || x->build_id_size > sizeof(x->build_id))
		return strcmp(x->path, y->path);
	const int order = memcmp(x->build_id, y->build_id, x->build_id_size);
	return order ? order : strcmp(a->function->symbol.module, b->function->symbol.module);
}

// 0: they are one function.
static int compare_functions(const struct entry *a, const struct entry *b)
{
	if (!a->module != !b->module)
		return a->module ? -1 : 1;
	if (!a->module) {
		if (a->member != b->member)
			return a->member < b->member ? -1 : 1;
		const uint64_t x = a->function->key.address;
		const uint64_t y = b->function->key.address;
		return x < y ? -1 : x > y;
	}
	const int order = compare_modules(a, b);
	if (order)
		return order;
	const struct tp_symbol *x = &a->function->symbol;
	const struct tp_symbol *y = &b->function->symbol;
	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return strcmp(x->linkage, y->linkage);
}

static int compare(const void *a, const void *b)
{
	const struct entry *x = a;
	const struct entry *y = b;
	const int order = compare_functions(x, y);
	if (order)
		return order;
	return x->member < y->member ? -1 : x->member > y->member;
}

static void add_entry(struct tp_family_function *sum, const struct tp_analysis *analysis,
    const struct tp_function *function)
{
	const struct tp_timebase *time = &analysis->time;
	const uint64_t timed = tp_function_timed(function);
	sum->calls = add(sum->calls, function->calls);
	sum->timed = add(sum->timed, timed);
	if (!timed || analysis->timeless)
		return;
	const uint64_t min = tp_timebase_ns(time, function->min);
	const uint64_t max = tp_timebase_ns(time, function->max);
	sum->self = add(sum->self, tp_timebase_ns(time, function->self));
	sum->inclusive = add(sum->inclusive, tp_timebase_ns(time, function->inclusive));
	sum->scaled_self = add(
	    sum->scaled_self, tp_timebase_ns(time, tp_function_scaled(function, function->self)));
	sum->scaled_inclusive = add(sum->scaled_inclusive,
	    tp_timebase_ns(time, tp_function_scaled(function, function->inclusive)));
	sum->total = add(sum->total, tp_timebase_ns(time, function->total));
	sum->min = min < sum->min ? min : sum->min;
	sum->max = max > sum->max ? max : sum->max;
	sum->sampled |= function->sampled != 0;
	uint64_t ticks;
	if (tp_function_uncertainty(analysis, function, &ticks))
		sum->uncertainty = add(sum->uncertainty, tp_timebase_ns(time, ticks));
	else
		sum->is_unsure = true;
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
	*family = (struct tp_family){.members = members, .count = count};
	uint64_t entry_count;
	struct entry *entries = list_entries(family, &entry_count);
	family->functions = calloc(entry_count + 1, sizeof(*family->functions));
	if (!entries || !family->functions || entry_count > UINT32_MAX) {
		free(entries);
		return tp_err_set(err, TP_ERR_MEMORY, NULL, TP_ERR_NO_OFFSET,
		    "no memory for the functions of %u processes", (unsigned)count);
	}
	qsort(entries, entry_count, sizeof(*entries), compare);
	struct tp_family_function *sum = NULL;
	for (uint64_t i = 0; i < entry_count; i++) {
		const bool same = i && !compare_functions(&entries[i - 1], &entries[i]);
		if (!same) {
			sum = &family->functions[family->function_count++];
			*sum = (struct tp_family_function){
			    .symbol = &entries[i].function->symbol, .min = UINT64_MAX};
		}
		// A library may be in one process twice.
		sum->processes += !same || entries[i - 1].member != entries[i].member;
		add_entry(sum, members[entries[i].member].analysis, entries[i].function);
	}
	free(entries);
	for (uint32_t i = 0; i < count; i++) {
		const struct tp_analysis *analysis = members[i].analysis;
		family->self = add(family->self, tp_timebase_ns(&analysis->time, analysis->self));
		family->scaled_self = add(
		    family->scaled_self, tp_timebase_ns(&analysis->time, analysis->scaled_self));
	}
	return 0;
}

void tp_family_release(struct tp_family *family)
{
	free(family->functions);
	*family = (struct tp_family){0};
}

const char *tp_family_state(const struct tp_family_member *member)
{
	char text[TP_TEXT_NUMBER];
	const struct tp_tracefile *trace = member->analysis->trace;
	const bool recovered = tp_tracefile_host(trace, "recovered", text, sizeof(text));
	// That the end is missing is damage as well.
	if (!trace->has_end && !recovered)
		return "unfinished";
	return member->damaged ? "damaged" : recovered ? "recovered" : "complete";
}
