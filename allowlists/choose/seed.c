// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A first list without any profile: main, and what is large or has a loop. How often these are called is not known, so
// the list has no cost.
#include "allowlists/choose/generate_internal.h"

#include <string.h>

// What is smaller and has no loop is likely to be called more often than it is worth. In instructions, or before
// anything is compiled in statements and expressions.
#define SIZE_MIN 100

static void choose(struct tp_choice *choice, const struct tp_inventory_function *function)
{
	const uint64_t size = function->presence == TP_PRESENCE_SOURCE ? function->instrs_start
								       : function->facts.instrs;
	choice->level = TP_CATEGORY_ALLOW;
	if (strcmp(function->name, "main") == 0) {
		choice->reason = TP_REASON_ENTRY;
	} else if (function->system) {
		choice->level = TP_CATEGORY_SKIP;
		choice->reason = TP_REASON_SYSTEM;
	} else if (size < SIZE_MIN && function->facts.loops) {
		choice->reason = TP_REASON_LOOP;
	} else {
		choice->reason = TP_REASON_SIZE;
		if (size < SIZE_MIN)
			choice->level = TP_CATEGORY_SKIP;
	}
}

void tp_generate_seed(struct tp_generated *generated)
{
	for (uint32_t i = 0; i < generated->workload.function_count; i++) {
		const struct tp_inventory_function *function =
		    generated->workload.functions[i].inventory;
		struct tp_choice *choice = &generated->choices[i];
		if (!choice->pinned && function)
			choose(choice, function);
		if (choice->level == TP_CATEGORY_ALLOW || choice->level == TP_CATEGORY_FORCE)
			generated->chosen.event_count++;
	}
}
