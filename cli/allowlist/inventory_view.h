/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* An inventory as a table, JSON or CSV. */
#ifndef TP_INVENTORY_VIEW_H
#define TP_INVENTORY_VIEW_H

#include "common/json.h"
#include "allowlists/inventory/inventory.h"

enum tp_inventory_sort {
	TP_INVENTORY_SORT_INSTRS = 0,
	TP_INVENTORY_SORT_START,
	TP_INVENTORY_SORT_LOOPS,
	TP_INVENTORY_SORT_CALLS,
	TP_INVENTORY_SORT_NAME,
	TP_INVENTORY_SORT_FILE,
};

struct tp_inventory_view {
	enum tp_inventory_sort sort;
	uint64_t limit; /* rows, 0: all */
	uint32_t width; /* of the terminal, 0: unlimited */
	bool color;
	bool system;      /* show also what is from system headers */
	int state;        /* an enum tp_presence, or -1 for all */
	const char *name; /* glob for linkage or demangled name, or NULL */
};

/* Add what is to be seen of it to OUT; JSON and CSV show all that the inventory knows. */
void tp_inventory_view_table(
    const struct tp_inventory *inventory, const struct tp_inventory_view *view, struct tp_buf *out);
void tp_inventory_view_json(
    const struct tp_inventory *inventory, const struct tp_inventory_view *view, struct tp_buf *out);
void tp_inventory_view_csv(
    const struct tp_inventory *inventory, const struct tp_inventory_view *view, struct tp_buf *out);

/* Members with where FUNCTION is defined, and how often. */
void tp_inventory_view_add_origin(
    struct tp_json *json, const struct tp_inventory_function *function);

#endif
