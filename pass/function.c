// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A function's names, the decision on it, and places in it.
#define _GNU_SOURCE
#include "function.h"

#include <string.h>

#include "llvm_compat.h"

const char *tp_function_decision(LLVMValueRef function, unsigned *length)
{
	const LLVMAttributeRef attribute = LLVMGetStringAttributeAtIndex(function,
	    (LLVMAttributeIndex)LLVMAttributeFunctionIndex, TP_ATTRIBUTE, strlen(TP_ATTRIBUTE));
	*length = 0;
	return attribute ? LLVMGetStringAttributeValue(attribute, length) : "";
}

bool tp_function_is(LLVMValueRef function, const char *decision)
{
	unsigned length;
	const char *value = tp_function_decision(function, &length);
	return length == strlen(decision) && !memcmp(value, decision, length);
}

void tp_function_set(LLVMValueRef function, const char *decision)
{
	const LLVMContextRef context = LLVMGetModuleContext(LLVMGetGlobalParent(function));
	LLVMAddAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
	    LLVMCreateStringAttribute(
		context, TP_ATTRIBUTE, strlen(TP_ATTRIBUTE), decision, (unsigned)strlen(decision)));
}

const char *tp_function_name(LLVMValueRef function, size_t *length)
{
	const char *name = LLVMGetValueName2(function, length);
	// Clang marks names given by asm labels with \1: they are used as they are.
	if (*name != '\1')
		return name;
	--*length;
	return name + 1;
}

char *tp_function_origin(LLVMValueRef function)
{
	const LLVMAttributeRef attribute =
	    LLVMGetStringAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
		TP_ATTRIBUTE_NAME, strlen(TP_ATTRIBUTE_NAME));
	if (!attribute)
		return NULL;
	unsigned size;
	const char *origin = LLVMGetStringAttributeValue(attribute, &size);
	size_t length;
	const char *name = tp_function_name(function, &length);
	return length == size && !memcmp(name, origin, size) ? NULL : strndup(origin, size);
}

// Typed pointers of LLVM 14 have casts.
LLVMValueRef tp_function_callee(LLVMValueRef value)
{
	while (value) {
		if (LLVMIsAGlobalAlias(value))
			value = LLVMAliasGetAliasee(value);
		else if (LLVMIsAConstantExpr(value) && LLVMGetConstOpcode(value) == LLVMBitCast)
			value = LLVMGetOperand(value, 0);
		else
			break;
	}
	return value;
}

LLVMValueRef tp_function_behind_allocations(LLVMValueRef function)
{
	LLVMValueRef at = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(function));
	while (LLVMIsAAllocaInst(at) && tp_llvm_is_static_alloca(at))
		at = LLVMGetNextInstruction(at);
	return at;
}

LLVMValueRef tp_block_behind_phis(LLVMBasicBlockRef block)
{
	LLVMValueRef at = LLVMGetFirstInstruction(block);
	while (LLVMIsAPHINode(at))
		at = LLVMGetNextInstruction(at);
	return at;
}
