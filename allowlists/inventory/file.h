/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Finds the inventories in files: the section of ELF files, also of those in archives, and text. */
#ifndef TP_INVENTORY_FILE_H
#define TP_INVENTORY_FILE_H

#include <stddef.h>

#include "build.h"

/* Add what PATH holds: a file, or a folder with *.tpinv files. PATH must live as long as the call.
 * TP_ERR_NOT_FOUND if it holds nothing. */
int tp_inventory_add_path(
    struct tp_inventory_builder *builder, const char *path, struct tp_err *err);

/* The same of a file's bytes, named NAME; 0 also if it holds nothing. */
int tp_inventory_add_memory(struct tp_inventory_builder *builder, const void *data, size_t size,
    const char *name, struct tp_err *err);

#endif
