// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions whose calls are only counted: their places in one teeperf_counted (abi.h) and the code.
#include "pass.h"

#include <stdlib.h>

#include "llvm_compat.h"

static LLVMValueRef own_global(struct tp_sequence *sequence, LLVMTypeRef type, const char *name)
{
	LLVMValueRef global = LLVMAddGlobal(sequence->module, type, name);
	LLVMSetLinkage(global, LLVMInternalLinkage);
	LLVMSetAlignment(global, 8);
	return global;
}

// The teeperf_counted of these functions.
static LLVMValueRef describe(
    struct tp_sequence *sequence, LLVMValueRef *functions, unsigned count, LLVMTypeRef pointer)
{
	LLVMTypeRef i64 = LLVMInt64TypeInContext(sequence->context);
	LLVMValueRef *addresses = calloc(count, sizeof(LLVMValueRef));
	if (!addresses)
		return NULL;
	for (unsigned i = 0; i < count; i++)
		addresses[i] = LLVMConstBitCast(functions[i], pointer);
	LLVMValueRef fields[4] = {LLVMConstInt(i64, count, 0), LLVMConstInt(i64, 0, 0),
	    LLVMConstNull(pointer), LLVMConstArray(pointer, addresses, count)};
	free(addresses);
	LLVMValueRef value = LLVMConstStructInContext(sequence->context, fields, 4, 0);
	LLVMValueRef counted =
	    own_global(sequence, LLVMTypeOf(value), TEEPERF_SYMBOL_PREFIX "counted_functions");
	LLVMSetInitializer(counted, value);
	return counted;
}

void tp_count_calls(struct tp_sequence *sequence, LLVMValueRef *functions, unsigned count)
{
	LLVMTypeRef pointer = LLVMPointerType(LLVMInt8TypeInContext(sequence->context), 0);
	LLVMValueRef counted = describe(sequence, functions, count, pointer);
	if (!counted) {
		tp_llvm_error(sequence->module, "teeperf: out of memory");
		return;
	}
	LLVMValueRef place = own_global(sequence, pointer, TEEPERF_SYMBOL_PREFIX "counts");
	LLVMSetInitializer(place, LLVMConstNull(pointer));
	LLVMSetThreadLocalMode(place, LLVMInitialExecTLSModel);

	LLVMBuilderRef builder = LLVMCreateBuilderInContext(sequence->context);
	for (unsigned i = 0; i < count; i++) {
		tp_inject_prepare(sequence, functions[i]);
		tp_inject_position_at_entry(builder, functions[i]);
		// Volatile: a signal handler may have set it since.
		LLVMValueRef at = LLVMBuildLoad2(builder, pointer, place, "");
		LLVMSetVolatile(at, 1);
		struct tp_text text = {.output_count = 0};
		sequence->machine->write_count(
		    &text, TEEPERF_COUNTED_OFFSET(i), tp_sequence_needs_no_red_zone(sequence));
		LLVMValueRef arguments[3] = {at, sequence->block, counted};
		tp_sequence_assemble(sequence, builder, &text, arguments, 3);
	}
	LLVMDisposeBuilder(builder);

	LLVMTypeRef nothing = LLVMVoidTypeInContext(sequence->context);
	LLVMTypeRef types[2] = {pointer, LLVMPointerType(pointer, 0)};
	LLVMValueRef arguments[2] = {LLVMConstBitCast(counted, pointer), place};
	tp_llvm_add_constructor(sequence->module,
	    tp_sequence_caller(sequence, TEEPERF_SYMBOL_PREFIX "count_attach", true,
		TEEPERF_SYMBOL_COUNTED, LLVMFunctionType(nothing, types, 2, 0), arguments, 2),
	    1);
	tp_llvm_add_destructor(sequence->module,
	    tp_sequence_caller(sequence, TEEPERF_SYMBOL_PREFIX "count_detach", true,
		TEEPERF_SYMBOL_COUNTED_GONE, LLVMFunctionType(nothing, types, 1, 0), arguments, 1),
	    1);
}
