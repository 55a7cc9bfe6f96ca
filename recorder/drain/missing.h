/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What a trace lacks because it could not be written: chunks, and the events in them, thread by thread. */
#ifndef TP_MISSING_H
#define TP_MISSING_H

#include <stdint.h>

#include <teeperf/trace.h>

struct tp_missing {
	uint64_t chunks; /* of all threads */
	uint64_t events;
	uint64_t calls;
	struct teeperf_trace_missing
	    *threads; /* by number; without those that there was no memory for */
	uint32_t count;
	uint32_t capacity;
};

/* All zero: nothing is missing. */
void tp_missing_release(struct tp_missing *missing);

/* CHUNK, SIZE bytes with its header, is not in the trace. Nothing in it is believed. */
void tp_missing_add(struct tp_missing *missing, const struct teeperf_chunk *chunk, uint64_t size);

#endif
