/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Functions whose calls are counted. */
#ifndef TP_COUNT_H
#define TP_COUNT_H

#include "pass/sequence/sequence.h"

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
