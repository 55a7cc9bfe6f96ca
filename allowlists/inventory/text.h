/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The text form of inventories (docs/inventory.md): reading one unit after another, writing all. */
#ifndef TP_INVENTORY_TEXT_H
#define TP_INVENTORY_TEXT_H

#include <stddef.h>

#include "common/buf.h"
#include "build.h"

/*
 * Add what is in TEXT of SIZE bytes, behind which a NUL must stand: one inventory or several. TEXT is
 * changed, and the inventory refers to it: have it in its arena. FILE is for errors; `module` is for
 * units that name none. 0, TP_ERR_FORMAT or TP_ERR_VERSION with *err naming FILE and line.
 */
int tp_inventory_parse(struct tp_inventory_builder *builder, char *text, size_t size,
    const char *file, const char *module, struct tp_err *err);

/* Add a string as the text has it: tabs, line ends, backslashes and a leading '#' are escaped. */
void tp_inventory_add_escaped(struct tp_buf *out, const char *text);

/* Add the merged inventory as text, from which the same is read again. */
void tp_inventory_write(const struct tp_inventory *inventory, struct tp_buf *out);

#endif
