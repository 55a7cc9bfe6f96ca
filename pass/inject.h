/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Stage 2 for one function: records, and beside them counts (count.c). */
#ifndef TP_INJECT_H
#define TP_INJECT_H

#include "pass/sequence/sequence.h"

/* Whether control can come back into the function from above, other than to clean up on its way. */
bool tp_inject_catches(const struct tp_pass *pass, LLVMValueRef function);

/* Put count, enter, exit and resync records into one function. */
void tp_inject(struct tp_sequence *sequence, struct tp_target *target);

/* Whether control may come back behind this instruction, without an exception. */
bool tp_inject_needs_position(const struct tp_pass *pass, LLVMValueRef instruction);

/*
 * No records, but if it catches, resyncs where exceptions lead into it, for activations that began
 * while nothing was recorded.
 */
void tp_inject_off(struct tp_sequence *sequence, const struct tp_target *target);

/* The counted and sampled functions of an object file, at most TEEPERF_COUNTED_MAX of them. */
struct tp_count_group {
	LLVMValueRef counted; /* the teeperf_counted */
	LLVMValueRef place;   /* the thread-local pointer */
};
/* Make the group of these targets and set their .group and .number; false: no memory. */
bool tp_count_group_init(struct tp_count_group *group, struct tp_sequence *sequence,
    struct tp_target *targets, unsigned count);
/* Count a call at the builder's place; sets target->sampled if the target is sampled. */
void tp_count_at_entry(
    struct tp_sequence *sequence, LLVMBuilderRef builder, struct tp_target *target);

#endif
