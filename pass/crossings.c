// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls over the border of a TEE (log.h, TEEPERF_CONTROL_CALL_OUT): which they are in code that
// uses an SDK, and what they tell the runtime. The SDKs' own code is not compiled by us; what their
// tools generate around it is.
#include "pass.h"

#include <string.h>

#include <llvm-c/DebugInfo.h>

#include <teeperf/abi.h>

#include "function.h"
#include "llvm_compat.h"

#define ATTRIBUTE "teeperf-border"

// Functions that lead to the other side, and which parameter is a pointer that is given there, too;
// or the operation of a command, which stays outside.
static const struct {
	const char *name;
	unsigned parameter;
	bool is_command;
} gates[] = {
    {"sgx_ecall", 3, false}, // (enclave, index, table of OCALLs, parameters)
    {"sgx_ecall_switchless", 3, false}, {"sgx_ocall", 1, false}, // (index, parameters)
    {"sgx_ocall_switchless", 1, false},
    {"TEEC_InvokeCommand", 2, true}, // (session, command, operation, origin)
};

// Tables of the functions that are called from the other side; they get what was given to sgx_ecall
// and sgx_ocall.
static const char ecall_table[] = "g_ecall_table";
static const char ocall_table[] = "ocall_table_";

enum { DEPTH_MAX = 8 }; // of the constants in a table

struct marking {
	LLVMModuleRef module;
	LLVMContextRef context;
	LLVMBuilderRef builder;
	bool changed;
};

static void place(struct marking *marking, LLVMValueRef at, LLVMValueRef function)
{
	LLVMMetadataRef line = LLVMInstructionGetDebugLoc(at);
	LLVMPositionBuilderBefore(marking->builder, at);
	LLVMMetadataRef scope = tp_llvm_function_location(function);
	LLVMSetCurrentDebugLocation2(marking->builder, scope && line ? line : scope);
}

static bool is_pointer(LLVMValueRef value)
{
	return value && LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMPointerTypeKind;
}

static void tell(struct marking *marking, enum teeperf_control control, LLVMValueRef handle)
{
	LLVMTypeRef i64 = LLVMInt64TypeInContext(marking->context);
	LLVMValueRef arguments[2] = {LLVMConstInt(i64, control, 0), LLVMConstInt(i64, 0, 0)};
	if (is_pointer(handle))
		arguments[1] = LLVMBuildPtrToInt(marking->builder, handle, i64, "");
	tp_runtime_tell(
	    marking->module, marking->builder, TEEPERF_SYMBOL_BORDER, false, arguments, 2);
	marking->changed = true;
}

// The same of a command: the runtime changes its operation until the border behind it.
static void tell_command(struct marking *marking, LLVMValueRef operation)
{
	LLVMTypeRef pointer = LLVMPointerType(LLVMInt8TypeInContext(marking->context), 0);
	LLVMValueRef argument = LLVMBuildBitCast(marking->builder, operation, pointer, "");
	tp_runtime_tell(
	    marking->module, marking->builder, TEEPERF_SYMBOL_COMMAND, false, &argument, 1);
	marking->changed = true;
}

// The place of the called function in gates, -1: no gate.
static int gate_of(LLVMValueRef instruction)
{
	LLVMValueRef function = tp_function_of(LLVMGetCalledValue(instruction));
	for (int i = 0; function && i < (int)(sizeof(gates) / sizeof(gates[0])); i++)
		if (!strcmp(gates[i].name, tp_function_name(function, NULL)))
			return i;
	return -1;
}

// Whether there may be code of ours in the function.
static bool may_mark(LLVMValueRef function)
{
	unsigned length;
	return !LLVMIsDeclaration(function) &&
	       LLVMGetLinkage(function) != LLVMAvailableExternallyLinkage &&
	       !tp_function_is(function, TP_ATTRIBUTE_NEVER) &&
	       !tp_function_text(function, ATTRIBUTE, &length);
}

static void set_marked(LLVMValueRef function)
{
	tp_function_set_text(function, ATTRIBUTE, "", 0);
	tp_llvm_strip_memory(function);
}

