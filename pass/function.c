// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A function's names, the decision on it, and places in it.
#define _GNU_SOURCE
#include "function.h"

#include <string.h>

#include "llvm_compat.h"

static const LLVMAttributeIndex self = (LLVMAttributeIndex)LLVMAttributeFunctionIndex;

static LLVMContextRef context_of(LLVMValueRef function)
{
	return LLVMGetModuleContext(LLVMGetGlobalParent(function));
}

const char *tp_function_text(LLVMValueRef function, const char *attribute, unsigned *length)
{
	const LLVMAttributeRef found =
	    LLVMGetStringAttributeAtIndex(function, self, attribute, (unsigned)strlen(attribute));
	return found ? LLVMGetStringAttributeValue(found, length) : NULL;
}

void tp_function_set_text(
    LLVMValueRef function, const char *attribute, const char *value, size_t length)
{
	LLVMAddAttributeAtIndex(function, self,
	    LLVMCreateStringAttribute(context_of(function), attribute, (unsigned)strlen(attribute),
		value, (unsigned)length));
}

void tp_function_add(LLVMValueRef function, const char *attribute)
{
	const unsigned kind = LLVMGetEnumAttributeKindForName(attribute, strlen(attribute));
	LLVMAddAttributeAtIndex(
	    function, self, LLVMCreateEnumAttribute(context_of(function), kind, 0));
}

const char *tp_function_decision(LLVMValueRef function, unsigned *length)
{
	*length = 0;
	const char *decision = tp_function_text(function, TP_ATTRIBUTE, length);
	return decision ? decision : "";
}

bool tp_function_is(LLVMValueRef function, const char *decision)
{
	unsigned length;
	const char *value = tp_function_decision(function, &length);
	return length == strlen(decision) && !memcmp(value, decision, length);
}

void tp_function_set(LLVMValueRef function, const char *decision)
{
	tp_function_set_text(function, TP_ATTRIBUTE, decision, strlen(decision));
}

const char *tp_function_name(LLVMValueRef function, size_t *length)
{
	size_t size;
	const char *name = LLVMGetValueName2(function, &size);
	// Clang marks names given by asm labels with \1: they are used as they are.
	const bool marked = *name == '\1';
	if (length)
		*length = size - marked;
	return name + marked;
}

char *tp_function_origin(LLVMValueRef function)
{
	unsigned size;
	const char *origin = tp_function_text(function, TP_ATTRIBUTE_NAME, &size);
	size_t length;
	const char *name = tp_function_name(function, &length);
	if (!origin || (length == size && !memcmp(name, origin, size)))
		return NULL;
	return strndup(origin, size);
}

// Typed pointers of LLVM 14 have casts.
LLVMValueRef tp_function_of(LLVMValueRef value)
{
	while (value) {
		if (LLVMIsAGlobalAlias(value))
			value = LLVMAliasGetAliasee(value);
		else if (LLVMIsAConstantExpr(value) && LLVMGetConstOpcode(value) == LLVMBitCast)
			value = LLVMGetOperand(value, 0);
		else
			return LLVMIsAFunction(value);
	}
	return NULL;
}

static LLVMValueRef first_from(LLVMBasicBlockRef block)
{
	return block ? LLVMGetFirstInstruction(block) : NULL;
}

LLVMValueRef tp_instruction_first(LLVMValueRef function)
{
	return first_from(LLVMGetFirstBasicBlock(function));
}

LLVMValueRef tp_instruction_next(LLVMValueRef instruction)
{
	LLVMValueRef next = LLVMGetNextInstruction(instruction);
	return next ? next
		    : first_from(LLVMGetNextBasicBlock(LLVMGetInstructionParent(instruction)));
}

bool tp_instruction_calls(LLVMValueRef instruction)
{
	return LLVMIsACallInst(instruction) || LLVMIsAInvokeInst(instruction);
}

LLVMValueRef tp_instruction_behind(LLVMValueRef call)
{
	if (!LLVMIsAInvokeInst(call))
		return LLVMGetNextInstruction(call);
	LLVMValueRef at = LLVMGetFirstInstruction(LLVMGetNormalDest(call));
	while (LLVMIsAPHINode(at))
		at = LLVMGetNextInstruction(at);
	return at;
}

LLVMValueRef tp_function_behind_allocations(LLVMValueRef function)
{
	LLVMValueRef at = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(function));
	while (LLVMIsAAllocaInst(at) && tp_llvm_is_static_alloca(at))
		at = LLVMGetNextInstruction(at);
	return at;
}

LLVMValueRef tp_runtime_function(LLVMModuleRef module, const char *symbol, LLVMTypeRef type)
{
	LLVMValueRef function = LLVMGetNamedFunction(module, symbol);
	return function ? function : LLVMAddFunction(module, symbol, type);
}

LLVMValueRef tp_runtime_call(LLVMModuleRef module, LLVMBuilderRef builder, const char *symbol,
    bool returns, LLVMValueRef *arguments, unsigned count)
{
	const LLVMContextRef context = LLVMGetModuleContext(module);
	LLVMTypeRef types[3];
	for (unsigned i = 0; i < count; i++)
		types[i] = LLVMTypeOf(arguments[i]);
	LLVMTypeRef type = LLVMFunctionType(
	    returns ? LLVMInt64TypeInContext(context) : LLVMVoidTypeInContext(context), types,
	    count, 0);
	return LLVMBuildCall2(
	    builder, type, tp_runtime_function(module, symbol, type), arguments, count, "");
}

LLVMValueRef tp_runtime_tell(LLVMModuleRef module, LLVMBuilderRef builder, const char *symbol,
    bool returns, LLVMValueRef *arguments, unsigned count)
{
	LLVMValueRef call = tp_runtime_call(module, builder, symbol, returns, arguments, count);
	tp_llvm_throws_nothing(call);
	return call;
}
