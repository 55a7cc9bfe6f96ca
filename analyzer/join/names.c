// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Addresses for a TEE's modules in a joined trace.
#include "splice.h"

#include "common/array.h"

#include <stdlib.h>
#include <string.h>

#define NAMES (UINT64_C(1) << 32)
#define PAGE UINT64_C(4096)
// A log has room for 2048; a hostile trace may have any number.
#define MODULES_MAX 4096

// Names from `first` up to `end` are a module's.
struct range {
	uint64_t first;
	uint64_t end;
};

struct tp_join_place {
	uint64_t first; // names before
	uint64_t end;
	uint64_t start; // addresses before
	uint64_t move;  // what to add to an address, or (its low half) to a name
};

struct taken {
	struct range *ranges;
	uint32_t count;
};

static void take(struct taken *taken, uint64_t first, uint64_t end)
{
	taken->ranges[taken->count++] = (struct range){first, end};
}

// The end of a range that overlaps with these names; 0: they are free.
static uint64_t taken_up_to(const struct taken *taken, uint64_t first, uint64_t end)
{
	uint64_t up_to = 0;
	for (uint32_t i = 0; i < taken->count; i++)
		if (taken->ranges[i].first < end && first < taken->ranges[i].end &&
		    taken->ranges[i].end > up_to)
			up_to = taken->ranges[i].end;
	return up_to;
}

// Where SIZE names are free, at an address with these low bits; 0: nowhere.
static uint64_t find_free(const struct taken *taken, uint64_t size, uint64_t low)
{
	uint64_t first = 16 * PAGE + low;
	while (first + size < NAMES) {
		const uint64_t up_to = taken_up_to(taken, first, first + size);
		if (!up_to)
			return first;
		first = (up_to / PAGE + 1) * PAGE + low;
	}
	return 0;
}

static int by_first(const void *a, const void *b)
{
	const struct tp_join_place *x = a;
	const struct tp_join_place *y = b;
	return TP_COMPARE(x->first, y->first);
}

static bool is_usable(const struct teeperf_module *module)
{
	return module->end > module->start && module->end - module->start < NAMES / 2;
}

// Give the module a place. Without one its records are left out.
static void add(
    struct tp_join_names *names, struct taken *taken, const struct teeperf_module *module)
{
	const uint64_t size = module->end - module->start;
	const uint64_t was = module->start % NAMES;
	uint64_t place = was;
	// Around the end of the names is a place for nobody.
	if (was < TEEPERF_NAME_FIRST || was + size > NAMES || taken_up_to(taken, was, was + size))
		place = find_free(taken, size, module->start % PAGE);
	if (!place || was + size > NAMES)
		return;
	take(taken, place, place + size);
	const uint64_t move = place - was;
	names->places[names->count] = (struct tp_join_place){was, was + size, module->start, move};
	struct teeperf_module *moved = &names->modules[names->count++];
	*moved = *module;
	moved->start += move;
	moved->end += move;
	moved->bias += move;
	moved->anchor += move;
	moved->loaded = moved->unloaded = 0;
	moved->flags = (module->flags & ~TEEPERF_MODULE_COLLIDES) | TEEPERF_MODULE_TEE;
	names->moved += move != 0;
}

int tp_join_names_init(struct tp_join_names *names, const struct tp_tracefile *host,
    const struct tp_tracefile *tee, struct tp_err *err)
{
	*names = (struct tp_join_names){0};
	const uint32_t most = host->module_count < MODULES_MAX ? host->module_count : MODULES_MAX;
	const uint32_t own = tee->map.count < MODULES_MAX ? tee->map.count : MODULES_MAX;
	struct taken taken = {.ranges = calloc((size_t)2 * most + own + 1, sizeof(*taken.ranges))};
	names->places = calloc((size_t)own + 1, sizeof(*names->places));
	names->modules = calloc((size_t)own + 1, sizeof(*names->modules));
	if (!taken.ranges || !names->places || !names->modules) {
		free(taken.ranges);
		return tp_err_memory(err, tee->source.name);
	}
	for (uint32_t i = 0; i < most; i++) {
		const struct teeperf_module *module = &host->modules[i];
		const uint64_t first = module->start % NAMES;
		const uint64_t size = module->end - module->start;
		if (module->end <= module->start)
			continue;
		take(&taken, first, size >= NAMES ? NAMES : first + size);
		if (first + size > NAMES)
			take(&taken, 0, first + size - NAMES);
	}
	for (uint32_t i = 0; i < own; i++)
		if (is_usable(&tee->map.modules[i]))
			add(names, &taken, &tee->map.modules[i]);
	free(taken.ranges);
	qsort(names->places, names->count, sizeof(*names->places), by_first);
	return 0;
}

void tp_join_names_release(struct tp_join_names *names)
{
	free(names->places);
	free(names->modules);
	*names = (struct tp_join_names){0};
}

// The place that NAME is in, NULL if none.
static const struct tp_join_place *find(const struct tp_join_names *names, uint64_t name)
{
	const uint32_t low =
	    TP_LOWER_BOUND(0, names->count, middle, names->places[middle].first <= name);
	return low && name < names->places[low - 1].end ? &names->places[low - 1] : NULL;
}

uint32_t tp_join_names_find(const struct tp_join_names *names, uint32_t name)
{
	const struct tp_join_place *place = find(names, name);
	return place ? (uint32_t)(name + place->move) : 0;
}

uint64_t tp_join_names_address(const struct tp_join_names *names, uint64_t address)
{
	const struct tp_join_place *place = find(names, address % NAMES);
	if (!place || address < place->start || address - place->start >= place->end - place->first)
		return 0;
	return address + place->move;
}