static void mark_calls(struct marking *marking, LLVMValueRef function)
{
	bool some = false;
	for (LLVMValueRef i = tp_instruction_first(function); i; i = tp_instruction_next(i)) {
		const int gate = tp_instruction_calls(i) ? gate_of(i) : -1;
		if (gate < 0 || (LLVMIsACallInst(i) && tp_llvm_is_musttail(i)))
			continue;
		LLVMValueRef given = gates[gate].parameter < LLVMGetNumArgOperands(i)
					 ? LLVMGetOperand(i, gates[gate].parameter)
					 : NULL;
		some = true;
		place(marking, i, function);
		if (gates[gate].is_command && is_pointer(given))
			tell_command(marking, given);
		else
			tell(marking, TEEPERF_CONTROL_CALL_OUT,
			    gates[gate].is_command ? NULL : given);
		if (LLVMIsACallInst(i))
			LLVMSetTailCall(i, 0);
		place(marking, tp_instruction_behind(i), function);
		tell(marking, TEEPERF_CONTROL_RETURN_IN, NULL);
	}
	if (some)
		set_marked(function);
}

// A function of a table: its records are between an arrival and a return.
static void mark_bridge(struct marking *marking, LLVMValueRef function)
{
	if (!may_mark(function))
		return;
	place(marking, tp_function_behind_allocations(function), function);
	tell(marking, TEEPERF_CONTROL_CALL_IN,
	    LLVMCountParams(function) ? LLVMGetParam(function, 0) : NULL);
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b;
	     b = LLVMGetNextBasicBlock(b)) {
		LLVMValueRef ret = LLVMGetBasicBlockTerminator(b);
		if (!ret || !LLVMIsAReturnInst(ret))
			continue;
		LLVMValueRef call = LLVMGetPreviousInstruction(ret);
		if (call && LLVMIsACallInst(call) && tp_llvm_is_musttail(call))
			ret = call;
		place(marking, ret, function);
		tell(marking, TEEPERF_CONTROL_RETURN_OUT, NULL);
	}
	set_marked(function);
}

static void visit_table(struct marking *marking, LLVMValueRef value, int depth,
    void (*visit)(struct marking *marking, LLVMValueRef function))
{
	LLVMValueRef function = tp_function_of(value);
	if (function) {
		visit(marking, function);
		return;
	}
	if (depth == DEPTH_MAX || !LLVMIsAConstant(value) || LLVMIsAGlobalVariable(value) ||
	    LLVMIsAConstantDataSequential(value))
		return;
	const int count = LLVMGetNumOperands(value);
	for (int i = 0; i < count; i++)
		visit_table(marking, LLVMGetOperand(value, (unsigned)i), depth + 1, visit);
}

static bool is_table(LLVMValueRef variable)
{
	size_t length;
	const char *name = LLVMGetValueName2(variable, &length);
	// Link-time optimisation puts something behind the names of those that have no other
	// linkage.
	return LLVMGetInitializer(variable) &&
	       (!strncmp(name, ecall_table, strlen(ecall_table)) ||
		   !strncmp(name, ocall_table, strlen(ocall_table)));
}

static void visit_tables(
    struct marking *marking, void (*visit)(struct marking *marking, LLVMValueRef function))
{
	for (LLVMValueRef v = LLVMGetFirstGlobal(marking->module); v; v = LLVMGetNextGlobal(v))
		if (is_table(v))
			visit_table(marking, LLVMGetInitializer(v), 0, visit);
}

static void note_bridge(struct marking *marking, LLVMValueRef function)
{
	(void)marking;
	if (!LLVMIsDeclaration(function))
		tp_function_set_text(function, TP_ATTRIBUTE_BRIDGE, "", 0);
}

void tp_border_note(LLVMModuleRef module)
{
	struct marking marking = {.module = module};
	visit_tables(&marking, note_bridge);
}

bool tp_border_mark(LLVMModuleRef module)
{
	struct marking marking = {
	    .module = module,
	    .context = LLVMGetModuleContext(module),
	};
	marking.builder = LLVMCreateBuilderInContext(marking.context);
	for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
		if (may_mark(f))
			mark_calls(&marking, f);
	visit_tables(&marking, mark_bridge);
	LLVMDisposeBuilder(marking.builder);
	return marking.changed;
}
