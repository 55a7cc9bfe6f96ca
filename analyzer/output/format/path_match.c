// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finds the paths of one trace in another one, by the names of their functions.
#include "flame_layout.h"

#include "common/hash.h"
#include "common/index.h"

#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

// Numbers for names, the same in both traces: those of the first functions that have them.
static bool number_names(const struct tp_analysis *const traces[2], uint32_t *of[2])
{
	const uint32_t first = traces[0]->function_count;
	struct tp_index index = {0};
	bool ok = tp_index_init(&index, (uint64_t)first + traces[1]->function_count);
	for (int t = 0; t < 2; t++) {
		of[t] = calloc((size_t)traces[t]->function_count + 1, sizeof(**of));
		ok = ok && of[t];
		for (uint32_t i = 0; ok && i < traces[t]->function_count; i++) {
			const char *name = traces[t]->functions[i].symbol.name;
			uint32_t *slot = tp_index_first(&index, tp_hash_text(name));
			while (
			    *slot &&
			    strcmp(name, *slot <= first
					     ? traces[0]->functions[*slot - 1].symbol.name
					     : traces[1]->functions[*slot - 1 - first].symbol.name))
				slot = tp_index_next(&index, slot);
			*slot = *slot ? *slot : (t ? first : 0) + i + 1;
			of[t][i] = *slot;
		}
	}
	tp_index_release(&index);
	return ok;
}

// Finds paths by (parent, name): the first one that has not found its like, and others of that name
// behind it.
struct table {
	const struct tp_path *items;
	const uint32_t *names;
	uint32_t *next; // of each path; 0: none
	struct tp_index index;
};

static uint32_t *slot_of(const struct table *table, uint32_t parent, uint32_t name)
{
	uint32_t *slot = tp_index_first(&table->index, tp_hash_pair(parent, name));
	for (;; slot = tp_index_next(&table->index, slot)) {
		const struct tp_path *item = &table->items[*slot];
		if (!*slot || (item->parent == parent && table->names[item->function] == name))
			return slot;
	}
}

static bool fill(struct table *table, const struct tp_paths *paths, const uint32_t *names)
{
	*table = (struct table){.items = paths->items,
	    .names = names,
	    .next = calloc((size_t)paths->count + 1, sizeof(*table->next))};
	if (!table->next || !tp_index_init(&table->index, paths->count))
		return false;
	for (uint32_t i = paths->count; i-- > 1;) {
		uint32_t *slot =
		    slot_of(table, paths->items[i].parent, names[paths->items[i].function]);
		table->next[i] = *slot;
		*slot = i;
	}
	return true;
}

// The next path of that name that has not found its like; of several functions of one name, the
// last one stands for all that the other trace has more. 0: there is none.
static uint32_t take(const struct table *table, uint32_t parent, uint32_t name)
{
	uint32_t *slot = slot_of(table, parent, name);
	const uint32_t found = *slot;
	if (table->next[found])
		*slot = table->next[found];
	return found;
}

static int check_times(
    const struct tp_analysis *analysis, const struct tp_analysis *other, struct tp_err *err)
{
	if (other->timeless)
		return tp_err_set(err, TP_ERR_NOT_FOUND, other->trace->source.name,
		    "recorded without a clock, so there are no times to compare: use --weight "
		    "calls");
	if (other->time.known != analysis->time.known)
		return tp_err_set(err, TP_ERR_NOT_FOUND,
		    (other->time.known ? analysis : other)->trace->source.name,
		    "its clock's rate is unknown, so times cannot be compared: use --weight calls");
	return 0;
}

int tp_path_match_init(struct tp_path_match *match, const struct tp_analysis *analysis,
    const struct tp_paths *paths, const struct tp_analysis *other, enum tp_weight weight,
    struct tp_err *err)
{
	*match = (struct tp_path_match){0};
	int code = weight == TP_WEIGHT_CALLS ? 0 : check_times(analysis, other, err);
	if (code)
		return code;
	const double scale = (double)other->time.ns / (double)other->time.ticks /
			     ((double)analysis->time.ns / (double)analysis->time.ticks);
	const struct tp_analysis *const traces[] = {analysis, other};
	uint32_t *names[2] = {NULL, NULL}; // of functions
	struct table table = {0};
	struct tp_paths others;
	code = tp_paths_init(&others, other, err);
	uint32_t *same = calloc((size_t)others.count + 1, sizeof(*same));
	match->self = calloc((size_t)paths->count + 1, sizeof(*match->self));
	if (!code && (!same || !match->self || !number_names(traces, names) ||
			 !fill(&table, paths, names[0])))
		code = tp_err_set(err, TP_ERR_MEMORY, other->trace->source.name,
		    "out of memory while comparing %u call paths", others.count);
	for (uint32_t i = 1; !code && i < others.count; i++) {
		const struct tp_path *path = &others.items[i];
		const uint32_t parent = same[path->parent];
		const uint32_t found =
		    parent == NONE ? 0 : take(&table, parent, names[1][path->function]);
		const double own =
		    weight == TP_WEIGHT_CALLS ? (double)path->calls : (double)path->self * scale;
		same[i] = found ? found : NONE;
		if (found)
			match->self[found] += own;
		else
			match->gone += own;
	}
	tp_index_release(&table.index);
	free(table.next);
	free(same);
	free(names[0]);
	free(names[1]);
	tp_paths_release(&others);
	return code;
}

void tp_path_match_release(struct tp_path_match *match)
{
	free(match->self);
	*match = (struct tp_path_match){0};
}
