// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Inventories as callers see them: opened, searched, asked.
#include "build.h"

#include <string.h>

#include "allowlists/language/reading.h"
#include "common/array.h"

int tp_inventory_open(
    struct tp_inventory *inventory, const char *const *paths, uint32_t count, struct tp_err *err)
{
	struct tp_inventory_builder builder;
	tp_inventory_builder_init(&builder, inventory);
	int code = 0;
	for (uint32_t i = 0; !code && i < count; i++)
		code = tp_inventory_add_path(&builder, paths[i], err);
	if (!code)
		code = tp_inventory_merge(&builder, err);
	tp_inventory_builder_release(&builder);
	if (code)
		tp_inventory_release(inventory);
	return code;
}

void tp_inventory_release(struct tp_inventory *inventory)
{
	tp_arena_release(&inventory->arena);
	*inventory = (struct tp_inventory){0};
}

const struct tp_inventory_function *tp_inventory_find(
    const struct tp_inventory *inventory, const char *name)
{
	const uint32_t low = TP_LOWER_BOUND(0, inventory->function_count, middle,
	    strcmp(inventory->functions[middle].name, name) < 0);
	const struct tp_inventory_function *found = &inventory->functions[low];
	return low < inventory->function_count && !strcmp(found->name, name) ? found : NULL;
}

struct tp_subject tp_inventory_subject(const struct tp_inventory_function *function)
{
	const bool there =
	    function->presence == TP_PRESENCE_EMITTED || function->presence == TP_PRESENCE_PARTLY;
	return (struct tp_subject){
	    .function = function->name,
	    .demangled = function->demangled,
	    .origin = function->origin,
	    .origin_demangled = function->origin_demangled,
	    .source = *function->file ? function->file : function->main_file,
	    .main_file = function->main_file,
	    .module = *function->module ? function->module : NULL,
	    .facts = there ? &function->facts : NULL,
	};
}

bool tp_inventory_is_copy_of(
    const struct tp_inventory_function *copy, const struct tp_inventory_function *function)
{
	return copy->origin && !strcmp(copy->origin, function->name) &&
	       !tp_name_is_renamed(copy->name, copy->origin) &&
	       (tp_inventory_is_mergeable(function->linkage) ||
		   !strcmp(copy->main_file, function->main_file));
}

const char *const tp_presence_words[] = {"emitted", "partly", "inlined", "removed", "source"};

const char *tp_presence_name(enum tp_presence presence)
{
	static const char *const names[] = {
	    [TP_PRESENCE_EMITTED] = "emitted",
	    [TP_PRESENCE_PARTLY] = "partly inlined",
	    [TP_PRESENCE_INLINED] = "inlined",
	    [TP_PRESENCE_REMOVED] = "removed",
	    [TP_PRESENCE_SOURCE] = "source only",
	};
	return (unsigned)presence < sizeof(names) / sizeof(names[0]) ? names[presence] : "?";
}
