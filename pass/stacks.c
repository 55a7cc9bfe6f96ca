// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls that leave for another stack: which they are, and what they tell the runtime.
#include "stacks.h"

#include <string.h>

#include "function.h"
#include "llvm_compat.h"

// Functions of the C library and of widespread fiber libraries. getcontext is not among them: it returns twice.
static const char *const known[] = {
    "swapcontext", "setcontext",
    "jump_fcontext", // Boost.Context, and what has copied it
    "ontop_fcontext",
    "co_switch",     // libco
    "coro_transfer", // libcoro
    "acosw",         // libaco
    "_mco_switch",   // minicoro
};

static bool is_listed(const char *list, const char *name, size_t length)
{
	while (list && *list) {
		const size_t size = strcspn(list, ",");
		if (size == length && !memcmp(list, name, length))
			return true;
		list += size + (list[size] == ',');
	}
	return false;
}

bool tp_stacks_switched_by(const struct tp_pass *pass, LLVMValueRef instruction)
{
	LLVMValueRef function = tp_function_callee(LLVMGetCalledValue(instruction));
	if (!function || !LLVMIsAFunction(function))
		return false;
	size_t length;
	const char *name = tp_function_name(function, &length);
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strlen(known[i]) == length && !memcmp(known[i], name, length))
			return true;
	return is_listed(pass->switches, name, length);
}

static LLVMValueRef call(struct tp_sequence *sequence, LLVMBuilderRef builder, const char *symbol,
    bool returns, LLVMValueRef *arguments, unsigned count)
{
	const LLVMContextRef context = sequence->context;
	LLVMTypeRef i64 = LLVMInt64TypeInContext(context);
	LLVMTypeRef parameters[3] = {i64, i64, i64};
	LLVMTypeRef type =
	    LLVMFunctionType(returns ? i64 : LLVMVoidTypeInContext(context), parameters, count, 0);
	LLVMValueRef function = LLVMGetNamedFunction(sequence->module, symbol);
	if (!function)
		function = LLVMAddFunction(sequence->module, symbol, type);
	LLVMValueRef made = LLVMBuildCall2(builder, type, function, arguments, count, "");
	tp_llvm_throws_nothing(made);
	return made;
}

struct tp_stacks_entry tp_stacks_enter(struct tp_sequence *sequence, LLVMBuilderRef builder)
{
	LLVMTypeRef i64 = LLVMInt64TypeInContext(sequence->context);
	struct tp_stacks_entry entry = {.left = LLVMBuildAlloca(builder, i64, "")};
	entry.home = call(sequence, builder, TEEPERF_SYMBOL_HOME, true, NULL, 0);
	LLVMBuildStore(builder, LLVMConstInt(i64, 0, 0), entry.left);
	return entry;
}

void tp_stacks_tell(struct tp_sequence *sequence, LLVMBuilderRef builder, bool behind,
    LLVMValueRef where, LLVMValueRef name, const struct tp_stacks_entry *entry)
{
	LLVMTypeRef i64 = LLVMInt64TypeInContext(sequence->context);
	LLVMValueRef arguments[3] = {where, name, entry->home};
	if (!behind) {
		LLVMBuildStore(builder,
		    call(sequence, builder, TEEPERF_SYMBOL_LEAVE, true, arguments, 3), entry->left);
		return;
	}
	// In memory, and 0 again: an invoke may go on in a block that others come to as well.
	arguments[2] = LLVMBuildLoad2(builder, i64, entry->left, "");
	call(sequence, builder, TEEPERF_SYMBOL_ARRIVE, false, arguments, 3);
	LLVMBuildStore(builder, LLVMConstInt(i64, 0, 0), entry->left);
}
