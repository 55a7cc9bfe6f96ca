/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A replay that stopped between two chunks, copied: one goes on with records that are final, the
 * other with those that are not yet, and to the end.
 */
#ifndef TP_COPY_H
#define TP_COPY_H

#include "analyzer/replay/stack.h"

/* 0 or TP_ERR_MEMORY. Release TO in any case. */
int tp_profile_copy(struct tp_profile *to, const struct tp_profile *from);
/*
 * The copy fills PROFILE, which is a copy of FROM's. pre: FROM has no sink, and is not replayed
 * together with others. 0 or TP_ERR_MEMORY. Release TO in any case.
 */
int tp_stack_copy(struct tp_stack *to, const struct tp_stack *from, struct tp_profile *profile);

/*
 * Forget what the copy has counted so far, but not its open calls: from here on it is as if the
 * records so far had been replayed before a range of times that begins at FROM. pre: no record so
 * far is behind FROM.
 */
void tp_stack_begin_anew(struct tp_stack *copy, uint64_t from);

/*
 * Go on with the same records in a trace that was opened again: its gaps, and when the thread had
 * no processor (NULL: not known).
 */
void tp_stack_renew(
    struct tp_stack *stack, const struct tp_gaps *gaps, const struct tp_off_list *off);

#endif
