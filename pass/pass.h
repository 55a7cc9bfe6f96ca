/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The pass in two stages. tag (select.c): at the start of the pipeline, decide for each function and leave the
 * decision on it as an attribute. instrument: at the end, put the sequence of include/teeperf/abi.h into
 * those that survived. Between them, at link time with LTO, anything may be inlined or cloned.
 */
#ifndef TP_PASS_H
#define TP_PASS_H

#include "options.h"

/* Stage 1: tag all functions; `before_link`: of LTO. Returns whether the module changed. */
bool tp_pass_tag(const struct tp_pass *pass, LLVMModuleRef module, bool before_link);
bool tp_pass_is_tagged(LLVMModuleRef module);
/* Stage 2, idempotent. Returns whether the module changed. */
bool tp_pass_instrument(const struct tp_pass *pass, LLVMModuleRef module);

/* Decide again, and change the attribute, now that facts and names will stay; `main_file` is what was
 * compiled, NULL for the module's. */
struct tp_verdict tp_select_again(const struct tp_pass *pass, LLVMValueRef function,
    const char *main_file, const struct tp_facts *facts);

/*
 * Mark calls over the border of a TEE, and functions that are called over it, as the SDKs' tools generate them
 * (crossings.c). Returns whether there are any. pre: the module's processor is supported.
 */
bool tp_border_mark(LLVMModuleRef module);

#endif
