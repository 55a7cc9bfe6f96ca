/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The times during a measurement in which a soft clock stood still: the longest, and sum and number of the
 * long ones. No part of them lies outside the measurement, and no moment counts twice.
 */
#ifndef TP_CLOCK_GAPS_H
#define TP_CLOCK_GAPS_H

#include <stdbool.h>
#include <stdint.h>

enum {
	TP_CLOCK_STARVED_NS = 10 * 1000, /* a gap that is longer is one in which it stood still */
};

/* One thread notes, another begins and ends the measurement; any may read the results at any time. */
struct tp_clock_gaps {
	uint64_t from_ns; /* CLOCK_MONOTONIC_RAW, of the measurement; UINT64_MAX: not begun */
	uint64_t to_ns;   /* UINT64_MAX: not ended */
	uint64_t told_ns; /* the noting thread's: up to here gaps are noted */
	uint64_t max_ns;
	uint64_t starved_ns;    /* sum of the gaps of more than TP_CLOCK_STARVED_NS */
	uint64_t starved_count; /* ... and their number */
};

/* No measurement yet: nothing is noted. */
void tp_clock_gaps_init(struct tp_clock_gaps *gaps);
/* Each is to be called once; a gap that is under way counts from, or up to, here. */
void tp_clock_gaps_begin(struct tp_clock_gaps *gaps, uint64_t now_ns);
void tp_clock_gaps_end(struct tp_clock_gaps *gaps, uint64_t now_ns);

/* A gap of `gap_ns` ends now. False: all of it lies outside the measurement. */
bool tp_clock_gaps_note(struct tp_clock_gaps *gaps, uint64_t now_ns, uint64_t gap_ns);

#endif
