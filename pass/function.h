/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A function of the module as the stages see it: its names, the decision on it, and places in it. */
#ifndef TP_FUNCTION_H
#define TP_FUNCTION_H

#include <stdbool.h>
#include <stddef.h>

#include <llvm-c/Core.h>

/* String attribute on functions: the decision, then (once instrumented) TP_ATTRIBUTE_DONE. */
#define TP_ATTRIBUTE "teeperf"
#define TP_ATTRIBUTE_EVENT "event"
#define TP_ATTRIBUTE_COUNT "count"
#define TP_ATTRIBUTE_SAMPLE "sample/" /* and a number behind it */
/* Not recorded; but if control may come back to it from above, it says so (resync). */
#define TP_ATTRIBUTE_SKIP "skip"
#define TP_ATTRIBUTE_NEVER "never" /* no code of ours at all */
#define TP_ATTRIBUTE_DONE "done"
/*
 * String attribute: the linkage name about which the decision was made. Copies inherit both, and link-time
 * optimisation renames internal functions.
 */
#define TP_ATTRIBUTE_NAME "teeperf-name"

/* The attribute's value on a function, "" if it has none; as long as the function lives. */
const char *tp_function_decision(LLVMValueRef function, unsigned *length);
bool tp_function_is(LLVMValueRef function, const char *decision);
void tp_function_set(LLVMValueRef function, const char *decision);
/* The linkage name. */
const char *tp_function_name(LLVMValueRef function, size_t *length);
/* The name about which the decision was made if it is another one, to be freed; else NULL. */
char *tp_function_origin(LLVMValueRef function);
/* What is called, behind casts and aliases: a function or something else. */
LLVMValueRef tp_function_callee(LLVMValueRef called);

/* The first instruction behind the fixed allocations at the top of a function, and behind a block's phis. */
LLVMValueRef tp_function_behind_allocations(LLVMValueRef function);
LLVMValueRef tp_block_behind_phis(LLVMBasicBlockRef block);

#endif
