// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The paths that a report has.
#include "report.h"

#include "common/arena.h"
#include "common/array.h"
#include "common/hash.h"
#include "common/index.h"

#include <stdlib.h>
#include <string.h>

#define PROGRAM (UINT32_MAX - 1)

// All paths of both recordings; those of the first one have the numbers that they have there.
struct joint {
	struct tp_arena arena; // of all arrays here, and of temporary ones
	struct tp_report_item *items;
	uint64_t *weights; // with all below
	uint32_t *first_child;
	uint32_t *next;
	uint32_t *of_base; // the joint path of each of the base's
	uint32_t count;
	struct tp_index index; // of items by (parent, function), if there is a base
	uint64_t
	    least; // weight of the lightest that is kept, and of those with that weight the last
	uint32_t last;
	uint32_t kept;
};

// What functions of two recordings have in common: their name, and the name of their file.
static uint64_t hash_function(const struct tp_symbol *symbol)
{
	const char *slash = strrchr(symbol->file, '/');
	return tp_hash_string(tp_hash_text(symbol->name), slash ? slash + 1 : symbol->file);
}

static bool same_function(const struct tp_symbol *a, const struct tp_symbol *b)
{
	const char *x = strrchr(a->file, '/');
	const char *y = strrchr(b->file, '/');
	return strcmp(a->name, b->name) == 0 &&
	       strcmp(x ? x + 1 : a->file, y ? y + 1 : b->file) == 0;
}

// The slot of the function of ANALYSIS that is as SYMBOL, or the free one.
static uint32_t *function_slot(const struct tp_index *index, const struct tp_analysis *analysis,
    const struct tp_symbol *symbol)
{
	uint32_t *slot = tp_index_first(index, hash_function(symbol));
	while (*slot && !same_function(&analysis->functions[*slot - 1].symbol, symbol))
		slot = tp_index_next(index, slot);
	return slot;
}

// The functions of both; of_base[i] is where the base's function i is in them.
static bool join_functions(struct tp_report_tree *tree, const struct tp_analysis *analysis,
    const struct tp_analysis *base, uint32_t *of_base)
{
	const uint32_t most = analysis->function_count + (base ? base->function_count : 0);
	struct tp_index index = {0};
	tree->functions = calloc((size_t)most + 1, sizeof(*tree->functions));
	if (!tree->functions || (base && !tp_index_init(&index, most)))
		return false;
	for (uint32_t i = 0; i < analysis->function_count; i++) {
		tree->functions[i] = (struct tp_report_function){i, UINT32_MAX};
		// Several of the same name and file: the first one stands for the base's.
		uint32_t *slot =
		    base ? function_slot(&index, analysis, &analysis->functions[i].symbol) : NULL;
		if (slot && !*slot)
			*slot = i + 1;
	}
	tree->function_count = analysis->function_count;
	for (uint32_t i = 0; base && i < base->function_count; i++) {
		const uint32_t here = *function_slot(&index, analysis, &base->functions[i].symbol);
		if (here && tree->functions[here - 1].there == UINT32_MAX) {
			of_base[i] = here - 1;
			tree->functions[here - 1].there = i;
		} else {
			of_base[i] = tree->function_count++;
			tree->functions[of_base[i]] = (struct tp_report_function){UINT32_MAX, i};
		}
	}
	tp_index_release(&index);
	return true;
}

static uint32_t *slot_of(const struct joint *joint, uint32_t parent, uint32_t function)
{
	uint32_t *slot = tp_index_first(&joint->index, tp_hash_pair(parent, function));
	for (;; slot = tp_index_next(&joint->index, slot)) {
		const struct tp_report_item *item = &joint->items[*slot];
		if (!*slot || (item->parent == parent && item->function == function))
			return slot;
	}
}

