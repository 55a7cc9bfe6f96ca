// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which of the functions that have records were not always recorded.
#include "analysis_steps.h"

#include <stdlib.h>
#include <string.h>

// What the names of each function say.
struct found {
	const struct tp_selections *selections;
	const struct tp_selected *
	    *selected; // of each function; NULL: none of its names is on a list
	bool *is_all;  // these are all names that it has
};

static bool is_same(const struct tp_selected *a, const struct tp_selected *b)
{
	return a == b || (a->at_first == b->at_first && a->count == b->count &&
			     memcmp(a->moves, b->moves, a->count * sizeof(*a->moves)) == 0);
}

// Of several names, the pass knew one: lists that differ do not tell which.
static void take_name(struct found *found, uint32_t index, const char *name)
{
	const struct tp_selected *here = tp_selections_of(found->selections, name);
	const struct tp_selected **selected = &found->selected[index];
	if (here)
		*selected =
		    !*selected || is_same(*selected, here) ? here : &found->selections->unknown;
}

static void take_from_table(void *context, uint32_t index, const char *name, bool is_all)
{
	struct found *found = context;
	found->is_all[index] |= is_all;
	take_name(found, index, name);
}

// Without a whole symbol table: the other names that a constructor or destructor may have (of a
// complete object, of a base).
static void take_variants(struct found *found, uint32_t index, const char *name)
{
	char *copy = strncmp(name, "_Z", 2) == 0 ? strdup(name) : NULL;
	for (char *at = copy; at && *at && at[1] && at[2]; at++)
		if ((*at == 'C' || *at == 'D') && (at[1] == '1' || at[1] == '2') && at[2] == 'E') {
			at[1] ^= '1' ^ '2';
			take_name(found, index, copy);
			at[1] ^= '1' ^ '2';
		}
	free(copy);
}

bool tp_selected_names_init(struct tp_analysis *analysis)
{
	struct tp_selected_name *names =
	    tp_arena_alloc(&analysis->arena, (analysis->function_count + 1) * sizeof(*names));
	uint32_t count = 0;
	for (uint32_t i = 0; names && i < analysis->function_count; i++) {
		const struct tp_function *function = &analysis->functions[i];
		if (function->selected)
			names[count++] = (struct tp_selected_name){
			    (uint32_t)function->key.address, function->selected};
	}
	analysis->selected = (struct tp_selected_names){names, count};
	return names != NULL;
}

int tp_functions_select(struct tp_analysis *analysis, struct tp_err *err)
{
	const struct tp_selections *selections = &analysis->trace->selections;
	const uint32_t count = analysis->function_count;
	struct tp_symbol_key *keys = calloc(count + (size_t)1, sizeof(*keys));
	struct found found = {
	    .selections = selections,
	    .selected = calloc(count + (size_t)1, sizeof(*found.selected)),
	    .is_all = calloc(count + (size_t)1, sizeof(*found.is_all)),
	};
	int code = TP_ERR_MEMORY;
	if (!keys || !found.selected || !found.is_all) {
		tp_err_memory(err, analysis->trace->source.name);
		goto out;
	}
	for (uint32_t i = 0; i < count; i++) {
		keys[i] = analysis->functions[i].key;
		take_name(&found, i, analysis->functions[i].symbol.raw);
	}
	code = tp_symbols_each_name(
	    analysis->trace, &analysis->options.symbols, keys, count, take_from_table, &found, err);
	analysis->selected_unknown = 0;
	for (uint32_t i = 0; !code && i < count; i++) {
		struct tp_function *function = &analysis->functions[i];
		if (tp_symbols_stand_in(&function->key))
			continue;
		if (!found.selected[i] && !found.is_all[i])
			take_variants(&found, i, function->symbol.raw);
		const struct tp_selected *selected = found.selected[i];
		if (!selected && !*function->symbol.raw)
			selected = &selections->unknown;
		else if (!selected)
			selected = &selections->rest;
		function->selected = selected->count ? selected : NULL;
		analysis->selected_unknown += selected == &selections->unknown;
	}
out:
	free(keys);
	free(found.selected);
	free(found.is_all);
	return code;
}
