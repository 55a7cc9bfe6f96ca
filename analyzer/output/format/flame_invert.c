// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Inverts the tree of paths, from the functions that ran towards their callers, as far as it is
// seen.
#include "flame_layout.h"

#include "analyzer/profile/paths.h"
#include "common/array.h"

#include <stdlib.h>

// A path, and how far up it we are.
struct step {
	uint32_t function; // of `at`
	uint32_t at;       // 0: we are through
	uint32_t leaf;
};

// Steps of one frame, that are still to be split by callers.
struct group {
	uint32_t frame;
	uint32_t first;
	uint32_t end;
};

struct inverter {
	struct tp_flame *flame;
	struct tp_paths paths;
	struct step *steps;
	uint32_t step_count;
	struct group *groups; // a queue
	uint32_t group_count;
	uint32_t group_capacity;
	double least;
};

static int compare_steps(const void *a, const void *b)
{
	const struct step *x = a;
	const struct step *y = b;
	const int order = TP_COMPARE(x->function, y->function);
	return order ? order : TP_COMPARE(x->leaf, y->leaf);
}

static bool push_group(struct inverter *inverter, struct group group)
{
	if (!TP_GROW(
		inverter->groups, inverter->group_capacity, inverter->group_count + UINT64_C(1)))
		return false;
	inverter->groups[inverter->group_count++] = group;
	return true;
}

static uint64_t weight_of(const struct inverter *inverter, const struct tp_path *path)
{
	return inverter->flame->options->weight == TP_WEIGHT_CALLS ? path->calls : path->self;
}

// A frame for the steps from FIRST up to END, which are of one function.
static bool add_frame(struct inverter *inverter, uint32_t parent, uint32_t first, uint32_t end,
    uint32_t (*push)(struct tp_flame *flame, struct tp_flame_frame frame))
{
	struct tp_flame *flame = inverter->flame;
	const struct tp_path *items = inverter->paths.items;
	const struct tp_function *function =
	    &flame->analysis->functions[inverter->steps[first].function];
	struct tp_flame_frame frame = {
	    .function = function,
	    .leaf = parent ? flame->frames[parent].leaf : function,
	    .parent = parent,
	    .depth = flame->frames[parent].depth + 1,
	};
	for (uint32_t i = first; i < end; i++) {
		const struct tp_path *leaf = &items[inverter->steps[i].leaf];
		frame.weight += weight_of(inverter, leaf);
		frame.self += leaf->self;
		frame.calls += leaf->calls;
		inverter->steps[i].at = items[inverter->steps[i].at].parent;
		inverter->steps[i].function = items[inverter->steps[i].at].function;
	}
	// Do not look into frames that are not visible: there may be as many frames as all paths
	// have functions.
	if ((double)frame.weight < inverter->least || frame.depth >= TP_FLAME_ROWS_MAX) {
		flame->left_out++;
		return true;
	}
	const uint32_t number = push(flame, frame);
	return number && push_group(inverter, (struct group){number, first, end});
}

// Split a group by the functions that its steps have come to. Path 0 has none, the greatest number.
static bool split(struct inverter *inverter, struct group group,
    uint32_t (*push)(struct tp_flame *flame, struct tp_flame_frame frame))
{
	struct step *steps = inverter->steps;
	bool sorted = true;
	for (uint32_t i = group.first + 1; sorted && i < group.end; i++)
		sorted = compare_steps(&steps[i - 1], &steps[i]) <= 0;
	if (!sorted)
		qsort(steps + group.first, group.end - group.first, sizeof(*steps), compare_steps);
	for (uint32_t first = group.first, end; first < group.end && steps[first].at; first = end) {
		for (end = first + 1;
		     end < group.end && steps[end].function == steps[first].function; end++)
			;
		if (!add_frame(inverter, group.frame, first, end, push))
			return false;
	}
	return true;
}

// All frames from PART of the whole on; *TOO_MANY: more than can be drawn.
static bool build(struct inverter *inverter, double part, bool *too_many,
    uint32_t (*push)(struct tp_flame *flame, struct tp_flame_frame frame))
{
	struct tp_flame *flame = inverter->flame;
	struct tp_flame_frame whole = {.thread = TP_FLAME_PROGRAM};
	inverter->step_count = 0;
	inverter->group_count = 0;
	flame->count = 0;
	flame->left_out = 0;
	for (uint32_t i = 1; i < inverter->paths.count; i++) {
		const struct tp_path *path = &inverter->paths.items[i];
		if (!weight_of(inverter, path))
			continue;
		whole.weight += weight_of(inverter, path);
		inverter->steps[inverter->step_count++] = (struct step){path->function, i, i};
	}
	flame->total = (double)whole.weight;
	inverter->least = flame->total * part;
	push(flame, whole);
	if (!flame->count || !push_group(inverter, (struct group){0, 0, inverter->step_count}))
		return false;
	for (uint32_t i = 0; i < inverter->group_count; i++) {
		if (!split(inverter, inverter->groups[i], push))
			return false;
		*too_many = flame->count > TP_FLAME_FRAMES_MAX * 4;
		if (*too_many)
			return true;
	}
	return true;
}

bool tp_flame_invert(struct tp_flame *flame, double part,
    uint32_t (*push)(struct tp_flame *flame, struct tp_flame_frame frame))
{
	struct inverter inverter = {.flame = flame};
	struct tp_err err;
	bool too_many = false;
	bool ok = tp_paths_init(&inverter.paths, flame->analysis, &err) == 0;
	inverter.steps = calloc((size_t)inverter.paths.count + 1, sizeof(*inverter.steps));
	ok = ok && inverter.steps;
	do {
		ok = ok && build(&inverter, part, &too_many, push);
		part *= 2;
	} while (ok && too_many);
	tp_paths_release(&inverter.paths);
	free(inverter.steps);
	free(inverter.groups);
	return ok;
}
