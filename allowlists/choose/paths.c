// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The path term: time whose own function has no events counts for the nearest caller that has, less
// for each call in between. A facility location: lazy greedy by gain for its price (CELF, Leskovec
// et al., KDD 2007), or the best single function if that is better.
#include "allowlists/choose/internal.h"
#include "allowlists/choose/workload.h"

#include <stdlib.h>
#include <string.h>

// Callers further away than this many calls get nothing.
#define DISTANCE_MAX 6

struct entry {
	double density; // gain for each part of the budget, when it was last looked at
	uint32_t item;
};

struct paths {
	struct tp_choosing *choosing;
	const struct tp_workload_node *nodes;
	uint32_t count;
	uint32_t *first_child; // by node; UINT32_MAX: none
	uint32_t *next_sibling;
	uint32_t *first_of; // by item: its nodes
	uint32_t *next_of;
	double *covered; // by node: what part of its time has a name
	struct entry *heap;
	uint32_t heap_count;
};

#define NONE UINT32_MAX

static bool link_nodes(struct paths *paths)
{
	const size_t count = (size_t)paths->count + 1;
	const size_t items = (size_t)paths->choosing->count + 1;
	paths->first_child = malloc(count * sizeof(uint32_t));
	paths->next_sibling = malloc(count * sizeof(uint32_t));
	paths->next_of = malloc(count * sizeof(uint32_t));
	paths->first_of = malloc(items * sizeof(uint32_t));
	paths->covered = calloc(count, sizeof(double));
	paths->heap = malloc(items * sizeof(*paths->heap));
	if (!paths->first_child || !paths->next_sibling || !paths->next_of || !paths->first_of ||
	    !paths->covered || !paths->heap)
		return false;
	memset(paths->first_child, 0xff, count * sizeof(uint32_t));
	memset(paths->first_of, 0xff, items * sizeof(uint32_t));
	for (uint32_t i = 0; i < paths->count; i++) {
		const struct tp_workload_node *node = &paths->nodes[i];
		paths->next_of[i] = paths->first_of[node->function];
		paths->first_of[node->function] = i;
		paths->next_sibling[i] = NONE;
		if (node->parent == i)
			continue;
		paths->next_sibling[i] = paths->first_child[node->parent];
		paths->first_child[node->parent] = i;
	}
	return true;
}

static void release(struct paths *paths)
{
	free(paths->first_child);
	free(paths->next_sibling);
	free(paths->next_of);
	free(paths->first_of);
	free(paths->covered);
	free(paths->heap);
}

// What the paths from node AT on gain if the function of ITEM, DISTANCE calls up, has events, which
// gives them PART; `take` makes it so.
static double walk(
    struct paths *paths, uint32_t item, uint32_t at, int distance, double part, bool take)
{
	// Below a caller that is nearer there is nothing to gain; calls of the item itself are
	// roots.
	if (paths->covered[at] >= part || (distance && paths->nodes[at].function == item))
		return 0;
	double gain = (part - paths->covered[at]) * paths->nodes[at].self_ns;
	if (take)
		paths->covered[at] = part;
	if (distance == DISTANCE_MAX)
		return gain;
	part *= paths->choosing->options->path_decay;
	for (uint32_t i = paths->first_child[at]; i != NONE; i = paths->next_sibling[i])
		gain += walk(paths, item, i, distance + 1, part, take);
	return gain;
}

static double gain_of(struct paths *paths, uint32_t item, bool take)
{
	double gain = 0;
	for (uint32_t i = paths->first_of[item]; i != NONE; i = paths->next_of[i])
		gain += walk(paths, item, i, 0, 1, take);
	return gain;
}

static double density_of(struct paths *paths, uint32_t item)
{
	const struct tp_choosing *choosing = paths->choosing;
	return gain_of(paths, item, false) /
	       tp_choosing_weight(choosing, &choosing->items[item], TP_CATEGORY_ALLOW);
}

static void push(struct paths *paths, struct entry entry)
{
	uint32_t at = paths->heap_count++;
	for (; at && paths->heap[(at - 1) / 2].density < entry.density; at = (at - 1) / 2)
		paths->heap[at] = paths->heap[(at - 1) / 2];
	paths->heap[at] = entry;
}

