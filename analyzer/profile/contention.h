/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * How many threads were in a function at once, and how long: a sweep over the times of its calls.
 */
#ifndef TP_CONTENTION_H
#define TP_CONTENTION_H

#include <stdint.h>

#define TP_CONTENTION_COUNTED 16

struct tp_interval {
	uint64_t start;
	uint64_t end;
};

struct tp_contention {
	uint64_t calls;
	uint64_t busy;    /* ticks in which it was running at all */
	uint64_t total;   /* the same, of each thread */
	uint64_t overlap; /* in which it was running more than once */
	uint32_t most;    /* at once */
	/* Ticks in which it ran once, twice, ...; the last: so often or more. */
	uint64_t inside[TP_CONTENTION_COUNTED];
	/* Calls during which no other one ran, and those during which one did. */
	uint64_t alone_calls;
	uint64_t alone;
	uint64_t shared_calls;
	uint64_t shared;
	/* Of these: half did not take longer, to a sixteenth. */
	uint64_t alone_median;
	uint64_t shared_median;
};

/*
 * ITEMS, in any order, are sorted; ENDS has room for as many numbers. A call that took no time is
 * alone.
 */
struct tp_contention tp_contention_sweep(struct tp_interval *items, uint64_t *ends, uint64_t count);

#endif
