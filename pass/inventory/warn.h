/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Warnings of functions that a list names and that will have no events. */
#ifndef TP_INVENTORY_WARN_H
#define TP_INVENTORY_WARN_H

#include "notes.h"

/* Warn of lines of allowlists that name functions which are not there any more. */
void tp_warn_of_vanished(const struct tp_notes *notes);
/* Warn that a forced function will be inlined all the same. */
void tp_warn_of_always_inline(
    const struct tp_pass *pass, LLVMValueRef function, const struct tp_verdict *verdict);

#endif
