// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions whose calls are only counted: their places in one teeperf_counted (abi.h) and the code.
#include "inject.h"

#include <stdlib.h>

#include "llvm_compat.h"

// The teeperf_counted of these functions.
static LLVMValueRef describe(
    struct tp_sequence *sequence, const struct tp_target *targets, unsigned count)
{
	LLVMValueRef *addresses = calloc(count, sizeof(LLVMValueRef));
	if (!addresses)
		return NULL;
	for (unsigned i = 0; i < count; i++) {
		LLVMValueRef mark =
		    LLVMConstInt(sequence->i64, targets[i].sample ? TEEPERF_COUNTED_SAMPLED : 0, 0);
		addresses[i] = LLVMConstGEP2(sequence->i8,
		    LLVMConstBitCast(targets[i].function, sequence->pointer), &mark, 1);
	}
	LLVMValueRef fields[4] = {LLVMConstInt(sequence->i64, count, 0),
	    LLVMConstInt(sequence->i64, 0, 0), LLVMConstNull(sequence->pointer),
	    LLVMConstArray(sequence->pointer, addresses, count)};
	free(addresses);
	LLVMValueRef value = LLVMConstStructInContext(sequence->context, fields, 4, 0);
	return tp_sequence_own(
	    sequence, LLVMTypeOf(value), TEEPERF_SYMBOL_PREFIX "counted_functions", value);
}

bool tp_count_group_init(struct tp_count_group *group, struct tp_sequence *sequence,
    struct tp_target *targets, unsigned count)
{
	LLVMTypeRef pointer = sequence->pointer;
	group->counted = describe(sequence, targets, count);
	if (!group->counted)
		return false;
	group->place = tp_sequence_own(
	    sequence, pointer, TEEPERF_SYMBOL_PREFIX "counts", LLVMConstNull(pointer));
	if (sequence->pass->threads != TP_THREADS_ONE)
		LLVMSetThreadLocalMode(group->place, LLVMInitialExecTLSModel);
	for (unsigned i = 0; i < count; i++) {
		targets[i].group = group;
		targets[i].number = i;
	}
	LLVMValueRef arguments[2] = {LLVMConstBitCast(group->counted, pointer), group->place};
	tp_sequence_construct(
	    sequence, tp_sequence_caller(sequence, TEEPERF_SYMBOL_PREFIX "count_attach", true,
			  TEEPERF_SYMBOL_COUNTED, arguments, 2));
	tp_llvm_add_destructor(sequence->module,
	    tp_sequence_caller(sequence, TEEPERF_SYMBOL_PREFIX "count_detach", true,
		TEEPERF_SYMBOL_COUNTED_GONE, arguments, 1),
	    1);
	return true;
}

/*
 * Of a thread's calls numbers 1, 1 + N, 1 + 2N ... have records: the first, since many functions
 * are called once. The counter serves for this, so there is no other state, and none to be random
 * with.
 */
static LLVMValueRef is_sampled(LLVMBuilderRef builder, LLVMValueRef number, uint32_t sample)
{
	LLVMTypeRef i64 = LLVMTypeOf(number);
	// 0, for a call that was not counted, is no 1.
	LLVMValueRef rest = LLVMBuildURem(builder, number, LLVMConstInt(i64, sample, 0), "");
	LLVMValueRef one = LLVMConstInt(i64, sample > 1, 0);
	return LLVMBuildZExt(builder, LLVMBuildICmp(builder, LLVMIntEQ, rest, one, ""), i64, "");
}

void tp_count_at_entry(
    struct tp_sequence *sequence, LLVMBuilderRef builder, struct tp_target *target)
{
	// Volatile: a signal handler may have set it since.
	LLVMValueRef at = LLVMBuildLoad2(builder, sequence->pointer, target->group->place, "");
	LLVMSetVolatile(at, 1);
	const struct tp_text_count request = {.offset = TEEPERF_COUNTED_OFFSET(target->number),
	    .gate = target->gate,
	    .no_red_zone = tp_sequence_needs_no_red_zone(sequence),
	    .wants_count = target->sample != 0};
	struct tp_text text = {.output_count = 0};
	tp_text_write_count(&text, sequence->machine, &request);
	LLVMValueRef arguments[3] = {at, sequence->functions, target->group->counted};
	LLVMValueRef number = tp_sequence_assemble(sequence, builder, &text, arguments, 3);
	if (target->sample)
		target->sampled = is_sampled(builder, number, target->sample);
}
