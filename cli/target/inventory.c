// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// No inventories, which take zstd and the demangler of C++: 'record --only' knows functions by the
// names that its lists give. In place of inventory/.
#include "allowlists/inventory/inventory.h"

#include <stddef.h>

int tp_inventory_open(
    struct tp_inventory *inventory, const char *const *paths, uint32_t count, struct tp_err *err)
{
	*inventory = (struct tp_inventory){0};
	return tp_err_set(err, TP_ERR_NOT_FOUND, count ? paths[0] : NULL,
	    "this teeperf only records and reads no inventories: leave out '--inventory', and "
	    "name functions exactly (fun:NAME)");
}

void tp_inventory_release(struct tp_inventory *inventory)
{
	(void)inventory;
}

const struct tp_inventory_function *tp_inventory_find(
    const struct tp_inventory *inventory, const char *name)
{
	(void)inventory;
	(void)name;
	return NULL;
}

struct tp_subject tp_inventory_subject(const struct tp_inventory_function *function)
{
	return (struct tp_subject){.function = function->name, .demangled = function->demangled};
}
