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

// How both sides know a call by one of its parameters.
enum given {
	GIVEN_POINTER, // the other side gets it, too
	GIVEN_COPY,    // ... gets a copy of the memory, in which a number of it is
	GIVEN_COMMAND, // the operation of a command, which stays outside
};

// Functions that lead to the other side, and which parameter that is, counted from the last one.
static const struct {
	const char *name;
	unsigned behind;
	enum given given;
} gates[] = {
    {"sgx_ecall", 1, GIVEN_POINTER}, // (enclave, index, table of OCALLs, parameters)
    {"sgx_ecall_switchless", 1, GIVEN_POINTER},
    {"sgx_ocall", 1, GIVEN_POINTER}, // (index, parameters)
    {"sgx_ocall_switchless", 1, GIVEN_POINTER},
    {"TEEC_InvokeCommand", 2, GIVEN_COMMAND}, // (session, command, operation, origin)
    // (..., input, its size, output, its size, how much was written)
    {"oe_call_enclave_function", 5, GIVEN_COPY},
    {"oe_switchless_call_enclave_function", 5, GIVEN_COPY},
    {"oe_call_host_function", 5, GIVEN_POINTER},
    {"oe_switchless_call_host_function", 5, GIVEN_POINTER},
};

// Tables of the functions that are called from the other side, which get that as their first
// parameter. Open Enclave has a name before the last one.
static const struct {
	const char *name;
	bool is_part;
	enum given given;
} tables[] = {
    {"g_ecall_table", false, GIVEN_POINTER},
    {"ocall_table_", false, GIVEN_POINTER},
    {"oe_ecalls_table", true, GIVEN_COPY},
    {"_ocall_function_table", true, GIVEN_POINTER},
};

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

static bool is_number(LLVMValueRef value)
{
	LLVMTypeRef type = value ? LLVMTypeOf(value) : NULL;
	return type && LLVMGetTypeKind(type) == LLVMIntegerTypeKind &&
	       LLVMGetIntTypeWidth(type) == 32;
}

// HANDLE: a pointer, a number of 32 bits, or NULL.
static void tell(struct marking *marking, enum teeperf_control control, LLVMValueRef handle)
{
	LLVMTypeRef i64 = LLVMInt64TypeInContext(marking->context);
	LLVMValueRef arguments[2] = {LLVMConstInt(i64, control, 0), LLVMConstInt(i64, 0, 0)};
	if (is_pointer(handle))
		arguments[1] = LLVMBuildPtrToInt(marking->builder, handle, i64, "");
	else if (is_number(handle))
		arguments[1] = LLVMBuildZExt(marking->builder, handle, i64, "");
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

/*
 * Open Enclave copies the parameters, whose first word is the result, of 32 bits, which comes back
 * in another place. So until then it is the call's number: that of the original's address.
 */
static LLVMValueRef number_of(struct marking *marking, LLVMValueRef given)
{
	enum { UNIT_SHIFT = 4 }; // of malloc: with it, numbers repeat behind 64 GiB
	LLVMTypeRef i64 = LLVMInt64TypeInContext(marking->context);
	LLVMTypeRef i32 = LLVMInt32TypeInContext(marking->context);
	LLVMValueRef address = LLVMBuildPtrToInt(marking->builder, given, i64, "");
	return LLVMBuildTrunc(marking->builder,
	    LLVMBuildLShr(marking->builder, address, LLVMConstInt(i64, UNIT_SHIFT, 0), ""), i32,
	    "");
}

static LLVMValueRef first_word(struct marking *marking, LLVMValueRef given)
{
	LLVMTypeRef i32 = LLVMInt32TypeInContext(marking->context);
	return LLVMBuildBitCast(marking->builder, given, LLVMPointerType(i32, 0), "");
}

// A call out with GIVEN, an argument.
static void tell_call(struct marking *marking, LLVMValueRef argument, enum given given)
{
	if (given == GIVEN_COMMAND && is_pointer(argument)) {
		tell_command(marking, argument);
	} else if (given == GIVEN_COPY && is_pointer(argument)) {
		LLVMValueRef number = number_of(marking, argument);
		LLVMBuildStore(marking->builder, number, first_word(marking, argument));
		tell(marking, TEEPERF_CONTROL_CALL_OUT, number);
	} else {
		tell(marking, TEEPERF_CONTROL_CALL_OUT, given == GIVEN_COMMAND ? NULL : argument);
	}
}

// ... and in.
static void tell_arrival(struct marking *marking, LLVMValueRef parameter, enum given given)
{
	if (given == GIVEN_COPY && is_pointer(parameter))
		tell(marking, TEEPERF_CONTROL_CALL_IN,
		    LLVMBuildLoad2(marking->builder, LLVMInt32TypeInContext(marking->context),
			first_word(marking, parameter), ""));
	else
		tell(marking, TEEPERF_CONTROL_CALL_IN, parameter);
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
		const unsigned count = LLVMGetNumArgOperands(i);
		some = true;
		place(marking, i, function);
		tell_call(marking,
		    gates[gate].behind <= count ? LLVMGetOperand(i, count - gates[gate].behind)
						: NULL,
		    gates[gate].given);
		if (LLVMIsACallInst(i))
			LLVMSetTailCall(i, 0);
		place(marking, tp_instruction_behind(i), function);
		tell(marking, TEEPERF_CONTROL_RETURN_IN, NULL);
	}
	if (some)
		set_marked(function);
}

// A function of a table: its records are between an arrival and a return.
static void mark_bridge(struct marking *marking, LLVMValueRef function, enum given given)
{
	if (!may_mark(function))
		return;
	place(marking, tp_function_behind_allocations(function), function);
	tell_arrival(marking, LLVMCountParams(function) ? LLVMGetParam(function, 0) : NULL, given);
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

typedef void visit_function(struct marking *marking, LLVMValueRef function, enum given given);

static void visit_table(
    struct marking *marking, LLVMValueRef value, int depth, enum given given, visit_function *visit)
{
	LLVMValueRef function = tp_function_of(value);
	if (function) {
		visit(marking, function, given);
		return;
	}
	if (depth == DEPTH_MAX || !LLVMIsAConstant(value) || LLVMIsAGlobalVariable(value) ||
	    LLVMIsAConstantDataSequential(value))
		return;
	const int count = LLVMGetNumOperands(value);
	for (int i = 0; i < count; i++)
		visit_table(marking, LLVMGetOperand(value, (unsigned)i), depth + 1, given, visit);
}

// Its place in tables, -1: no table.
static int table_of(LLVMValueRef variable)
{
	size_t length;
	const char *name = LLVMGetValueName2(variable, &length);
	// Link-time optimisation puts something behind the names of those that have no other
	// linkage.
	for (int i = 0; i < (int)(sizeof(tables) / sizeof(tables[0])); i++) {
		const char *found = strstr(name, tables[i].name);
		if (found && (found == name || tables[i].is_part))
			return i;
	}
	return -1;
}

static void visit_tables(struct marking *marking, visit_function *visit)
{
	for (LLVMValueRef v = LLVMGetFirstGlobal(marking->module); v; v = LLVMGetNextGlobal(v)) {
		const int table = table_of(v);
		if (table >= 0 && LLVMGetInitializer(v))
			visit_table(marking, LLVMGetInitializer(v), 0, tables[table].given, visit);
	}
}

static void note_bridge(struct marking *marking, LLVMValueRef function, enum given given)
{
	(void)marking;
	(void)given;
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
