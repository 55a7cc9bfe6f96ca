/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A function of the module as the stages see it: its names, the decision on it, and places in it.
 */
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
/* Not recorded; but if control may return to it from above, it says so (resync). */
#define TP_ATTRIBUTE_SKIP "skip"
#define TP_ATTRIBUTE_NEVER "never" /* no code of ours at all */
#define TP_ATTRIBUTE_DONE "done"
/*
 * String attribute: the linkage name about which the decision was made. Copies inherit both, and
 * link-time optimisation renames internal functions.
 */
#define TP_ATTRIBUTE_NAME "teeperf-name"
/* String attribute: it is called over the border of a TEE. */
#define TP_ATTRIBUTE_BRIDGE "teeperf-bridge"

/*
 * The value of a string attribute of a function, NULL if it has none; as long as the function
 * lives.
 */
const char *tp_function_text(LLVMValueRef function, const char *attribute, unsigned *length);
void tp_function_set_text(
    LLVMValueRef function, const char *attribute, const char *value, size_t length);
/* Give it an attribute without a value. */
void tp_function_add(LLVMValueRef function, const char *attribute);

/* The decision on a function, "" if there is none. */
const char *tp_function_decision(LLVMValueRef function, unsigned *length);
bool tp_function_is(LLVMValueRef function, const char *decision);
void tp_function_set(LLVMValueRef function, const char *decision);
/* The linkage name. `length` may be NULL. */
const char *tp_function_name(LLVMValueRef function, size_t *length);
/* The name about which the decision was made if it is another one, to be freed; else NULL. */
char *tp_function_origin(LLVMValueRef function);
/* The function that a value is, behind casts and aliases; NULL: something else. */
LLVMValueRef tp_function_of(LLVMValueRef value);

/* All instructions of a function with a body, block by block; NULL behind the last. */
LLVMValueRef tp_instruction_first(LLVMValueRef function);
LLVMValueRef tp_instruction_next(LLVMValueRef instruction);
/* Whether it is a call or invoke. */
bool tp_instruction_calls(LLVMValueRef instruction);
/* The first instruction that runs when this call or invoke is back, without an exception. */
LLVMValueRef tp_instruction_behind(LLVMValueRef call);
/* The first instruction behind the fixed allocations at the top of a function. */
LLVMValueRef tp_function_behind_allocations(LLVMValueRef function);

/* The function of the runtime, declared if it is not yet. */
LLVMValueRef tp_runtime_function(LLVMModuleRef module, const char *symbol, LLVMTypeRef type);
/*
 * Call one with at most 3 arguments, which returns an i64 or nothing. tell: and say that it throws
 * nothing.
 */
LLVMValueRef tp_runtime_call(LLVMModuleRef module, LLVMBuilderRef builder, const char *symbol,
    bool returns, LLVMValueRef *arguments, unsigned count);
LLVMValueRef tp_runtime_tell(LLVMModuleRef module, LLVMBuilderRef builder, const char *symbol,
    bool returns, LLVMValueRef *arguments, unsigned count);

#endif
