// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls that leave for another stack: which they are, and what they tell the runtime.
#include "inject.h"

#include <string.h>

#include "function.h"

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

static bool is_listed(const char *list, const char *name)
{
	const size_t length = strlen(name);
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
	LLVMValueRef function = tp_function_of(LLVMGetCalledValue(instruction));
	if (!function)
		return false;
	const char *name = tp_function_name(function, NULL);
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(known[i], name))
			return true;
	return is_listed(pass->switches, name);
}

struct tp_stacks_entry tp_stacks_enter(struct tp_sequence *sequence, LLVMBuilderRef builder)
{
	struct tp_stacks_entry entry = {.left = LLVMBuildAlloca(builder, sequence->i64, "")};
	entry.home = tp_runtime_tell(sequence->module, builder, TEEPERF_SYMBOL_HOME, true, NULL, 0);
	LLVMBuildStore(builder, LLVMConstInt(sequence->i64, 0, 0), entry.left);
	return entry;
}

void tp_stacks_tell(struct tp_sequence *sequence, LLVMBuilderRef builder, bool behind,
    LLVMValueRef where, const struct tp_target *target, const struct tp_stacks_entry *entry)
{
	LLVMValueRef arguments[3] = {
	    where, LLVMConstPtrToInt(target->name, sequence->i64), entry->home};
	if (!behind) {
		LLVMBuildStore(builder,
		    tp_runtime_tell(
			sequence->module, builder, TEEPERF_SYMBOL_LEAVE, true, arguments, 3),
		    entry->left);
		return;
	}
	// In memory, and 0 again: an invoke may go on in a block that others come to as well.
	arguments[2] = LLVMBuildLoad2(builder, sequence->i64, entry->left, "");
	tp_runtime_tell(sequence->module, builder, TEEPERF_SYMBOL_ARRIVE, false, arguments, 3);
	LLVMBuildStore(builder, LLVMConstInt(sequence->i64, 0, 0), entry->left);
}
