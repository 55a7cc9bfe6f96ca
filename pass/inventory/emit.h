/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What has become of the functions of the notes. */
#ifndef TP_INVENTORY_EMIT_H
#define TP_INVENTORY_EMIT_H

#include "notes.h"

/* Facts of what is there, and where the rest has gone. */
void tp_notes_look(struct tp_notes *notes);

#endif
