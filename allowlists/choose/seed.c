// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A first list without any profile: by size and loops. It promises nothing; docs/selection.md says why.
#include "allowlists/choose/generate_internal.h"

#include <stdlib.h>
#include <string.h>

// What is smaller and has no loop is likely to be called more often than it is worth.
#define INSTRS_MIN 100
// The same before anything is compiled: statements and expressions, of which half may go.
#define NODES_MIN 200
// Unless nobody is known to call it: thread entries, callbacks, what a library is called by.
#define ENTRY_INSTRS_MIN 50

static bool is_large(const struct tp_inventory_function *function)
{
	return function->presence == TP_PRESENCE_SOURCE ? function->instrs_start >= NODES_MIN
							: function->facts.instrs >= INSTRS_MIN;
}

static bool is_entry(
    const struct tp_inventory_function *function, const bool *called, uint32_t index)
{
	if (strcmp(function->name, "main") == 0)
		return true;
	return called && !called[index] && function->facts.instrs >= ENTRY_INSTRS_MIN;
}

// Which functions of the inventory others call.
static bool *find_called(const struct tp_inventory *inventory)
{
	bool *called = calloc((size_t)inventory->function_count + 1, sizeof(*called));
	for (uint32_t i = 0; called && i < inventory->function_count; i++) {
		const struct tp_inventory_function *function = &inventory->functions[i];
		for (uint32_t k = 0; k < function->call_count; k++)
			if (function->calls[k].function != i)
				called[function->calls[k].function] = true;
	}
	return called;
}

static void choose(
    struct tp_choice *choice, const struct tp_inventory_function *function, bool entry)
{
	choice->level = TP_CATEGORY_ALLOW;
	choice->reason = TP_REASON_SIZE;
	if (entry) {
		choice->reason = TP_REASON_ENTRY;
	} else if (function->system) {
		choice->level = TP_CATEGORY_SKIP;
		choice->reason = TP_REASON_SYSTEM;
	} else if (is_large(function)) {
		choice->reason = TP_REASON_SIZE;
	} else if (function->facts.loops) {
		choice->reason = TP_REASON_LOOP;
	} else {
		choice->level = TP_CATEGORY_SKIP;
	}
}

void tp_generate_seed(struct tp_generated *generated)
{
	const struct tp_inventory *inventory = &generated->inventory;
	bool *called = find_called(inventory);
	for (uint32_t i = 0; i < generated->workload.function_count; i++) {
		const struct tp_inventory_function *function =
		    generated->workload.functions[i].inventory;
		struct tp_choice *choice = &generated->choices[i];
		if (!choice->pinned && function)
			choose(choice, function,
			    is_entry(
				function, called, (uint32_t)(function - inventory->functions)));
		if (choice->level == TP_CATEGORY_ALLOW || choice->level == TP_CATEGORY_FORCE)
			generated->chosen.event_count++;
	}
	free(called);
}
