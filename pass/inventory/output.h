/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The inventory as text. */
#ifndef TP_INVENTORY_OUTPUT_H
#define TP_INVENTORY_OUTPUT_H

#include "notes.h"

/* Write it all into the module, and into a file if that is wanted. */
void tp_notes_write(struct tp_notes *notes);

#endif
