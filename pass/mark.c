// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The note that marks an instrumented object as made for profiling (abi.h).
#include "pass.h"

#include <teeperf/abi.h>

#include "llvm_compat.h"

#define NAME TEEPERF_SYMBOL_PREFIX "mark"

/*
 * One for each object, not one for each module in a COMDAT: what is in a group goes with --gc-sections,
 * since nothing refers to a note.
 */
void tp_mark_module(LLVMModuleRef module)
{
	if (LLVMGetNamedGlobal(module, NAME))
		return;
	const LLVMContextRef context = LLVMGetModuleContext(module);
	LLVMTypeRef i32 = LLVMInt32TypeInContext(context);
	LLVMValueRef fields[] = {
	    LLVMConstInt(i32, sizeof(((struct teeperf_note *)0)->name), 0),
	    LLVMConstInt(i32, sizeof(((struct teeperf_note *)0)->abi), 0),
	    LLVMConstInt(i32, TEEPERF_NOTE_TYPE, 0),
	    LLVMConstStringInContext(context, TEEPERF_NOTE_NAME, sizeof(TEEPERF_NOTE_NAME), 1),
	    LLVMConstInt(i32, TEEPERF_ABI, 0),
	};
	LLVMValueRef value = LLVMConstStructInContext(context, fields, 5, 0);
	LLVMValueRef note = LLVMAddGlobal(module, LLVMTypeOf(value), NAME);
	LLVMSetInitializer(note, value);
	LLVMSetGlobalConstant(note, 1);
	LLVMSetLinkage(note, LLVMInternalLinkage);
	LLVMSetSection(note, TEEPERF_NOTE_SECTION);
	LLVMSetAlignment(note, 4);
	tp_llvm_keep(module, note);
}