// A parent's number is below its children's, here too.
static void add_base(struct joint *joint, const struct tp_analysis *base_analysis,
    const struct tp_paths *base, const uint32_t *functions)
{
	for (uint32_t i = 1; i < joint->count; i++)
		*slot_of(joint, joint->items[i].parent, joint->items[i].function) = i;
	for (uint32_t i = 1; i < base->count; i++) {
		const struct tp_path *path = &base->items[i];
		const uint32_t parent = joint->of_base[path->parent];
		uint32_t *slot = slot_of(joint, parent, functions[path->function]);
		if (!*slot) {
			*slot = joint->count++;
			joint->items[*slot] = (struct tp_report_item){
			    .parent = parent,
			    .function = functions[path->function],
			};
		}
		joint->of_base[i] = *slot;
		joint->items[*slot].base_calls += path->calls;
		joint->items[*slot].base_self += tp_timebase_ns(&base_analysis->time, path->self);
	}
}

static bool join(struct joint *joint, const struct tp_analysis *analysis,
    const struct tp_paths *paths, const struct tp_analysis *base_analysis,
    const struct tp_paths *base, const uint32_t *functions)
{
	const uint64_t most = (uint64_t)paths->count + (base ? base->count : 0);
	if (most >= UINT32_MAX / 4)
		return false;
	joint->items = tp_arena_alloc(&joint->arena, most * sizeof(*joint->items));
	joint->weights = tp_arena_alloc(&joint->arena, most * sizeof(*joint->weights));
	joint->first_child = tp_arena_alloc(&joint->arena, most * sizeof(*joint->first_child));
	joint->next = tp_arena_alloc(&joint->arena, most * sizeof(*joint->next));
	joint->of_base = tp_arena_alloc(&joint->arena, most * sizeof(*joint->of_base));
	if (!joint->items || !joint->weights || !joint->first_child || !joint->next ||
	    !joint->of_base || (base && !tp_index_init(&joint->index, most)))
		return false;
	joint->count = paths->count;
	for (uint32_t i = 0; i < paths->count; i++) {
		const struct tp_path *path = &paths->items[i];
		joint->items[i] = (struct tp_report_item){
		    .parent = path->parent,
		    .function = i ? path->function : PROGRAM,
		    .calls = path->calls,
		    .self = tp_timebase_ns(&analysis->time, path->self),
		    .min = path->calls ? tp_timebase_ns(&analysis->time, path->min) : 0,
		    .max = tp_timebase_ns(&analysis->time, path->max),
		};
		for (uint32_t j = 0; j < TP_REPORT_TIMES; j++)
			joint->items[i].times[j] = tp_report_part(analysis, &path->parts, j);
	}
	if (base)
		add_base(joint, base_analysis, base, functions);
	uint64_t *there = tp_arena_alloc(&joint->arena, joint->count * sizeof(*there));
	if (!there)
		return false;
	for (uint32_t i = joint->count; i-- > 0;) {
		const struct tp_report_item *item = &joint->items[i];
		joint->weights[i] += analysis->timeless ? item->calls : item->self;
		there[i] += analysis->timeless ? item->base_calls : item->base_self;
		if (!i)
			break;
		joint->weights[item->parent] += joint->weights[i];
		there[item->parent] += there[i];
		joint->next[i] = joint->first_child[item->parent];
		joint->first_child[item->parent] = i;
	}
	for (uint32_t i = 0; i < joint->count; i++)
		if (there[i] > joint->weights[i])
			joint->weights[i] = there[i];
	return true;
}

// A parent weighs no less than its child and has a lower number: so kept paths are connected.
static bool is_kept(const struct joint *joint, uint32_t i)
{
	return joint->weights[i] > joint->least ||
	       (joint->weights[i] == joint->least && i <= joint->last);
}

static bool choose(struct joint *joint, uint32_t most)
{
	joint->last = UINT32_MAX;
	if (joint->count <= most)
		return true;
	uint64_t *sorted = tp_arena_alloc(&joint->arena, joint->count * sizeof(*sorted));
	if (!sorted)
		return false;
	memcpy(sorted, joint->weights, joint->count * sizeof(*sorted));
	qsort(sorted, joint->count, sizeof(*sorted), tp_compare_u64_descending);
	joint->least = sorted[most - 1];
	uint32_t equal = 0;
	while (equal < most && sorted[most - 1 - equal] == joint->least)
		equal++;
	for (uint32_t i = 0; i < joint->count && equal; i++)
		if (joint->weights[i] == joint->least) {
			joint->last = i;
			equal--;
		}
	return true;
}

