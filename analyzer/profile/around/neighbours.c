// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Callers and callees of functions.
#include "neighbours.h"

#include "common/array.h"

#include <stdlib.h>

static uint32_t key_of(const struct tp_neighbours *neighbours, uint32_t path, bool caller)
{
	const struct tp_path *items = neighbours->paths->items;
	const uint32_t function = items[caller ? items[path].parent : path].function;
	return function == UINT32_MAX ? neighbours->analysis->function_count : function;
}

// Sort the paths by a key, by counting; ORDER and STARTS are zeroed.
static void sort_paths(
    const struct tp_neighbours *neighbours, bool caller, uint32_t *order, uint32_t *starts)
{
	const uint32_t keys = neighbours->analysis->function_count + 1;
	for (uint32_t i = 1; i < neighbours->paths->count; i++)
		starts[key_of(neighbours, i, caller) + 1]++;
	for (uint32_t i = 0; i < keys; i++)
		starts[i + 1] += starts[i];
	for (uint32_t i = 1; i < neighbours->paths->count; i++)
		order[starts[key_of(neighbours, i, caller)]++] = i;
	for (uint32_t i = keys; i > 0; i--)
		starts[i] = starts[i - 1];
	starts[0] = 0;
}

static bool allocate(struct tp_neighbours *neighbours)
{
	const size_t functions = (size_t)neighbours->analysis->function_count + 2;
	const size_t paths = (size_t)neighbours->paths->count + 1;
	neighbours->by_function = calloc(paths, sizeof(*neighbours->by_function));
	neighbours->by_caller = calloc(paths, sizeof(*neighbours->by_caller));
	neighbours->starts = calloc(functions + 1, sizeof(*neighbours->starts));
	neighbours->caller_starts = calloc(functions + 1, sizeof(*neighbours->caller_starts));
	neighbours->items = calloc(functions, sizeof(*neighbours->items));
	neighbours->item_of = calloc(functions, sizeof(*neighbours->item_of));
	return neighbours->by_function && neighbours->by_caller && neighbours->starts &&
	       neighbours->caller_starts && neighbours->items && neighbours->item_of;
}

int tp_neighbours_init(struct tp_neighbours *neighbours, const struct tp_analysis *analysis,
    const struct tp_paths *paths, struct tp_err *err)
{
	*neighbours = (struct tp_neighbours){.analysis = analysis, .paths = paths};
	if (!allocate(neighbours))
		return tp_err_memory(err, analysis->trace->source.name);
	sort_paths(neighbours, false, neighbours->by_function, neighbours->starts);
	sort_paths(neighbours, true, neighbours->by_caller, neighbours->caller_starts);
	return 0;
}

void tp_neighbours_release(struct tp_neighbours *neighbours)
{
	free(neighbours->by_function);
	free(neighbours->by_caller);
	free(neighbours->starts);
	free(neighbours->caller_starts);
	free(neighbours->items);
	free(neighbours->item_of);
	*neighbours = (struct tp_neighbours){0};
}

static struct tp_neighbour *item_to(struct tp_neighbours *neighbours, uint32_t function)
{
	uint32_t *item = &neighbours->item_of[function];
	if (!*item) {
		*item = ++neighbours->count;
		neighbours->items[*item - 1] = (struct tp_neighbour){.function = function};
	}
	return &neighbours->items[*item - 1];
}

static int compare(const void *a, const void *b)
{
	const struct tp_neighbour *x = a;
	const struct tp_neighbour *y = b;
	int order = TP_COMPARE(y->inclusive, x->inclusive);
	order = order ? order : TP_COMPARE(y->calls, x->calls);
	return order ? order : TP_COMPARE(x->function, y->function);
}

static void add_path(struct tp_neighbours *neighbours, uint32_t at, bool callers)
{
	const struct tp_path *path = &neighbours->paths->items[at];
	struct tp_neighbour *item = item_to(neighbours, key_of(neighbours, at, callers));
	const struct tp_node_parts *parts = &path->parts;
	item->calls += path->calls;
	item->timed += path->calls;
	item->total += path->inclusive;
	item->self += path->self;
	item->has_no_parts |= path->has_no_parts;
	tp_off_add(&item->parts.self_off, &parts->self_off);
	item->parts.self_cpu += parts->self_cpu;
	if (at < item->until)
		return;
	item->inclusive += path->inclusive;
	tp_off_add(&item->parts.inclusive_off, &parts->inclusive_off);
	item->parts.inclusive_cpu += parts->inclusive_cpu;
	item->until = path->last + 1;
}

void tp_neighbours_find(struct tp_neighbours *neighbours, uint32_t function, bool callers)
{
	const uint32_t *order = callers ? neighbours->by_function : neighbours->by_caller;
	const uint32_t *starts = callers ? neighbours->starts : neighbours->caller_starts;
	neighbours->count = 0;
	for (uint32_t i = starts[function]; i < starts[function + 1]; i++)
		add_path(neighbours, order[i], callers);
	for (uint32_t i = 0; i < neighbours->count; i++)
		neighbours->item_of[neighbours->items[i].function] = 0;
	if (neighbours->count)
		qsort(neighbours->items, neighbours->count, sizeof(*neighbours->items), compare);
}
