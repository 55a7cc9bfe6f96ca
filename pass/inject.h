/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Stage 2 for one function. */
#ifndef TP_INJECT_H
#define TP_INJECT_H

#include "pass/sequence/sequence.h"

/* Whether control can come back into the function from above, other than to clean up on its way. */
bool tp_inject_catches(const struct tp_pass *pass, LLVMValueRef function);

/* Put count, enter, exit and resync records into one function. */
void tp_inject(struct tp_sequence *sequence, struct tp_target *target);

#endif
