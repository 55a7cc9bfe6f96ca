/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The border of a TEE. */
#ifndef TP_CROSSINGS_H
#define TP_CROSSINGS_H

#include <stdbool.h>

#include <llvm-c/Core.h>

/*
 * Mark calls over the border of a TEE, and functions that are called over it, as the SDKs' tools generate them.
 * Returns whether there are any. pre: the module's processor is supported.
 */
bool tp_border_mark(LLVMModuleRef module);

#endif
