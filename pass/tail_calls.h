/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Tail calls that stay jumps. */
#ifndef TP_PASS_TAIL_CALLS_H
#define TP_PASS_TAIL_CALLS_H

#include "pass.h"

/* Mark the calls of the module that are to stay jumps. False: out of memory. */
bool tp_tail_calls_mark(const struct tp_pass *pass, LLVMModuleRef module);

/*
 * Give each marked call of the function a return of its own, as code generation would later: our
 * code before a return that others share would be in between.
 */
void tp_tail_calls_split(LLVMValueRef function);

/* Is it marked? pre: a call instruction. */
bool tp_tail_call_is_kept(LLVMValueRef call);

/* The call before `end` in its block, with nothing between that makes code; NULL: none. */
LLVMValueRef tp_tail_call_before(LLVMValueRef end);

#endif