// Number the kept paths in preorder, and one "(smaller)" behind the kept children of a path.
static void number(
    const struct joint *joint, struct tp_report_tree *tree, uint32_t *of, uint32_t *active)
{
	uint32_t at = 0;
	for (;;) {
		struct tp_report_item *item = &tree->items[tree->count];
		*item = joint->items[at];
		item->parent = at ? of[joint->items[at].parent] : 0;
		item->depth = at ? tree->items[item->parent].depth + 1 : 0;
		item->recursion = at ? active[item->function]++ : 0;
		of[at] = tree->count++;
		uint32_t next = joint->first_child[at];
		while (next && !is_kept(joint, next))
			next = joint->next[next];
		while (!next) {
			// Up, by way of what was left out below.
			uint32_t smaller = 0;
			for (uint32_t child = joint->first_child[at]; child;
			     child = joint->next[child]) {
				if (is_kept(joint, child))
					continue;
				if (!smaller) {
					smaller = tree->count++;
					tree->items[smaller] = (struct tp_report_item){
					    .parent = of[at],
					    .function = TP_REPORT_SMALLER,
					    .depth = tree->items[of[at]].depth + 1,
					};
				}
				of[child] = smaller;
			}
			if (!at)
				return;
			active[joint->items[at].function]--;
			next = joint->next[at];
			while (next && !is_kept(joint, next))
				next = joint->next[next];
			at = joint->items[at].parent;
		}
		at = next;
	}
}

// A path that is left out becomes part of the item of its topmost ancestor that was left out.
static void fold(const struct joint *joint, struct tp_report_tree *tree, uint32_t *of)
{
	for (uint32_t i = 1; i < joint->count; i++) {
		if (is_kept(joint, i))
			continue;
		const uint32_t parent = joint->items[i].parent;
		if (!is_kept(joint, parent))
			of[i] = of[parent];
		struct tp_report_item *item = &tree->items[of[i]];
		item->calls += joint->items[i].calls;
		item->self += joint->items[i].self;
		for (uint32_t j = 0; j < TP_REPORT_TIMES; j++)
			item->times[j] += joint->items[i].times[j];
		item->base_calls += joint->items[i].base_calls;
		item->base_self += joint->items[i].base_self;
		tree->folded++;
	}
}

static bool build(struct joint *joint, struct tp_report_tree *tree, uint32_t most)
{
	if (!choose(joint, most ? most : 1))
		return false;
	const uint64_t items = joint->count < most ? joint->count : 2 * (uint64_t)most + 2;
	uint32_t *active =
	    tp_arena_alloc(&joint->arena, (tree->function_count + UINT64_C(1)) * sizeof(*active));
	tree->items = calloc(items + 1, sizeof(*tree->items));
	tree->of_path = calloc(joint->count, sizeof(*tree->of_path));
	tree->all = joint->count - 1;
	if (!active || !tree->items || !tree->of_path)
		return false;
	number(joint, tree, tree->of_path, active);
	fold(joint, tree, tree->of_path);
	return true;
}

int tp_report_tree_init(struct tp_report_tree *tree, const struct tp_analysis *analysis,
    const struct tp_paths *paths, const struct tp_analysis *base_analysis,
    const struct tp_paths *base, uint32_t most, struct tp_err *err)
{
	*tree = (struct tp_report_tree){0};
	struct joint joint = {0};
	const size_t functions = base_analysis ? base_analysis->function_count : 0;
	tp_arena_init(&joint.arena);
	uint32_t *of_base = tp_arena_alloc(&joint.arena, (functions + 1) * sizeof(*of_base));
	const bool ok = of_base && join_functions(tree, analysis, base_analysis, of_base) &&
			join(&joint, analysis, paths, base_analysis, base, of_base) &&
			build(&joint, tree, most);
	tp_arena_release(&joint.arena);
	tp_index_release(&joint.index);
	return ok ? 0 : tp_err_memory(err, NULL);
}

void tp_report_tree_release(struct tp_report_tree *tree)
{
	free(tree->items);
	free(tree->of_path);
	free(tree->functions);
	*tree = (struct tp_report_tree){0};
}