static struct entry pop(struct paths *paths)
{
	const struct entry top = paths->heap[0];
	const struct entry last = paths->heap[--paths->heap_count];
	uint32_t at = 0;
	for (;;) {
		uint32_t child = 2 * at + 1;
		if (child >= paths->heap_count)
			break;
		if (child + 1 < paths->heap_count &&
		    paths->heap[child + 1].density > paths->heap[child].density)
			child++;
		if (paths->heap[child].density <= last.density)
			break;
		paths->heap[at] = paths->heap[child];
		at = child;
	}
	paths->heap[at] = last;
	return top;
}

static void take(struct paths *paths, uint32_t item)
{
	gain_of(paths, item, true);
	tp_choosing_set(
	    paths->choosing, &paths->choosing->items[item], TP_CATEGORY_ALLOW, TP_REASON_BUDGET);
}

static void take_greedy(struct paths *paths)
{
	struct tp_choosing *choosing = paths->choosing;
	paths->heap_count = 0;
	for (uint32_t i = 0; i < choosing->count; i++)
		if (tp_choice_open(&choosing->items[i]) && paths->first_of[i] != NONE)
			push(paths, (struct entry){density_of(paths, i), i});
	while (paths->heap_count) {
		const struct entry entry = pop(paths);
		if (entry.density <= 0)
			break;
		if (!tp_choosing_fits(choosing, &choosing->items[entry.item], TP_CATEGORY_ALLOW))
			continue;
		// Gains only shrink: if it is still the best after a second look, it is the best.
		const double density = density_of(paths, entry.item);
		if (!paths->heap_count || density >= paths->heap[0].density)
			take(paths, entry.item);
		else
			push(paths, (struct entry){density, entry.item});
	}
}

static double covered_value(const struct paths *paths)
{
	double sum = 0;
	for (uint32_t i = 0; i < paths->count; i++)
		sum += paths->covered[i] * paths->nodes[i].self_ns;
	return sum;
}

// The single open function that gains most on its own, NONE if none fits.
static uint32_t best_single(struct paths *paths, double *gain)
{
	struct tp_choosing *choosing = paths->choosing;
	uint32_t best = NONE;
	*gain = 0;
	for (uint32_t i = 0; i < choosing->count; i++) {
		if (!tp_choice_open(&choosing->items[i]) ||
		    !tp_choosing_fits(choosing, &choosing->items[i], TP_CATEGORY_ALLOW))
			continue;
		const double own = gain_of(paths, i, false);
		if (own > *gain) {
			*gain = own;
			best = i;
		}
	}
	return best;
}

int tp_choosing_take_paths(struct tp_choosing *choosing, double *covered)
{
	struct paths paths = {
	    .choosing = choosing,
	    .nodes = choosing->options->nodes,
	    .count = choosing->options->node_count,
	};
	int code = TP_ERR_MEMORY;
	if (!link_nodes(&paths))
		goto out;
	for (uint32_t i = 0; i < choosing->count; i++)
		if (tp_choice_has_events(&choosing->items[i]))
			gain_of(&paths, i, true);
	const double before = covered_value(&paths);
	const size_t size = paths.count * sizeof(*paths.covered);
	double *first = malloc(size + 1);
	double gain;
	if (!first)
		goto out;
	memcpy(first, paths.covered, size);
	const uint32_t single = best_single(&paths, &gain);
	take_greedy(&paths);
	*covered = covered_value(&paths);
	if (single != NONE && before + gain > *covered) {
		for (uint32_t i = 0; i < choosing->count; i++) {
			struct tp_choice *item = &choosing->items[i];
			if (!item->pinned && item->level == TP_CATEGORY_ALLOW &&
			    item->reason == TP_REASON_BUDGET)
				tp_choosing_set(choosing, item, TP_CATEGORY_SKIP, TP_REASON_BUDGET);
		}
		// And what fits beside it.
		memcpy(paths.covered, first, size);
		take(&paths, single);
		take_greedy(&paths);
		*covered = covered_value(&paths);
	}
	free(first);
	code = 0;
out:
	release(&paths);
	return code;
}
