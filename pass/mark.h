/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The note in an object that was made for profiling. */
#ifndef TP_MARK_H
#define TP_MARK_H

#include <llvm-c/Core.h>

/* Mark the module as made for profiling (abi.h, teeperf_note). May be called again. */
void tp_mark_module(LLVMModuleRef module);

#endif
