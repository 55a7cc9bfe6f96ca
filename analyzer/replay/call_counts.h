/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Calls that were counted: the sums of the pairs behind COUNTS records, by full run-time address; with
 * TEEPERF_COUNTS_SAMPLED (log.h) in it if some of the calls have records as well.
 */
#ifndef TP_CALL_COUNTS_H
#define TP_CALL_COUNTS_H

#include "common/index.h"

#include <stdbool.h>
#include <stdint.h>

struct tp_call_count {
	uint64_t address;
	uint64_t calls;
};

/* All zero is an empty one. */
struct tp_call_counts {
	struct tp_call_count *items; /* in the order in which the addresses were first seen */
	uint32_t count;
	uint32_t room;
	struct tp_index index; /* by address */
};

/* Add CALLS to those of ADDRESS; the largest number is not exceeded. False: no memory. */
bool tp_call_counts_add(struct tp_call_counts *counts, uint64_t address, uint64_t calls);
void tp_call_counts_release(struct tp_call_counts *counts);

#endif
