/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Stage 1, at the start of the pipeline: decide for each function whether to instrument it. */
#ifndef TP_SELECT_H
#define TP_SELECT_H

#include "options.h"

/* Tag all functions; `before_link`: of LTO. Returns whether the module changed. */
bool tp_pass_tag(const struct tp_pass *pass, LLVMModuleRef module, bool before_link);
bool tp_pass_is_tagged(LLVMModuleRef module);

/* Decide again, and change the attribute, now that facts and names will stay; `main_file` is what was
 * compiled, NULL for the module's. */
struct tp_verdict tp_select_again(const struct tp_pass *pass, LLVMValueRef function,
    const char *main_file, const struct tp_facts *facts);

#endif
