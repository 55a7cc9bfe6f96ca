/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Calls that switch to another stack. */
#ifndef TP_STACKS_H
#define TP_STACKS_H

#include "pass/sequence/sequence.h"

/* Whether a call or invoke may leave for another stack (swapcontext and the like). */
bool tp_stacks_switched_by(const struct tp_pass *pass, LLVMValueRef instruction);
/* At the function's entry: in which thread the activation begins, and room for what leaving tells arriving. */
struct tp_stacks_entry {
	LLVMValueRef home; /* i64 */
	LLVMValueRef left; /* alloca of an i64 */
};
struct tp_stacks_entry tp_stacks_enter(struct tp_sequence *sequence, LLVMBuilderRef builder);
/* Say at the builder's place, before such a call or behind it, that the stack is left or come back to.
 * `where`: position of the activation; `name`: of its function, as i64. */
void tp_stacks_tell(struct tp_sequence *sequence, LLVMBuilderRef builder, bool behind,
    LLVMValueRef where, LLVMValueRef name, const struct tp_stacks_entry *entry);

#endif
