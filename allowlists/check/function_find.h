/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Functions of an inventory by what a person calls them. */
#ifndef TP_FUNCTION_FIND_H
#define TP_FUNCTION_FIND_H

#include "allowlists/inventory/inventory.h"

/* How the functions were found: the first of these ways that finds any. */
enum tp_found_by {
	TP_FOUND_LINKAGE = 0, /* linkage name */
	TP_FOUND_NAME,        /* demangled name, with its parameters or without */
	TP_FOUND_GLOB,        /* a glob that matches either */
	TP_FOUND_PART,        /* part of the demangled or linkage name */
	TP_FOUND_NOTHING,
};

struct tp_found {
	enum tp_found_by by;
	uint32_t *functions; /* indices in the inventory, ascending */
	uint32_t count;
};

/* Look for what WORD means. 0 or TP_ERR_MEMORY. Release it in any case. */
int tp_function_find(struct tp_found *found, const struct tp_inventory *inventory, const char *word,
    struct tp_err *err);
void tp_found_release(struct tp_found *found);

#endif
