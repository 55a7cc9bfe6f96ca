/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The pass in two stages. tag (select.h): at the start of the pipeline, decide for each function and leave the
 * decision on it as an attribute. instrument: at the end, put the sequence of include/teeperf/abi.h into
 * those that survived. Between them, at link time with LTO, anything may be inlined or cloned.
 */
#ifndef TP_PASS_H
#define TP_PASS_H

#include "options.h"

/* Stage 2, idempotent. Returns whether the module changed. */
bool tp_pass_instrument(const struct tp_pass *pass, LLVMModuleRef module);

#endif
